//! What an attacker can achieve: the trade-off between false alarms and misses.

use crate::account::Profile;
use crate::tight::Direction;
use crate::{Accountant, AccountingError};
use reticent_core::special::{normal_cdf, normal_tail_quantile};
use reticent_core::{Epsilon, Mu, NoiseMultiplier, Probability, SamplingRate};

/// The least false-negative rate any attacker can have at a false-positive rate, rounded down.
///
/// Every (ε, δ) that holds gives the floors 1 − δ − e^ε·fpr and e^{−ε}(1 − δ − fpr); the best of all ε is exact.
///
/// # Guarantee
/// Between any two neighbouring data sets, under the account's relation: no test of "which of the two was used"
/// has a smaller false-negative rate.
///
/// # Reference
/// Wasserman, Zhou (2010); Dong, Roth, Su, *Gaussian differential privacy* (2022), proposition 2.12.
///
/// # Errors
/// As [`Accountant::delta`].
pub fn false_negative_rate(accountant: &Accountant, fpr: Probability) -> Result<f64, AccountingError> {
    let profile = accountant.profile()?;
    let remove = one_way(&profile, fpr.get(), Direction::Remove)?;
    if profile.is_symmetric() {
        return Ok(remove);
    }
    Ok(remove.min(one_way(&profile, fpr.get(), Direction::Add)?))
}

/// The floor when the null hypothesis is the second data set of the direction.
fn one_way(profile: &Profile, fpr: f64, direction: Direction) -> Result<f64, AccountingError> {
    let back = match direction {
        Direction::Remove => Direction::Add,
        Direction::Add => Direction::Remove,
    };
    // As a function of e^ε, over all real ε, the floor is concave: negative ε are the other direction's.
    let floor = |epsilon: f64| -> Result<f64, AccountingError> {
        let size = Epsilon::new(epsilon.abs())?;
        let value = if epsilon >= 0.0 {
            1.0 - profile.delta(size, direction) - libm::exp(epsilon) * fpr
        } else {
            libm::exp(epsilon) * (1.0 - profile.delta(size, back) - fpr)
        };
        Ok(value - 4.0 * f64::EPSILON)
    };
    let mut reach = 1.0;
    while reach < 1e3 && (floor(reach)? > floor(reach / 2.0)? || floor(-reach)? > floor(-reach / 2.0)?) {
        reach *= 2.0;
    }
    let golden = 0.618_033_988_749_895;
    let (mut low, mut high) = (-reach, reach);
    let (mut a, mut b) = (high - golden * (high - low), low + golden * (high - low));
    let (mut at_a, mut at_b) = (floor(a)?, floor(b)?);
    let mut best = at_a.max(at_b).max(floor(0.0)?);
    for _ in 0..24 {
        if at_a > at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - golden * (high - low);
            at_a = floor(a)?;
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + golden * (high - low);
            at_b = floor(b)?;
        }
        best = best.max(at_a).max(at_b);
    }
    Ok(best.clamp(0.0, 1.0))
}

/// The false-negative rate of μ-Gaussian differential privacy: Φ(Φ⁻¹(1 − fpr) − μ).
///
/// # Guarantee
/// Exact to a few units in the last place, for a mechanism that is μ-Gaussian differentially private.
///
/// # Reference
/// Dong, Roth, Su (2022), equation 6.
pub fn gaussian(mu: Mu, fpr: Probability) -> f64 {
    match fpr.get() {
        0.0 => 1.0,
        1.0 => 0.0,
        alpha => normal_cdf(normal_tail_quantile(alpha) - mu.get()),
    }
}

/// The μ that the central limit theorem suggests for Poisson-sampled Gaussian steps: q√(T(e^{1/σ²} − 1)).
///
/// # Guarantee
/// None: an estimate that may lie below or above the truth. Never claim it.
///
/// # Reference
/// Bu, Dong, Long, Su, *Deep learning with Gaussian differential privacy* (2020).
///
/// # Errors
/// [`AccountingError::Invalid`] when it overflows.
pub fn clt_estimate(
    rate: SamplingRate,
    noise_multiplier: NoiseMultiplier,
    steps: u64,
) -> Result<Mu, AccountingError> {
    let z = noise_multiplier.get();
    Ok(Mu::new(rate.get() * (steps as f64 * libm::expm1(1.0 / (z * z))).sqrt())?)
}
