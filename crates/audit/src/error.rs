use reticent_accounting::AccountingError;
use reticent_core::{Code, Coded, InvalidValue};
use reticent_data::DataError;
use thiserror::Error;

/// Why an audit failed.
#[derive(Debug, Error)]
pub enum AuditError {
    /// A setting or a column without meaning.
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
    /// The records cannot answer this question; nothing is wrong with the settings.
    #[error("not measurable: {0}")]
    NotMeasurable(String),
    /// A file or a table.
    #[error(transparent)]
    Data(#[from] DataError),
    /// What the accountant refuses.
    #[error(transparent)]
    Accounting(#[from] AccountingError),
}

impl AuditError {
    /// A column of scores, memberships or outputs without meaning.
    pub fn invalid(field: &'static str, value: impl ToString, remedy: impl Into<String>) -> Self {
        Self::Invalid(InvalidValue::new(field, value, remedy).coded(Code::Scores))
    }

    /// A setting outside its range.
    pub fn setting(field: &'static str, value: impl ToString, remedy: impl Into<String>) -> Self {
        Self::Invalid(InvalidValue::new(field, value, remedy))
    }

    /// Attacks that are not about such records.
    pub fn premise(field: &'static str, value: impl ToString, remedy: impl Into<String>) -> Self {
        Self::Invalid(InvalidValue::new(field, value, remedy).coded(Code::Premise))
    }

    /// A question that these records cannot answer.
    pub fn not_measurable(reason: impl Into<String>) -> Self {
        Self::NotMeasurable(reason.into())
    }
}

impl Coded for AuditError {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(invalid) => invalid.code(),
            Self::NotMeasurable(_) => Code::NotMeasurable,
            Self::Data(error) => error.code(),
            Self::Accounting(error) => error.code(),
        }
    }
}
