//! A run that ends before its last step.

use super::Aggregation;
use crate::TrainError;
use reticent_core::{Certificate, Fact};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a run ended before its last step: the premise that its certificate rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopCause {
    /// A limit on time or money that was set before the run began.
    TimeLimit,
    /// A crash, a loss of power, a machine that was taken away.
    Crash,
    /// Somebody's choice, who may have looked at what the run showed.
    Choice,
}

impl StopCause {
    /// All causes with their names.
    pub const NAMES: [(&'static str, Self); 3] =
        [("time-limit", Self::TimeLimit), ("crash", Self::Crash), ("choice", Self::Choice)];

    /// Whether the moment did not depend on what the run showed, so that only the steps taken count.
    pub fn is_blind(self) -> bool {
        self != Self::Choice
    }

    /// The premise, for a certificate.
    pub(crate) fn premise(self, taken: u64, steps: u64) -> String {
        match self {
            Self::TimeLimit | Self::Crash => format!(
                "stopped by a {self} after step {taken} of {steps}: declared not to depend on what the run showed; otherwise \
                 the whole plan's epsilon holds"
            ),
            Self::Choice => {
                format!(
                    "stopped after step {taken} of {steps}: the claim is that of all {steps} steps, whenever it is stopped"
                )
            }
        }
    }
}

impl fmt::Display for StopCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimeLimit => "time limit",
            Self::Crash => "crash",
            Self::Choice => "choice",
        })
    }
}

impl Aggregation {
    /// Ends the run here, for good: no step follows, also after a resumption, and the present weights are the final ones.
    ///
    /// # Guarantee
    /// [`certificate`](Aggregation::certificate) then counts the steps taken if the cause is blind
    /// ([`StopCause::is_blind`]), and all steps of the plan otherwise; it names the premise. The ledger remembers the cause.
    ///
    /// # Reference
    /// The crate's proof, section 7.
    ///
    /// # Errors
    /// [`TrainError::Finished`] when all steps are taken; [`TrainError::Invalid`] before the first step;
    /// [`TrainError::File`] when the ledger cannot be written.
    pub fn stop(&mut self, cause: StopCause) -> Result<(), TrainError> {
        if self.is_finished() {
            return Err(TrainError::Finished { steps: self.steps() });
        }
        if self.taken == 0 {
            return Err(TrainError::invalid("steps", 0, "take or resume at least one before the run ends"));
        }
        self.announce()?;
        if let Some(ledger) = &mut self.ledger {
            ledger.stop(cause)?;
        }
        self.stopped = Some(cause);
        Ok(())
    }

    /// What is guaranteed for everything that has been given out if the run ends here for this cause; none without privacy.
    ///
    /// # Guarantee
    /// As for [`stop`](Self::stop).
    ///
    /// # Reference
    /// The crate's proof, section 7.
    ///
    /// # Errors
    /// What the accountant refuses.
    pub fn certificate_if_stopped(&self, cause: StopCause) -> Result<Option<Certificate>, TrainError> {
        let Some(plan) = self.plan() else { return Ok(None) };
        let counted = if cause.is_blind() { self.counted } else { plan.steps().max(self.counted) };
        // The event of a run with cyclic batches is that of all its steps, whatever ended it.
        let cause = if plan.settings().cyclic.is_some() { StopCause::Choice } else { cause };
        let premise = Fact::Stopped(cause.premise(self.taken, plan.steps()));
        Ok(Some(plan.certificate(counted)?.taking(premise)))
    }
}
