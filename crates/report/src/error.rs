use reticent_core::{Code, Coded, InvalidValue};
use thiserror::Error;

/// Why a report cannot be read.
#[derive(Debug, Error)]
pub enum ReportError {
    /// The text is not JSON, or a field is missing or has another type.
    #[error("not a report: {0}")]
    Json(#[from] serde_json::Error),
    /// The text is JSON of another layout.
    #[error(
        "schema = {found}: this version reads {expected}; write the report again, or use the version that wrote it"
    )]
    Schema {
        /// The schema that the text names.
        found: String,
        /// The schema that can be read.
        expected: &'static str,
    },
    /// A declared value out of range.
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
}

impl Coded for ReportError {
    fn code(&self) -> Code {
        match self {
            Self::Json(_) | Self::Schema { .. } => Code::Json,
            Self::Invalid(invalid) => invalid.code(),
        }
    }
}
