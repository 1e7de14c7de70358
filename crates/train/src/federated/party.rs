//! What one party computes.

use super::update::UpdateValues;
use super::{FederatedTerms, LocalTraining};
use crate::engine::{Engine, FixedGrid, FixedSum, MOST_UNITS, Weights};
use crate::optimizer::StepInput;
use crate::trainer::{Batching, Contribution, Sampling, Share};
use crate::{Clipping, Examples, Layout, TrainError, Units};
use reticent_noise::entropy::Repeatable;
use std::sync::Arc;

/// One party: its data, an engine of its own, and what it does with them.
pub(super) enum Party {
    /// FedSGD with a plan; the divisor makes a mean of the party's sum.
    Records { contribution: Box<Contribution>, divisor: f64 },
    /// FedSGD without one.
    Gradients { engine: Box<dyn Engine>, share: Box<Share> },
    /// FedAvg.
    Local(Box<LocalParty>),
}

/// A party that trains by itself. With a plan, its change is clipped.
pub(super) struct LocalParty {
    engine: Box<dyn Engine>,
    share: Share,
    local: LocalTraining,
    bound: Option<(Clipping, FixedGrid)>,
}

/// All parties together: how many they are, and how many records they have.
#[derive(Clone, Copy)]
pub(super) struct Total {
    pub(super) parties: usize,
    pub(super) records: usize,
}

impl Party {
    /// A party with these examples; without bits it draws from the operating system.
    pub(super) fn new(
        engine: Box<dyn Engine>,
        examples: Arc<Examples>,
        terms: &FederatedTerms,
        total: Total,
        bits: Option<Box<Repeatable>>,
    ) -> Result<Self, TrainError> {
        let units = Units::examples(examples.len());
        let share = |batches: Batching, bits: Option<Box<Repeatable>>, engine: &dyn Engine| {
            let sampling = match bits {
                Some(bits) => Sampling::repeated(batches, bits)?,
                None => Sampling::of(batches)?,
            };
            Share::new(engine, examples.clone(), Units::examples(examples.len()), sampling, None)
        };
        Ok(match terms {
            FederatedTerms::Records(plan) => {
                let most = MOST_UNITS / total.parties as u64;
                let grid = FixedGrid::of(plan)?;
                let contribution = Contribution::new(engine, examples, units, plan, grid, most)?;
                // Refused before where batches grow: every round has this divisor.
                let divisor = plan.expected_batch(0) / total.parties as f64;
                Self::Records { contribution: Box::new(contribution), divisor }
            }
            FederatedTerms::Gradients(baseline) => {
                let rate = match baseline.batches {
                    Batching::Poisson { rate } => rate,
                    Batching::Shuffled { size } => (size as f64 / total.records.max(1) as f64).min(1.0),
                };
                let share = share(Batching::Poisson { rate }, bits, &*engine)?;
                Self::Gradients { engine, share: Box::new(share) }
            }
            FederatedTerms::Parties(_, local) | FederatedTerms::Averages(_, local) => {
                let share = share(Batching::Shuffled { size: local.batch }, bits, &*engine)?;
                let bound = match terms.plan() {
                    Some(plan) => Some((plan.settings().clipping.clone(), FixedGrid::of(plan)?)),
                    None => None,
                };
                Self::Local(Box::new(LocalParty { engine, share, local: *local, bound }))
            }
        })
    }

    /// The party's answer to weights in a round, counted from 0.
    pub(super) fn update(
        &mut self,
        weights: &[f32],
        round: u64,
        rounds: u64,
    ) -> Result<UpdateValues, TrainError> {
        match self {
            Self::Records { contribution, divisor } => {
                Ok(UpdateValues::Fixed(contribution.sum(weights)?, *divisor))
            }
            Self::Gradients { engine, share } => {
                engine.load_weights(weights)?;
                share.sum_on(&mut **engine, &|| ())?;
                let count = share.selection().units() as f64;
                let mean = |sum: &f32| (f64::from(*sum) / count.max(1.0)) as f32;
                Ok(UpdateValues::Exact { mean: engine.read_sum()?.iter().map(mean).collect(), weight: count })
            }
            Self::Local(own) => {
                let change = own.train(weights, round, rounds)?;
                own.claimed(&change)
            }
        }
    }

    /// What the party sends that claims this mean gradient or change.
    pub(super) fn claimed(&self, mean: &[f32]) -> Result<UpdateValues, TrainError> {
        match self {
            Self::Records { contribution, divisor } => {
                Ok(UpdateValues::Fixed(contribution.claimed(mean)?, *divisor))
            }
            Self::Gradients { share, .. } => {
                Ok(UpdateValues::Exact { mean: mean.to_vec(), weight: share.units().len() as f64 })
            }
            Self::Local(own) => own.claimed(mean),
        }
    }
}

impl LocalParty {
    /// Trains on the party's data from these weights; how far they moved.
    fn train(&mut self, weights: &[f32], round: u64, rounds: u64) -> Result<Vec<f32>, TrainError> {
        let Self { engine, share, local, .. } = self;
        engine.load_weights(weights)?;
        engine.begin(&local.recipe)?;
        let rate = local.recipe.schedule.rate(round, rounds);
        for _ in 0..local.epochs * share.units().len().div_ceil(local.batch) as u64 {
            share.sum_on(&mut **engine, &|| ())?;
            let scale = 1.0 / share.selection().units().max(1) as f64;
            engine.update(StepInput { rate, scale, noise_variance: None })?;
        }
        let end = engine.read_weights(Weights::Current)?;
        Ok(change(engine.layout(), weights, &end))
    }

    /// The change as it is sent.
    fn claimed(&self, change: &[f32]) -> Result<UpdateValues, TrainError> {
        let Some((clipping, grid)) = &self.bound else {
            let weight = self.share.units().len() as f64;
            return Ok(UpdateValues::Exact { mean: change.to_vec(), weight });
        };
        let mut sum = FixedSum::new(*grid, 1)?;
        sum.add_clipped(clipping, self.engine.rounding_margin(), self.engine.layout(), change)?;
        Ok(UpdateValues::Fixed(sum, 1.0))
    }
}

/// How far trained weights moved, negated: what a step at rate 1 subtracts.
fn change(layout: &Layout, from: &[f32], to: &[f32]) -> Vec<f32> {
    let mut change = Vec::with_capacity(layout.gradients());
    for (place, _) in layout.parameters().iter().enumerate().filter(|(_, own)| own.trainable) {
        let range = layout.weight_range(place);
        let pairs = from[range.clone()].iter().zip(&to[range]);
        change.extend(pairs.map(|(from, to)| (f64::from(*from) - f64::from(*to)) as f32));
    }
    change
}
