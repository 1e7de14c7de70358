//! From a mean gradient to new weights. Everything here works on public numbers: noisy gradients, and constants.

mod kernel;

pub(crate) use kernel::AdamRule;

use crate::{Layout, TrainError};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Numbers a thread takes at a time.
const PIECE: usize = 1 << 15;

/// The optimizer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum OptimizerSettings {
    /// Stochastic gradient descent.
    Sgd {
        /// Momentum, from 0 to below 1.
        #[serde(default)]
        momentum: f64,
        /// Whether momentum is Nesterov's.
        #[serde(default)]
        nesterov: bool,
        /// Weight decay: this times the weights is added to the gradient.
        #[serde(default)]
        weight_decay: f64,
    },
    /// Adam or AdamW.
    Adam(Adam),
}

/// Adam and AdamW.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Adam {
    /// Decay rate of the first moment, from 0 to below 1.
    pub beta1: f64,
    /// Decay rate of the second moment, from 0 to below 1.
    pub beta2: f64,
    /// Added to the divisor for numerical stability.
    pub stability: f64,
    /// Weight decay.
    pub weight_decay: f64,
    /// Whether weight decay is decoupled from the gradient (AdamW).
    pub decoupled: bool,
    /// Whether the variance of the noise is subtracted from the second moment (DP-AdamBC).
    pub subtract_noise: bool,
    /// The least second moment after the subtraction, as a share of the noise variance.
    pub noise_floor: f64,
}

impl Default for Adam {
    fn default() -> Self {
        Self {
            beta1: 0.9,
            beta2: 0.999,
            stability: 1e-8,
            weight_decay: 0.0,
            decoupled: false,
            subtract_noise: true,
            noise_floor: 0.1,
        }
    }
}

impl OptimizerSettings {
    /// SGD with momentum.
    pub fn sgd(momentum: f64) -> Self {
        Self::Sgd { momentum, nesterov: false, weight_decay: 0.0 }
    }

    /// Adam as published, with the correction for the noise under privacy.
    pub fn adam() -> Self {
        Self::Adam(Adam::default())
    }

    /// AdamW.
    pub fn adamw(weight_decay: f64) -> Self {
        Self::Adam(Adam { weight_decay, decoupled: true, ..Adam::default() })
    }

    /// Numbers that are remembered for so many trained weights: velocities or first moments, and second moments.
    pub(crate) fn moments(&self, dimension: usize) -> [usize; 2] {
        match self {
            Self::Sgd { momentum: 0.0, .. } => [0, 0],
            Self::Sgd { .. } => [dimension, 0],
            Self::Adam(_) => [dimension, dimension],
        }
    }

    /// Checks the numbers.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] naming the one that is out of range.
    pub fn check(&self) -> Result<(), TrainError> {
        let share = |field: &'static str, value: f64| {
            if (0.0..1.0).contains(&value) {
                return Ok(());
            }
            Err(TrainError::invalid(field, value, "give a number from 0 to below 1"))
        };
        let amount = |field: &'static str, value: f64, least: f64| {
            if (least..=1e6).contains(&value) {
                return Ok(());
            }
            Err(TrainError::invalid(field, value, format!("give a number from {least:e} to 1e6")))
        };
        match self {
            Self::Sgd { momentum, nesterov, weight_decay } => {
                if *nesterov && *momentum == 0.0 {
                    return Err(TrainError::invalid("nesterov", nesterov, "give a momentum above 0 with it"));
                }
                share("momentum", *momentum)?;
                amount("weight_decay", *weight_decay, 0.0)
            }
            Self::Adam(adam) => {
                share("beta1", adam.beta1)?;
                share("beta2", adam.beta2)?;
                amount("stability", adam.stability, 1e-30)?;
                amount("noise_floor", adam.noise_floor, 1e-6)?;
                amount("weight_decay", adam.weight_decay, 0.0)
            }
        }
    }
}

/// The places of the trained weights among all weights and in the gradient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segments {
    pairs: Vec<(Range<usize>, Range<usize>)>,
}

impl Segments {
    /// The segments of a layout, neighbours joined.
    pub fn of(layout: &Layout) -> Self {
        let mut pairs: Vec<(Range<usize>, Range<usize>)> = Vec::new();
        for parameter in 0..layout.parameters().len() {
            let (place, own) = (layout.weight_range(parameter), layout.gradient_range(parameter));
            if own.is_empty() {
                continue;
            }
            match pairs.last_mut() {
                Some((last, last_own)) if last.end == place.start && last_own.end == own.start => {
                    (last.end, last_own.end) = (place.end, own.end);
                }
                _ => pairs.push((place, own)),
            }
        }
        Self { pairs }
    }

