use crate::event::ReadProblem;
use crate::{Code, Coded, Unpaid};
use std::error::Error as StdError;
use std::ops::Deref;
use std::sync::Arc;
use std::{fmt, io};
use thiserror::Error;

/// A value that cannot mean what its field says.
///
/// Displays as one line that names the field, the value and the remedy.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{field} = {value}: {remedy}")]
pub struct InvalidValue {
    /// The field as the caller knows it, e.g. `delta`.
    pub field: &'static str,
    /// The offending value as text.
    pub value: String,
    /// What a valid value looks like.
    pub remedy: String,
    code: Code,
}

impl InvalidValue {
    /// Reports `value` as invalid for `field`, with what would be valid: a value outside its range, unless
    /// [`coded`](Self::coded) otherwise.
    pub fn new(field: &'static str, value: impl ToString, remedy: impl Into<String>) -> Self {
        Self { field, value: value.to_string(), remedy: remedy.into(), code: Code::Range }
    }

    /// The same value as another kind of mistake.
    pub fn coded(self, code: Code) -> Self {
        Self { code, ..self }
    }
}

impl Coded for InvalidValue {
    fn code(&self) -> Code {
        self.code
    }
}

impl Coded for Unpaid {
    fn code(&self) -> Code {
        Code::Internal
    }
}

impl Coded for ReadProblem {
    fn code(&self) -> Code {
        Code::Json
    }
}

/// An error of the system or of another library behind one of ours, for [`source`](StdError::source). It can be copied, and it
/// is compared by its words.
#[derive(Debug, Clone)]
pub struct Cause(Arc<dyn StdError + Send + Sync>);

impl Cause {
    /// This error.
    pub fn new(error: impl StdError + Send + Sync + 'static) -> Self {
        Self(Arc::new(error))
    }

    /// A copy of a system error that is kept elsewhere: the same kind and the same text.
    pub fn of_system(error: &io::Error) -> Self {
        Self::new(match error.raw_os_error() {
            Some(number) => io::Error::from_raw_os_error(number),
            None => io::Error::new(error.kind(), error.to_string()),
        })
    }
}

impl Deref for Cause {
    type Target = dyn StdError + Send + Sync;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Cause {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_keeps_the_kind_of_its_error() {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        for cause in [Cause::new(missing()), Cause::of_system(&missing())] {
            let error = cause.downcast_ref::<io::Error>().unwrap();
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
            assert_eq!(cause.to_string(), missing().to_string());
            assert_eq!(cause, Cause::new(missing()));
        }
        assert_ne!(Cause::new(missing()), Cause::new(io::Error::other("full")));
    }

    #[test]
    fn a_value_has_the_code_that_its_maker_gives_it() {
        let invalid = InvalidValue::new("bounds", 1, "give two");
        assert_eq!(invalid.code(), Code::Range);
        assert_eq!(invalid.coded(Code::Bounds).code(), Code::Bounds);
    }

    #[test]
    fn errors_without_fields_have_codes() {
        assert_eq!(Unpaid.code(), Code::Internal);
        assert_eq!(crate::event::read("[{}]").unwrap_err().code(), Code::Json);
    }
}
