//! How much privacy a request may spend, and what is hidden: numbers and names that several requests share, checked.

use crate::refusal::Refusal;
use reticent_core::{Code, Delta, Epsilon, Neighboring};

/// Above this, a release protects nobody.
const LARGEST_EPSILON: f64 = 50.0;

/// A finite number.
pub(crate) fn finite(field: &str, value: f64) -> Result<f64, Refusal> {
    match value.is_finite() {
        true => Ok(value),
        false => Err(Refusal::value(field, value, "give a finite number")),
    }
}

/// A number above 0.
pub(crate) fn positive(field: &str, value: f64) -> Result<f64, Refusal> {
    match finite(field, value)? {
        value if value > 0.0 => Ok(value),
        _ => Err(Refusal::value(field, value, "give a number above 0")),
    }
}

/// A whole number from 1 to `most`.
pub(crate) fn whole(field: &str, value: u64, most: u64) -> Result<u64, Refusal> {
    match (1..=most).contains(&value) {
        true => Ok(value),
        false => Err(Refusal::value(field, value, format!("give a whole number from 1 to {most}"))),
    }
}

/// The neighbouring relation of that name.
///
/// # Errors
/// [`Refusal`] for any other name.
pub fn neighboring(name: &str) -> Result<Neighboring, Refusal> {
    match name {
        "add-remove" => Ok(Neighboring::AddRemove),
        "replace-one" => Ok(Neighboring::ReplaceOne),
        _ => Err(Refusal::unknown("neighboring", name, "unknown: give add-remove or replace-one")),
    }
}

/// A δ strictly between 0 and 1.
pub(crate) fn delta(value: f64) -> Result<Delta, Refusal> {
    let value = finite("delta", value)?;
    if !(value > 0.0 && value < 1.0) {
        let remedy = "give a number above 0 and below 1, far below 1 / number of rows, e.g. 1e-6";
        return Err(Refusal::value("delta", value, remedy));
    }
    Ok(Delta::new(value)?)
}

/// An ε that can be spent, from `least` to 50.
pub(crate) fn epsilon(value: f64, least: f64) -> Result<Epsilon, Refusal> {
    let value = finite("epsilon", value)?;
    let refuse = |remedy: String| Err(Refusal::value("epsilon", value, remedy));
    if value <= 0.0 {
        return refuse("give a number above 0, such as 1".to_owned());
    }
    if value > LARGEST_EPSILON {
        let remedy = format!("such a release protects nobody: give at most {LARGEST_EPSILON}");
        return refuse(remedy).map_err(|refusal| refusal.coded(Code::Useless));
    }
    if value < least {
        let remedy = format!("the answer would be all noise: give at least {least}");
        return refuse(remedy).map_err(|refusal| refusal.coded(Code::Useless));
    }
    Ok(Epsilon::new(value)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_flag_can_carry_is_refused_as_well() {
        for strange in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 51.0, 1e-9] {
            assert!(epsilon(strange, 1e-4).is_err(), "{strange}");
        }
        for strange in [f64::NAN, f64::INFINITY, 0.0, 1.0, -0.5] {
            assert!(delta(strange).is_err() && neighboring(&strange.to_string()).is_err(), "{strange}");
        }
        assert_eq!(epsilon(1e-9, 1e-4).unwrap_err().code(), Code::Useless);
        assert!(whole("steps", 0, 9).is_err() && whole("steps", 9, 9).is_ok());
    }
}
