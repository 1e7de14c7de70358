//! The files of a model's or run's folder, and the state of a folder by its files.

pub use crate::file::MODEL_FILE;
use crate::refusal::Refusal;
use reticent_core::Code;
use reticent_data::Reading;
use reticent_files::temporary_of;
use reticent_train::RunLock;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf, absolute};

pub use reticent_train::checkpoint::{CHECKPOINT_FILE, LEDGER_FILE, LOCK_FILE};

/// The certificate of everything in the folder except [`FINGERPRINT_FILE`].
pub const CERTIFICATE_FILE: &str = "certificate.json";
/// The weights of a linear model.
pub const LINEAR_WEIGHTS_FILE: &str = "weights.safetensors";
/// The weights of a network.
pub const NETWORK_WEIGHTS_FILE: &str = "model.safetensors";
/// The layers of a network.
pub const DESCRIPTION_FILE: &str = "model.toml";
/// The public schema of the table.
pub const SCHEMA_FILE: &str = "schema.toml";
/// The tokens of a network that reads texts.
pub const VOCABULARY_FILE: &str = "vocabulary.txt";
/// The request behind a linear model.
pub const FIT_FILE: &str = "run.json";
/// The request behind a network.
pub const RUN_FILE: &str = "run.toml";
/// The metrics of a network's training.
pub const METRICS_FILE: &str = "metrics.jsonl";
/// The score of a network on held-out units, which the certificate covers.
pub const HELD_OUT_FILE: &str = "held-out.json";
/// The scores of a network on held-out units during its training, which the certificate covers.
pub const EVALUATIONS_FILE: &str = "evaluations.json";
/// What a search chose, and how; a folder that has it holds the best of its trials.
pub const TUNED_FILE: &str = "tuned.json";
/// The folder with the weights after rounds of a federated run, which the certificate covers.
pub const SNAPSHOTS: &str = "snapshots";
/// A keyed digest of the training data, with its key: private, not covered by the certificate, and to be removed from a folder that is
/// shared.
pub const FINGERPRINT_FILE: &str = "fingerprint.json";

/// The files whose digests a report states, in its order.
pub(crate) const OF_MODEL: &[&str] = &[
    CERTIFICATE_FILE,
    NETWORK_WEIGHTS_FILE,
    LINEAR_WEIGHTS_FILE,
    MODEL_FILE,
    DESCRIPTION_FILE,
    SCHEMA_FILE,
    RUN_FILE,
    FIT_FILE,
];

/// The files that may exist before anything is drawn.
const OF_BEGINNING: &[&str] =
    &[LOCK_FILE, LEDGER_FILE, SCHEMA_FILE, VOCABULARY_FILE, DESCRIPTION_FILE, FIT_FILE, FINGERPRINT_FILE];

/// All files whose temporary names are swept.
pub(crate) const ALL: &[&str] = &[
    LOCK_FILE,
    LEDGER_FILE,
    CHECKPOINT_FILE,
    CERTIFICATE_FILE,
    MODEL_FILE,
    LINEAR_WEIGHTS_FILE,
    NETWORK_WEIGHTS_FILE,
    DESCRIPTION_FILE,
    SCHEMA_FILE,
    VOCABULARY_FILE,
    FIT_FILE,
    RUN_FILE,
    METRICS_FILE,
    HELD_OUT_FILE,
    EVALUATIONS_FILE,
    TUNED_FILE,
    FINGERPRINT_FILE,
];

/// The kinds of models that a folder can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelKind {
    /// A linear model.
    Linear,
    /// A network.
    Network,
}

/// Whether a folder is one of a network, finished or not.
pub fn is_network(folder: &Path) -> bool {
    folder.join(DESCRIPTION_FILE).is_file()
}

/// A path from the root; the name of a dataset stays a name.
pub(crate) fn whole(path: Option<&Path>) -> Option<PathBuf> {
    path.map(|path| match path.exists() {
        true => absolute(path).unwrap_or_else(|_| path.to_owned()),
        false => path.to_owned(),
    })
}

/// As [`whole`]; a glob leads to where it led, too.
pub(crate) fn whole_pattern(path: Option<&Path>) -> Option<PathBuf> {
    path.map(|path| match path.to_str() {
        Some(text) if text.contains(['*', '?', '[']) => absolute(path).unwrap_or_else(|_| path.to_owned()),
        _ => whole(Some(path)).unwrap_or_else(|| path.to_owned()),
    })
}

/// The same reading, with the paths of further files from the root.
pub(crate) fn whole_reading(reading: &Reading) -> Reading {
    let also = reading.also.iter().filter_map(|path| whole_pattern(Some(path))).collect();
    Reading { also, ..reading.clone() }
}

