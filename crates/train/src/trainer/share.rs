//! The examples of one party, and which of them enter a step.

use crate::cyclic::{CyclicBatches, CyclicSampler};
use crate::engine::{Background, Engine};
use crate::growth::StagedSampler;
use crate::sampler::{PoissonSampler, Repeated, Shuffler, Units};
use crate::trainer::Batching;
use crate::{Baseline, Clipping, Examples, PlanSettings, Selection, TrainError};
use reticent_core::SamplingRate;
use reticent_noise::Entropy;
use reticent_noise::entropy::Repeatable;
use std::sync::Arc;

/// Where the units of a step come from. What is private draws from [`Entropy`] and from nothing else.
pub(crate) enum Sampling {
    Poisson { sampler: PoissonSampler, entropy: Box<Entropy> },
    Staged { sampler: StagedSampler, entropy: Box<Entropy> },
    Shuffled { shuffler: Shuffler, entropy: Box<Entropy> },
    Cyclic { sampler: CyclicSampler, entropy: Box<Entropy> },
    Repeated(Box<Repeatable>, Batch),
}

/// The batches of a training that can be repeated.
pub(crate) enum Batch {
    Poisson(Repeated),
    Shuffled(Shuffler),
}

impl Sampling {
    /// Every unit independently, with fresh randomness.
    pub(crate) fn poisson(rate: f64) -> Result<Self, TrainError> {
        let sampler = PoissonSampler::new(SamplingRate::new(rate)?)?;
        Ok(Self::Poisson { sampler, entropy: Box::new(Entropy::new()?) })
    }

    /// Every unit independently, with fresh randomness, at the rate that the plan has for each step.
    pub(crate) fn staged(settings: &PlanSettings) -> Result<Self, TrainError> {
        Ok(Self::Staged { sampler: StagedSampler::new(settings)?, entropy: Box::new(Entropy::new()?) })
    }

    /// Batches of so many units that are drawn here, once.
    pub(crate) fn cyclic(batches: CyclicBatches, units: usize) -> Result<Self, TrainError> {
        let mut entropy = Box::new(Entropy::new()?);
        Ok(Self::Cyclic { sampler: CyclicSampler::new(batches.per_epoch, units, &mut entropy), entropy })
    }

    /// The batches of a training without a guarantee.
    pub(crate) fn of(batches: Batching) -> Result<Self, TrainError> {
        match batches {
            Batching::Shuffled { size } => {
                let entropy = Box::new(Entropy::new()?);
                Ok(Self::Shuffled { shuffler: Shuffler::new(size), entropy })
            }
            Batching::Poisson { rate } => Self::poisson(rate),
        }
    }

    /// The same as a function of these bits.
    pub(crate) fn repeated(batches: Batching, bits: Box<Repeatable>) -> Result<Self, TrainError> {
        let batch = match batches {
            Batching::Shuffled { size } => Batch::Shuffled(Shuffler::new(size)),
            Batching::Poisson { rate } => Batch::Poisson(Repeated::new(SamplingRate::new(rate)?)),
        };
        Ok(Self::Repeated(bits, batch))
    }

    pub(crate) fn sample(&mut self, units: &Units, selection: &mut Selection) {
        match self {
            Self::Poisson { sampler, entropy } => sampler.sample(units, entropy, selection),
            Self::Staged { sampler, entropy } => sampler.sample(units, entropy, selection),
            Self::Shuffled { shuffler, entropy } => shuffler.sample(units, &mut **entropy, selection),
            Self::Cyclic { sampler, entropy } => sampler.sample(units, entropy, selection),
            Self::Repeated(bits, Batch::Poisson(sampler)) => sampler.sample(units, bits, selection),
            Self::Repeated(bits, Batch::Shuffled(shuffler)) => shuffler.sample(units, &mut **bits, selection),
        }
    }
}

/// Examples, their units, and how units are sampled. It holds no noise and cannot draw any.
pub(crate) struct Share {
    examples: Arc<Examples>,
    units: Units,
    sampling: Sampling,
    clipping: Option<Clipping>,
    selection: Selection,
}

impl Share {
    /// Checks that units and examples belong together and fit the engine.
    pub(crate) fn new(
        engine: &dyn Engine,
        examples: Arc<Examples>,
        units: Units,
        sampling: Sampling,
        clipping: Option<Clipping>,
    ) -> Result<Self, TrainError> {
        if units.example_count() != examples.len() {
            let remedy = format!("give units for all {} examples", examples.len());
            return Err(TrainError::invalid("units", units.example_count(), remedy));
        }
        engine.check(&examples)?;
        Ok(Self { examples, units, sampling, clipping, selection: Selection::default() })
    }

    /// Clips from now on by another rule.
    pub(crate) fn set_clipping(&mut self, clipping: Clipping) {
        self.clipping = Some(clipping);
    }

    /// Says which step comes next, from 0, where its batch depends on that.
    pub(crate) fn set_step(&mut self, step: u64) {
        match &mut self.sampling {
            Sampling::Cyclic { sampler, .. } => sampler.set_step(step),
            Sampling::Staged { sampler, .. } => sampler.set_step(step),
            _ => {}
        }
    }

    /// Samples the units of the next step.
    pub(crate) fn sample(&mut self) -> &Selection {
        self.sampling.sample(&self.units, &mut self.selection);
        &self.selection
    }

    pub(crate) fn examples(&self) -> &Examples {
        &self.examples
    }

    pub(crate) fn units(&self) -> &Units {
        &self.units
    }

    /// The units of the step.
    pub(crate) fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Samples units and makes the engine's sum that of their clipped gradients.
    pub(crate) fn sum_on(
        &mut self,
        engine: &mut dyn Engine,
        background: Background<'_>,
    ) -> Result<(), TrainError> {
        self.sample();
        engine.sum(&self.examples, &self.selection, self.clipping.as_ref(), background)
    }

    /// What a sum without noise is divided by: the expected number of units where they are sampled independently, the number of
    /// units otherwise. With a plan the divisor is the plan's.
    pub(crate) fn divisor(&self, baseline: &Baseline) -> f64 {
        match baseline.batches {
            Batching::Poisson { rate } => rate * self.units.len() as f64,
            Batching::Shuffled { .. } => self.selection.units().max(1) as f64,
        }
    }
}
