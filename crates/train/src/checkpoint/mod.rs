//! A run on disk: what a killed training goes on from, and the ledger of the steps that may have been seen.
//!
//! | file | what it holds |
//! |---|---|
//! | `ledger.json` | how many steps have influenced anything that left the process |
//! | `checkpoint.safetensors` | weights, optimizer and average, with the plan, the recipe and the steps taken |
//! | `run.lock` | locked while a process trains |
//!
//! Every file is replaced as a whole. The ledger is on disk before anything that it counts is visible. [`RunLock`] is the lock with the
//! ledger's first entry, for those who write other files into the folder as well.

mod ledger;
pub(crate) mod state;

pub(crate) use ledger::Ledger;
pub use ledger::RunLock;
pub(crate) use state::Stored;

use crate::TrainError;
use crate::trainer::{Recipe, TrainingTerms};
use std::path::Path;

/// The name of the checkpoint in a run's folder.
pub const CHECKPOINT_FILE: &str = "checkpoint.safetensors";

/// The name of the ledger in a run's folder.
pub const LEDGER_FILE: &str = "ledger.json";

/// The name of the file that is locked while a process trains.
pub const LOCK_FILE: &str = "run.lock";

/// What a run's folder says about the run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunStatus {
    /// The plan, or that there is none.
    pub terms: TrainingTerms,
    /// Optimizer, schedule and averaging.
    pub recipe: Recipe,
    /// Steps on the way to the checkpoint's weights; 0 when there is no checkpoint.
    pub taken: u64,
    /// Steps that may have been seen: what the certificate of everything in the folder counts.
    pub counted: u64,
}

/// Reads what is known about the run in a folder. It may be in training meanwhile.
///
/// # Errors
/// [`TrainError::File`] when there is no run, or a file is corrupt.
pub fn status(folder: &Path) -> Result<RunStatus, TrainError> {
    // The checkpoint first: the ledger that is read after it counts its steps.
    let stored = state::peek(folder)?;
    let (counted, run) = ledger::peek(folder)?;
    let (taken, before) = stored.unwrap_or((0, 0));
    Ok(RunStatus { terms: run.terms, recipe: run.recipe, taken, counted: counted.max(before) })
}

/// Replaces a file as a whole. When this returns, the new one is on disk.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), TrainError> {
    let kept = "; what was stored before is untouched, and the run can be resumed from it";
    reticent_files::write_atomic(path, bytes).map_err(|error| TrainError::Unwritten { error, kept })?;
    // The new name itself must reach the disk, too.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    reticent_files::sync_folder(folder).map_err(|error| TrainError::Unwritten { error, kept: "" })
}

/// Reads a whole file; none when there is none.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, TrainError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(TrainError::file(path, format!("cannot be read: {error}")).because(error)),
    }
}
