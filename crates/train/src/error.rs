use crate::gradients::GradientError;
use reticent_accounting::AccountingError;
use reticent_core::{Cause, Code, Coded, InvalidValue};
use reticent_data::toml::{Span, TomlError};
use reticent_files::FileError;
use reticent_noise::NoiseError;
use std::path::Path;
use thiserror::Error;

/// Why a network could not be built, trained, stored or read.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TrainError {
    /// A parameter has no meaning; the message names it.
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
    /// Noise could not be calibrated or drawn.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// The accountant has no answer.
    #[error(transparent)]
    Accounting(#[from] AccountingError),
    /// The arrays do not describe examples.
    #[error("the arrays do not describe examples: {0}")]
    Shape(String),
    /// One example does not fit the model.
    #[error("example {example}: {why}")]
    Example {
        /// Its number, from 0.
        example: usize,
        /// What is wrong, and the remedy.
        why: String,
    },
    /// A layer of a model description has no meaning, or no private gradient.
    #[error("layer {layer}: {why}")]
    Layer {
        /// Its place and kind, such as `2 (conv2d)`.
        layer: String,
        /// What is wrong, and the remedy.
        why: String,
    },
    /// A description in TOML cannot be read.
    #[error(transparent)]
    Toml(Box<TomlError>),
    /// A description in TOML can be read, and means nothing.
    #[error("{file}:{}: {error}", .place.line)]
    Described {
        /// The file as it was named.
        file: String,
        /// What it is about.
        place: Box<Span>,
        /// What is wrong.
        #[source]
        error: Box<TrainError>,
    },
    /// A model handed over gradients that do not fit.
    #[error(transparent)]
    Gradient(#[from] GradientError),
    /// A model or an engine cannot show what was asked for.
    #[error("{what} cannot be inspected here: {why}")]
    Unsupported {
        /// What was asked for.
        what: &'static str,
        /// Why not, and what to do instead.
        why: String,
    },
    /// The device that computes gave no result.
    #[error("the device failed: {0}")]
    Device(String),
    /// The device has no room; the message says what to do.
    #[error("{0}")]
    Memory(String),
    /// All steps of the plan are counted: another one would exceed the budget.
    #[error("all {steps} steps that the plan allows are counted: the training is finished")]
    Finished {
        /// The plan's number of steps.
        steps: u64,
    },
    /// A run is resumed with something other than what it was begun with.
    #[error(
        "the run was begun with another {what}: {was} then, {is} now; resume with what it was begun with"
    )]
    Changed {
        /// What differs: a field of the plan, the recipe or the model.
        what: String,
        /// As stored.
        was: String,
        /// As given.
        is: String,
    },
    /// A stored model, run or checkpoint is broken, or not what is needed.
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
    /// A file of a model, run or checkpoint cannot be written.
    #[error("{error}{kept}")]
    Unwritten {
        /// Why, with the file.
        #[source]
        error: FileError,
        /// What is as it was before; empty where there is nothing to say.
        kept: &'static str,
    },
}

impl TrainError {
    /// A file that is broken, or not what is needed.
    pub fn file(path: &Path, why: impl Into<String>) -> Self {
        Self::File { file: path.display().to_string(), why: why.into(), cause: None }
    }

    /// The same error, with the one behind it.
    pub(crate) fn because(self, error: impl std::error::Error + Send + Sync + 'static) -> Self {
        match self {
            Self::File { file, why, .. } => Self::File { file, why, cause: Some(Cause::new(error)) },
            other => other,
        }
    }

    /// Shorthand for an [`InvalidValue`].
    pub(crate) fn invalid(field: &'static str, value: impl ToString, remedy: impl Into<String>) -> Self {
        InvalidValue::new(field, value, remedy).into()
    }
}

impl From<FileError> for TrainError {
    fn from(error: FileError) -> Self {
        Self::Unwritten { error, kept: "" }
    }
}

impl Coded for TrainError {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(invalid) => invalid.code(),
            Self::Noise(error) => error.code(),
            Self::Accounting(error) => error.code(),
            Self::Toml(error) => error.code(),
            Self::Described { error, .. } => match **error {
                Self::Layer { .. } => Code::Layer,
                _ => Code::TomlValue,
            },
            Self::Shape(_) | Self::Example { .. } | Self::Gradient(_) | Self::Unsupported { .. } => {
                Code::Misfit
            }
            Self::Layer { .. } => Code::Layer,
            Self::Device(_) | Self::Memory(_) => Code::Device,
            Self::Finished { .. } => Code::Spent,
            Self::Changed { .. } => Code::Changed,
            Self::File { .. } => Code::Broken,
            Self::Unwritten { error, .. } => error.code(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn a_file_that_cannot_be_written_is_not_a_broken_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("no folder").join("weights");
        let error = reticent_files::write_atomic(&path, b"x").unwrap_err();
        let text = error.to_string();
        let error = TrainError::Unwritten { error, kept: "; the last one is kept" };
        assert_eq!(error.to_string(), format!("{text}; the last one is kept"));
        let data = error.source().and_then(|source| source.downcast_ref::<FileError>()).unwrap();
        assert_eq!(error.code(), data.code());
        assert_ne!(error.code(), Code::Broken);
        let system = data.source().and_then(|source| source.downcast_ref::<std::io::Error>()).unwrap();
        assert_eq!(system.kind(), std::io::ErrorKind::NotFound);
    }

    #[test]
    fn the_error_behind_another_is_its_source() {
        let inner = TrainError::invalid("clip", 0, "give more");
        let place = Box::new(Span::of("clip = 0", 7..8));
        let described =
            TrainError::Described { file: "model.toml".to_owned(), place, error: Box::new(inner) };
        assert!(described.source().unwrap().to_string().starts_with("clip = 0"));
        assert!(TrainError::file(Path::new("a"), "odd").source().is_none());
        let read = TrainError::file(Path::new("a"), "odd").because(std::io::Error::other("disk"));
        assert_eq!((read.source().unwrap().to_string(), read.code()), ("disk".to_owned(), Code::Broken));
    }
}
