//! Checked newtypes: a value of one of these types is always meaningful.

use crate::InvalidValue;
use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $field:literal, $valid:expr, $remedy:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(try_from = "f64", into = "f64")]
        pub struct $name(f64);

        impl $name {
            /// Checks `value`.
            ///
            /// # Errors
            /// [`InvalidValue`] naming the field when the value is NaN or out of range.
            pub fn new(value: f64) -> Result<Self, InvalidValue> {
                let valid: fn(f64) -> bool = $valid;
                if valid(value) { Ok(Self(value)) } else { Err(InvalidValue::new($field, value, $remedy)) }
            }

            /// The number.
            pub fn get(self) -> f64 {
                self.0
            }
        }

        impl TryFrom<f64> for $name {
            type Error = InvalidValue;
            fn try_from(value: f64) -> Result<Self, InvalidValue> {
                Self::new(value)
            }
        }

        impl From<$name> for f64 {
            fn from(value: $name) -> f64 {
                value.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

quantity!(
    /// A privacy loss bound ε: finite and not negative.
    Epsilon, "epsilon", |v| v.is_finite() && v >= 0.0, "give a finite number that is not negative"
);
quantity!(
    /// A failure probability δ of a guarantee: 0 ≤ δ < 1.
    Delta, "delta", |v| (0.0..1.0).contains(&v), "give a number with 0 <= delta < 1"
);
quantity!(
    /// The parameter ρ of zero-concentrated differential privacy.
    Rho, "rho", |v| v.is_finite() && v >= 0.0, "give a finite number that is not negative"
);
quantity!(
    /// The parameter μ of Gaussian differential privacy.
    Mu, "mu", |v| v.is_finite() && v >= 0.0, "give a finite number that is not negative"
);
quantity!(
    /// A Rényi order α ≥ 1.
    Order, "order", |v| v.is_finite() && v >= 1.0, "give a finite order of at least 1"
);
quantity!(
    /// Noise scale divided by sensitivity: positive and finite.
    NoiseMultiplier, "noise_multiplier", |v| v.is_finite() && v > 0.0, "give a finite number above 0"
);
quantity!(
    /// Probability with which a record enters a batch.
    SamplingRate, "sampling_rate", |v| (0.0..=1.0).contains(&v), "give a number from 0 to 1"
);
quantity!(
    /// A probability.
    Probability, "probability", |v| (0.0..=1.0).contains(&v), "give a number from 0 to 1"
);
quantity!(
    /// A confidence level strictly between 0 and 1.
    Confidence, "confidence", |v| v > 0.0 && v < 1.0, "give a number strictly between 0 and 1, e.g. 0.95"
);
quantity!(
    /// How far one privacy unit can move a query: positive and finite.
    Sensitivity, "sensitivity", |v| v.is_finite() && v > 0.0, "give a finite number above 0"
);
quantity!(
    /// A noise scale (Laplace b, Gaussian σ): positive and finite.
    Scale, "scale", |v| v.is_finite() && v > 0.0, "give a finite number above 0"
);

impl Epsilon {
    /// The value when it can calibrate noise.
    ///
    /// # Errors
    /// [`InvalidValue`] when ε = 0, which no finite noise achieves.
    pub fn positive(self) -> Result<f64, InvalidValue> {
        if self.0 > 0.0 {
            Ok(self.0)
        } else {
            Err(InvalidValue::new(
                "epsilon",
                self.0,
                "give a number above 0: no finite noise reaches epsilon = 0",
            ))
        }
    }
}

impl Delta {
    /// δ = 0, a pure guarantee.
    pub const ZERO: Self = Self(0.0);
}

impl Confidence {
    /// The customary 95 %.
    pub const P95: Self = Self(0.95);

    /// The error probability β = 1 − confidence.
    pub fn beta(self) -> f64 {
        1.0 - self.0
    }
}

#[cfg(test)]
#[path = "quantity_tests.rs"]
mod tests;
