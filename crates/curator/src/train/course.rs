//! The training loop of a run: progress, metrics, checkpoints, cancellation.

use super::evaluations::{Evaluations, HeldOutEvaluation, Standstill};
use super::federated::Federated;
use super::reader::Reader;
use super::settings::CheckpointInterval;
use super::stored;
use super::terms::AgreedTerms;
use crate::refusal::Refusal;
use crate::watch::{Metrics, Watch, Work};
use reticent_core::{Certificate, Fact};
use reticent_train::{
    Aggregation, Evaluation, Examples, Federation, Progress, StopCause, TrainError, Trainer,
};
use std::ops::{Deref, DerefMut};
use std::path::Path;

/// The most times that a run reports on itself.
const MOST_REPORTS: f64 = 200.0;

/// How a run ended.
pub(crate) enum End {
    Finished(Metrics),
    Interrupted,
}

/// What takes the steps of a run: one party, or several together.
pub(crate) enum Stepping {
    One(Box<Trainer>),
    Several(Box<Federation>),
}

impl From<Trainer> for Stepping {
    fn from(trainer: Trainer) -> Self {
        Self::One(Box::new(trainer))
    }
}

impl From<Federation> for Stepping {
    fn from(federation: Federation) -> Self {
        Self::Several(Box::new(federation))
    }
}

impl Stepping {
    fn step(&mut self) -> Result<Progress, TrainError> {
        match self {
            Self::One(trainer) => trainer.step(),
            Self::Several(federation) => federation.step(),
        }
    }
}

impl Stepping {
    /// How often the inference network of an adversarial training is right; none for other trainings.
    pub(crate) fn inference_accuracy(&mut self) -> Result<Option<f64>, TrainError> {
        match self {
            Self::One(trainer) => trainer.inference_accuracy(),
            Self::Several(_) => Ok(None),
        }
    }
}

impl Deref for Stepping {
    type Target = Aggregation;

    fn deref(&self) -> &Aggregation {
        match self {
            Self::One(trainer) => trainer,
            Self::Several(federation) => federation,
        }
    }
}

impl DerefMut for Stepping {
    fn deref_mut(&mut self) -> &mut Aggregation {
        match self {
            Self::One(trainer) => trainer,
            Self::Several(federation) => federation,
        }
    }
}

/// A run in progress.
pub(crate) struct TrainingLoop<'a> {
    pub(crate) trainer: &'a mut Stepping,
    pub(crate) agreement: &'a AgreedTerms,
    pub(crate) reader: &'a Reader,
    /// What the start of the weights takes as public.
    pub(crate) facts: &'a [Fact],
    /// Public validation data.
    pub(crate) validation: Option<&'a Examples>,
    pub(crate) folder: Option<&'a Path>,
    /// The rounds after which the weights are kept.
    pub(crate) federated: Option<&'a Federated>,
    /// The checkpoint interval; none for every report.
    pub(crate) every: Option<CheckpointInterval>,
    /// After how many scores without a better one the run ends.
    pub(crate) patience: Option<u64>,
    /// Scores on held-out units, where they may end the run.
    pub(crate) evaluations: Option<Evaluations<'a>>,
}

impl Metrics {
    /// The same with a score on held-out units.
    fn with(self, found: Option<&HeldOutEvaluation>) -> Self {
        let Some(HeldOutEvaluation { score, .. }) = found else { return self };
        Self {
            held_out_accuracy: score.accuracy,
            held_out_doubt: score.accuracy_doubt,
            held_out_rmse: score.rmse,
            held_out_rmse_interval: score.rmse_interval.filter(|_| score.is_noisy),
            ..self
        }
    }
}

