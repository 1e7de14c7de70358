//! The folders of models and runs: one layout, one lock, files that belong together.
//!
//! | file | what is in it |
//! |---|---|
//! | `layout` | the names of the files, and what a folder is by them |
//! | `writer` | the lock, the ledger and the order of writing |
//! | `seal` | digests that bind weights and certificate |
//! | `fingerprint` | whether data are the training data |
//! | `request` | what was asked for, and whether it is asked for again |
//! | `linear`, `network` | the two kinds of models |
//!
//! # The order of writing
//! The lock, then the ledger's first entry, then what is public of the request (schema, description, the request of a linear
//! model) and the private fingerprint of the data. Whoever is killed up to here leaves a *beginning*: nothing was drawn, and the next
//! training replaces it. Then the first draw. A network's `run.toml` is the first file that holds something drawn (the noisy number
//! of rows), and a run that has it goes on with `resume`. A linear model's `model.json` holds all that was drawn (weights, certificate),
//! and is whole or not there; its other files are made from it.
//!
//! # What belongs together
//! `model.json` holds the SHA-256 of the certificate, the weights and what gives them their meaning. Whoever reads a model
//! compares them ([`verify`]). Folders from before have none, and are read without.

mod fingerprint;
pub mod layout;
pub(crate) mod linear;
pub(crate) mod network;
pub(crate) mod request;
mod seal;
mod writer;

pub use layout::{CERTIFICATE_FILE, FINGERPRINT_FILE, Kind};
pub use network::{is_network, last_accuracy};
pub use seal::{digests, verify};

pub(crate) use fingerprint::{Content, Fingerprint, is_same, store as store_fingerprint};
pub(crate) use seal::digest;
pub(crate) use writer::Writer;

use crate::refusal::Refusal;
use reticent_core::{Certificate, Code};
use std::fs;
use std::path::Path;

/// A model of either kind that was read back.
pub(crate) enum Stored {
    /// From a table, by one set of weights a class.
    Linear(linear::Stored),
    /// By layers.
    Network(network::Stored),
}

impl Stored {
    /// Reads the model of a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, Refusal> {
        Ok(match is_network(folder) {
            true => Self::Network(network::Stored::read(folder)?),
            false => Self::Linear(linear::Stored::read(folder)?),
        })
    }
}

/// What is guaranteed for the folder; none without privacy.
///
/// # Errors
/// [`Refusal`] when the folder has no such thing, it cannot be read, or it is not the one of the model in the folder.
pub fn read_certificate(folder: &Path) -> Result<Option<Certificate>, Refusal> {
    verify(folder)?;
    let path = folder.join(CERTIFICATE_FILE);
    let refuse = |why: String| Refusal::new(Code::Broken, format!("{}: {why}", path.display()));
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        // Killed before it was written: the model has it.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => match linear::certificate(folder) {
            Some(certificate) => return Ok(certificate),
            None => return Err(refuse(format!("cannot be read: {error}"))),
        },
        Err(error) => return Err(refuse(format!("cannot be read: {error}"))),
    };
    serde_json::from_str(&text).map_err(|error| refuse(format!("not a certificate: {error}")))
}

/// A certificate as its file holds it.
fn certificate_text(certificate: Option<&Certificate>) -> Result<String, Refusal> {
    let text = serde_json::to_string_pretty(&certificate)
        .map_err(|error| Refusal::internal(format!("cannot write the certificate: {error}")))?;
    Ok(format!("{text}\n"))
}
