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
    Ok((1.0 - either_way(&profile, fpr.get())?).next_down().max(0.0))
}

/// The greatest power of any test of level `level`, whichever of two neighbours is the null hypothesis; rounded up.
pub(crate) fn either_way(profile: &Profile, level: f64) -> Result<f64, AccountingError> {
    let remove = power(profile, level, Direction::Remove)?;
    if profile.is_symmetric() {
        return Ok(remove);
    }
    Ok(remove.max(power(profile, level, Direction::Add)?))
}

/// The greatest power of any test of level `level` when the null hypothesis is the second data set of the direction; rounded up.
///
/// With δ of the direction, power ≤ δ(ε) + e^ε·level; with δ of the other one, power ≤ 1 − e^{−ε}(1 − δ(ε) − level).
pub(crate) fn power(profile: &Profile, level: f64, direction: Direction) -> Result<f64, AccountingError> {
    // As a function of e^ε, over all real ε, the ceiling is convex: negative ε are the other direction's.
    let ceiling =
        |epsilon: f64| -> Result<f64, AccountingError> { Ok(line(profile, epsilon, direction)?.at(level)) };
    let mut reach = 1.0;
    while reach < 1e3
        && (ceiling(reach)? < ceiling(reach / 2.0)? || ceiling(-reach)? < ceiling(-reach / 2.0)?)
    {
        reach *= 2.0;
    }
    let golden = 0.618_033_988_749_895;
    let (mut low, mut high) = (-reach, reach);
    let (mut a, mut b) = (high - golden * (high - low), low + golden * (high - low));
    let (mut at_a, mut at_b) = (ceiling(a)?, ceiling(b)?);
    let mut best = at_a.min(at_b).min(ceiling(0.0)?);
    for _ in 0..28 {
        if at_a < at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - golden * (high - low);
            at_a = ceiling(a)?;
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + golden * (high - low);
            at_b = ceiling(b)?;
        }
        best = best.min(at_a).min(at_b);
    }
    Ok(best.min(1.0))
}

/// A line that no power is above: what one (ε, δ) says, for all levels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PowerLine {
    epsilon: f64,
    delta: f64,
}

/// The line of one ε; a negative one asks the other direction.
pub(crate) fn line(
    profile: &Profile,
    epsilon: f64,
    direction: Direction,
) -> Result<PowerLine, AccountingError> {
    let asked = match (epsilon >= 0.0, direction) {
        (true, _) => direction,
        (false, Direction::Remove) => Direction::Add,
        (false, Direction::Add) => Direction::Remove,
    };
    Ok(PowerLine { epsilon, delta: profile.delta(Epsilon::new(epsilon.abs())?, asked) })
}

impl PowerLine {
    /// Its height at a level, rounded up; above 1 where it says nothing.
    pub(crate) fn at(self, level: f64) -> f64 {
        let slack = 4.0 * f64::EPSILON;
        match self.epsilon >= 0.0 {
            true if level == 0.0 => self.delta,
            true => (self.delta + libm::exp(self.epsilon) * level) * (1.0 + slack),
            false => 1.0 - libm::exp(self.epsilon) * (1.0 - self.delta - level) + slack,
        }
    }
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
