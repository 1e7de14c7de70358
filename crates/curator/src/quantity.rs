//! Numbers and names that several requests share, checked.

use crate::refusal::Refusal;
use reticent_core::{Code, Confidence, Delta, Epsilon, Neighboring};

/// Above this, there is no meaningful protection.
pub const LARGEST_EPSILON: f64 = 50.0;

/// A finite number.
///
/// # Errors
/// [`Refusal`] of the field's value when it is not a number or infinite.
pub fn finite(field: &str, value: f64) -> Result<f64, Refusal> {
    if value.is_nan() {
        let remedy = "not a number: give one, such as 1 or 0.5 or 1e-6";
        return Err(Refusal::value(field, value, remedy).coded(Code::NotANumber));
    }
    if value.is_infinite() {
        return Err(Refusal::value(field, value, "give a finite number"));
    }
    Ok(value)
}

/// A checked ε, from `least` to [`LARGEST_EPSILON`].
///
/// # Errors
/// [`Refusal`] of `epsilon`.
pub fn epsilon(value: f64, least: f64) -> Result<Epsilon, Refusal> {
    let refuse = |remedy: String| Refusal::value("epsilon", value, remedy);
    if finite("epsilon", value)? <= 0.0 {
        return Err(refuse("give a number above 0, such as 1".to_owned()));
    }
    if value > LARGEST_EPSILON {
        let remedy = format!("so large an epsilon gives no protection: give at most {LARGEST_EPSILON}");
        return Err(refuse(remedy).coded(Code::Useless));
    }
    if value < least {
        let remedy = format!("the answer would be only noise: give at least {least}");
        return Err(refuse(remedy).coded(Code::Useless));
    }
    Ok(Epsilon::new(value)?)
}

/// A δ strictly between 0 and 1.
///
/// # Errors
/// [`Refusal`] of `delta`.
pub fn delta(value: f64) -> Result<Delta, Refusal> {
    let value = finite("delta", value)?;
    if !(value > 0.0 && value < 1.0) {
        let remedy = "give a number above 0 and below 1, well below 1 / number of rows, e.g. 1e-6";
        return Err(Refusal::value("delta", value, remedy));
    }
    Ok(Delta::new(value)?)
}

/// The confidence level of intervals.
///
/// # Errors
/// [`Refusal`] of `confidence`.
pub fn confidence(value: f64) -> Result<Confidence, Refusal> {
    let value = finite("confidence", value)?;
    Confidence::new(value).map_err(|invalid| Refusal::value("confidence", value, invalid.remedy))
}

/// A neighbouring relation by its name.
///
/// # Errors
/// [`Refusal`] of `neighboring` if the name is unknown.
pub fn neighboring(name: &str) -> Result<Neighboring, Refusal> {
    match name {
        "add-remove" => Ok(Neighboring::AddRemove),
        "replace-one" => Ok(Neighboring::ReplaceOne),
        _ => Err(Refusal::unknown("neighboring", name, "unknown: give add-remove or replace-one")),
    }
}

/// The privacy unit in words: `row`, or all rows that share a value of a column. Sessions compare units by these words.
pub fn unit_words(column: Option<&str>) -> String {
    column.map_or_else(|| "row".to_owned(), |column| format!("all rows of one {column}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_flag_could_carry_is_refused() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 51.0, 5e-324] {
            assert_eq!(epsilon(bad, 1e-6).unwrap_err().field(), Some("epsilon"), "{bad}");
        }
        for bad in [f64::NAN, f64::INFINITY, 0.0, 1.0, -0.5] {
            assert_eq!(delta(bad).unwrap_err().field(), Some("delta"), "{bad}");
            assert_eq!(confidence(bad).unwrap_err().field(), Some("confidence"), "{bad}");
        }
        assert_eq!(finite("error", f64::NAN).unwrap_err().code(), Code::NotANumber);
    }
}
