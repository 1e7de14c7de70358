//! Numbers in the text of flags.

use crate::explain::Code;
use crate::fail::Fail;

/// A finite number.
pub(crate) fn number(flag: &str, text: &str) -> Result<f64, Fail> {
    match text.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) => Err(Fail::flag(flag, text, "give a finite number")),
        Err(_) => Err(Fail::flag(flag, text, "not a number: give one, such as 1 or 0.5 or 1e-6")
            .coded(Code::NotANumber)),
    }
}

/// A whole number from 1 to `most`.
pub(crate) fn whole(flag: &str, text: &str, most: u64) -> Result<u64, Fail> {
    let remedy = || format!("give a whole number from 1 to {most}");
    match text.trim().parse::<u64>() {
        Ok(number) if (1..=most).contains(&number) => Ok(number),
        _ => Err(Fail::flag(flag, text, remedy())),
    }
}
