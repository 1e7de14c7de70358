//! A training run about which nothing is left to check.

use reticent_core::{Event, EventLog, InvalidValue, Neighboring, NoiseMultiplier, SamplingRate};

/// A training run with clipped gradients and Gaussian noise.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingRun {
    /// σ / clipping norm.
    pub noise: NoiseMultiplier,
    /// How batches were drawn, and how many.
    pub batches: BatchSampling,
    /// The neighbouring relation.
    pub neighboring: Neighboring,
    /// Number of records, where it is known.
    pub dataset_size: Option<u64>,
    /// Records in a batch, where that was stated.
    pub batch_size: Option<u64>,
}

/// How batches were drawn, and how many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BatchSampling {
    /// Every record in every batch by its own coin.
    Poisson {
        /// The probability of each record to be in a batch.
        rate: SamplingRate,
        /// Number of batches.
        steps: u64,
    },
    /// Batches of fixed size, each drawn anew.
    WithoutReplacement {
        /// Number of records.
        dataset_size: u64,
        /// Records in a batch.
        batch_size: u64,
        /// Number of batches.
        steps: u64,
    },
    /// Batches cut from a shuffled list.
    Shuffled {
        /// Batches in an epoch.
        per_epoch: u64,
        /// Number of epochs.
        epochs: u64,
    },
    /// Every record thrown into one of the batches of an epoch.
    BallsInBins {
        /// Batches in an epoch.
        per_epoch: u64,
        /// Number of epochs.
        epochs: u64,
    },
}

impl TrainingRun {
    /// The events of the run.
    pub(in super::super) fn log(&self) -> Result<EventLog, InvalidValue> {
        // Under add-remove a clipped sum is Gaussian noise of this multiplier.
        let noise_multiplier = self.noise;
        let gaussian = match self.neighboring {
            Neighboring::AddRemove => Event::Gaussian { noise_multiplier },
            Neighboring::ReplaceOne => Event::ClippedSum { noise_multiplier },
        };
        let repeated = |count, event| Event::Repeated { count, event: Box::new(event) };
        let event = match self.batches {
            BatchSampling::Poisson { rate, steps } if rate.get() == 1.0 => repeated(steps, gaussian),
            BatchSampling::Poisson { rate, steps } => {
                repeated(steps, Event::PoissonSampled { rate, event: Box::new(gaussian) })
            }
            BatchSampling::WithoutReplacement { dataset_size, batch_size, steps } => {
                let event = Box::new(gaussian);
                repeated(steps, Event::SampledWithoutReplacement { dataset_size, batch_size, event })
            }
            BatchSampling::Shuffled { per_epoch, epochs } => {
                Event::Shuffled { steps_per_epoch: per_epoch, epochs, event: Box::new(gaussian) }
            }
            BatchSampling::BallsInBins { per_epoch, epochs } => {
                Event::BallsInBins { bins: per_epoch, epochs, event: Box::new(gaussian) }
            }
        };
        event.validate()?;
        Ok(EventLog { neighboring: self.neighboring, events: vec![event] })
    }

    /// Number of steps in all.
    pub fn steps(&self) -> u64 {
        match self.batches {
            BatchSampling::Poisson { steps, .. } | BatchSampling::WithoutReplacement { steps, .. } => steps,
            BatchSampling::Shuffled { per_epoch, epochs }
            | BatchSampling::BallsInBins { per_epoch, epochs } => per_epoch.saturating_mul(epochs),
        }
    }

    /// The same run with another noise multiplier.
    pub(in super::super) fn with_noise(&self, noise: f64) -> Result<Self, InvalidValue> {
        Ok(Self { noise: NoiseMultiplier::new(noise)?, ..self.clone() })
    }

    /// The same run with another number of steps; of whole epochs, where batches come by the epoch.
    pub(in super::super) fn with_steps(&self, count: u64) -> Self {
        let mut batches = self.batches;
        match &mut batches {
            BatchSampling::Poisson { steps, .. } | BatchSampling::WithoutReplacement { steps, .. } => {
                *steps = count
            }
            BatchSampling::Shuffled { per_epoch, epochs }
            | BatchSampling::BallsInBins { per_epoch, epochs } => {
                *epochs = count.div_ceil(*per_epoch);
            }
        }
        Self { batches, ..self.clone() }
    }

    /// The same run with another rate of Poisson sampling.
    pub(in super::super) fn with_rate(&self, rate: f64) -> Result<Self, InvalidValue> {
        let rate = SamplingRate::new(rate)?;
        Ok(Self { batches: BatchSampling::Poisson { rate, steps: self.steps() }, ..self.clone() })
    }
}