    /// All of so many weights, in one piece.
    pub fn whole(weights: usize) -> Self {
        Self { pairs: vec![(0..weights, 0..weights)] }
    }

    /// Pairs of ranges, of weights and of gradients.
    pub fn iter(&self) -> impl Iterator<Item = (Range<usize>, Range<usize>)> + '_ {
        self.pairs.iter().cloned()
    }
}

/// What one step of an optimizer is told besides the gradient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepInput {
    /// The learning rate.
    pub rate: f64,
    /// What the sum is multiplied by to become a mean.
    pub scale: f64,
    /// The variance of the noise in one coordinate of the mean; none without noise.
    pub noise_variance: Option<f64>,
}

/// An optimizer with its state: one or two numbers a trained weight.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimizer {
    settings: OptimizerSettings,
    steps: u64,
    /// The velocity, or the first moment; empty when not needed.
    first: Vec<f32>,
    /// The second moment; empty when not needed.
    second: Vec<f32>,
}

impl Optimizer {
    /// An optimizer for so many trained weights.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] from the settings.
    pub fn new(settings: OptimizerSettings, dimension: usize) -> Result<Self, TrainError> {
        settings.check()?;
        let [first, second] = settings.moments(dimension);
        Ok(Self { settings, steps: 0, first: vec![0.0; first], second: vec![0.0; second] })
    }

    /// Moves the trained weights by the gradient `sum`, in one pass.
    ///
    /// # Reference
    /// Tang, Shpilevskiy, Lécuyer, *DP-AdamBC* (2023), for the noise's share of the second moment.
    ///
    /// # Panics
    /// If `sum` is not as long as the segments' gradient.
    pub fn step(&mut self, weights: &mut [f32], segments: &Segments, sum: &[f32], input: StepInput) {
        self.step_on(weights, segments, sum, input, false);
    }

    /// As [`step`](Self::step), on this thread alone if `is_single`.
    pub(crate) fn step_on(
        &mut self,
        weights: &mut [f32],
        segments: &Segments,
        sum: &[f32],
        input: StepInput,
        is_single: bool,
    ) {
        let whole = if is_single { usize::MAX } else { PIECE };
        self.steps += 1;
        for (place, own) in segments.iter() {
            let (weights, sum) = (&mut weights[place], &sum[own.clone()]);
            match self.settings {
                OptimizerSettings::Sgd { momentum: 0.0, weight_decay, .. } => {
                    let work =
                        |weights: &mut [f32], sum: &[f32]| kernel::descend(weights, sum, weight_decay, input);
                    if sum.len() <= whole {
                        work(weights, sum);
                        continue;
                    }
                    let pieces = weights.par_chunks_mut(PIECE).zip(sum.par_chunks(PIECE));
                    pieces.for_each(|(weights, sum)| work(weights, sum));
                }
                OptimizerSettings::Sgd { momentum, nesterov, weight_decay } => {
                    let rule = kernel::Momentum { momentum, nesterov, weight_decay };
                    let velocity = &mut self.first[own];
                    if sum.len() <= whole {
                        rule.step(weights, sum, velocity, input);
                        continue;
                    }
                    let pieces = weights.par_chunks_mut(PIECE).zip(sum.par_chunks(PIECE));
                    let pieces = pieces.zip(velocity.par_chunks_mut(PIECE));
                    pieces.for_each(|((weights, sum), velocity)| rule.step(weights, sum, velocity, input));
                }
                OptimizerSettings::Adam(adam) => {
                    let rule = kernel::AdamRule::new(&adam, self.steps, input);
                    let (first, second) = (&mut self.first[own.clone()], &mut self.second[own]);
                    if sum.len() <= whole {
                        rule.step(weights, sum, first, second);
                        continue;
                    }
                    let pieces = weights.par_chunks_mut(PIECE).zip(sum.par_chunks(PIECE));
                    let pieces = pieces.zip(first.par_chunks_mut(PIECE)).zip(second.par_chunks_mut(PIECE));
                    pieces
                        .for_each(|(((weights, sum), first), second)| rule.step(weights, sum, first, second));
                }
            }
        }
    }

    /// What a checkpoint holds: named vectors, and the number of steps.
    pub(crate) fn state(&self) -> ([(&'static str, &[f32]); 2], u64) {
        ([("first", &self.first), ("second", &self.second)], self.steps)
    }

    /// What a checkpoint held. The lengths have been checked.
    pub(crate) fn restore(&mut self, first: Vec<f32>, second: Vec<f32>, steps: u64) {
        (self.first, self.second, self.steps) = (first, second, steps);
    }
}

#[cfg(test)]
mod tests;
