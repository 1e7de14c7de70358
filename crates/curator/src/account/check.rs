//! Numbers of a question, checked.

use super::PrivacyTarget;
use crate::Refusal;
use reticent_core::{Delta, Epsilon, Guarantee, Probability};

/// A finite number.
pub(super) fn finite(field: &str, value: f64) -> Result<f64, Refusal> {
    if value.is_finite() { Ok(value) } else { Err(Refusal::value(field, value, "give a finite number")) }
}

/// A δ strictly between 0 and 1.
pub(super) fn delta(value: f64) -> Result<Delta, Refusal> {
    finite("delta", value)?;
    if !(value > 0.0 && value < 1.0) {
        let remedy = "give a number above 0 and below 1, far below 1 / number of rows, e.g. 1e-6";
        return Err(Refusal::value("delta", value, remedy));
    }
    Ok(Delta::new(value)?)
}

/// An ε of at least 0.
pub(super) fn epsilon(value: f64) -> Result<Epsilon, Refusal> {
    finite("epsilon", value)?;
    Epsilon::new(value).map_err(|invalid| Refusal::value("epsilon", value, invalid.remedy))
}

/// A probability from 0 to 1.
pub(super) fn probability(field: &str, value: f64) -> Result<Probability, Refusal> {
    finite(field, value)?;
    Probability::new(value).map_err(|invalid| Refusal::value(field, value, invalid.remedy))
}

/// Probabilities from 0 to 1.
pub(super) fn probabilities(field: &str, values: &[f64], remedy: &str) -> Result<Vec<Probability>, Refusal> {
    let one = |value: &f64| Probability::new(*value).map_err(|_| Refusal::value(field, value, remedy));
    values.iter().map(one).collect()
}

/// A whole number of at least 1.
pub(super) fn count(field: &str, value: u64) -> Result<u64, Refusal> {
    match value {
        0 => Err(Refusal::value(field, value, "give a whole number of at least 1")),
        _ => Ok(value),
    }
}

impl PrivacyTarget {
    /// The budget of a calibration.
    pub(super) fn checked(self) -> Result<Guarantee, Refusal> {
        let epsilon = epsilon(self.epsilon)?;
        if epsilon.get() == 0.0 {
            let remedy = "give a number above 0: nothing useful costs nothing";
            return Err(Refusal::value("epsilon", self.epsilon, remedy));
        }
        Ok(Guarantee { epsilon, delta: delta(self.delta)? })
    }
}
