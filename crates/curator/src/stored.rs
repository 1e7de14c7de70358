//! Models of either kind, read back from their folders.

use crate::folder::layout::MODEL_FILE;
use crate::folder::{CERTIFICATE_FILE, is_bound, is_network};
use crate::refusal::Refusal;
use crate::train::Computing;
use crate::{fit, train};
use reticent_accounting::{Verdict, verify as recompute};
use reticent_core::{Certificate, Code};
use std::fs;
use std::path::Path;

/// A model of either kind that was read back.
pub(crate) enum Stored {
    /// A linear model of a table.
    Linear(Box<fit::Stored>),
    /// A network.
    Network(Box<train::Stored>),
}

impl Stored {
    /// Reads the model of a folder. Only networks have a choice of what computes them.
    pub(crate) fn read(folder: &Path, computing: &Computing) -> Result<Self, Refusal> {
        Ok(match is_network(folder) {
            true => Self::Network(Box::new(train::Stored::read(folder, computing)?)),
            false => {
                let stored = fit::Stored::read(folder)?;
                computing.check_linear()?;
                Self::Linear(Box::new(stored))
            }
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

/// The certificate of the folder; none without privacy.
///
/// # Guarantee
/// That of the certificate. One whose events are known to cost more than it claims is not returned.
///
/// # Reference
/// [`reticent_accounting::verify()`].
///
/// # Errors
/// [`Refusal`] when the folder holds no finished model, its certificate cannot be read or is not the one of that model, or its
/// claim does not follow from its events.
pub fn read_certificate(folder: &Path) -> Result<Option<Certificate>, Refusal> {
    verify(folder)?;
    let path = folder.join(CERTIFICATE_FILE);
    let refuse = |why: String| Refusal::new(Code::Broken, format!("{}: {why}", path.display()));
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        // Killed before it was written: the model has it.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => match fit::stored_certificate(folder) {
            Some(certificate) => return verified(certificate, &folder.join(MODEL_FILE)),
            None => return Err(refuse(format!("cannot be read: {error}")).because(error)),
        },
        Err(error) => return Err(refuse(format!("cannot be read: {error}")).because(error)),
    };
    let certificate = serde_json::from_str(&text)
        .map_err(|error| refuse(format!("not a certificate: {error}")).because(error))?;
    verified(certificate, &path)
}

/// Whether a folder's model has a certificate that follows from its events, and that is bound to its files.
pub(crate) fn is_proven(folder: &Path) -> bool {
    let holds = |own: &Certificate| matches!(recompute(own), Ok(Verdict::Holds(_)));
    is_bound(folder) && matches!(read_certificate(folder), Ok(Some(own)) if holds(&own))
}

/// The certificate of a file, refused where its own events refute its claim.
pub(crate) fn verified(
    certificate: Option<Certificate>,
    file: &Path,
) -> Result<Option<Certificate>, Refusal> {
    let Some(own) = &certificate else { return Ok(None) };
    let refuse = |why: String| Err(Refusal::new(Code::Broken, format!("{}: {why}", file.display())));
    match recompute(own) {
        Ok(Verdict::Fails { delta }) => refuse(format!(
            "it claims {}, and at this epsilon its own events add up to a delta of at least {delta:.4e}: restore the file that was \
             written, or train again",
            own.guarantee
        )),
        Ok(_) => Ok(certificate),
        Err(error) => refuse(format!("its events cannot be composed: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::layout::DESCRIPTION_FILE;
    use reticent_core::Fact;

    const CLAIM: &str = r#"{"version":1,"unit":"row","neighboring":"add-remove","events":[{"repeated":{"count":100,"event":{"poisson_sampled":{"rate":0.01,"event":{"gaussian":{"noise_multiplier":1.0}}}}}}],"epsilon":EPSILON,"delta":1e-6,"accountant":"tight","public":["schema"]}"#;

    #[test]
    fn a_certificate_without_a_finished_model_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(CERTIFICATE_FILE), "null").unwrap();
        assert_eq!(read_certificate(folder.path()).unwrap_err().code(), Code::NoModel);
        fs::write(folder.path().join(DESCRIPTION_FILE), "").unwrap();
        assert_eq!(read_certificate(folder.path()).unwrap_err().code(), Code::NoModel);
    }

    #[test]
    fn a_certificate_that_its_events_refute_is_refused_with_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(CERTIFICATE_FILE);
        let read = |epsilon: &str| {
            verified(serde_json::from_str(&CLAIM.replace("EPSILON", epsilon)).unwrap(), &file)
        };
        assert_eq!(read("3.0").unwrap().unwrap().public, [Fact::Schema]);
        let refusal = read("0.001").unwrap_err();
        assert_eq!(refusal.code(), Code::Broken);
        let text = refusal.to_string();
        assert!(text.contains(CERTIFICATE_FILE) && text.contains("it claims ε = 0.001"), "{text}");
        assert_eq!(verified(None, &file).unwrap(), None);
    }
}
