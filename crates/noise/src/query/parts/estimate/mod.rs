//! Figures from noisy sums, each with an interval that holds at the confidence for that figure by itself.

mod cells;
mod joint;
mod moments;
mod ranks;
mod wanted;

pub use cells::{CountTable, consistent_counts};
pub use joint::Trend;
pub use wanted::ErrorOf;
#[cfg(test)]
pub(super) use {joint::shares, moments::MEAN_SHARE};

use super::part::Part;
use super::release::{Law, NoisyPart};
use crate::NoiseError;
use reticent_core::rounding::{add_up, sub_down};
use serde::{Deserialize, Serialize};

/// Whole numbers below this are exact as doubles.
const EXACT: f64 = (1u64 << 53) as f64;

/// One figure of a page.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The figure.
    pub value: f64,
    /// The figure without noise, on values clamped to their bounds, lies in here with the confidence; none where it may be any
    /// number. What is the mean of no rows may be anything.
    pub interval: Option<[f64; 2]>,
}

impl Figure {
    fn around(value: f64, error: f64) -> Self {
        Self { value, interval: Some([sub_down(value, error), add_up(value, error)]) }
    }

    /// The interval cut to numbers that are not negative, for what cannot be negative.
    fn counted(self) -> Self {
        Self { interval: self.interval.map(|ends| ends.map(|end| end.max(0.0))), ..self }
    }

    /// The same figure in another unit: value·factor + offset.
    fn mapped(self, factor: f64, offset: f64) -> Self {
        if factor == 1.0 && offset == 0.0 {
            return self;
        }
        let map = |v: f64| (v * factor + offset).clamp(f64::MIN, f64::MAX);
        let interval = self.interval.map(|[low, high]| {
            let slack = 4.0 * f64::EPSILON * ((low.abs().max(high.abs()) * factor.abs()) + offset.abs());
            [map(low) - slack, map(high) + slack]
        });
        Self { value: map(self.value), interval }
    }

    /// Value and interval moved into a range that the figure is known to lie in.
    fn within(self, low: f64, high: f64) -> Self {
        let cut = |v: f64| v.clamp(low, high);
        Self {
            value: cut(self.value),
            interval: Some(self.interval.map_or([low, high], |ends| ends.map(cut))),
        }
    }
}

/// The noisy sums of one group and their noise.
struct Sums<'a> {
    values: Vec<f64>,
    law: &'a Law,
}

impl<'a> Sums<'a> {
    fn of(noisy: &'a NoisyPart, group: usize) -> Result<Self, NoiseError> {
        let values: Vec<f64> = noisy.group(group).iter().map(|value| *value as f64).collect();
        if values.is_empty() {
            return Err(NoiseError::invalid(
                "group",
                group,
                format!("give a number below {}", noisy.groups()),
            ));
        }
        Ok(Self { values, law: noisy.mechanism().law() })
    }

    /// Σ wᵢ·valueᵢ, and how far doubles may be off.
    fn dot(&self, weights: &[f64]) -> (f64, f64) {
        let terms = || self.values.iter().zip(weights).map(|(value, weight)| value * weight);
        let size: f64 = terms().map(f64::abs).sum();
        let is_exact = size < EXACT && weights.iter().all(|weight| [-1.0, 0.0, 1.0].contains(weight));
        let slack = if is_exact { 0.0 } else { size * f64::EPSILON * (4.0 + weights.len() as f64) };
        (terms().sum(), slack)
    }

    /// The interval of Σ wᵢ·sumᵢ.
    fn linear(&self, weights: &[f64], beta: f64) -> Figure {
        let (value, slack) = self.dot(weights);
        let weights: Vec<(f64, u64)> = weights.iter().map(|weight| (*weight, 1)).collect();
        Figure::around(value, self.law.pointwise(&weights, beta) + slack)
    }

    /// The error of Σ wᵢ·sumᵢ for fixed weights that are somewhere in these ranges.
    fn ranged_error(&self, ranges: &[[f64; 2]], beta: f64) -> f64 {
        let far: Vec<(f64, u64)> = ranges.iter().map(|[low, high]| (low.abs().max(high.abs()), 1)).collect();
        let slack: f64 = self.values.iter().zip(&far).map(|(value, (far, _))| value.abs() * far).sum();
        self.law.pointwise(&far, beta) + slack * f64::EPSILON * (8.0 + ranges.len() as f64)
    }

    /// The interval of ρ = Σ wᵢ·sumᵢ / Σ sumᵢ, for sums that are not negative: all ρ for which Σ (wᵢ − ρ)·noisyᵢ could be noise.
    ///
    /// The weights are fixed, and are known to be in these ranges only, which may depend on the noise; `sums` is the range of
    /// Σ wᵢ·noisyᵢ and `above` its estimate. ρ is known to be in [low, high].
    fn ranged_ratio(
        &self,
        ranges: &[[f64; 2]],
        sums: [f64; 2],
        above: f64,
        [mut low, mut high]: [f64; 2],
        beta: f64,
    ) -> Figure {
        let (whole, slack) = self.dot(&vec![1.0; ranges.len()]);
        if whole <= 0.0 {
            return Figure { value: (low + high) / 2.0, interval: Some([low, high]) };
        }
        let value = (above / whole).clamp(low, high);
        for _ in 0..40 {
            let far: Vec<[f64; 2]> = ranges.iter().map(|[from, to]| [from - high, to - low]).collect();
            let error = self.ranged_error(&far, beta) + slack * low.abs().max(high.abs());
            let (new_low, new_high) =
                (low.max((sums[0] - error) / whole), high.min((sums[1] + error) / whole));
            if new_low > new_high {
                // Only where the noise has left its bound: what was known before stands.
                break;
            }
            let is_settled = (high - low) - (new_high - new_low) <= 1e-3 * (high - low);
            (low, high) = (new_low, new_high);
            if is_settled {
                break;
            }
        }
        Figure { value, interval: Some([low.next_down(), high.next_up()]) }
    }

    /// [`ranged_ratio`](Self::ranged_ratio) for weights that are known.
    fn fixed_ratio(&self, weights: &[f64], beta: f64) -> Figure {
        let low = weights.iter().copied().fold(f64::INFINITY, f64::min);
        let high = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let ranges: Vec<[f64; 2]> = weights.iter().map(|weight| [*weight; 2]).collect();
        let (above, _) = self.dot(weights);
        self.ranged_ratio(&ranges, [above; 2], above, [low, high], beta)
    }
}

/// The error of asking a part for what it does not have.
fn unavailable(part: &Part, figure: &'static str) -> NoiseError {
    let name = match part {
        Part::Rows => "rows",
        Part::People => "people",
        Part::Sum(_) => "sum",
        Part::PersonSum(_) => "sum of people's totals",
        Part::Moments { .. } => "moments",
        Part::Joint(..) => "joint moments",
        Part::Cells(_) => "cells",
        Part::Contingency { .. } => "table of counts",
        Part::Tree(_) => "ranks",
        Part::Distinct(_) => "distinct count",
    };
    NoiseError::invalid("part", name, format!("release another part: this one does not have the {figure}"))
}

/// The ends of an interval that is always there.
fn ends(figure: &Figure) -> [f64; 2] {
    figure.interval.unwrap_or([f64::MIN, f64::MAX])
}
