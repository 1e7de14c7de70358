//! How much of each unit's gradient enters the sum: the one place where that is decided.

mod encode;

pub use encode::MagnitudeProfile;

use crate::quantile::{QuantileClipping, Unclipped};
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
/// at most [`norm`](Self::norm), whatever the gradient holds, up to the rounding of single precision. Encoded gradients have no
/// factors: each is written out, and its sorted magnitudes are at most those of the profile, exactly.
///
/// # Reference
/// Abadi et al., *Deep learning with differential privacy* (2016), for flat and per-layer clipping; Bu et al., *Automatic
/// clipping* (2023), for the normalising kind; Nasr, Shokri, Houmansadr, *Improving deep learning with differential privacy using
/// gradient encoding and denoising* (2020), for encoding.
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
    /// The largest magnitudes of the gradient are kept, shortened to the norm where they are longer, multiplied by the gain and cut to
    /// a public profile, rank by rank.
    Encoded {
        /// C, above 0 and at least the profile's ℓ2 norm.
        norm: f64,
        /// What the shortened gradient is multiplied by before it is cut; 1 leaves it, 4 is the authors'.
        gain: f64,
        /// The bound on the sorted magnitudes.
        profile: MagnitudeProfile,
    },
    /// The whole gradient is shortened where it is longer than a norm that follows a quantile, in units of that norm.
    Quantile(QuantileClipping),
    /// One step of quantile clipping: a gradient is divided by the larger of its length and the threshold, and multiplied by `length`.
    #[serde(skip)]
    Threshold {
        /// The clipping norm of the step.
        threshold: f64,
        /// What one unit's gradient adds at most, below 1.
        length: f64,
        /// What one unit adds to the last coordinate of the sum, half of it either way.
        weight: f64,
        /// How many units were not clipped.
        unclipped: Unclipped,
    },
}

impl Clipping {
    /// Encoding with the profile of sorted normal numbers for this many weights, of which a share is kept.
    ///
    /// # Errors
    /// As [`MagnitudeProfile::half_normal`] and [`check`](Self::check).
    pub fn encoded(norm: f64, gain: f64, kept: f64, dimension: usize) -> Result<Self, TrainError> {
        let rule =
            Self::Encoded { norm, gain, profile: MagnitudeProfile::half_normal(dimension, kept, norm)? };
        rule.check()?;
        Ok(rule)
    }

    /// C: what one unit can add at most.
    pub fn norm(&self) -> f64 {
        match self {
            Self::Flat { norm }
            | Self::PerLayer { norm }
            | Self::Automatic { norm, .. }
            | Self::Encoded { norm, .. } => *norm,
            // Sums are in units of the clipping norm.
            Self::Quantile(_) => 1.0,
            Self::Threshold { length, .. } => *length,
        }
    }

    /// The length from which on a gradient is clipped; with quantile clipping, in the first step.
    pub fn threshold(&self) -> f64 {
        match self {
            Self::Quantile(rule) => rule.norm,
            Self::Threshold { threshold, .. } => *threshold,
            _ => self.norm(),
        }
    }

    /// The coordinates of a step's sum beside the gradient's: one for the count of unclipped units.
    pub(crate) fn further(&self) -> usize {
        usize::from(matches!(self, Self::Quantile(_) | Self::Threshold { .. }))
    }

    /// The profile that encoded gradients stay below; none for rules that look at norms alone.
    pub fn profile(&self) -> Option<&MagnitudeProfile> {
        match self {
            Self::Encoded { profile, .. } => Some(profile),
            _ => None,
        }
    }

    /// The refusal of encoded gradients where a unit's gradient is not written out.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] for encoding; `place` is where it cannot be done.
    pub(crate) fn check_by_norm(&self, place: &str) -> Result<(), TrainError> {
        if self.profile().is_none() {
            return Ok(());
        }
        let remedy = format!("encoded gradients are not for {place}: give flat, per-layer or automatic");
        Err(TrainError::invalid("clipping", "encoded", remedy))
    }

