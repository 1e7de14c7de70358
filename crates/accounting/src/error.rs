use reticent_core::{Code, Coded, InvalidValue};
use thiserror::Error;

/// Why an account could not be given.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum AccountingError {
    /// A parameter has no meaning; the message names it.
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
    /// No finite ε exists at this δ, by any accountant: with a larger probability the events reveal everything.
    #[error(transparent)]
    Impossible(InvalidValue),
    /// The accountant has no valid bound for this event. Another may have one.
    #[error("{event} cannot be accounted by {accountant}: {why}")]
    Unsupported {
        /// The event's name on the wire.
        event: &'static str,
        /// The accountant.
        accountant: &'static str,
        /// The reason, and what to use instead.
        why: String,
    },
}

impl AccountingError {
    pub(crate) fn invalid(field: &'static str, value: impl ToString, remedy: impl Into<String>) -> Self {
        InvalidValue::new(field, value, remedy).into()
    }

    /// A δ below what the events reveal outright.
    pub(crate) fn impossible(delta: f64, revealed: f64) -> Self {
        Self::Impossible(InvalidValue::new(
            "delta",
            delta,
            format!(
                "give a larger delta: the events' own deltas already add up to {revealed:.4e}, so no epsilon is \
                 finite below it"
            ),
        ))
    }
}

impl Coded for AccountingError {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(invalid) | Self::Impossible(invalid) => invalid.code(),
            Self::Unsupported { .. } => Code::Unsupported,
        }
    }
}
