//! A run that goes on, or ends where it stands.

use super::plan::{TrainPlan, check_given, plan};
use super::request::Train;
use super::source::TrainData;
use crate::Request;
use crate::folder::CERTIFICATE_FILE;
use crate::folder::layout::{RUN_FILE, TUNED_FILE, is_beginning};
use crate::refusal::Refusal;
use reticent_core::Code;
use reticent_train::StopCause;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The run of a folder to go on with.
///
/// ```
/// use reticent_curator::train::{Resume, Train, Trained};
/// use reticent_curator::{Planned, Request, Session};
/// # let place = tempfile::tempdir().map_err(reticent_curator::Refusal::internal)?;
/// # let folder = place.path().join("run");
/// let (epsilon, delta, steps) = (Some(1.0), Some(1e-6), Some(3));
/// let request = Train { epsilon, delta, steps, out: Some(folder.clone()), ..Train::default() };
/// let mut session = Session::without_limit()?;
/// let first = request.check()?.run(&mut session)?;
/// // The run took all its steps: going on gives the same model, and draws nothing.
/// let again = Resume::new(folder).check()?.run(&mut session)?;
/// assert!(matches!((first, again), (Trained::Finished(a), Trained::Finished(b)) if a.certificate == b.certificate));
/// # Ok::<(), reticent_curator::Refusal>(())
/// ```
///
/// # Guarantee
/// Its certificate speaks for the whole run, however often it was resumed. A session is charged for the whole run again, the count
/// of the rows included, because it need not be the session that the run began in: resume in one that has nothing of
/// the run on record, or pay twice.
///
/// # Errors
/// As every request; a session that the run does not fit refuses it before an example is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Resume {
    /// The run's folder.
    pub folder: PathBuf,
    /// What is asked for otherwise than when the run began.
    #[serde(default)]
    pub changes: Train,
    /// End it as it was last stored.
    #[serde(default)]
    pub finish: bool,
    /// Why it stopped; a choice unless another cause is declared. Goes with `finish`.
    #[serde(default, alias = "stopped_by")]
    pub stopped_by: Option<StopCause>,
}

impl Resume {
    /// The run of this folder, to go on as it began.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), changes: Train::default(), finish: false, stopped_by: None }
    }

    /// The file that says what the run is.
    pub fn file(&self) -> PathBuf {
        self.folder.join(RUN_FILE)
    }

    /// What a run that is to be finished was stopped by; none for one that goes on.
    pub(super) fn cause(&self) -> Option<StopCause> {
        self.finish.then(|| self.stopped_by.unwrap_or(StopCause::Choice))
    }

    /// Refuses a declared cause that the folder itself refutes: a run that ended has its cause, and one that stored its
    /// certificate did not crash.
    pub(super) fn check_cause(&self, is_finished: bool) -> Result<(), Refusal> {
        let Some(given) = self.stopped_by else { return Ok(()) };
        if is_finished {
            let remedy = "the run has already ended, and its certificate is final: leave it out";
            return Err(Refusal::conflict("stopped_by", cause_name(given), remedy));
        }
        if given == StopCause::Crash && self.folder.join(CERTIFICATE_FILE).exists() {
            let remedy = "this run did not crash: it was stopped (Ctrl-C) and stored its certificate; give choice, or time-limit if \
                          a limit that was set before it began stopped it";
            return Err(Refusal::conflict("stopped_by", cause_name(given), remedy));
        }
        Ok(())
    }
}

impl Request for Resume {
    type Planned = TrainPlan;

    fn check(&self) -> Result<TrainPlan, Refusal> {
        self.checked(None)
    }
}

impl Resume {
    /// As [`check`](Request::check), about data that are given beside the request: those that the run began with.
    ///
    /// # Errors
    /// As [`check`](Request::check), and if the changes name data.
    pub fn check_data(&self, data: TrainData) -> Result<TrainPlan, Refusal> {
        check_given(&self.changes)?;
        self.checked(Some(data))
    }

    fn checked(&self, data: Option<TrainData>) -> Result<TrainPlan, Refusal> {
        if let Some(out) = &self.changes.out {
            let remedy = "a resumed run stays in its folder: leave it out";
            return Err(Refusal::conflict("out", out.display(), remedy));
        }
        if let Some(counted) = &self.changes.counted {
            let remedy = "a resumed run keeps its noisy count: leave it out";
            return Err(Refusal::conflict("counted", counted.size, remedy));
        }
        if !self.file().is_file() {
            let remedy = match is_beginning(&self.folder) {
                true => {
                    "the run ended before its first step, and nothing was saved: start it again with ⟦out⟧"
                }
                false => "no run in this folder: give a folder written by 'reticent train --out'",
            };
            let field = if self.finish { "finish" } else { "resume" };
            return Err(Refusal::value(field, self.folder.display(), remedy).coded(Code::NoModel));
        }
        if self.folder.join(TUNED_FILE).is_file() {
            let remedy = "this folder holds the best of a search, which has ended: train anew with ⟦out⟧ and another folder";
            let field = if self.finish { "finish" } else { "resume" };
            return Err(Refusal::value(field, self.folder.display(), remedy).coded(Code::NoModel));
        }
        let run = self.changes.clone().over(Train::read(&self.file())?)?;
        if run.batching.as_deref() == Some("cyclic") && !self.finish {
            let remedy = "a run with ⟦batching⟧ cyclic cannot go on: its noise depends on exact sums of earlier steps, which are private and \
                          kept in no file; give ⟦finish⟧ to use its last checkpoint, or train anew with ⟦out⟧ and another folder";
            return Err(Refusal::conflict("resume", self.folder.display(), remedy));
        }
        if let (Some(given), false) = (self.stopped_by, self.finish) {
            return Err(Refusal::conflict(
                "stopped_by",
                cause_name(given),
                "only with ⟦finish⟧: leave it out",
            ));
        }
        plan(Train { out: Some(self.folder.clone()), ..run }, Some(self.clone()), data)
    }
}

/// The cause of that name.
///
/// # Errors
/// [`Refusal`] for any other name.
pub fn stop_cause(name: &str) -> Result<StopCause, Refusal> {
    let found = StopCause::NAMES.iter().find(|(known, _)| *known == name);
    let remedy = "unknown: give time-limit, crash or choice";
    found.map(|(_, cause)| *cause).ok_or_else(|| Refusal::unknown("stopped_by", name, remedy))
}

fn cause_name(cause: StopCause) -> &'static str {
    StopCause::NAMES.iter().find(|(_, known)| *known == cause).map_or("", |(name, _)| name)
}
