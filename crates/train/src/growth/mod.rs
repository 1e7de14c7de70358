//! Batches that grow: a private run in stages, each of which samples at twice the rate of the stage before.

mod sampler;

pub(crate) use sampler::StagedSampler;

use crate::clip::Clipping;
use crate::{PlanSettings, PrivacyPlan, TrainError};
use serde::{Deserialize, Serialize};

/// The largest factor.
const MOST_FACTOR: u64 = 1 << 16;

/// Batches whose expected size doubles from stage to stage of a run, while the noise on a step's sum stays the same.
///
/// A factor of 2^k makes k + 1 stages. Stage i, from 0, samples at 2^i times the plan's sampling rate. Its share of the steps is
/// proportional to 2^-i, so every stage sees about the same number of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchGrowth {
    /// The last stage's expected batch size over that of the first: a power of two, from 2 to 65536.
    pub factor: u64,
}

/// Steps in sequence that have one sampling rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stage {
    /// The probability of a unit to be in a step.
    pub rate: f64,
    /// How many steps.
    pub steps: u64,
}

impl BatchGrowth {
    /// A growth by this factor.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] for a factor that is not a power of two from 2 to 65536.
    pub fn new(factor: u64) -> Result<Self, TrainError> {
        if factor.is_power_of_two() && (2..=MOST_FACTOR).contains(&factor) {
            return Ok(Self { factor });
        }
        let remedy = format!(
            "give a power of two from 2 to {MOST_FACTOR}: the batches double from stage to stage; leave it out for batches of one size"
        );
        Err(TrainError::invalid("batch_growth", factor, remedy))
    }

    /// How often the batches double.
    fn doublings(self) -> u32 {
        self.factor.clamp(1, MOST_FACTOR).ilog2()
    }

    /// How many stages there are.
    pub fn stages(self) -> u64 {
        u64::from(self.doublings()) + 1
    }

    /// The number of the first step after a stage, in a run of so many: the nearest whole number to the stages' share of all steps.
    fn end(self, steps: u64, stage: u32) -> u64 {
        let doublings = self.doublings();
        // In units of the last stage's share, which is 2^-doublings of the first one's.
        let whole = (2u128 << doublings) - 1;
        let part = whole + 1 - (1u128 << (doublings - stage.min(doublings)));
        // An odd number of shares has no ties.
        ((2 * u128::from(steps) * part + whole) / (2 * whole)) as u64
    }

    /// The steps of each stage of a run of so many. No stage is empty where there are at least as many as the factor.
    pub fn divided(self, steps: u64) -> Vec<u64> {
        let mut start = 0;
        let stages = (0..=self.doublings()).map(|stage| {
            let end = self.end(steps, stage);
            end - std::mem::replace(&mut start, end)
        });
        stages.collect()
    }

    /// The steps of a run that sees as many units as so many steps at the first stage's rate: each stage sees an equal part of them.
    pub fn steps_for(self, first: f64) -> u64 {
        let shares = 2.0 - 1.0 / self.factor as f64;
        // The last digits of a product that is whole are no step.
        (first * shares / self.stages() as f64 - 1e-9).ceil().max(1.0) as u64
    }

    /// How many steps at the first stage's rate see as many units as the first `taken` of a run of so many steps.
    pub fn in_first_batches(self, steps: u64, taken: u64) -> u64 {
        let each = reached(&self.divided(steps), taken);
        each.iter()
            .zip(0u32..)
            .fold(0, |sum: u64, (own, stage)| sum.saturating_add(own.saturating_mul(1 << stage)))
    }

    /// Refuses settings in which batches cannot grow.
    pub(crate) fn check_plan(self, settings: &PlanSettings) -> Result<(), TrainError> {
        Self::new(self.factor)?;
        let refuse = |remedy: &str| Err(TrainError::invalid("batch_growth", self.factor, remedy.to_owned()));
        if settings.cyclic.is_some() {
            return refuse("cyclic batches all have one expected size: leave it out, or sample batches");
        }
        if matches!(settings.clipping, Clipping::Quantile(_)) {
            return refuse(
                "quantile clipping divides a step's sensitivity by the batch size: leave it out, or give another clipping",
            );
        }
        if settings.sampling_rate * self.factor as f64 > 1.0 {
            return refuse(
                "the last stage would sample at a rate above 1: give a smaller one, or smaller batches",
            );
        }
        if settings.steps < self.factor {
            let (stages, least) = (self.stages(), self.factor);
            let remedy =
                format!("each of the {stages} stages needs a step: give at least {least}, or less growth");
            return Err(TrainError::invalid("steps", settings.steps, remedy));
        }
        Ok(())
    }
}

/// The part of each stage in the first `taken` steps. Steps beyond the last stage are of its kind.
fn reached(stages: &[u64], taken: u64) -> Vec<u64> {
    let (mut left, last) = (taken, stages.len().saturating_sub(1));
    let part = |(stage, steps): (usize, &u64)| {
        let own = if stage == last { left } else { left.min(*steps) };
        left -= own;
        own
    };
    stages.iter().enumerate().map(part).collect()
}

impl PlanSettings {
    /// The stages of the run; one where batches do not grow.
    pub fn stages(&self) -> Vec<Stage> {
        let Some(growth) = self.growth else {
            return vec![Stage { rate: self.sampling_rate, steps: self.steps }];
        };
        // A power of two changes no digit of the rate.
        let rate = |stage: u32| self.sampling_rate * (1u64 << stage) as f64;
        growth
            .divided(self.steps)
            .into_iter()
            .zip(0..)
            .map(|(steps, stage)| Stage { rate: rate(stage), steps })
            .collect()
    }

    /// The stages with the first `taken` steps alone: those that were not reached have no steps. Steps beyond the last stage are of its
    /// kind.
    pub fn reached(&self, taken: u64) -> Vec<Stage> {
        let stages = self.stages();
        let steps: Vec<u64> = stages.iter().map(|stage| stage.steps).collect();
        stages
            .into_iter()
            .zip(reached(&steps, taken))
            .map(|(stage, steps)| Stage { steps, ..stage })
            .collect()
    }

    /// The sampling rate of a step, counted from 0.
    pub fn rate(&self, step: u64) -> f64 {
        let Some(growth) = self.growth else { return self.sampling_rate };
        let stage = (0..growth.doublings()).filter(|stage| growth.end(self.steps, *stage) <= step).count();
        self.sampling_rate * (1u64 << stage) as f64
    }

    /// The sampling rate of every step.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] where batches grow.
    pub fn constant_rate(&self) -> Result<f64, TrainError> {
        match self.growth {
            None => Ok(self.sampling_rate),
            Some(own) => {
                let remedy = "every step has the same sampling rate here: leave it out";
                Err(TrainError::invalid("batch_growth", own.factor, remedy))
            }
        }
    }
}

/// Refuses a plan with batches that grow where all steps sample at one rate.
pub(crate) fn refuse_growth(plan: &PrivacyPlan, instead: &str) -> Result<(), TrainError> {
    match plan.settings().growth {
        None => Ok(()),
        Some(own) => Err(TrainError::invalid("batch_growth", own.factor, instead)),
    }
}

#[cfg(test)]
mod tests;