impl TrainingLoop<'_> {
    /// Takes all remaining steps.
    pub(crate) fn run(&mut self, watch: &dyn Watch) -> Result<End, Refusal> {
        let start = self.trainer.progress();
        let bar = watch.begin(Work::Steps(start.steps));
        // Every epoch, unless there are very many: the accountant takes its time, and so does the disk.
        let report = (self.agreement.epoch(start.steps) / MOST_REPORTS).max(1.0);
        let mut last = None;
        let own = self.evaluations.as_ref();
        let mut standstill =
            own.map_or_else(Standstill::default, |own| own.standstill(start.taken, start.steps));
        while !self.trainer.is_finished() {
            let now = self.trainer.step()?;
            bar.at(now.taken);
            self.keep(now.taken)?;
            let (before, epoch) = (self.agreement.epoch(now.taken - 1), self.agreement.epoch(now.taken));
            let passes = |every: f64| (epoch / every + 1e-9).floor() > (before / every + 1e-9).floor();
            let is_due = match self.every {
                Some(CheckpointInterval::Steps(steps)) => now.taken.is_multiple_of(steps),
                Some(CheckpointInterval::Epochs(epochs)) => passes(epochs as f64),
                None => passes(report),
            };
            let is_asked = watch.is_halted();
            if self.folder.is_some() && (is_due || is_asked) {
                self.trainer.save()?;
            }
            if is_asked && !self.trainer.is_finished() {
                return Ok(End::Interrupted);
            }
            let found = match &mut self.evaluations {
                Some(own) => own.at(now.taken, now.steps, self.trainer)?,
                None => None,
            };
            let is_shown = if self.evaluations.is_some() { found.is_some() } else { passes(report) };
            if is_shown || self.trainer.is_finished() {
                let mut metrics = Metrics::with(self.metrics(start.taken)?, found.as_ref());
                if self.evaluations.is_some() {
                    // Scores decide when the run ends, and cost by themselves: all that is proven is the ε of the plan.
                    let whole = self.certificate_if_stopped(StopCause::Choice)?;
                    metrics.epsilon = whole.map(|whole| whole.guarantee.epsilon.get());
                }
                bar.report(&metrics);
                if let Some(folder) = self.folder {
                    stored::add_metrics(folder, &metrics)?;
                }
                last = Some(metrics);
                // A score that is too noisy to tell anything says nothing about a standstill, either.
                let is_blind = found.as_ref().is_some_and(|found| found.score.merit() == f64::NEG_INFINITY);
                let score = match (&self.evaluations, found) {
                    (Some(_), found) => found.map(|found| found.score.merit()),
                    (None, _) => {
                        metrics.validation_accuracy.or_else(|| metrics.validation_loss.map(|loss| -loss))
                    }
                };
                if let Some(patience) = self.patience
                    && !is_blind
                    && standstill.lasts(score, patience)
                    && !self.trainer.is_finished()
                {
                    // What the run showed decided it: the claim is that of all planned steps.
                    self.trainer.stop(StopCause::Choice)?;
                }
            }
        }
        if self.folder.is_some() {
            self.trainer.save()?;
        }
        match last {
            Some(metrics) => Ok(End::Finished(metrics)),
            // Nothing was left to do.
            None => Ok(End::Finished(self.metrics(start.taken)?)),
        }
    }

    /// Keeps the weights of a round, where the run has a folder: they are what the rounds give out, and covered by its certificate.
    fn keep(&mut self, round: u64) -> Result<(), Refusal> {
        let (Some(folder), Some(federated)) = (self.folder, self.federated) else { return Ok(()) };
        if federated.is_kept(round) {
            let weights = self.trainer.weights()?;
            stored::add_snapshot(folder, round, self.trainer.layout(), &weights)?;
        }
        Ok(())
    }

    fn metrics(&mut self, first: u64) -> Result<Metrics, Refusal> {
        let now = self.trainer.progress();
        let epsilon = match self.trainer.spent()? {
            Some(own) => Some(self.agreement.spent(own)?),
            None => None,
        };
        let found: Option<Evaluation> =
            self.validation.map(|examples| self.trainer.evaluate(examples)).transpose()?;
        let epochs = self.agreement.epoch(now.taken) - self.agreement.epoch(first);
        let taken = epochs * self.agreement.size as f64;
        let seconds = now.elapsed.as_secs_f64();
        let pace = if seconds > 0.0 { (taken / seconds).round() } else { 0.0 };
        Ok(Metrics {
            step: now.taken,
            epoch: self.agreement.epoch(now.taken),
            epochs: self.agreement.epoch(self.trainer.steps()),
            epsilon,
            validation_loss: found.map(|found| found.loss),
            // A network whose scores are not numbers answers nothing, right or wrong.
            validation_accuracy: found
                .filter(|found| found.loss.is_finite())
                .and_then(|found| found.accuracy),
            held_out_accuracy: None,
            held_out_doubt: None,
            held_out_rmse: None,
            held_out_rmse_interval: None,
            clipping_norm: self.trainer.clipping_norm()?,
            pace,
            examples_per_second: epsilon.is_none().then_some(pace),
        })
    }

    /// What is guaranteed for everything that has been given out; none without privacy.
    pub(crate) fn certificate(&self) -> Result<Option<Certificate>, Refusal> {
        self.whole(self.trainer.certificate()?)
    }

    /// The same if the run ends here for this cause.
    pub(crate) fn certificate_if_stopped(&self, cause: StopCause) -> Result<Option<Certificate>, Refusal> {
        self.whole(self.trainer.certificate_if_stopped(cause)?)
    }

    /// The trainer's certificate with what came before its first step.
    fn whole(&self, own: Option<Certificate>) -> Result<Option<Certificate>, Refusal> {
        let Some(own) = own else { return Ok(None) };
        let whole = self.agreement.certificate(own, self.reader)?;
        Ok(Some(self.facts.iter().cloned().fold(whole, Certificate::taking)))
    }
}
