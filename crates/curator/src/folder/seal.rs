//! Digests that bind a model's files together.

use super::layout::{
    CERTIFICATE_FILE, Kind, LINEAR_WEIGHTS_FILE, MODEL_FILE, NETWORK_WEIGHTS_FILE, OF_MODEL,
};
use crate::refusal::Refusal;
use reticent_core::Code;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The digests of the files that belong to a model, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Seal(BTreeMap<String, String>);

impl Seal {
    /// Adds what a file will hold.
    pub(crate) fn add(&mut self, name: &str, bytes: &[u8]) {
        self.0.insert(name.to_owned(), digest(bytes));
    }

    /// Adds a file that is there.
    pub(crate) fn add_file(&mut self, folder: &Path, name: &str) -> Result<(), Refusal> {
        self.add(name, &read(&folder.join(name))?);
        Ok(())
    }

    /// Refuses a folder with a file other than the one that was stored with the model. A file of a linear model may be
    /// missing where the model's own file holds all of it.
    pub(crate) fn check(&self, folder: &Path, kind: Kind) -> Result<(), Refusal> {
        for (name, known) in &self.0 {
            // A name with a way in it was not written here.
            if name.contains(['/', '\\']) {
                continue;
            }
            let path = folder.join(name);
            let bytes = match fs::read(&path) {
                Ok(bytes) => bytes,
                Err(error)
                    if error.kind() == ErrorKind::NotFound && kind == Kind::Linear && is_derived(name) =>
                {
                    continue;
                }
                Err(error) => return Err(unreadable(&path, error)),
            };
            if digest(&bytes) != *known {
                let why = match name.as_str() {
                    LINEAR_WEIGHTS_FILE | NETWORK_WEIGHTS_FILE => {
                        "the weights are not those that the certificate speaks for"
                    }
                    CERTIFICATE_FILE => "not the certificate that was written for these weights",
                    _ => "changed since the model was stored",
                };
                let text = format!("{}: {why}: restore it from a copy, or train again", path.display());
                return Err(Refusal::new(Code::Broken, text));
            }
        }
        Ok(())
    }
}

/// Whether a file of a linear model can be made from its `model.json`, which is written before it.
fn is_derived(name: &str) -> bool {
    [LINEAR_WEIGHTS_FILE, CERTIFICATE_FILE].contains(&name)
}

/// Of `model.json`, what binds it to other files.
#[derive(Deserialize)]
struct Sealed {
    kind: Option<Kind>,
    #[serde(default)]
    digests: Seal,
}

/// Refuses a folder whose files are not those that were stored with its model. One that has no model yet, or one from before
/// models were bound to their files, is let through.
///
/// # Errors
/// [`Refusal`] with [`Code::Broken`], naming the file.
pub fn verify(folder: &Path) -> Result<(), Refusal> {
    let path = folder.join(MODEL_FILE);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unreadable(&path, error)),
    };
    let sealed: Sealed = serde_json::from_slice(&bytes).map_err(|error| {
        Refusal::new(Code::Broken, format!("{}: not a model: {error}", path.display())).because(error)
    })?;
    sealed.digests.check(folder, sealed.kind.unwrap_or(Kind::Linear))
}

/// The digests (SHA-256) of the files of a model that are there and that its certificate speaks for, in the order of a report.
///
/// # Errors
/// [`Refusal`] when a file cannot be read.
pub fn digests(folder: &Path) -> Result<Vec<(&'static str, String)>, Refusal> {
    let there = OF_MODEL.iter().filter(|name| folder.join(name).is_file());
    there.map(|name| Ok((*name, digest(&read(&folder.join(name))?)))).collect()
}

/// The SHA-256 of bytes, as reports state it.
pub(crate) fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", hex(&Sha256::digest(bytes)))
}

/// Bytes as digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read(path: &Path) -> Result<Vec<u8>, Refusal> {
    fs::read(path).map_err(|error| unreadable(path, error))
}

fn unreadable(path: &Path, error: std::io::Error) -> Refusal {
    let code = if error.kind() == ErrorKind::NotFound { Code::Broken } else { Code::Unreadable };
    Refusal::new(code, format!("{}: cannot be read: {error}", path.display())).because(error)
}
