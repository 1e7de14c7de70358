//! Random vectors that stay inside a fit: drawn from exact samplers, with a bound on the distance between the
//! doubles that are used and the real vector that the proof is about.

use reticent_core::rounding::{add_up, exp_up, mul_up};
use reticent_noise::entropy::Bits;
use reticent_noise::sampler::{DiscreteGaussianSampler, Dyadic, NORMAL_DISTANCE_LOG2, Normal, geometric};
use serde::{Deserialize, Serialize};

/// log₂ of the number of steps in a unit of the exact samplers.
const STEP_BITS: u32 = 60;

/// Coordinates beyond this many standard deviations are drawn again; see `proof.md`.
const CUT: i128 = 1 << 10;

/// A law of the linear term b.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
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

impl Shape {
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

    /// What the sampler's distance from the ideal law adds to ε: the directions of [`Spherical`](Self::Spherical)
    /// are uniform only up to a factor of e^{±dimension·2⁻⁵⁰}. Infinite where nothing is proven.
    pub(crate) fn epsilon_up(self, dimension: usize) -> f64 {
        match self {
            // The proof's tail bound is for at most 2¹⁸ coordinates.
            Self::Spherical if dimension > 1 << 18 => f64::INFINITY,
            Self::Spherical => dimension as f64 * (2f64).powi(-49),
            Self::Laplace | Self::Gaussian => 0.0,
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

fn unit() -> f64 {
    (2f64).powi(-(STEP_BITS as i32))
}

/// |E| for an exponential E of mean 1, rounded down to 2⁻⁶⁰.
fn exponential<B: Bits>(bits: &mut B) -> f64 {
    geometric(bits, 1 << STEP_BITS) as f64 * unit()
}

fn spherical<B: Bits>(bits: &mut B, dimension: usize, scale: f64) -> Drawn {
    let normal = DiscreteGaussianSampler::new(Dyadic::integer(1 << STEP_BITS));
    let (direction, length) = loop {
        let steps: Vec<i128> = (0..dimension).map(|_| normal.sample(bits)).collect();
        if steps.iter().any(|step| step.abs() > CUT << STEP_BITS) {
            continue;
        }
        let values: Vec<f64> = steps.iter().map(|step| *step as f64 * unit()).collect();
        let length = libm::sqrt(values.iter().map(|value| value * value).sum());
        if length > 0.0 {
            break (values, length);
        }
    };
    let norm = scale * (0..dimension).map(|_| exponential(bits)).sum::<f64>();
    let values = direction.iter().map(|value| norm * (value / length)).collect();
    let d = dimension as f64;
    // Half a step a coordinate for the direction, a step a term for the norm, and the roundings.
    let relative = (4.0 * d + 32.0) * f64::EPSILON + 2.0 * libm::sqrt(d) * unit() / length;
    Drawn { values, error: 1.001 * (norm * relative + scale * d * unit()) }
}

fn laplace<B: Bits>(bits: &mut B, dimension: usize, scale: f64) -> Drawn {
    let values: Vec<f64> = (0..dimension)
        .map(|_| {
            let magnitude = scale * exponential(bits);
            if bits.bit() { magnitude } else { -magnitude }
        })
        .collect();
    let size: f64 = values.iter().map(|value| value.abs()).sum();
    let error = 1.001 * (8.0 * f64::EPSILON * size + scale * dimension as f64 * unit());
    Drawn { values, error }
}

fn gaussian<B: Bits>(bits: &mut B, dimension: usize, scale: f64) -> Drawn {
    let step = (2f64).powi(-88);
    let values: Vec<f64> =
        (0..dimension).map(|_| scale * (Normal::sample(bits).fixed(bits) as f64 * step)).collect();
    let size: f64 = values.iter().map(|value| value.abs()).sum();
    let error = 1.001 * (8.0 * f64::EPSILON * size + scale * dimension as f64 * step);
    Drawn { values, error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_noise::entropy::SeededForTests;

    #[test]
    fn norms_and_directions_have_their_moments() {
        let mut bits = SeededForTests::new(4);
        let (dimension, rounds) = (3, 20_000);
        for shape in [Shape::Spherical, Shape::Laplace, Shape::Gaussian] {
            let (mut square, mut first, mut cross) = (0.0, 0.0, 0.0);
            for _ in 0..rounds {
                let b = shape.draw(&mut bits, dimension, 2.0);
                assert!(b.error < 1e-11);
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
