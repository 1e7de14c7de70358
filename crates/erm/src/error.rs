use reticent_accounting::AccountingError;
use reticent_core::{Cause, Code, Coded, InvalidValue, Neighboring};
use reticent_files::FileError;
use reticent_noise::NoiseError;
use thiserror::Error;

/// Why a model could not be fitted, stored or read.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ErmError {
    /// A parameter has no meaning; the message names it.
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
    /// Noise could not be calibrated or drawn.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// The accountant refused.
    #[error(transparent)]
    Accounting(#[from] AccountingError),
    /// The arrays do not describe rows.
    #[error("the arrays do not describe rows: {0}")]
    Shape(String),
    /// One row breaks the contract of the proofs.
    #[error("row {row}: {why}")]
    Row {
        /// Its number, from 0.
        row: usize,
        /// What is wrong, and the remedy.
        why: String,
    },
    /// The theorem behind a method is about another neighbouring relation.
    #[error("{method} has no proof under {neighboring}: {remedy}")]
    Relation {
        /// The method.
        method: &'static str,
        /// The relation asked for.
        neighboring: Neighboring,
        /// What to do instead.
        remedy: &'static str,
    },
    /// A method does not give the kind of guarantee asked for.
    #[error("{method} cannot give this guarantee: {remedy}")]
    Kind {
        /// The method.
        method: &'static str,
        /// What to do instead.
        remedy: &'static str,
    },
    /// The solver stopped too far from the minimum for the guarantee to hold. No model is returned, and
    /// this message is not covered by any guarantee.
    #[error(
        "the solver reached a gradient of norm {reached:e}, the guarantee needs {needed:e}: raise the \
         regularisation; nothing was released"
    )]
    NotConverged {
        /// The certified gradient norm, of the sum of losses.
        reached: f64,
        /// What the method needs.
        needed: f64,
    },
    /// A non-private fit needs both classes.
    #[error("every label is {label}: give rows of both classes")]
    OneClass {
        /// The only label.
        label: f64,
    },
    /// A stored model is broken, or cannot be read or encoded.
    #[error("{file}: {why}")]
    File {
        /// The file as it was named.
        file: String,
        /// The reason.
        why: String,
        /// The error of the system or of a reader behind it, where there is one.
        #[source]
        cause: Option<Cause>,
    },
    /// A file of a model cannot be written.
    #[error(transparent)]
    Unwritten(#[from] FileError),
}

impl ErmError {
    /// Shorthand for an [`InvalidValue`].
    pub(crate) fn invalid(field: &'static str, value: impl ToString, remedy: impl Into<String>) -> Self {
        InvalidValue::new(field, value, remedy).into()
    }
}

impl Coded for ErmError {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(invalid) => invalid.code(),
            Self::Noise(error) => error.code(),
            Self::Accounting(error) => error.code(),
            Self::Shape(_) | Self::OneClass { .. } => Code::Misfit,
            Self::Row { .. } => Code::Row,
            Self::Relation { .. } => Code::Relation,
            Self::Kind { .. } => Code::Kind,
            Self::NotConverged { .. } => Code::NotConverged,
            Self::File { .. } => Code::Broken,
            Self::Unwritten(error) => error.code(),
        }
    }
}
