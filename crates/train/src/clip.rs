//! How much of each unit's gradient enters the sum: the one place where that is decided.

use crate::{Layout, TrainError};
use serde::{Deserialize, Serialize};

/// The least clipping norm: squares of numbers below 10⁻¹⁹ are lost in single precision, and 10¹² of them must not add
/// up to more than the [`RoundingMargin`] leaves.
const LEAST: f64 = 1e-9;

/// And the largest.
const MOST: f64 = 1e9;

/// The share by which clipped gradients are kept shorter than the clipping norm, so that the rounding of an engine's arithmetic
/// cannot bring them above it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundingMargin(f64);

impl RoundingMargin {
    /// 2⁻¹²: for norms and sums in IEEE single precision.
    pub const SINGLE_PRECISION: Self = Self(1.0 / 4096.0);

    /// A larger margin, for coarser arithmetic.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] below [`SINGLE_PRECISION`](Self::SINGLE_PRECISION), and above 1/2.
    pub fn new(share: f64) -> Result<Self, TrainError> {
        if (Self::SINGLE_PRECISION.0..=0.5).contains(&share) {
            return Ok(Self(share));
        }
        Err(TrainError::invalid("rounding_margin", share, "give a number from 2^-12 to 0.5"))
    }

    /// The share.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// A rule that bounds what one unit adds to a gradient sum.
///
/// # Guarantee
/// With the factors of [`factors`](Self::factors), the ℓ2 norm of one unit's contribution, over all groups together, is
/// at most [`norm`](Self::norm), whatever the gradient holds, up to the rounding of single precision.
///
/// # Reference
/// Abadi et al., *Deep learning with differential privacy* (2016), for flat and per-layer clipping; Bu et al., *Automatic
/// clipping* (2023), for the normalising kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Clipping {
    /// The whole gradient is shortened to the norm where it is longer.
    Flat {
        /// C, above 0.
        norm: f64,
    },
    /// Each layer's gradient is shortened to C/√(number of layers) where it is longer.
    PerLayer {
        /// C, above 0.
        norm: f64,
    },
    /// The whole gradient is divided by its length, softened near 0: C·g/(‖g‖ + γ).
    Automatic {
        /// C, above 0.
        norm: f64,
        /// γ, above 0; 0.01 is usual.
        stability: f64,
    },
}

impl Clipping {
    /// C: what one unit can add at most.
    pub fn norm(&self) -> f64 {
        match self {
            Self::Flat { norm } | Self::PerLayer { norm } | Self::Automatic { norm, .. } => *norm,
        }
    }

    /// Checks the numbers.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] unless norm and stability lie between 10⁻⁹ and 10⁹.
    pub fn check(&self) -> Result<(), TrainError> {
        let usable = |x: f64| (LEAST..=MOST).contains(&x);
        if !usable(self.norm()) {
            return Err(TrainError::invalid("clip", self.norm(), "give a number from 1e-9 to 1e9"));
        }
        match self {
            Self::Automatic { stability, .. } if !usable(*stability) => Err(TrainError::invalid(
                "stability",
                stability,
                "give a number from 1e-9 to 1e9; 0.01 is usual",
            )),
            _ => Ok(()),
        }
    }

    /// The same rule with another norm.
    pub(crate) fn with_norm(&self, norm: f64) -> Self {
        match self {
            Self::Flat { .. } => Self::Flat { norm },
            Self::PerLayer { .. } => Self::PerLayer { norm },
            Self::Automatic { stability, .. } => Self::Automatic { norm, stability: *stability },
        }
    }

    /// The factor of every unit and group from the squared norms, both unit by unit and in it group by group. A unit with
    /// a norm that is not finite gets the factor 0 everywhere. Factors leave the engine's `margin` for its rounding.
    ///
    /// # Panics
    /// If the two slices differ in length or hold no whole number of units.
    pub fn factors(&self, margin: RoundingMargin, groups: usize, squared: &[f64], factors: &mut [f32]) {
        assert_eq!(squared.len(), factors.len());
        if groups == 0 {
            return;
        }
        let bound = self.norm() * (1.0 - margin.get());
        for (squared, factors) in squared.chunks_exact(groups).zip(factors.chunks_exact_mut(groups)) {
            let total: f64 = squared.iter().sum();
            // Factors below 10⁻³⁰ would lose their digits in single precision.
            if !squared.iter().all(|square| *square >= 0.0)
                || total > (1e30 * bound).powi(2)
                || total.is_infinite()
            {
                factors.fill(0.0);
                continue;
            }
            match self {
                Self::Flat { .. } => factors.fill(shorten(bound, total)),
                Self::PerLayer { .. } => {
                    let share = bound / (groups as f64).sqrt();
                    for (factor, squared) in factors.iter_mut().zip(squared) {
                        *factor = shorten(share, *squared);
                    }
                }
                Self::Automatic { stability, .. } => {
                    factors.fill((bound / (total.sqrt() + stability)) as f32)
                }
            }
        }
    }
}

