//! Models of either kind, read back from their folders.

use crate::folder::{CERTIFICATE_FILE, is_network};
use crate::refusal::Refusal;
use crate::{fit, train};
use reticent_core::{Certificate, Code};
use std::fs;
use std::path::Path;

/// A model of either kind that was read back.
pub(crate) enum Stored {
    /// From a table, by one set of weights a class.
    Linear(fit::Stored),
    /// By layers.
    Network(train::Stored),
}

impl Stored {
    /// Reads the model of a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, Refusal> {
        Ok(match is_network(folder) {
            true => Self::Network(train::Stored::read(folder)?),
            false => Self::Linear(fit::Stored::read(folder)?),
        })
    }
}

/// Refuses a folder that holds no finished model, and one whose files are not those that were stored with it. Models of format 1
/// are bound to no files, and are let through.
///
/// # Errors
/// [`Refusal`] with [`Code::NoModel`], or with [`Code::Broken`] and the name of the file.
pub fn verify(folder: &Path) -> Result<(), Refusal> {
    match is_network(folder) {
        true => train::verify(folder),
        false => fit::verify(folder),
    }
}

/// What is guaranteed for the folder; none without privacy.
///
/// # Errors
/// [`Refusal`] when the folder holds no finished model, or its certificate cannot be read or is not the one of that model.
pub fn read_certificate(folder: &Path) -> Result<Option<Certificate>, Refusal> {
    verify(folder)?;
    let path = folder.join(CERTIFICATE_FILE);
    let refuse = |why: String| Refusal::new(Code::Broken, format!("{}: {why}", path.display()));
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        // Killed before it was written: the model has it.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => match fit::stored_certificate(folder) {
            Some(certificate) => return Ok(certificate),
            None => return Err(refuse(format!("cannot be read: {error}")).because(error)),
        },
        Err(error) => return Err(refuse(format!("cannot be read: {error}")).because(error)),
    };
    serde_json::from_str(&text).map_err(|error| refuse(format!("not a certificate: {error}")).because(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::layout::DESCRIPTION_FILE;

    #[test]
    fn a_certificate_without_a_finished_model_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(CERTIFICATE_FILE), "null").unwrap();
        assert_eq!(read_certificate(folder.path()).unwrap_err().code(), Code::NoModel);
        fs::write(folder.path().join(DESCRIPTION_FILE), "").unwrap();
        assert_eq!(read_certificate(folder.path()).unwrap_err().code(), Code::NoModel);
    }
}
