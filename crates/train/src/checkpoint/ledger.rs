//! How many steps may have been seen.

use super::{CHECKPOINT_FILE, LEDGER_FILE, LOCK_FILE, Stored, read, write};
use crate::TrainError;
use crate::trainer::StopCause;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

/// The ledger of a run, locked by this process.
pub(crate) struct Ledger {
    folder: PathBuf,
    entry: Entry,
    _lock: File,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    format: u32,
    /// Everything that must not change.
    run: Stored,
    /// Steps that may have influenced something that was seen.
    counted: u64,
    /// Why the run ended before its last step; not there while it may go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stopped: Option<StopCause>,
}

const FORMAT: u32 = 1;

impl Ledger {
    /// A ledger for a new run in this folder, which is made if it is not there.
    pub(crate) fn begin(folder: &Path, run: Stored) -> Result<Self, TrainError> {
        std::fs::create_dir_all(folder)
            .map_err(|error| refused(folder, format!("cannot be made: {error}")))?;
        let lock = lock(folder)?;
        if folder.join(LEDGER_FILE).exists() || folder.join(CHECKPOINT_FILE).exists() {
            return Err(refused(folder, "holds a run already: resume it, or give another folder".to_owned()));
        }
        let entry = Entry { format: FORMAT, run, counted: 0, stopped: None };
        let ledger = Self { folder: folder.to_owned(), entry, _lock: lock };
        ledger.write(&ledger.entry)?;
        Ok(ledger)
    }

    /// The ledger of the run in this folder.
    pub(crate) fn resume(folder: &Path) -> Result<Self, TrainError> {
        if !folder.is_dir() {
            return Err(refused(folder, "no such folder: give the one that the run was begun in".to_owned()));
        }
        let lock = lock(folder)?;
        let ledger = Self { folder: folder.to_owned(), entry: entry(folder)?, _lock: lock };
        sweep(folder);
        Ok(ledger)
    }

    /// The run's folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What the run was begun with.
    pub(crate) fn run(&self) -> &Stored {
        &self.entry.run
    }

    /// Steps that may have been seen.
    pub(crate) fn counted(&self) -> u64 {
        self.entry.counted
    }

    /// Notes that something with so many steps in it is about to be seen. On disk when this returns.
    pub(crate) fn announce(&mut self, counted: u64) -> Result<(), TrainError> {
        if counted <= self.entry.counted {
            return Ok(());
        }
        let entry = Entry { counted, ..self.entry.clone() };
        self.write(&entry)?;
        self.entry = entry;
        Ok(())
    }

    /// Why the run ended before its last step.
    pub(crate) fn stopped(&self) -> Option<StopCause> {
        self.entry.stopped
    }

    /// Notes that the run has ended, for good. On disk when this returns.
    pub(crate) fn stop(&mut self, cause: StopCause) -> Result<(), TrainError> {
        let entry = Entry { stopped: Some(cause), ..self.entry.clone() };
        self.write(&entry)?;
        self.entry = entry;
        Ok(())
    }

    fn write(&self, entry: &Entry) -> Result<(), TrainError> {
        let path = self.folder.join(LEDGER_FILE);
        let text = serde_json::to_string(entry).map_err(|error| refused(&path, error.to_string()))?;
        write(&path, text.as_bytes())
    }
}

/// The steps and the terms that the ledger in a folder holds.
pub(super) fn peek(folder: &Path) -> Result<(u64, Stored), TrainError> {
    entry(folder).map(|entry| (entry.counted, entry.run))
}

fn entry(folder: &Path) -> Result<Entry, TrainError> {
    let path = folder.join(LEDGER_FILE);
    let bytes = read(&path)?.ok_or_else(|| {
        let why =
            "no such file: without the ledger nobody knows which steps were seen, so the run cannot go on";
        refused(&path, why.to_owned())
    })?;
    let broken = |error| refused(&path, format!("not a ledger: {error}; restore it from a copy"));
    let text: serde_json::Value = serde_json::from_slice(&bytes).map_err(broken)?;
    if text["format"] != FORMAT {
        return Err(refused(
            &path,
            format!("format {} is not known here: use a newer version", text["format"]),
        ));
    }
    serde_json::from_value(text).map_err(broken)
}

/// Removes what a killed process left half written. Nobody else writes: the folder is locked.
fn sweep(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_ours =
            [LEDGER_FILE, CHECKPOINT_FILE].iter().any(|file| name.starts_with(&format!(".{file}.")));
        if is_ours && name.ends_with(".tmp") {
            // A file that cannot be removed takes room and does no other harm.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn refused(path: &Path, why: String) -> TrainError {
    TrainError::File { file: path.display().to_string(), why }
}

/// The lock of a folder, which ends with the process.
fn lock(folder: &Path) -> Result<File, TrainError> {
    let path = folder.join(LOCK_FILE);
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(|error| refused(&path, format!("cannot be written: {error}")))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(refused(folder, "another process is training here: wait for it, or stop it".to_owned()))
        }
        Err(TryLockError::Error(error)) => Err(refused(&path, format!("cannot be locked: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trainer::{Baseline, Batches, Recipe, Terms};
    use crate::{Layout, OptimizerSettings, Schedule};

    fn run() -> Stored {
        let terms = Terms::NonPrivate(Baseline { batches: Batches::Shuffled { size: 2 }, steps: 9 });
        let (optimizer, schedule) = (OptimizerSettings::sgd(0.0), Schedule::constant(0.1));
        Stored::new(&terms, &Recipe { optimizer, schedule, average: None }, &Layout::default())
    }

    #[test]
    fn it_only_grows_and_survives() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::begin(folder.path(), run()).unwrap();
        assert!(Ledger::resume(folder.path()).is_err_and(|e| e.to_string().contains("another process")));
        ledger.announce(5).unwrap();
        ledger.announce(3).unwrap();
        drop(ledger);
        let ledger = Ledger::resume(folder.path()).unwrap();
        assert_eq!((ledger.counted(), ledger.run()), (5, &run()));
        drop(ledger);
        assert!(Ledger::begin(folder.path(), run()).is_err_and(|e| e.to_string().contains("holds a run")));
    }

    #[test]
    fn missing_and_broken_ledgers_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Ledger::resume(folder.path()).is_err_and(|e| e.to_string().contains("no such file")));
        let nowhere = folder.path().join("nowhere");
        assert!(Ledger::resume(&nowhere).is_err_and(|e| e.to_string().contains("no such folder")));
        let path = folder.path().join(LEDGER_FILE);
        for text in ["", "{", "{\"format\":1,\"counted\":3}", "{\"format\":2,\"counted\":1}", "[]", "7"] {
            std::fs::write(&path, text).unwrap();
            assert!(Ledger::resume(folder.path()).is_err(), "{text}");
        }
    }
}