impl Clipping {
    /// A vector of one unit as it enters a sum: multiplied by its factors. Where the factor is 0 it is 0, whatever the vector holds.
    pub(crate) fn clipped(&self, margin: RoundingMargin, layout: &Layout, vector: &[f32]) -> Vec<f32> {
        let groups = layout.groups();
        let trained = || layout.parameters().iter().enumerate().filter(|(_, own)| own.trainable);
        let mut squared = vec![0.0f64; groups];
        for (place, parameter) in trained() {
            let own = &vector[layout.gradient_range(place)];
            squared[parameter.group] += own.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>();
        }
        let mut factors = vec![0.0f32; groups];
        self.factors(margin, groups, &squared, &mut factors);
        let mut clipped = vector.to_vec();
        for (place, parameter) in trained() {
            let factor = factors[parameter.group];
            let scaled = |x: &mut f32| *x = if factor == 0.0 { 0.0 } else { *x * factor };
            clipped[layout.gradient_range(place)].iter_mut().for_each(scaled);
        }
        clipped
    }
}

/// What brings a vector of this squared norm to the bound, 1 if it is within it.
fn shorten(bound: f64, squared: f64) -> f32 {
    let norm = squared.sqrt();
    if norm > bound { (bound / norm) as f32 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SINGLE: RoundingMargin = RoundingMargin::SINGLE_PRECISION;

    #[test]
    fn no_rule_lets_a_unit_exceed_the_norm() {
        for norm in [1e-3, 1.0, 50.0] {
            let rules = [
                Clipping::Flat { norm },
                Clipping::PerLayer { norm },
                Clipping::Automatic { norm, stability: 0.01 },
            ];
            for rule in rules {
                rule.check().unwrap();
                let squared = [0.0f64, 1e-12, 4.0, 1e20, 0.0, 0.0, 1e-3, 9.0, 1e30];
                let mut factors = [f32::NAN; 9];
                rule.factors(SINGLE, 3, &squared, &mut factors);
                for (squared, factors) in squared.chunks(3).zip(factors.chunks(3)) {
                    let kept: f64 =
                        squared.iter().zip(factors).map(|(s, f)| *s * f64::from(*f).powi(2)).sum();
                    assert!(kept.sqrt() <= norm, "{rule:?} {squared:?} {factors:?}");
                }
            }
        }
    }

    #[test]
    fn short_gradients_are_left_as_they_are_and_odd_ones_count_as_nothing() {
        let mut factors = [f32::NAN; 4];
        Clipping::Flat { norm: 1.0 }.factors(SINGLE, 1, &[0.25, f64::NAN, f64::INFINITY, 4.0], &mut factors);
        assert_eq!(factors[..3], [1.0, 0.0, 0.0]);
        assert!((factors[3] - 0.5).abs() < 1e-3);
        let mut factors = [f32::NAN; 2];
        Clipping::PerLayer { norm: 1.0 }.factors(SINGLE, 2, &[0.25, f64::NAN], &mut factors);
        assert_eq!(factors, [0.0, 0.0]);
        Clipping::PerLayer { norm: 1.0 }.factors(SINGLE, 2, &[-1e-9, 4.0], &mut factors);
        assert_eq!(factors, [0.0, 0.0]);
        Clipping::Flat { norm: 1.0 }.factors(SINGLE, 1, &[1e70, 1e50], &mut factors);
        assert_eq!(factors[0], 0.0);
        assert!(factors[1] > 0.0);
    }

    #[test]
    fn coarser_arithmetic_leaves_more_room() {
        let mut factor = [0.0];
        let coarse = RoundingMargin::new(0.25).unwrap();
        Clipping::Flat { norm: 1.0 }.factors(coarse, 1, &[1.0], &mut factor);
        assert_eq!(factor, [0.75]);
        for share in [0.0, 1e-4, 0.6, f64::NAN] {
            assert!(RoundingMargin::new(share).is_err());
        }
    }

    #[test]
    fn numbers_without_meaning_are_refused() {
        for norm in [1e-9, 1e9] {
            assert_eq!(Clipping::Flat { norm }.check(), Ok(()));
            assert_eq!(Clipping::Automatic { norm: 1.0, stability: norm }.check(), Ok(()));
        }
        for norm in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-60, 1e-10, 1.1e9] {
            assert!(Clipping::Flat { norm }.check().is_err());
            assert!(Clipping::Automatic { norm: 1.0, stability: norm }.check().is_err());
        }
    }
}