    /// The refusal of rules that the last bits of a gradient can decide, where these depend on the other units of the sample.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] for encoding and quantile clipping.
    pub(crate) fn check_together(&self) -> Result<(), TrainError> {
        let name = match self {
            Self::Encoded { .. } => "encoded",
            Self::Quantile(_) | Self::Threshold { .. } => "quantile",
            _ => return Ok(()),
        };
        let remedy = "the last bits of a gradient may depend on the other units of the sample with this model, and could decide here: \
                      give flat, per-layer or automatic, or a model that computes unit by unit (Gradients::separates_units)";
        Err(TrainError::invalid("clipping", name, remedy))
    }

    /// Checks the numbers.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] unless norm and stability lie between 10⁻⁹ and 10⁹; for a profile without meaning or longer than the
    /// norm, or a gain outside 10⁻³ to 10³.
    pub fn check(&self) -> Result<(), TrainError> {
        let usable = |x: f64| (LEAST..=MOST).contains(&x);
        if !usable(self.threshold()) {
            return Err(TrainError::invalid("clip", self.threshold(), "give a number from 1e-9 to 1e9"));
        }
        match self {
            Self::Quantile(rule) => rule.check(),
            Self::Automatic { stability, .. } if !usable(*stability) => Err(TrainError::invalid(
                "stability",
                stability,
                "give a number from 1e-9 to 1e9; 0.01 is usual",
            )),
            Self::Encoded { gain, .. } if !(1e-3..=1e3).contains(gain) => {
                Err(TrainError::invalid("gain", gain, "give a number from 1e-3 to 1e3; 1 and 4 are usual"))
            }
            Self::Encoded { norm, profile, .. } => {
                profile.check()?;
                if profile.norm_up() > *norm {
                    let remedy = format!("make it for the clipping norm {norm}");
                    return Err(TrainError::invalid(
                        "profile",
                        format!("of norm {}", profile.norm_up()),
                        remedy,
                    ));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The same rule with another norm.
    pub(crate) fn with_norm(&self, norm: f64) -> Self {
        match self {
            Self::Flat { .. } => Self::Flat { norm },
            Self::PerLayer { .. } => Self::PerLayer { norm },
            Self::Automatic { stability, .. } => Self::Automatic { norm, stability: *stability },
            Self::Encoded { gain, profile, .. } => {
                Self::Encoded { norm, gain: *gain, profile: profile.clone() }
            }
            Self::Quantile(_) | Self::Threshold { .. } => self.clone(),
        }
    }

    /// The factor of every unit and group from the squared norms, both unit by unit and in it group by group. A unit with
    /// a norm that is not finite gets the factor 0 everywhere. Factors leave the engine's `margin` for its rounding. No norm bounds
    /// what an encoded gradient needs: its factors are 0.
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
                Self::Encoded { .. } => factors.fill(0.0),
                Self::Quantile(QuantileClipping { norm: threshold, .. }) => {
                    factors.fill((bound / total.sqrt().max(*threshold)) as f32);
                }
                Self::Threshold { threshold, unclipped, .. } => {
                    unclipped.add(u64::from(total.sqrt() <= *threshold));
                    factors.fill((bound / total.sqrt().max(*threshold)) as f32);
                }
            }
        }
    }
}

impl Clipping {
    /// Encodes the written-out gradient of one unit in place; `keys` is working space. Rules that look at norms alone have
    /// [`factors`](Self::factors), and leave nothing here.
    pub(crate) fn encode(&self, vector: &mut [f32], keys: &mut Vec<u64>) {
        match self {
            Self::Encoded { norm, gain, profile } => profile.encode(*norm, *gain, vector, keys),
            _ => vector.fill(0.0),
        }
    }

    /// A vector of one unit as it enters a sum: encoded, or multiplied by its factors. Where the factor is 0 it is 0, whatever the
    /// vector holds.
    pub(crate) fn clipped(&self, margin: RoundingMargin, layout: &Layout, vector: &[f32]) -> Vec<f32> {
        if self.profile().is_some() {
            let mut encoded = vector.to_vec();
            self.encode(&mut encoded, &mut Vec::new());
            return encoded;
        }
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