/// Whether nothing has been drawn for what is in a folder: it holds at most what is written before the first draw by a process
/// that was killed, and its ledger states no terms of a run.
pub(crate) fn is_beginning(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let mut has_lock = false;
    for entry in entries {
        let Ok(entry) = entry else { return false };
        let (name, is_file) = (entry.file_name(), entry.file_type().is_ok_and(|kind| kind.is_file()));
        let Some(name) = name.to_str().filter(|_| is_file) else { return false };
        let known = temporary_of(name).map_or(OF_BEGINNING, |_| ALL);
        if !known.contains(&temporary_of(name).unwrap_or(name)) {
            return false;
        }
        has_lock |= name == LOCK_FILE;
    }
    has_lock && !has_run(folder)
}

/// Whether the ledger of a folder may hold the terms of a run: then steps may have been taken.
fn has_run(folder: &Path) -> bool {
    #[derive(Deserialize)]
    struct Ledger {
        run: Option<IgnoredAny>,
    }
    match fs::read(folder.join(LEDGER_FILE)) {
        Ok(bytes) => serde_json::from_slice::<Ledger>(&bytes).map_or(true, |ledger| ledger.run.is_some()),
        Err(error) => error.kind() != ErrorKind::NotFound,
    }
}

/// Takes away what an earlier beginning left.
pub(crate) fn clear_beginning(run_lock: &RunLock) -> Result<(), Refusal> {
    let folder = run_lock.folder();
    for name in OF_BEGINNING.iter().filter(|name| ![LOCK_FILE, LEDGER_FILE].contains(name)) {
        let path = folder.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                let text = format!("{}: cannot be replaced: {error}", path.display());
                return Err(Refusal::new(Code::Unwritable, text));
            }
            _ => {}
        }
    }
    sweep(folder);
    Ok(())
}

/// Takes away what killed writers left under temporary names.
pub(crate) fn sweep(folder: &Path) {
    ALL.iter().for_each(|name| reticent_files::sweep(&folder.join(name)));
}

/// Refuses a place where nothing of this kind can begin.
pub(crate) fn check_new(folder: &Path, kind: ModelKind) -> Result<(), Refusal> {
    let refuse = |code: Code, remedy: &str| Err(Refusal::value("out", folder.display(), remedy).coded(code));
    let has = |name: &str| folder.join(name).is_file();
    match fs::read_dir(folder).map(|mut entries| entries.next().is_some()) {
        Ok(false) => Ok(()),
        Ok(true) if is_beginning(folder) => Ok(()),
        Ok(true) => match kind {
            ModelKind::Linear if has(MODEL_FILE) => refuse(
                Code::Taken,
                "the folder contains a model, whose certificate and audits would be lost: give a new folder",
            ),
            _ if has_run(folder) && !has(RUN_FILE) => refuse(
                Code::Taken,
                "the folder contains a run without its run.toml: restore the file from a backup and continue with ⟦resume⟧, or give a new folder",
            ),
            ModelKind::Linear => refuse(Code::Taken, "the folder contains other files: give a new one"),
            ModelKind::Network if has(RUN_FILE) && !has(LEDGER_FILE) => refuse(
                Code::Taken,
                "the folder contains a run without its ledger.json, which cannot be resumed: remove the folder, or give a new one",
            ),
            ModelKind::Network if has(RUN_FILE) => refuse(
                Code::Taken,
                "the folder contains a run: continue it with ⟦resume⟧, or give a new folder",
            ),
            ModelKind::Network => refuse(Code::Taken, "the folder is not empty: give a new one"),
        },
        Err(_) if folder.exists() => refuse(Code::Taken, "not a folder: give a new one"),
        Err(_) => can_be_made(folder),
    }
}

/// Makes the folder of a request, with those above it, and takes it away again: to know before the work that it can be made.
fn can_be_made(folder: &Path) -> Result<(), Refusal> {
    let missing = missing(folder);
    let made = fs::create_dir_all(folder);
    remove_empty(&missing);
    made.map_err(|error| {
        let remedy = format!("cannot be created: {error}");
        Refusal::value("out", folder.display(), remedy).coded(Code::Unwritable)
    })
}

/// The folders of a path that are not there yet, the innermost first.
pub(crate) fn missing(folder: &Path) -> Vec<PathBuf> {
    let above = folder.ancestors().filter(|above| !above.as_os_str().is_empty());
    above.take_while(|above| !above.exists()).map(Path::to_owned).collect()
}

/// Takes away folders that were made in vain, the innermost first. Another process may have begun in one meanwhile: then it stays,
/// with those above it.
pub(crate) fn remove_empty(folders: &[PathBuf]) {
    let _ = folders.iter().try_for_each(fs::remove_dir);
}
