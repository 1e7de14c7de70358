//! The moments accountant, for comparison with what came after.

use crate::AccountingError;
use crate::rdp::sampled_gaussian_log_moment;
use reticent_core::{Delta, Epsilon, NoiseMultiplier, SamplingRate};

/// Moments λ = 1, …, 32, as in the paper.
pub const LARGEST_MOMENT: u32 = 32;

/// ε at δ of `steps` Poisson-sampled Gaussian steps: min over integers λ ≤ 32 of
/// (steps·ln E[r^{λ+1}] + ln(1/δ))/λ.
///
/// # Guarantee
/// (returned, δ) for add-remove and Poisson sampling; rounded up.
///
/// # Reference
/// Abadi et al., *Deep learning with differential privacy* (2016), theorem 2 with exact moments.
///
/// # Errors
/// [`AccountingError::Invalid`] when δ = 0 or every moment is out of range.
pub fn epsilon_up(
    rate: SamplingRate,
    noise_multiplier: NoiseMultiplier,
    steps: u64,
    delta: Delta,
) -> Result<Epsilon, AccountingError> {
    if delta.get() == 0.0 {
        return Err(AccountingError::invalid("delta", 0, "give a delta above 0"));
    }
    let best = (1..=LARGEST_MOMENT)
        .map(|lambda| {
            let moment =
                sampled_gaussian_log_moment(rate.get(), noise_multiplier.get(), f64::from(lambda) + 1.0);
            (steps as f64 * moment - libm::log(delta.get())) / f64::from(lambda) * (1.0 + 1e-14)
        })
        .fold(f64::INFINITY, f64::min);
    if !best.is_finite() {
        return Err(AccountingError::invalid(
            "noise_multiplier",
            noise_multiplier,
            "give more noise: every moment overflows",
        ));
    }
    Ok(Epsilon::new(best)?)
}
