//! The folders of models and runs: one layout, one lock, files that belong together.
//!
//! | file | what is in it |
//! |---|---|
//! | `layout` | the names of the files, and what a folder is by them |
//! | `writer` | the lock, the ledger and the order of writing |
//! | `seal` | digests that bind weights and certificate |
//! | `fingerprint` | whether data are the training data |
//!
//! Which files a linear model and a network have in them is written in `fit::stored` and `train::stored`.
//!
//! # The order of writing
//! The lock, then the ledger's first entry, then what is public of the request (schema, description, the request of a linear
//! model) and the private fingerprint of the data. A process that is killed up to here leaves a *beginning*: nothing was drawn, and the next
//! training replaces it. Then the first draw. A network's `run.toml` is the first file that holds something drawn (the noisy number
//! of rows), and a run that has it can be continued with `resume`. A linear model's `model.json` holds all that was drawn (weights, certificate),
//! and is whole or not there; its other files are made from it.
//!
//! # What belongs together
//! `model.json` holds the SHA-256 of the certificate, the weights, what gives them their meaning, and the request that an audit
//! repeats. Every reader of a model compares them ([`verify`](crate::stored::verify)). Models of format 1 have none, and are read
//! without.

mod fingerprint;
pub mod layout;
mod seal;
mod writer;

pub use layout::{CERTIFICATE_FILE, FINGERPRINT_FILE, ModelKind, is_network};
pub use seal::digests;

pub(crate) use fingerprint::{Content, Divided, Fingerprint, Key, is_same, store as store_fingerprint};
pub(crate) use layout::{whole, whole_pattern, whole_reading};
pub(crate) use seal::{Seal, digest, file_digest, is_bound};
pub(crate) use writer::Writer;

use crate::refusal::Refusal;
use reticent_core::Certificate;

/// A certificate as its file holds it.
pub(crate) fn certificate_text(certificate: Option<&Certificate>) -> Result<String, Refusal> {
    let text = serde_json::to_string_pretty(&certificate)
        .map_err(|error| Refusal::internal(format!("cannot write the certificate: {error}")))?;
    Ok(format!("{text}\n"))
}
