//! The text of flags that several commands share, read and checked.

use crate::explain::Code;
use crate::fail::Fail;
use reticent::core::{Delta, Epsilon, Neighboring};

/// Above this, a release protects nobody.
pub(crate) const LARGEST_EPSILON: f64 = 50.0;

/// A finite number.
pub(crate) fn number(flag: &str, text: &str) -> Result<f64, Fail> {
    match text.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) => Err(Fail::flag(flag, text, "give a finite number")),
        Err(_) => Err(Fail::flag(flag, text, "not a number: give one, such as 1 or 0.5 or 1e-6")
            .coded(Code::NotANumber)),
    }
}

/// The neighbouring relation.
pub(crate) fn neighboring(text: &str) -> Result<Neighboring, Fail> {
    match text {
        "add-remove" => Ok(Neighboring::AddRemove),
        "replace-one" => Ok(Neighboring::ReplaceOne),
        _ => Err(Fail::unknown("--neighboring", text, "unknown: give add-remove or replace-one")),
    }
}

/// A δ strictly between 0 and 1.
pub(crate) fn delta(text: &str) -> Result<Delta, Fail> {
    let value = number("--delta", text)?;
    if !(value > 0.0 && value < 1.0) {
        return Err(Fail::flag(
            "--delta",
            text,
            "give a number above 0 and below 1, far below 1 / number of rows, e.g. 1e-6",
        ));
    }
    Ok(Delta::new(value)?)
}

/// An ε that can be spent, from `least` to 50.
pub(crate) fn epsilon(text: &str, least: f64) -> Result<Epsilon, Fail> {
    let value = number("--epsilon", text)?;
    if value <= 0.0 {
        return Err(Fail::flag("--epsilon", text, "give a number above 0, such as 1"));
    }
    if value > LARGEST_EPSILON {
        let remedy = format!("such a release protects nobody: give at most {LARGEST_EPSILON}");
        return Err(Fail::flag("--epsilon", text, remedy).coded(Code::Useless));
    }
    if value < least {
        return Err(Fail::flag(
            "--epsilon",
            text,
            format!("the answer would be all noise: give at least {least}"),
        )
        .coded(Code::Useless));
    }
    Ok(Epsilon::new(value)?)
}

/// A whole number from 1 to `most`.
pub(crate) fn whole(flag: &str, text: &str, most: u64) -> Result<u64, Fail> {
    let remedy = || format!("give a whole number from 1 to {most}");
    match text.trim().parse::<u64>() {
        Ok(number) if (1..=most).contains(&number) => Ok(number),
        _ => Err(Fail::flag(flag, text, remedy())),
    }
}
