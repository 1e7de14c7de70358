//! Running a mechanism on a random part of the data.

use crate::AccountingError;
use reticent_core::rounding::{exp_m1_up, ln_1p_up, mul_up};
use reticent_core::{Delta, Epsilon, Guarantee, SamplingRate};

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
