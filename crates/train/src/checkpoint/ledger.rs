//! How many steps may have been seen.

use super::{CHECKPOINT_FILE, LEDGER_FILE, LOCK_FILE, Stored, read, write};
use crate::TrainError;
use crate::trainer::StopCause;
use reticent_files::Lock;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A run's folder that this process alone writes into, until this is dropped.
///
/// The lock is the first file in the folder, and the ledger the second: [`begin`](Self::begin) writes it before anything is
/// drawn, without the terms of the run, which may depend on a draw. [`Aggregation::begin_under`](crate::Aggregation::begin_under)
/// adds them.
pub struct RunLock {
    folder: PathBuf,
    lock: Lock,
    entry: Option<Entry>,
}

impl RunLock {
    /// Locks a folder, which is made if it is not there, and reads the ledger in it.
    ///
    /// # Errors
    /// [`TrainError::File`] when another process has locked it, it cannot be written, or its ledger is corrupt. Nothing but
    /// the lock has been written.
    pub fn take(folder: &Path) -> Result<Self, TrainError> {
        let path = folder.join(LOCK_FILE);
        let lock = Lock::take(&path)?;
        let lock = lock.ok_or_else(|| {
            refused(folder, "another process is training here: wait for it, or stop it".to_owned())
        })?;
        let entry = entry(folder)?;
        Ok(Self { folder: folder.to_owned(), lock, entry })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes the first entry of the ledger: what is asked for, before anything is drawn for it. An earlier beginning is replaced.
    ///
    /// # Errors
    /// [`TrainError::File`] when there is a run already, or the file cannot be written.
    pub fn begin(&mut self, request: Value) -> Result<(), TrainError> {
        self.check_free()?;
        let entry = Entry { format: FORMAT, request: Some(request), run: None, counted: 0, stopped: None };
        store(&self.folder, &entry)?;
        self.entry = Some(entry);
        Ok(())
    }

    /// Whether the folder has a ledger, be it only of a beginning.
    pub fn has_ledger(&self) -> bool {
        self.entry.is_some()
    }

    /// Whether the ledger holds the terms of a run: from then on steps may have been taken.
    pub fn has_run(&self) -> bool {
        self.entry.as_ref().is_some_and(|entry| entry.run.is_some())
    }

    /// What was asked for when the run began; none where the ledger does not say.
    pub fn request(&self) -> Option<&Value> {
        self.entry.as_ref().and_then(|entry| entry.request.as_ref())
    }

    /// Adds what was drawn before the terms were known to what the ledger says was asked for. It reaches the disk with the terms
    /// of the run; where the ledger states no request, nothing is added.
    pub fn add(&mut self, key: &str, value: Value) {
        let request = self.entry.as_mut().and_then(|entry| entry.request.as_mut());
        if let Some(request) = request.and_then(Value::as_object_mut) {
            request.insert(key.to_owned(), value);
        }
    }

    /// Takes the ledger and the lock away: nothing was begun here. The ledger of a run stays, since steps may have been taken.
    pub fn abandon(self) {
        if self.has_run() {
            return;
        }
        // A beginning that cannot be taken away is replaced by the next one.
        let _ = std::fs::remove_file(self.folder.join(LEDGER_FILE));
        self.lock.remove();
    }

    fn check_free(&self) -> Result<(), TrainError> {
        if self.has_run() || self.folder.join(CHECKPOINT_FILE).exists() {
            let why = "holds a run already: resume it, or give another folder".to_owned();
            return Err(refused(&self.folder, why));
        }
        Ok(())
    }
}

/// The ledger of a run, locked by this process.
pub(crate) struct Ledger {
    folder: PathBuf,
    entry: Entry,
    _lock: Lock,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    format: u32,
    /// What was asked for, as whoever owns the folder states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<Value>,
    /// Everything that must not change; not there before the terms are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<Stored>,
    /// Steps that may have influenced something that was seen.
    counted: u64,
    /// Why the run ended before its last step; not there while it may go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stopped: Option<StopCause>,
}

/// Ledgers of format 1 hold no request and always a run.
const FORMAT: u32 = 2;

impl Ledger {
    /// A ledger for a new run in a locked folder.
    pub(crate) fn begin(run_lock: RunLock, run: Stored) -> Result<Self, TrainError> {
        run_lock.check_free()?;
        let request = run_lock.request().cloned();
        let entry = Entry { format: FORMAT, request, run: Some(run), counted: 0, stopped: None };
        store(&run_lock.folder, &entry)?;
        Ok(Self { folder: run_lock.folder, entry, _lock: run_lock.lock })
    }

