use reticent_core::{Cause, Code, Coded, InvalidValue, LedgerError, Neighboring, Unpaid};
use thiserror::Error;

/// Why noise could not be calibrated or drawn.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum NoiseError {
    /// A parameter has no meaning; the message names it.
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
    /// The operating system gave no randomness.
    #[error("the operating system's random source failed: {0}")]
    Entropy(#[source] Cause),
    /// A plan was not charged; nothing was drawn.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// No permit covers this draw; the input was not looked at.
    #[error("{}", Unpaid)]
    Unpaid,
    /// A question under another neighbouring relation than everything is charged under.
    #[error("neighboring = {asked}: this session protects under {session}, so ask under that")]
    Relation {
        /// The session's.
        session: Neighboring,
        /// The question's.
        asked: Neighboring,
    },
}

impl From<Unpaid> for NoiseError {
    fn from(Unpaid: Unpaid) -> Self {
        Self::Unpaid
    }
}

impl NoiseError {
    /// Checks that a question is asked under the relation that is charged under, where there is one.
    pub(crate) fn check_relation(session: Option<Neighboring>, asked: Neighboring) -> Result<(), Self> {
        match session {
            Some(session) if session != asked => Err(Self::Relation { session, asked }),
            _ => Ok(()),
        }
    }

    /// Checks that an error to aim for is a positive number.
    pub(crate) fn check_error(error: f64) -> Result<(), Self> {
        if error.is_finite() && error > 0.0 {
            Ok(())
        } else {
            Err(Self::invalid("error", error, "give a finite number above 0"))
        }
    }

    /// Shorthand for an [`InvalidValue`] with a code of its own.
    pub(crate) fn coded(
        code: Code,
        field: &'static str,
        value: impl ToString,
        remedy: impl Into<String>,
    ) -> Self {
        InvalidValue::new(field, value, remedy).coded(code).into()
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
            Self::Ledger(error) => error.code(),
            Self::Unpaid => Code::Internal,
            Self::Relation { .. } => Code::Relation,
        }
    }
}
