//! Random vectors that stay inside a fit: drawn from exact samplers, with a bound on the distance between the
//! doubles that are used and the real vector that the proof is about.

use crate::ErmError;
use reticent_core::rounding::{add_up, exp_up, mul_up, sub_down};
use reticent_noise::entropy::Bits;
use reticent_noise::sampler::{DiscreteGaussianSampler, Dyadic, NORMAL_DISTANCE_LOG2, Normal, geometric};
use serde::{Deserialize, Serialize};

/// log₂ of the number of steps in a unit of the exact samplers.
const STEP_BITS: u32 = 60;

/// Coordinates beyond this many standard deviations are drawn again; see `proof.md`.
const CUT: i128 = 1 << 10;

/// Directions are taken from normal vectors of at least this share of the typical norm √dimension; see `proof.md`.
const LEAST_LENGTH: f64 = 1.0 / 1024.0;

/// ‖b‖ exceeds [`PerturbationLaw::extreme_norms`] with a chance below e to minus this.
const EXTREME: f64 = 100.0;

/// The most coordinates of a spherical vector that the proof's tail bound is for.
pub(crate) const MOST_SPHERICAL: usize = 1 << 18;

/// A law of the linear term b.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PerturbationLaw {
    /// Density ∝ e^{−‖b‖₂/scale}: a uniform direction times a Gamma norm.
    Spherical,
    /// Density ∝ e^{−‖b‖₁/scale}: independent Laplace coordinates.
    Laplace,
    /// Independent normal coordinates of standard deviation `scale`.
    Gaussian,
}

/// A vector with a bound on its distance from the real one it stands for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Drawn {
    pub(crate) values: Vec<f64>,
    pub(crate) error: f64,
}

impl PerturbationLaw {
    /// One vector of this law.
    pub(crate) fn draw<B: Bits>(self, bits: &mut B, dimension: usize, scale: f64) -> Drawn {
        match self {
            Self::Spherical => spherical(bits, dimension, scale),
            Self::Laplace => laplace(bits, dimension, scale),
            Self::Gaussian => gaussian(bits, dimension, scale),
        }
    }

    /// √E‖b‖².
    pub(crate) fn typical_norm(self, dimension: usize, scale: f64) -> f64 {
        let d = dimension as f64;
        scale
            * libm::sqrt(match self {
                Self::Spherical => d * (d + 1.0),
                Self::Laplace => 2.0 * d,
                Self::Gaussian => d,
            })
    }

    /// ℓ2 and ℓ1 norms that b exceeds with a chance below e⁻¹⁰⁰, beside the sampler's distance from the ideal law.
    fn extreme_norms(self, dimension: usize, scale: f64) -> (f64, f64) {
        let d = dimension as f64;
        let gamma = d + libm::sqrt(2.0 * d * EXTREME) + EXTREME;
        let (l2, l1) = match self {
            Self::Spherical => (gamma, libm::sqrt(d) * gamma),
            Self::Laplace => (gamma.min(libm::sqrt(d) * (EXTREME + libm::log(d))), gamma),
            Self::Gaussian => {
                let norm = libm::sqrt(d) + libm::sqrt(2.0 * EXTREME);
                (norm, libm::sqrt(d) * norm)
            }
        };
        (1.001 * scale * l2, 1.001 * scale * l1)
    }

    /// A bound on ‖b‖₂ and one on the error of its doubles, both but for the chance of the norms above.
    pub(crate) fn extremes(self, dimension: usize, scale: f64) -> (f64, f64) {
        let (l2, l1) = self.extreme_norms(dimension, scale);
        (l2, self.error_up(dimension, scale, l2, l1))
    }

    /// A bound on the distance between the doubles of a vector of these norms and the real vector they stand for.
    fn error_up(self, dimension: usize, scale: f64, l2: f64, l1: f64) -> f64 {
        let d = dimension as f64;
        1.001
            * match self {
                // Half a step a coordinate for the direction, a step a term for the norm, and the roundings.
                Self::Spherical => {
                    let direction = (4.0 * d + 32.0) * f64::EPSILON + 2.0 * unit() / LEAST_LENGTH;
                    l2 * direction + scale * d * unit()
                }
                Self::Laplace => 8.0 * f64::EPSILON * l1 + scale * d * unit(),
                Self::Gaussian => 8.0 * f64::EPSILON * l1 + scale * d * NORMAL_STEP,
            }
    }

    /// What the sampler's distance from the ideal law adds to ε: the directions of [`Spherical`](Self::Spherical)
    /// are uniform only up to a factor of e^{±dimension·2⁻⁵⁰}. Infinite where nothing is proven.
    pub(crate) fn epsilon_up(self, dimension: usize) -> f64 {
        match self {
            Self::Spherical if dimension > MOST_SPHERICAL => f64::INFINITY,
            Self::Spherical => dimension as f64 * (2f64).powi(-49),
            Self::Laplace | Self::Gaussian => 0.0,
        }
    }

