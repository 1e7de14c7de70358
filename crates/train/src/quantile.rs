//! A clipping norm that follows a quantile of the units' gradient norms, at a cost that is part of every step.

use crate::{Clipping, TrainError};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The part of a step's sensitivity that the count of unclipped units has at most.
const MOST_SHARE: f64 = 0.5;

/// The clipping norms that are kept to, so that no number loses its digits.
const RANGE: [f64; 2] = [1e-6, 1e6];

/// Quantile clipping: after every step the clipping norm moves towards the given quantile of the units' gradient norms, by a noisy count of
/// the units that it did not clip.
///
/// # Guarantee
/// The count is another coordinate of the step's vector, within its sensitivity: the event of a step is that of its noise multiplier, as with
/// a fixed norm. See the crate's proof, "Quantile clipping". Under add-remove alone.
///
/// # Reference
/// Andrew, Thakkar, McMahan, Ramaswamy, *Differentially private learning with adaptive clipping* (2021).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuantileClipping {
    /// The clipping norm of the first step, above 0.
    pub norm: f64,
    /// The share of units that is to stay unclipped, above 0 and below 1.
    pub quantile: f64,
    /// By how much the norm moves: it is multiplied by exp(−rate·(unclipped share − quantile)).
    pub rate: f64,
    /// The least standard deviation of the noise on the count; none for a twentieth of the expected batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count_noise: Option<f64>,
}

impl QuantileClipping {
    /// Half of the units unclipped, and a rate of 0.2, from this norm on.
    pub fn new(norm: f64) -> Self {
        Self { norm, quantile: 0.5, rate: 0.2, count_noise: None }
    }

    /// Checks the numbers but the norm.
    pub(crate) fn check(&self) -> Result<(), TrainError> {
        let refuse = |field: &'static str, value: f64, remedy: &str| {
            Err(TrainError::invalid(field, value, remedy.to_owned()))
        };
        if !(self.quantile > 0.0 && self.quantile < 1.0) {
            return refuse("clip_quantile", self.quantile, "give a number above 0 and below 1, such as 0.5");
        }
        if !(self.rate > 0.0 && self.rate <= 10.0) {
            return refuse("clip_rate", self.rate, "give a number above 0 and at most 10, such as 0.2");
        }
        match self.count_noise {
            Some(noise) if !(noise > 0.0 && noise <= 1e9) => {
                refuse("count_noise", noise, "give a number above 0 and at most 1e9")
            }
            _ => Ok(()),
        }
    }

    /// How a step divides its sensitivity of 1, for noise of this standard deviation and batches of this expected size.
    pub(crate) fn division(&self, sigma: f64, batch: f64) -> Division {
        let noise = self.count_noise.unwrap_or(batch / 20.0);
        let count = (sigma / (2.0 * noise)).min(MOST_SHARE);
        // Rounded down: together they must not exceed 1.
        let gradient = (1.0 - count * count).sqrt() * (1.0 - 1e-12);
        Division { gradient, count }
    }

    /// The norm of the next step.
    pub(crate) fn next(&self, norm: f64, unclipped: f64) -> f64 {
        let unclipped = if unclipped.is_nan() { self.quantile } else { unclipped.clamp(0.0, 1.0) };
        (norm * libm::exp(-self.rate * (unclipped - self.quantile))).clamp(RANGE[0], RANGE[1])
    }
}

/// What a unit adds at most to the two parts of a step's vector, which together have the length 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Division {
    /// The length of its gradient, in units of the clipping norm.
    pub(crate) gradient: f64,
    /// Half of what it adds to the count, either way.
    pub(crate) count: f64,
}

impl Division {
    /// The clipping of a step at this norm.
    pub(crate) fn clipping(&self, threshold: f64) -> Clipping {
        Clipping::Threshold {
            threshold,
            length: self.gradient,
            weight: 2.0 * self.count,
            unclipped: Unclipped::default(),
        }
    }

