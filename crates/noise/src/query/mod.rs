//! The questions people ask, each with its sensitivity worked out and its error stated.
//!
//! Rows are gathered into integers first (counts, or sums on a grid), so the order of rows, the
//! rounding of doubles and overflow cannot reach the answer. What is gathered from parts of the rows
//! [merges](reticent_core::Partial) exactly: any partition of the rows gives the same integers. Bounds, categories, candidates and
//! prices are arguments: nothing is read off the data, except by [`stable_histogram`], which pays for it.
#![doc = include_str!("proof.md")]

mod choices;
mod counts;
pub mod parts;
mod points;
mod quote;
mod ranks;
mod sensitivity;
mod sums;

pub use choices::{BidTable, best_price, mode};
pub use counts::{count, counts, histogram, proportion, stable_histogram};
pub use points::SortedPoints;
pub use quote::{Rehearsal, quote, rehearse_unpaid};
pub use ranks::{Quantile, QuantileAnswer, RankTable, even_candidates};
pub use sensitivity::QuerySensitivity;
pub use sums::{BoundedSum, mean, sum};

use crate::mechanism::{Accuracy, DiscreteGaussian, DiscreteLaplace, IntegerGaussian, Mechanism};
use crate::{NoiseError, Releaser};
use reticent_core::rounding::{div_down, sub_up};
use reticent_core::{Confidence, Delta, Epsilon, Event, Guarantee, Neighboring, Sensitivity};

/// Which noise an additive answer gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoiseKind {
    /// Discrete Laplace: pure ε, ℓ1 sensitivity.
    Laplace,
    /// Gaussian, exactly calibrated: needs δ, ℓ2 sensitivity.
    Gaussian,
    /// Discrete Gaussian, calibrated through zCDP: needs δ, ℓ2 sensitivity.
    DiscreteGaussian,
}

/// What an answer may cost and how it is to be given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueryTerms {
    /// The ε to spend.
    pub epsilon: Epsilon,
    /// The δ to spend; 0 unless the noise is Gaussian or labels are found in the data.
    pub delta: Delta,
    /// The noise for additive answers.
    pub noise: NoiseKind,
    /// The neighbouring relation of the claim.
    pub neighboring: Neighboring,
    /// The coverage of intervals.
    pub confidence: Confidence,
}

impl QueryTerms {
    /// Laplace noise at ε under add-remove, with 95 % intervals.
    pub fn pure(epsilon: Epsilon) -> Self {
        Self {
            epsilon,
            delta: Delta::ZERO,
            noise: NoiseKind::Laplace,
            neighboring: Neighboring::AddRemove,
            confidence: Confidence::P95,
        }
    }

    /// Checks that the source charges under these terms' relation.
    fn check(&self, source: &impl Releaser) -> Result<(), NoiseError> {
        NoiseError::check_relation(source.neighboring(), self.neighboring)
    }

    /// The same terms with a fraction 1/parts of the budget, rounded down.
    fn share(&self, parts: f64) -> Result<Self, NoiseError> {
        Ok(Self {
            epsilon: Epsilon::new(div_down(self.epsilon.get(), parts))?,
            delta: Delta::new(div_down(self.delta.get(), parts))?,
            ..*self
        })
    }

    /// The same terms with the error probability of intervals divided by `parts`.
    fn surer(&self, parts: f64) -> Result<Self, NoiseError> {
        let confidence = (1.0 - div_down(sub_up(1.0, self.confidence.get()), parts)).next_up();
        Ok(Self { confidence: Confidence::new(confidence.min(1f64.next_down()))?, ..*self })
    }
}

/// An answer, how sure it is, and what it cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer<T> {
    /// What may be published.
    pub value: T,
    /// The answer without noise, on values clamped to the bounds and rounded to the grid, lies in here with
    /// the requested confidence (for each entry by itself).
    pub interval: Vec<[f64; 2]>,
    /// What happened, in sequence.
    pub events: Vec<Event>,
    /// What it adds up to.
    pub guarantee: Guarantee,
}

/// How far one privacy unit moves a vector of integers.
#[derive(Debug, Clone, Copy)]
struct Reach {
    l1: u64,
    l2: f64,
}

/// Noisy integers with the error of each at the terms' confidence.
struct Noisy {
    values: Vec<i128>,
    error: f64,
    event: Event,
    guarantee: Guarantee,
}

impl Noisy {
    fn interval(&self, index: usize) -> [f64; 2] {
        let value = self.values[index] as f64;
        [(value - self.error).next_down(), (value + self.error).next_up()]
    }
}

/// Adds the terms' noise to a vector of integers.
fn release_integers(
    source: &mut impl Releaser,
    terms: &QueryTerms,
    reach: Reach,
    values: &[i128],
) -> Result<Noisy, NoiseError> {
    fn run<M>(
        source: &mut impl Releaser,
        mechanism: M,
        confidence: Confidence,
        values: &[i128],
    ) -> Result<Noisy, NoiseError>
    where
        M: Mechanism<Input = [i128], Output = Vec<i128>> + Accuracy,
    {
        let released = source.release(&mechanism, values)?;
        Ok(Noisy {
            values: released.value,
            error: mechanism.error(confidence),
            event: released.event,
            guarantee: released.guarantee,
        })
    }
    terms.check(source)?;
    let l2 = || Sensitivity::new(reach.l2);
    match terms.noise {
        NoiseKind::Laplace => {
            if terms.delta.get() > 0.0 {
                return Err(NoiseError::invalid(
                    "delta",
                    terms.delta,
                    "leave delta out: Laplace noise does not use it (Gaussian noise does)",
                ));
            }
            run(source, DiscreteLaplace::new(reach.l1, terms.epsilon)?, terms.confidence, values)
        }
        NoiseKind::Gaussian => run(
            source,
            IntegerGaussian::new(l2()?, terms.epsilon, terms.delta, values.len())?,
            terms.confidence,
            values,
        ),
        NoiseKind::DiscreteGaussian => {
            run(source, DiscreteGaussian::new(l2()?, terms.epsilon, terms.delta)?, terms.confidence, values)
        }
    }
}

/// part/(part + rest) for noisy parts, and its range when each part is off by at most `error`.
fn share_of(part: f64, rest: f64, error: f64) -> (f64, [f64; 2]) {
    let share = |part: f64, rest: f64| {
        let (part, rest) = (part.max(0.0), rest.max(0.0));
        if part + rest > 0.0 { Some(part / (part + rest)) } else { None }
    };
    let value = share(part, rest).unwrap_or(0.5);
    // When everything may be empty the share may be anything.
    let low = share(part - error, rest + error).unwrap_or(0.0);
    let high = if rest - error <= 0.0 { 1.0 } else { share(part + error, rest - error).unwrap_or(1.0) };
    let widen = 1e-12;
    (value, [(low - widen).max(0.0), (high + widen).min(1.0)])
}

#[cfg(test)]
mod tests;
