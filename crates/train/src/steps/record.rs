//! How many steps may have been seen, in a file.

use crate::checkpoint::{read, write};
use crate::{PrivacyPlan, TrainError};
use reticent_files::Lock;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Announcements are made ahead for as many steps as take about this long.
const PACE: Duration = Duration::from_secs(1);

/// The most steps that are announced ahead.
const MOST_AHEAD: u64 = 256;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    format: u32,
    plan: PrivacyPlan,
    /// Steps that may have influenced something that was seen.
    counted: u64,
}

const FORMAT: u32 = 1;

/// The count of a run's steps, locked by this process. The file counts a step before its noise is added, some steps ahead, so that a
/// killed process leaves a count that is too high and never one that is too low.
pub(super) struct StepRecord {
    path: PathBuf,
    entry: Entry,
    ahead: u64,
    last: Instant,
    /// The process that took the lock: a forked child has a copy of everything else.
    process: u32,
    _lock: Lock,
}

impl StepRecord {
    pub(super) fn begin(path: &Path, plan: &PrivacyPlan) -> Result<Self, TrainError> {
        let lock = locked(path)?;
        if read(path)?.is_some() {
            let why = "holds a run already: resume it, or give another file";
            return Err(TrainError::file(path, why.to_owned()));
        }
        let entry = Entry { format: FORMAT, plan: plan.clone(), counted: 0 };
        let mut record = Self::new(path, entry, lock);
        record.store(0)?;
        Ok(record)
    }

    pub(super) fn resume(path: &Path, plan: &PrivacyPlan) -> Result<(Self, u64), TrainError> {
        let lock = locked(path)?;
        let Some(bytes) = read(path)? else {
            let why = "no such file: without it nobody knows which steps were seen, so the run cannot go on: restore it from a \
                       copy, or begin a new run";
            return Err(TrainError::file(path, why.to_owned()));
        };
        let entry: Entry = serde_json::from_slice(&bytes).map_err(|error| {
            TrainError::file(path, format!("not the count of a run: {error}; restore it from a copy"))
        })?;
        if entry.format != FORMAT {
            let why = format!("format {} is not known here: use a newer version", entry.format);
            return Err(TrainError::file(path, why));
        }
        if let Some((what, was, is)) = entry.plan.difference(plan) {
            return Err(TrainError::Changed { what, was, is });
        }
        let counted = entry.counted;
        Ok((Self::new(path, entry, lock), counted))
    }

    fn new(path: &Path, entry: Entry, lock: Lock) -> Self {
        Self {
            path: path.to_owned(),
            entry,
            ahead: 1,
            last: Instant::now(),
            process: std::process::id(),
            _lock: lock,
        }
    }

    /// Has the file count at least so many steps, and some ahead, at most `most`.
    pub(super) fn announce(&mut self, counted: u64, most: u64) -> Result<(), TrainError> {
        if self.process != std::process::id() {
            let why = "belongs to another process: train in the one that began the run";
            return Err(TrainError::file(&self.path, why.to_owned()));
        }
        if counted <= self.entry.counted {
            return Ok(());
        }
        self.ahead = match self.last.elapsed() < PACE {
            true => (2 * self.ahead).min(MOST_AHEAD),
            false => (self.ahead / 2).max(1),
        };
        self.last = Instant::now();
        self.store(counted.saturating_add(self.ahead - 1).min(most).max(counted))
    }

    /// Has the file count exactly the steps that were taken. The process still holds the lock, so no other one has read the count that
    /// was announced. A forked child changes nothing.
    pub(super) fn settle(&mut self, counted: u64) -> Result<(), TrainError> {
        if counted == self.entry.counted || self.process != std::process::id() {
            return Ok(());
        }
        self.store(counted)
    }

    fn store(&mut self, counted: u64) -> Result<(), TrainError> {
        let entry = Entry { counted, ..self.entry.clone() };
        let text = serde_json::to_vec_pretty(&entry)
            .map_err(|error| TrainError::file(&self.path, error.to_string()))?;
        write(&self.path, &text)?;
        self.entry = entry;
        Ok(())
    }
}

fn locked(path: &Path) -> Result<Lock, TrainError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let lock = Lock::take(Path::new(&name))?;
    let why = "another process is training with it: wait for it, or stop it";
    lock.ok_or_else(|| TrainError::file(path, why.to_owned()))
}