    /// What is left of ε for the noise itself, rounded down.
    ///
    /// # Errors
    /// [`ErmError::Invalid`] when that is nothing.
    pub(crate) fn left_of(self, epsilon: f64, dimension: usize) -> Result<f64, ErmError> {
        let left = sub_down(epsilon, self.epsilon_up(dimension));
        if left > 0.0 {
            Ok(left)
        } else if self.epsilon_up(dimension) == f64::INFINITY {
            let remedy = "give at most 2^18 weights, a delta above 0 or the method `objective`";
            Err(ErmError::invalid("dimension", dimension, remedy))
        } else {
            Err(ErmError::invalid("epsilon", epsilon, "give a larger epsilon"))
        }
    }

    /// What the sampler's distance from the ideal law adds to δ at ε.
    pub(crate) fn delta_up(self, dimension: usize, epsilon: f64) -> f64 {
        match self {
            Self::Gaussian => {
                let distance = mul_up(dimension as f64, (2f64).powi(NORMAL_DISTANCE_LOG2));
                mul_up(distance, add_up(1.0, exp_up(epsilon)))
            }
            Self::Spherical | Self::Laplace => 0.0,
        }
    }
}

/// What normal coordinates are known to.
const NORMAL_STEP: f64 = 1.0 / (1u128 << 88) as f64;

fn unit() -> f64 {
    (2f64).powi(-(STEP_BITS as i32))
}

/// |E| for an exponential E of mean 1, rounded down to 2⁻⁶⁰.
fn exponential<B: Bits>(bits: &mut B) -> f64 {
    geometric(bits, 1 << STEP_BITS) as f64 * unit()
}

fn spherical<B: Bits>(bits: &mut B, dimension: usize, scale: f64) -> Drawn {
    let normal = DiscreteGaussianSampler::new(Dyadic::integer(1 << STEP_BITS));
    let least = LEAST_LENGTH * libm::sqrt(dimension as f64);
    let (direction, length) = loop {
        let steps: Vec<i128> = (0..dimension).map(|_| normal.sample(bits)).collect();
        if steps.iter().any(|step| step.abs() > CUT << STEP_BITS) {
            continue;
        }
        let values: Vec<f64> = steps.iter().map(|step| *step as f64 * unit()).collect();
        let length = libm::sqrt(values.iter().map(|value| value * value).sum());
        if length >= least {
            break (values, length);
        }
    };
    let norm = scale * (0..dimension).map(|_| exponential(bits)).sum::<f64>();
    let values = direction.iter().map(|value| norm * (value / length)).collect();
    Drawn { values, error: PerturbationLaw::Spherical.error_up(dimension, scale, norm, f64::INFINITY) }
}

fn laplace<B: Bits>(bits: &mut B, dimension: usize, scale: f64) -> Drawn {
    let values: Vec<f64> = (0..dimension)
        .map(|_| {
            let magnitude = scale * exponential(bits);
            if bits.bit() { magnitude } else { -magnitude }
        })
        .collect();
    let error = PerturbationLaw::Laplace.error_up(dimension, scale, f64::INFINITY, l1(&values));
    Drawn { values, error }
}

fn gaussian<B: Bits>(bits: &mut B, dimension: usize, scale: f64) -> Drawn {
    let values: Vec<f64> =
        (0..dimension).map(|_| scale * (Normal::sample(bits).fixed(bits) as f64 * NORMAL_STEP)).collect();
    let error = PerturbationLaw::Gaussian.error_up(dimension, scale, f64::INFINITY, l1(&values));
    Drawn { values, error }
}

fn l1(values: &[f64]) -> f64 {
    values.iter().map(|value| value.abs()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::norm_up;
    use reticent_noise::entropy::SeededForTests;

    #[test]
    fn norms_and_directions_have_their_moments() {
        let mut bits = SeededForTests::new(4);
        let (dimension, rounds) = (3, 20_000);
        for shape in [PerturbationLaw::Spherical, PerturbationLaw::Laplace, PerturbationLaw::Gaussian] {
            let (mut square, mut first, mut cross) = (0.0, 0.0, 0.0);
            for _ in 0..rounds {
                let b = shape.draw(&mut bits, dimension, 2.0);
                let (norm, error) = shape.extremes(dimension, 2.0);
                assert!(b.error < 1e-11 && b.error <= error && norm_up(&b.values) <= norm);
                square += b.values.iter().map(|v| v * v).sum::<f64>();
                first += b.values[0];
                cross += b.values[0] * b.values[1];
            }
            let n = f64::from(rounds);
            let expected = shape.typical_norm(dimension, 2.0).powi(2);
            assert!((square / n / expected - 1.0).abs() < 0.1, "{shape:?} {}", square / n);
            assert!((first / n).abs() < 0.25 && (cross / n).abs() < 1.0, "{shape:?}");
        }
    }
}
