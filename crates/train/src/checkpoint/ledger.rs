//! How many steps may have been seen.

use super::{LEDGER_FILE, LOCK_FILE, read, write};
use crate::TrainError;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

/// The ledger of a run, locked by this process.
pub(crate) struct Ledger {
    folder: PathBuf,
    entry: Entry,
    _lock: File,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    format: u32,
    /// The digest of everything that must not change.
    run: String,
    /// Steps that may have influenced something that was seen.
    counted: u64,
}

const FORMAT: u32 = 1;

impl Ledger {
    /// A ledger for a new run in this folder, which is made if it is not there.
    pub(crate) fn begin(folder: &Path, run: &str) -> Result<Self, TrainError> {
        std::fs::create_dir_all(folder)
            .map_err(|error| refused(folder, format!("cannot be made: {error}")))?;
        let lock = lock(folder)?;
        if folder.join(LEDGER_FILE).exists() || folder.join(super::CHECKPOINT_FILE).exists() {
            return Err(refused(folder, "holds a run already: resume it, or give another folder".to_owned()));
        }
        let entry = Entry { format: FORMAT, run: run.to_owned(), counted: 0 };
        let ledger = Self { folder: folder.to_owned(), entry, _lock: lock };
        ledger.write(&ledger.entry)?;
        Ok(ledger)
    }

    /// The ledger of the run in this folder.
    pub(crate) fn resume(folder: &Path) -> Result<Self, TrainError> {
        let path = folder.join(LEDGER_FILE);
        let bytes = read(&path)?.ok_or_else(|| {
            refused(&path, "no such file: without the ledger nobody knows which steps were seen; no run can be resumed here".to_owned())
        })?;
        let lock = lock(folder)?;
        let entry: Entry = serde_json::from_slice(&bytes)
            .map_err(|error| refused(&path, format!("not a ledger: {error}; restore it from a copy")))?;
        if entry.format != FORMAT {
            return Err(refused(
                &path,
                format!("format {} is not known here: use a newer version", entry.format),
            ));
        }
        Ok(Self { folder: folder.to_owned(), entry, _lock: lock })
    }

    /// The run's folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The digest the run was begun with.
    pub(crate) fn run(&self) -> &str {
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

    fn write(&self, entry: &Entry) -> Result<(), TrainError> {
        let path = self.folder.join(LEDGER_FILE);
        let text = serde_json::to_string_pretty(entry).map_err(|error| refused(&path, error.to_string()))?;
        write(&path, text.as_bytes())
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

    #[test]
    fn it_only_grows_and_survives() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::begin(folder.path(), "r").unwrap();
        assert!(Ledger::resume(folder.path()).is_err_and(|e| e.to_string().contains("another process")));
        ledger.announce(5).unwrap();
        ledger.announce(3).unwrap();
        drop(ledger);
        let ledger = Ledger::resume(folder.path()).unwrap();
        assert_eq!((ledger.counted(), ledger.run()), (5, "r"));
        drop(ledger);
        assert!(Ledger::begin(folder.path(), "r").is_err_and(|e| e.to_string().contains("holds a run")));
    }

    #[test]
    fn missing_and_broken_ledgers_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Ledger::resume(folder.path()).is_err_and(|e| e.to_string().contains("no such file")));
        let path = folder.path().join(LEDGER_FILE);
        for text in ["", "{", "{\"format\":1,\"run\":\"r\"}", "{\"format\":2,\"run\":\"r\",\"counted\":1}"] {
            std::fs::write(&path, text).unwrap();
            assert!(Ledger::resume(folder.path()).is_err(), "{text}");
        }
    }
}
