//! The folders of models and runs.

pub(crate) mod linear;
pub(crate) mod network;
pub(crate) mod request;

pub use network::{is_network, last_accuracy, read_certificate};

use crate::refusal::Refusal;
use reticent_core::Code;
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

/// The certificate in the folder of a model.
pub const CERTIFICATE_FILE: &str = "certificate.json";

/// Makes the folder of a request, with those above it, and takes it away again: to know before the work that it can be made.
pub(crate) fn can_be_made(folder: &Path) -> Result<(), Refusal> {
    fs::create_dir_all(folder).and_then(|()| fs::remove_dir(folder)).map_err(|error| {
        let remedy = format!("cannot be made: {error}");
        Refusal::value("out", folder.display(), remedy).coded(Code::Unwritable)
    })
}
