use reticent_core::{Code, Coded, InvalidValue};
use thiserror::Error;

/// Why noise could not be calibrated or drawn.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum NoiseError {
    /// A parameter has no meaning; the message names it.
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
    /// The operating system gave no randomness.
    #[error("the operating system's random source failed: {0}")]
    Entropy(String),
}

impl NoiseError {
    /// Checks that an error to aim for is a positive number.
    pub(crate) fn check_error(error: f64) -> Result<(), Self> {
        if error.is_finite() && error > 0.0 {
            Ok(())
        } else {
            Err(Self::invalid("error", error, "give a finite number above 0"))
        }
    }

    /// Shorthand for an [`InvalidValue`].
    pub(crate) fn invalid(field: &'static str, value: impl ToString, remedy: impl Into<String>) -> Self {
        InvalidValue::new(field, value, remedy).into()
    }
}

impl Coded for NoiseError {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(invalid) => invalid.code(),
            Self::Entropy(_) => Code::Entropy,
        }
    }
}
