use crate::learner::ArtifactPart;
use reticent_audit::AuditError;
use reticent_core::{Code, Coded, InvalidValue};
use reticent_data::DataError;
use reticent_erm::ErmError;
use reticent_files::FileError;
use reticent_noise::NoiseError;
use reticent_train::TrainError;
use std::io;
use thiserror::Error;

/// Why an attack failed.
#[derive(Debug, Error)]
pub enum AttackError {
    /// A setting or a column without meaning; the message names it.
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
    /// A network could not be trained or queried.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A linear model could not be fitted or queried.
    #[error(transparent)]
    Erm(#[from] ErmError),
    /// What models said cannot be studied.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// A file or a table.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The operating system gives no randomness.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// A learner cannot give what is wanted of its models.
    #[error("the learner of {learner} does not give {part}: leave them out")]
    NotOffered {
        /// What was wanted.
        part: ArtifactPart,
        /// The kind of its models.
        learner: &'static str,
    },
    /// One reference could not be trained.
    #[error("reference {index}: {error}")]
    Reference {
        /// Its number, from 0.
        index: usize,
        /// Why.
        #[source]
        error: Box<AttackError>,
    },
    /// References are asked for that have not been trained, or whose files are broken.
    #[error("{} of {of} references are missing ({}): fit them first{}", .indices.len(), list(.indices), unusable(.broken))]
    Missing {
        /// Their numbers, from 0.
        indices: Vec<usize>,
        /// How many there should be.
        of: usize,
        /// What is wrong with the files that are there.
        broken: Vec<String>,
    },
    /// The work was asked to stop. What was finished is kept.
    #[error("interrupted: what was finished is kept, and the same call goes on from there")]
    Interrupted,
    /// The system gives no thread.
    #[error("no thread could be started: {0}; ask for fewer")]
    Thread(#[source] io::Error),
}

impl AttackError {
    /// A value that cannot mean what its field says.
    pub(crate) fn invalid(field: &'static str, value: impl ToString, remedy: impl Into<String>) -> Self {
        Self::Invalid(InvalidValue::new(field, value, remedy))
    }

    /// A model or a target that these attacks are not about.
    pub(crate) fn premise(field: &'static str, value: impl ToString, remedy: impl Into<String>) -> Self {
        Self::Invalid(InvalidValue::new(field, value, remedy).coded(Code::Premise))
    }
}

/// The first few numbers.
fn list(indices: &[usize]) -> String {
    const MOST: usize = 20;
    let shown: Vec<String> = indices.iter().take(MOST).map(ToString::to_string).collect();
    let more = if indices.len() > MOST { ", ..." } else { "" };
    format!("{}{more}", shown.join(", "))
}

fn unusable(broken: &[String]) -> String {
    match broken.first() {
        None => String::new(),
        Some(first) => format!("; {} of them are there but cannot be used: {first}", broken.len()),
    }
}

impl Coded for AttackError {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(invalid) => invalid.code(),
            Self::Train(error) => error.code(),
            Self::Erm(error) => error.code(),
            Self::Audit(error) => error.code(),
            Self::Data(error) => error.code(),
            Self::File(error) => error.code(),
            Self::Noise(error) => error.code(),
            Self::Reference { error, .. } => error.code(),
            Self::NotOffered { .. } => Code::Premise,
            // What was not finished is not trained.
            Self::Missing { .. } | Self::Interrupted => Code::References,
            Self::Thread(_) => Code::Thread,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn codes_and_sources_are_those_of_their_makers() {
        // A request to stop is not a defect.
        assert_eq!(AttackError::Interrupted.code(), Code::References);
        assert_eq!(AttackError::premise("kind", "none", "give one").code(), Code::Premise);
        assert_eq!(AttackError::invalid("label", "none", "give one").code(), Code::Range);
        let thread = AttackError::Thread(io::Error::from(io::ErrorKind::WouldBlock));
        let reference = AttackError::Reference { index: 1, error: Box::new(thread) };
        let system = reference.source().unwrap().source().unwrap();
        assert!(system.downcast_ref::<io::Error>().is_some());
    }
}