    /// The ledger of the run in a locked folder; one that holds a beginning alone gets this run.
    pub(crate) fn resume(run_lock: RunLock, run: Stored) -> Result<Self, TrainError> {
        let Some(entry) = run_lock.entry.clone() else {
            let why = "no such file: without the ledger nobody knows which steps were seen, so the run cannot go on: restore the \
                       ledger from a copy, or remove the folder and begin a new run";
            return Err(refused(&run_lock.folder.join(LEDGER_FILE), why.to_owned()));
        };
        let Some(known) = &entry.run else { return Self::begin(run_lock, run) };
        run.check(known)?;
        for file in [LEDGER_FILE, CHECKPOINT_FILE] {
            reticent_files::sweep(&run_lock.folder.join(file));
        }
        Ok(Self { folder: run_lock.folder, entry, _lock: run_lock.lock })
    }

    /// The run's folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
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
        store(&self.folder, &entry)?;
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
        store(&self.folder, &entry)?;
        self.entry = entry;
        Ok(())
    }
}

fn store(folder: &Path, entry: &Entry) -> Result<(), TrainError> {
    let path = folder.join(LEDGER_FILE);
    let text = serde_json::to_string(entry).map_err(|error| refused(&path, error.to_string()))?;
    write(&path, text.as_bytes())
}

/// The steps and the terms that the ledger in a folder holds.
pub(super) fn peek(folder: &Path) -> Result<(u64, Stored), TrainError> {
    let path = folder.join(LEDGER_FILE);
    let entry =
        entry(folder)?.ok_or_else(|| refused(&path, "no such file: no run was begun here".to_owned()))?;
    let counted = entry.counted;
    match entry.run {
        Some(run) => Ok((counted, run)),
        None => {
            Err(refused(&path, "the run was ended before its terms were stored: begin it again".to_owned()))
        }
    }
}

fn entry(folder: &Path) -> Result<Option<Entry>, TrainError> {
    let path = folder.join(LEDGER_FILE);
    let Some(bytes) = read(&path)? else { return Ok(None) };
    let broken = |error| refused(&path, format!("not a ledger: {error}; restore it from a copy"));
    let text: Value = serde_json::from_slice(&bytes).map_err(broken)?;
    if text["format"] != FORMAT && text["format"] != 1 {
        return Err(refused(
            &path,
            format!("format {} is not known here: use a newer version", text["format"]),
        ));
    }
    let is_first = text["format"] == 1;
    let entry: Entry = serde_json::from_value(text).map_err(broken)?;
    match entry.run.is_none() && (is_first || entry.counted > 0) {
        true => Err(refused(&path, "not a ledger: it has no run; restore it from a copy".to_owned())),
        false => Ok(Some(entry)),
    }
}

