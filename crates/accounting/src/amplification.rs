//! Running a mechanism on a random part of the data.

use crate::AccountingError;
use crate::kind::of;
use reticent_core::rounding::{exp_m1_up, ln_1p_up, mul_up};
use reticent_core::{Delta, Epsilon, Event, Guarantee, Neighboring, NoiseMultiplier, SamplingRate};

/// ε′ = ln(1 + q(e^ε − 1)), δ′ = qδ.
///
/// # Guarantee
/// For add-remove when every record enters independently with probability q, and for replace-one when
/// a batch of fixed size is drawn without replacement with q = batch/size; the inner guarantee must be
/// for the same relation. Rounded up.
///
/// # Reference
/// Balle, Barthe, Gaboardi, *Privacy amplification by subsampling* (2018), theorems 8 and 9.
///
/// # Errors
/// None but those of the checked types.
pub fn subsampled(inner: Guarantee, rate: SamplingRate) -> Result<Guarantee, AccountingError> {
    if rate.get() == 0.0 {
        return Ok(Guarantee::pure(Epsilon::new(0.0)?));
    }
    let grown = mul_up(rate.get(), exp_m1_up(inner.epsilon.get()));
    // e^ε overflows long before ln(1 + q(e^ε − 1)) does: it is never above ε.
    let epsilon = ln_1p_up(grown).min(inner.epsilon.get());
    Ok(Guarantee {
        epsilon: Epsilon::new(epsilon)?,
        delta: Delta::new(mul_up(rate.get(), inner.delta.get()))?,
    })
}

/// How batches are drawn, where the answer to a question depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchRule {
    /// Every record by its own coin.
    Poisson,
    /// Cut from a shuffled list: no amplification is claimed.
    Shuffled,
    /// Every record thrown into one of the batches of an epoch.
    BallsInBins {
        /// Whether amplification is known, and claimed; an epoch costs what its event does otherwise.
        is_amplified: bool,
    },
}

/// How an event, and every event inside it, draws its batches.
pub fn batch_rules(event: &Event, neighboring: Neighboring) -> impl Iterator<Item = BatchRule> + '_ {
    event.walk().filter_map(move |inner| of(inner, |kind| kind.batch_rule(neighboring)))
}

/// The sampling rate and the noise multiplier of an event that is nothing but Gaussian noise on a Poisson sample of the records,
/// or on all of them (rate 1). Under replace-one a sample has
/// another loss, and only noise on all records counts.
pub fn sampled_gaussian(event: &Event, neighboring: Neighboring) -> Option<(SamplingRate, NoiseMultiplier)> {
    of(event, |kind| kind.sampled_gaussian(neighboring))
}

#[cfg(test)]
#[path = "amplification_tests.rs"]
mod tests;
