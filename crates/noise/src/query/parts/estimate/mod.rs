//! Figures from noisy sums, each with an interval that holds at the confidence for that figure by itself.

mod cells;
mod joint;
mod moments;
mod ranks;
mod wanted;

pub use cells::{CountTable, consistent_counts};
pub use joint::Trend;
pub use wanted::ErrorOf;

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

    /// The interval of Σ wᵢ·sumᵢ / Σ sumᵢ, for sums that are not negative: all ratios ρ for which Σ (wᵢ − ρ)·noisyᵢ could be noise.
    ///
    /// `reach` bounds the noise of weights, and may only grow with their size.
    fn ratio(&self, weights: &[f64], reach: impl Fn(&[f64]) -> f64) -> Figure {
        let mut low = weights.iter().copied().fold(f64::INFINITY, f64::min);
        let mut high = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let ones = vec![1.0; weights.len()];
        let ((above, slack), (whole, whole_slack)) = (self.dot(weights), self.dot(&ones));
        if whole <= 0.0 {
            return Figure { value: (low + high) / 2.0, interval: Some([low, high]) };
        }
        let value = (above / whole).clamp(low, high);
        for _ in 0..40 {
            let far: Vec<f64> = weights.iter().map(|w| (w - low).abs().max((w - high).abs())).collect();
            let error = reach(&far) + slack + whole_slack * low.abs().max(high.abs());
            let (from, to) = ((above - error) / whole, (above + error) / whole);
            let (new_low, new_high) = (low.max(from), high.min(to));
            if new_low > new_high {
                // Only where the noise has left its bound: nothing better than the estimate is known.
                return Figure { value, interval: Some([value, value]) };
            }
            let shrunk = (high - low) - (new_high - new_low);
            let enough = shrunk <= 1e-3 * (high - low);
            (low, high) = (new_low, new_high);
            if enough {
                break;
            }
        }
        Figure { value, interval: Some([low.next_down(), high.next_up()]) }
    }

    /// [`ratio`](Self::ratio) for a ratio that was fixed before the noise.
    fn fixed_ratio(&self, weights: &[f64], beta: f64) -> Figure {
        self.ratio(weights, |far| {
            let far: Vec<(f64, u64)> = far.iter().map(|weight| (*weight, 1)).collect();
            self.law.pointwise(&far, beta)
        })
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
