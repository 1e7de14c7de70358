//! Digests that bind a model's files together.
//!
//! A model of format 2 names all files of its kind, so leaving one out of the list does not set it free. They find accidents and
//! edits by hand; they do not protect against someone who computes new digests.

use super::layout::{
    CERTIFICATE_FILE, DESCRIPTION_FILE, FIT_FILE, LEDGER_FILE, LINEAR_WEIGHTS_FILE, MODEL_FILE, ModelKind,
    NETWORK_WEIGHTS_FILE, OF_MODEL, RUN_FILE, SCHEMA_FILE, VOCABULARY_FILE,
};
use crate::refusal::Refusal;
use reticent_core::Code;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

/// The format of `model.json` from which on a model is bound to its files, and that of the ledger which such a folder has.
const BOUND: u32 = 2;

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

    /// Refuses a folder with a file other than the one that was stored with the model, and digests that do not name every file of
    /// such a model. `made` gives what a missing file would hold where `model.json` holds all of it.
    pub(crate) fn check(
        &self,
        folder: &Path,
        (kind, format): (ModelKind, u32),
        made: impl Fn(&str) -> Option<Vec<u8>>,
    ) -> Result<(), Refusal> {
        self.check_names(folder, kind, format)?;
        for (name, known) in &self.0 {
            let path = folder.join(name);
            let bytes = match fs::read(&path) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == ErrorKind::NotFound => match made(name) {
                    Some(bytes) => bytes,
                    // The request may be taken away, since it tells where the data lie; an audit cannot do without it.
                    None if is_request(name) => continue,
                    None => return Err(unreadable(&path, error)),
                },
                Err(error) => return Err(unreadable(&path, error)),
            };
            if digest(&bytes) != *known {
                let why = match name.as_str() {
                    LINEAR_WEIGHTS_FILE | NETWORK_WEIGHTS_FILE => {
                        "not the weights that the certificate covers"
                    }
                    CERTIFICATE_FILE => "not the certificate of these weights",
                    _ => "changed since the model was stored",
                };
                let text = format!("{}: {why}: restore it from a backup, or train again", path.display());
                return Err(Refusal::new(Code::Broken, text));
            }
        }
        Ok(())
    }

    /// Refuses digests that leave out a file, or name one that no model has.
    fn check_names(&self, folder: &Path, kind: ModelKind, format: u32) -> Result<(), Refusal> {
        let path = folder.join(MODEL_FILE);
        let refuse = |why: String| {
            let text = format!("{}: {why}: restore it from a backup, or train again", path.display());
            Err(Refusal::new(Code::Broken, text))
        };
        let (always, if_there): (&[&str], &[&str]) = match kind {
            ModelKind::Linear => (&[LINEAR_WEIGHTS_FILE, CERTIFICATE_FILE, SCHEMA_FILE, FIT_FILE], &[]),
            ModelKind::Network => (
                &[NETWORK_WEIGHTS_FILE, CERTIFICATE_FILE, DESCRIPTION_FILE, RUN_FILE],
                &[SCHEMA_FILE, VOCABULARY_FILE],
            ),
        };
        if let Some(other) = self.0.keys().find(|name| ![always, if_there].concat().contains(&name.as_str()))
        {
            return refuse(format!("{other:?} is not a file of such a model"));
        }
        if format < BOUND {
            return match format_of(&folder.join(LEDGER_FILE)) {
                Some(BOUND..) => refuse(format!("format {format} does not match its {LEDGER_FILE}")),
                _ => Ok(()),
            };
        }
        let there = if_there.iter().filter(|name| folder.join(name).exists());
        match always.iter().chain(there).find(|name| !self.0.contains_key(**name)) {
            Some(name) => refuse(format!("the digest of {name} is missing")),
            None => Ok(()),
        }
    }
}

/// Whether a file is the request behind a model.
fn is_request(name: &str) -> bool {
    [FIT_FILE, RUN_FILE].contains(&name)
}

/// The format of a file, the first where it states none; none where it is not there. One that is no JSON is not from before.
fn format_of(path: &Path) -> Option<u32> {
    #[derive(Deserialize)]
    struct Stated {
        #[serde(default = "first")]
        format: u32,
    }
    fn first() -> u32 {
        1
    }
    let bytes = fs::read(path).ok()?;
    Some(serde_json::from_slice::<Stated>(&bytes).map_or(BOUND, |stated| stated.format))
}

/// Whether the training of a folder's model began with a ledger of its request and a fingerprint of its data. A run from before
/// that went on since has a bound model, and its first ledger.
pub(crate) fn is_bound(folder: &Path) -> bool {
    let [model, ledger] = [MODEL_FILE, LEDGER_FILE].map(|name| format_of(&folder.join(name)));
    model.is_some_and(|format| format >= BOUND) && ledger.is_none_or(|format| format >= BOUND)
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

/// The same of a file of any size.
pub(crate) fn file_digest(path: &Path) -> Result<String, Refusal> {
    let mut file = fs::File::open(path).map_err(|error| unreadable(path, error))?;
    let (mut hash, mut piece) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut piece).map_err(|error| unreadable(path, error))? {
            0 => return Ok(format!("sha256:{}", hex(&hash.finalize()))),
            count => hash.update(&piece[..count]),
        }
    }
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
