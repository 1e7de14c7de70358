//! The Rényi filter at orders that are fixed beforehand.

use super::largest;
use crate::rdp::epsilon_at_order;
use reticent_core::{Delta, Epsilon};

/// How many orders the list has.
pub(super) const ORDERS: u32 = 8;

/// The largest D_α with which anything is (ε, δ)-private, rounded down; 0 where there is none.
///
/// # Guarantee
/// An interaction with Σρᵢ(α) ≤ the returned number on every path is (ε, δ)-private, ρᵢ(α) being what bounds D_α of the
/// i-th plan in both directions.
///
/// # Reference
/// Feldman, Zrnic, *Individual privacy accounting via a Rényi filter* (2021), theorem 4.3; the conversion is that of
/// Canonne, Kamath, Steinke (2020), proposition 12.
pub(super) fn limit(order: f64, epsilon: Epsilon, delta: Delta) -> f64 {
    if delta.get() == 0.0 {
        return 0.0;
    }
    largest(|divergence| epsilon_at_order(divergence, order, delta) <= epsilon.get())
}

/// Orders around those that a total (ε, δ) leads to: 1 + c·2^{k/2} for k = −6, …, 1, where c = 2 ln(1/δ)/ε is the best
/// for Gaussian noise. Sampled events, whose curves rise more steeply, are best below it.
pub(super) fn orders(epsilon: Epsilon, delta: Delta) -> impl Iterator<Item = f64> {
    let best = (-2.0 * libm::log(delta.get()) / epsilon.get()).clamp(1e-2, 1e6);
    (0..ORDERS).map(move |k| 1.0 + best * libm::exp2(0.5 * (f64::from(k) - 6.0)))
}