fn refused(path: &Path, why: String) -> TrainError {
    TrainError::file(path, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trainer::{Baseline, Batching, Recipe, TrainingTerms};
    use crate::{Layout, OptimizerSettings, Schedule};

    fn run() -> Stored {
        let terms = TrainingTerms::NonPrivate(Baseline::new(Batching::Shuffled { size: 2 }, 9));
        let (optimizer, schedule) = (OptimizerSettings::sgd(0.0), Schedule::constant(0.1));
        Stored::new(&terms, &Recipe { optimizer, schedule, average: None, denoise: None }, &Layout::default())
    }

    fn begin(folder: &Path) -> Result<Ledger, TrainError> {
        Ledger::begin(RunLock::take(folder)?, run())
    }

    fn resume(folder: &Path) -> Result<Ledger, TrainError> {
        Ledger::resume(RunLock::take(folder)?, run())
    }

    #[test]
    fn it_only_grows_and_survives() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = begin(folder.path()).unwrap();
        assert!(resume(folder.path()).is_err_and(|e| e.to_string().contains("another process")));
        ledger.announce(5).unwrap();
        ledger.announce(3).unwrap();
        drop(ledger);
        let ledger = resume(folder.path()).unwrap();
        assert_eq!((ledger.counted(), &ledger.entry.run), (5, &Some(run())));
        drop(ledger);
        assert!(begin(folder.path()).is_err_and(|e| e.to_string().contains("holds a run")));
    }

    #[test]
    fn missing_and_broken_ledgers_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(resume(folder.path()).is_err_and(|e| e.to_string().contains("no such file")));
        let path = folder.path().join(LEDGER_FILE);
        for text in [
            "",
            "{",
            "{\"format\":1,\"counted\":3}",
            "{\"format\":3,\"counted\":1}",
            "{\"format\":2,\"counted\":1}",
            "[]",
            "7",
        ] {
            std::fs::write(&path, text).unwrap();
            assert!(resume(folder.path()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_beginning_is_on_disk_before_the_run_and_gives_way_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("run");
        let mut run_lock = RunLock::take(&place).unwrap();
        assert!(!run_lock.has_ledger() && run_lock.request().is_none());
        run_lock.begin(serde_json::json!({"epsilon": 1})).unwrap();
        assert!(RunLock::take(&place).is_err_and(|e| e.to_string().contains("another process")));
        // Killed here: the next one begins anew, or goes on with what was asked.
        drop(run_lock);
        assert!(crate::checkpoint::status(&place).is_err());
        let mut run_lock = RunLock::take(&place).unwrap();
        assert!(run_lock.has_ledger() && !run_lock.has_run());
        run_lock.begin(serde_json::json!({"epsilon": 2})).unwrap();
        run_lock.add("counted", 7.into());
        drop(Ledger::begin(run_lock, run()).unwrap());
        let run_lock = RunLock::take(&place).unwrap();
        assert!(
            run_lock.has_run()
                && run_lock.request() == Some(&serde_json::json!({"epsilon": 2, "counted": 7}))
        );
        // Steps may have been taken: nobody takes the ledger away.
        run_lock.abandon();
        assert!(place.join(LEDGER_FILE).exists());
        assert_eq!(crate::checkpoint::status(&place).unwrap().counted, 0);
        assert!(RunLock::take(&place).unwrap().begin(serde_json::json!({})).is_err());
        let other = folder.path().join("other");
        let mut run_lock = RunLock::take(&other).unwrap();
        run_lock.begin(serde_json::json!({})).unwrap();
        run_lock.abandon();
        assert_eq!(std::fs::read_dir(&other).unwrap().count(), 0);
    }

    #[test]
    fn ledgers_of_the_first_format_are_read() {
        let folder = tempfile::tempdir().unwrap();
        drop(begin(folder.path()).unwrap());
        let path = folder.path().join(LEDGER_FILE);
        let mut text: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        text["format"] = 1.into();
        text["counted"] = 4.into();
        std::fs::write(&path, text.to_string()).unwrap();
        assert_eq!(resume(folder.path()).unwrap().counted(), 4);
        text.as_object_mut().unwrap().remove("run");
        std::fs::write(&path, text.to_string()).unwrap();
        assert!(resume(folder.path()).is_err_and(|e| e.to_string().contains("no run")));
    }
}
