//! Which units enter a step, at the rate of the step's own stage.

use super::Stage;
use crate::sampler::{PoissonSampler, Units};
use crate::{PlanSettings, Selection, TrainError};
use reticent_core::SamplingRate;
use reticent_noise::Entropy;

/// Poisson sampling in stages.
///
/// # Guarantee
/// A step's units are those of a [`PoissonSampler`] at [`PlanSettings::rate`] of that step, independently of all other steps.
///
/// # Reference
/// The crate's proof, "Batches that grow".
pub(crate) struct StagedSampler {
    /// The first step after each stage.
    stages: Vec<(u64, PoissonSampler)>,
    next: u64,
}

impl StagedSampler {
    /// The stages of a plan, from the first step on.
    pub(crate) fn new(settings: &PlanSettings) -> Result<Self, TrainError> {
        let mut end = 0;
        let stage = |Stage { rate, steps }: Stage| {
            end += steps;
            Ok::<_, TrainError>((end, PoissonSampler::new(SamplingRate::new(rate)?)?))
        };
        Ok(Self { stages: settings.stages().into_iter().map(stage).collect::<Result<_, _>>()?, next: 0 })
    }

    /// Says which step comes next, from 0.
    pub(crate) fn set_step(&mut self, step: u64) {
        self.next = step;
    }

    /// The units of that step, in place of what `selection` held.
    pub(crate) fn sample(&mut self, units: &Units, entropy: &mut Entropy, selection: &mut Selection) {
        let last = self.stages.len().saturating_sub(1);
        let own = self.stages.iter().position(|(end, _)| self.next < *end).unwrap_or(last);
        selection.clear();
        if let Some((_, sampler)) = self.stages.get_mut(own) {
            sampler.sample(units, entropy, selection);
        }
    }
}
