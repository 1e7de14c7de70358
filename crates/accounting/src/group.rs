//! What a guarantee for one says about k together.

use crate::AccountingError;
use reticent_core::rounding::{div_up, exp_m1_down, exp_m1_up, mul_up};
use reticent_core::{Delta, Epsilon, Guarantee, Order};

/// (kε, δ(e^{kε} − 1)/(e^ε − 1)) for a group of k; (0, kδ) when ε = 0.
///
/// # Guarantee
/// For data sets that differ in k units of the relation the claim is for; rounded up.
///
/// # Reference
/// Vadhan, *The Complexity of Differential Privacy* (2017), lemma 2.2.
///
/// # Errors
/// [`AccountingError::Invalid`] when k = 0 or δ would reach 1.
pub fn approximate(one: Guarantee, size: u64) -> Result<Guarantee, AccountingError> {
    if size == 0 {
        return Err(AccountingError::invalid("size", 0, "give a group of at least 1"));
    }
    let (e, k) = (one.epsilon.get(), size as f64);
    let epsilon = mul_up(k, e);
    let delta = if one.delta.get() == 0.0 {
        0.0
    } else if e == 0.0 {
        mul_up(k, one.delta.get())
    } else {
        mul_up(one.delta.get(), div_up(exp_m1_up(epsilon), exp_m1_down(e)))
    };
    Ok(Guarantee { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(delta)? })
}

/// From D_α ≤ ε to D_{α/2^c} ≤ 3^c·ε for a group of 2^c.
///
/// # Guarantee
/// For data sets that differ in 2^c units, α ≥ 2^{c+1}; rounded up.
///
/// # Reference
/// Mironov, *Rényi Differential Privacy* (2017), proposition 2.
///
/// # Errors
/// [`AccountingError::Invalid`] when `size` is no power of two or the order is below 2·size.
pub fn renyi(order: Order, epsilon: Epsilon, size: u64) -> Result<(Order, Epsilon), AccountingError> {
    if !size.is_power_of_two() {
        return Err(AccountingError::invalid(
            "size",
            size,
            "give a power of two: the Rényi bound is for those",
        ));
    }
    if order.get() < 2.0 * size as f64 {
        return Err(AccountingError::invalid(
            "order",
            order,
            format!("give an order of at least 2·size = {}", 2 * size),
        ));
    }
    let doublings = size.trailing_zeros();
    let grown = (0..doublings).fold(epsilon.get(), |e, _| mul_up(3.0, e));
    Ok((Order::new(order.get() / size as f64)?, Epsilon::new(grown)?))
}
