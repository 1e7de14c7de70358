//! The settings of a training, and its progress.

use crate::adversarial::AdversarialSettings;
use crate::average::Average;
use crate::denoise::Denoising;
use crate::optimizer::OptimizerSettings;
use crate::schedule::Schedule;
use crate::{PrivacyPlan, TrainError, Units};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Optimizer, learning-rate schedule, weight averaging and denoising: nothing in it changes what is guaranteed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The optimizer.
    pub optimizer: OptimizerSettings,
    /// The learning-rate schedule.
    pub schedule: Schedule,
    /// The decay of the exponential moving average of the weights; none for no average.
    #[serde(default)]
    pub average: Option<f64>,
    /// How noisy gradients are denoised before the optimizer takes them; none for not at all. It needs a plan, and Adam then subtracts no
    /// variance of noise: how much is left is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denoise: Option<Denoising>,
}

impl Recipe {
    /// Checks the numbers.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] naming the one that is out of range.
    pub fn check(&self) -> Result<(), TrainError> {
        self.optimizer.check()?;
        self.schedule.check()?;
        self.average.map_or(Ok(()), Average::check)
    }
}

/// The batches of a training without a guarantee.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Batching {
    /// Batches of a fresh shuffle in every epoch; the mean is over the batch.
    Shuffled {
        /// Units in a batch.
        size: usize,
    },
    /// Every unit with this probability; the mean is over the expected size.
    Poisson {
        /// Above 0, at most 1.
        rate: f64,
    },
}

/// A training without any guarantee.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// How batches are made.
    pub batches: Batching,
    /// Number of steps.
    pub steps: u64,
    /// The training against an inference network; none for ordinary training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adversarial: Option<AdversarialSettings>,
}

impl Baseline {
    /// Ordinary training.
    pub fn new(batches: Batching, steps: u64) -> Self {
        Self { batches, steps, adversarial: None }
    }

    /// The expected number of units in a batch, of so many.
    pub(crate) fn batch_size(&self, units: usize) -> usize {
        match self.batches {
            Batching::Shuffled { size } => size.min(units),
            Batching::Poisson { rate } => (rate * units as f64).ceil() as usize,
        }
    }

    /// Checks the numbers, for these units.
    pub(crate) fn check(&self, units: &Units) -> Result<(), TrainError> {
        if self.steps == 0 {
            return Err(TrainError::invalid("steps", 0, "give at least 1"));
        }
        if units.is_empty() {
            return Err(TrainError::invalid("examples", 0, "give at least one to train on"));
        }
        if self.adversarial.is_some() {
            let remedy = "it needs reference records: use Trainer::adversarial";
            return Err(TrainError::invalid("adversarial", "given", remedy));
        }
        match self.batches {
            Batching::Shuffled { size: 0 } => Err(TrainError::invalid("batch_size", 0, "give at least 1")),
            Batching::Poisson { rate } if !(rate > 0.0 && rate <= 1.0) => {
                Err(TrainError::invalid("sampling_rate", rate, "give a number above 0 and at most 1"))
            }
            _ => Ok(()),
        }
    }
}

/// Whether a run has a guarantee, with its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrainingTerms {
    /// With the guarantee of a plan.
    Private(PrivacyPlan),
    /// Without a guarantee.
    NonPrivate(Baseline),
}

/// How far a training is. All of it is public.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Steps on the way to the present weights.
    pub taken: u64,
    /// Steps that count against the plan: `taken`, and those of earlier attempts that may have been seen.
    pub counted: u64,
    /// How many there will be.
    pub steps: u64,
    /// Since the trainer was made.
    pub elapsed: Duration,
}