    /// The share of units that were not clipped, from the noisy last coordinate and the expected batch.
    pub(crate) fn unclipped(&self, coordinate: f64, batch: f64) -> f64 {
        coordinate / (2.0 * self.count) / batch + 0.5
    }
}

/// How many units were not clipped. Copies count together; it is exact and leaves a step through noise alone.
#[derive(Debug, Clone, Default)]
pub struct Unclipped(Arc<AtomicU64>);

impl Unclipped {
    pub(crate) fn add(&self, units: u64) {
        self.0.fetch_add(units, Ordering::Relaxed);
    }

    /// The sum over `units` units of 1/2 for each that was not clipped and −1/2 for each that was, and starts anew.
    pub(crate) fn take(&self, units: usize) -> f64 {
        let unclipped = self.0.swap(0, Ordering::Relaxed).min(units as u64);
        unclipped as f64 - 0.5 * units as f64
    }
}

/// What was counted is no part of a rule.
impl PartialEq for Unclipped {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RoundingMargin;

    #[test]
    fn a_unit_adds_at_most_1_to_both_parts_together() {
        let rule = QuantileClipping::new(1.0);
        for (sigma, batch) in [(0.5, 16.0), (1.0, 1000.0), (4.0, 16.0), (30.0, 100.0)] {
            let parts = rule.division(sigma, batch);
            assert!(parts.gradient.powi(2) + parts.count.powi(2) <= 1.0, "{parts:?}");
            assert!(parts.gradient >= 0.866, "{parts:?}");
            // The noise on the count is at least what was asked for.
            assert!(sigma / (2.0 * parts.count) >= batch / 20.0 * (1.0 - 1e-12));
            let clipping = parts.clipping(0.25);
            let Clipping::Threshold { unclipped, weight, .. } = &clipping else { panic!() };
            let squared = [0.0, 0.01, 0.0624, 4.0, 1e20, f64::NAN];
            let mut factors = [0.0f32; 6];
            clipping.factors(RoundingMargin::SINGLE_PRECISION, 1, &squared, &mut factors);
            for (squared, factor) in squared.iter().zip(factors).filter(|(squared, _)| !squared.is_nan()) {
                let length = squared.sqrt() * f64::from(factor);
                assert!((length.powi(2) + (weight / 2.0).powi(2)).sqrt() <= 1.0, "{squared} {factor}");
            }
            // Below the threshold gradients keep their proportions; three are not clipped.
            assert!((f64::from(factors[1]) / f64::from(factors[2]) - 1.0).abs() < 1e-6);
            assert_eq!(factors[5], 0.0);
            assert_eq!(unclipped.take(6), 0.0);
            assert_eq!(unclipped.take(6), -3.0);
        }
    }

    #[test]
    fn the_norm_moves_towards_the_quantile() {
        let rule = QuantileClipping { quantile: 0.7, ..QuantileClipping::new(1.0) };
        assert!(rule.next(1.0, 0.9) < 1.0 && rule.next(1.0, 0.1) > 1.0);
        assert_eq!(rule.next(1.0, 0.7), 1.0);
        assert_eq!(rule.next(1.0, f64::NAN), 1.0);
        // Norms from 0 to 1, evenly: the fixed point is the quantile.
        let norm = (0..2000).fold(5.0, |norm: f64, _| rule.next(norm, norm.min(1.0)));
        assert!((norm - 0.7).abs() < 1e-3, "{norm}");
        assert!((0..3000).fold(1.0, |norm, _| rule.next(norm, 1.0)) >= 1e-6);
        for bad in [
            QuantileClipping { quantile: 0.0, ..rule },
            QuantileClipping { quantile: f64::NAN, ..rule },
            QuantileClipping { rate: 0.0, ..rule },
            QuantileClipping { count_noise: Some(0.0), ..rule },
        ] {
            assert!(Clipping::Quantile(bad).check().is_err(), "{bad:?}");
        }
    }
}
