use reticent_core::InvalidValue;
use thiserror::Error;

/// Why an account could not be given.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum AccountingError {
    /// A parameter has no meaning; the message names it.
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
    /// The accountant has no valid bound for this event.
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
}
