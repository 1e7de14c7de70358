//! A training that is kept in a folder.

use super::Aggregation;
use crate::TrainError;
use crate::checkpoint::state::{self, Steps};
use crate::checkpoint::{Ledger, RunLock, Stored};
use std::path::Path;

impl Aggregation {
    /// Keeps this run in a folder, which must not hold one.
    ///
    /// # Errors
    /// [`TrainError::File`] when there is a run already or the folder cannot be written.
    pub fn begin_in(&mut self, folder: &Path) -> Result<(), TrainError> {
        self.check_keepable(folder)?;
        let run_lock = RunLock::take(folder)?;
        if run_lock.has_ledger() {
            let why = "holds a run already: resume it, or give another folder".to_owned();
            return Err(TrainError::file(folder, why));
        }
        self.begin_under(run_lock)
    }

    /// As [`begin_in`](Self::begin_in), in a folder that is locked already.
    ///
    /// # Errors
    /// As [`begin_in`](Self::begin_in).
    pub fn begin_under(&mut self, run_lock: RunLock) -> Result<(), TrainError> {
        self.check_keepable(run_lock.folder())?;
        let mut ledger = Ledger::begin(run_lock, self.stored())?;
        ledger.announce(self.counted)?;
        self.ledger = Some(ledger);
        Ok(())
    }

    /// Refuses to keep a run twice, or one that is to be repeated.
    fn check_keepable(&self, folder: &Path) -> Result<(), TrainError> {
        if let Some(ledger) = &self.ledger {
            let why = "the run is kept in a folder already".to_owned();
            return Err(TrainError::file(ledger.folder(), why));
        }
        if self.is_repeatable {
            let why = "a repeatable training is kept in no folder: repeat it".to_owned();
            return Err(TrainError::file(folder, why));
        }
        Ok(())
    }

    /// Goes on with the run in a folder: from its checkpoint, or from the initial weights when it was stopped before the
    /// first one. Every step that may have been seen stays counted, and a run that was ended stays so. A run with cyclic batches that has
    /// taken steps can be ended, and takes no further ones.
    ///
    /// # Errors
    /// [`TrainError::Changed`] when the plan, the recipe or the model is another; [`TrainError::File`] when files are
    /// missing, corrupt or in use. Nothing has changed then.
    pub fn resume_from(&mut self, folder: &Path) -> Result<(), TrainError> {
        if !folder.is_dir() {
            let why = "no such folder: give the one that the run was begun in".to_owned();
            return Err(TrainError::file(folder, why));
        }
        self.resume_under(RunLock::take(folder)?)
    }

    /// As [`resume_from`](Self::resume_from), in a folder that is locked already. One whose run was killed before its terms
    /// were stored begins here.
    ///
    /// # Errors
    /// As [`resume_from`](Self::resume_from).
    pub fn resume_under(&mut self, run_lock: RunLock) -> Result<(), TrainError> {
        let folder = run_lock.folder().to_owned();
        if self.counted > 0 {
            return Err(TrainError::invalid("steps", self.counted, "resume before the first step"));
        }
        if self.is_repeatable {
            let why = "a repeatable training resumes nothing: repeat it".to_owned();
            return Err(TrainError::file(&folder, why));
        }
        let stored = self.stored();
        let ledger = Ledger::resume(run_lock, stored.clone())?;
        if let Some(steps) = state::load(&mut *self.engine, self.denoiser.as_deref_mut(), &folder, &stored)? {
            (self.taken, self.counted) = (steps.taken, steps.counted);
            if let (Some(known), Some(_)) = (steps.clipping_norm, self.threshold) {
                self.threshold = Some(known);
            }
        }
        self.counted = self.counted.max(ledger.counted());
        if let (Some(correlation), true) = (&mut self.correlation, self.counted > 0) {
            correlation.tear();
        }
        self.stopped = ledger.stopped();
        self.ledger = Some(ledger);
        Ok(())
    }

    /// Replaces the run's checkpoint by the present state.
    ///
    /// # Errors
    /// [`TrainError::File`] when a file cannot be written, or the run is kept in no folder. The last checkpoint is
    /// still there then.
    pub fn save(&mut self) -> Result<(), TrainError> {
        self.announce()?;
        let Some(folder) = self.ledger.as_ref().map(|ledger| ledger.folder().to_owned()) else {
            let why = "the run is kept in no folder: begin it in one".to_owned();
            return Err(TrainError::file(Path::new("checkpoint"), why));
        };
        let steps = Steps { taken: self.taken, counted: self.counted, clipping_norm: self.threshold };
        let run = self.stored();
        state::save(&mut *self.engine, self.denoiser.as_deref(), &folder, run, steps)
    }

    /// Writes ahead that everything up to now may be seen.
    pub(super) fn announce(&mut self) -> Result<(), TrainError> {
        self.ledger.as_mut().map_or(Ok(()), |ledger| ledger.announce(self.counted))
    }

    fn stored(&self) -> Stored {
        Stored::new(&self.terms, &self.recipe, self.engine.layout())
    }
}
