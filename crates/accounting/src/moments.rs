//! The moments accountant, for comparison with what came after.

use crate::AccountingError;
use crate::rdp::sampled_gaussian_log_moment;
use reticent_core::{Delta, Epsilon, NoiseMultiplier, SamplingRate};

/// Moments λ = 1, …, 32, as in the paper.
pub const LARGEST_MOMENT: u32 = 32;

/// The strong-composition curve that the paper draws beside its own: per step ε₀ = √(2 ln(1.25/δ₀))/σ and
/// (qε₀, qδ₀), added up by advanced composition, the split of δ chosen best.
///
/// # Guarantee
/// None: qε₀ leaves out the constant of amplification, and the classical σ holds only for ε₀ < 1. It is here to
/// reproduce the figure; [`crate::CompositionMethod::Advanced`] is the bound.
///
/// # Reference
/// Abadi et al. (2016), figure 2.
///
/// # Errors
/// [`AccountingError::Invalid`] when δ = 0 or the rate is.
pub fn strong_composition_as_published(
    rate: SamplingRate,
    noise_multiplier: NoiseMultiplier,
    steps: u64,
    delta: Delta,
) -> Result<f64, AccountingError> {
    let (q, sigma, t, delta) = (rate.get(), noise_multiplier.get(), steps as f64, delta.get());
    if delta == 0.0 || q == 0.0 {
        return Err(AccountingError::invalid("delta", delta, "give a delta and a sampling rate above 0"));
    }
    let total = |share: f64| {
        let own = (share * delta / (t * q)).min(1.0);
        let each = q * (2.0 * libm::log(1.25 / own)).sqrt() / sigma;
        each * (2.0 * t * -libm::log((1.0 - share) * delta)).sqrt() + t * each * libm::expm1(each)
    };
    // Convex in the share: thirds are thrown away.
    let (mut low, mut high) = (1e-6, 1.0 - 1e-6);
    for _ in 0..60 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if total(a) <= total(b) {
            high = b;
        } else {
            low = a;
        }
    }
    Ok(total(0.5 * (low + high)))
}

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
