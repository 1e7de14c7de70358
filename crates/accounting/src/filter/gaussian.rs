//! The Gaussian filter: plans that are μᵢ-GDP, with Σμᵢ² within a limit.

use reticent_core::profile::gaussian_noise_multiplier_up;
use reticent_core::rounding::{div_down, mul_down};
use reticent_core::{Delta, Epsilon};

/// The largest μ² with which μ-GDP is (ε, δ)-private, rounded down; 0 where there is none.
///
/// # Guarantee
/// An interaction with Σμᵢ² ≤ the returned number on every path is (ε, δ)-private.
///
/// # Reference
/// Koskela, Tobaben, Honkela, *Individual privacy accounting with Gaussian differential privacy* (2022), theorem 8;
/// Smith, Thakurta, *Fully adaptive composition for Gaussian differential privacy* (2022), theorem 2.
pub(super) fn limit(epsilon: Epsilon, delta: Delta) -> f64 {
    gaussian_noise_multiplier_up(epsilon, delta).map_or(0.0, |noise| {
        let mu = div_down(1.0, noise.get());
        mul_down(mu, mu).max(0.0)
    })
}
