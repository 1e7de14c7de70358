//! From a Rényi curve to (ε, δ).

use crate::AccountingError;
use reticent_core::{Delta, Epsilon};

/// Orders are searched from 1 + 10⁻⁴ to 10⁷, evenly in ln(α − 1).
const LOG_RANGE: (f64, f64) = (-9.2, 16.1);
const COARSE: usize = 96;

/// ε at δ from D_α ≤ divergence: divergence + ln(1 − 1/α) − ln(δα)/(α − 1), not below 0, rounded up.
///
/// # Guarantee
/// (returned, δ) under the relation of the divergence.
///
/// # Reference
/// Canonne, Kamath, Steinke (2020), proposition 12.
pub fn epsilon_at_order(divergence: f64, order: f64, delta: Delta) -> f64 {
    if order.is_nan() || order <= 1.0 || divergence.is_nan() {
        return f64::INFINITY;
    }
    let gain = libm::log1p(-1.0 / order);
    let price = (libm::log(delta.get()) + libm::log(order)) / (order - 1.0);
    let slack =
        1e-15 * (divergence + gain.abs() + 4.0 * price.abs() + libm::log(delta.get()).abs() / (order - 1.0));
    (divergence + gain - price + slack + f64::EPSILON).max(0.0)
}

/// ε at δ by the older conversion divergence + ln(1/δ)/(α − 1), rounded up.
///
/// # Guarantee
/// (returned, δ) under the relation of the divergence; never below [`epsilon_at_order`].
///
/// # Reference
/// Mironov (2017), proposition 3.
pub fn epsilon_by_mironov(divergence: f64, order: f64, delta: Delta) -> f64 {
    if order.is_nan() || order <= 1.0 || divergence.is_nan() {
        return f64::INFINITY;
    }
    let price = -libm::log(delta.get()) / (order - 1.0);
    divergence + price + 1e-15 * (divergence + 4.0 * price)
}

/// The least ε over real orders, with the order that gives it.
///
/// Every order gives a true bound; a coarse scan and a golden-section search find a good one.
///
/// # Guarantee
/// (returned, δ) under the relation of the curve.
///
/// # Reference
/// As [`epsilon_at_order`].
///
/// # Errors
/// [`AccountingError::Invalid`] when δ = 0 or no order gives a finite ε.
pub fn epsilon_up(curve: impl Fn(f64) -> f64, delta: Delta) -> Result<(Epsilon, f64), AccountingError> {
    let mut best = f64::NAN;
    let epsilon = checked(delta, |delta| {
        let (epsilon, order) = least_over_orders(|order| epsilon_at_order(curve(order), order, delta));
        best = order;
        epsilon
    })?;
    Ok((epsilon, best))
}

/// The least ε that a search finds at a δ above 0; an error where it is infinite.
pub(super) fn checked(delta: Delta, least: impl FnOnce(Delta) -> f64) -> Result<Epsilon, AccountingError> {
    if delta.get() == 0.0 {
        return Err(AccountingError::invalid(
            "delta",
            0,
            "give a delta above 0: Rényi bounds convert only to those",
        ));
    }
    let epsilon = least(delta);
    if !epsilon.is_finite() {
        return Err(AccountingError::invalid(
            "delta",
            delta,
            "no order gives a finite epsilon: the noise is too small",
        ));
    }
    Ok(Epsilon::new(epsilon)?)
}

/// δ at ε from D_α ≤ divergence: e^{(α−1)(divergence − ε)}·(1 − 1/α)^{α−1}/α, at most 1, rounded up.
///
/// # Guarantee
/// (ε, returned) under the relation of the divergence.
///
/// # Reference
/// As [`epsilon_at_order`], solved for δ.
pub fn delta_at_order(divergence: f64, order: f64, epsilon: Epsilon) -> f64 {
    if order.is_nan() || order <= 1.0 || divergence.is_nan() {
        return 1.0;
    }
    let gap = order - 1.0;
    let log = gap * (divergence - epsilon.get() + libm::log(gap / order)) - libm::log(order);
    let slack =
        4e-15 * (gap * (divergence + epsilon.get() + libm::log(gap / order).abs()) + libm::log(order) + 1.0);
    libm::exp((log + slack).min(0.0))
}

/// Orders from 1.01 to 10⁵, evenly in ln(α − 1).
pub(super) fn orders() -> impl Iterator<Item = f64> {
    (0..=160).map(|i| 1.0 + libm::exp(-4.6 + 0.1 * f64::from(i)))
}

/// The least value over orders that a coarse scan and a golden-section search find, and its order.
pub(super) fn least_over_orders(value: impl Fn(f64) -> f64) -> (f64, f64) {
    let at = |log_gap: f64| {
        let value = value(1.0 + libm::exp(log_gap));
        if value.is_nan() { f64::INFINITY } else { value }
    };
    let width = (LOG_RANGE.1 - LOG_RANGE.0) / COARSE as f64;
    let point = |i: usize| LOG_RANGE.0 + width * i as f64;
    // Upwards in the order, until it has long been getting worse: the largest orders cost the most.
    let (mut values, mut best) = (Vec::with_capacity(COARSE + 1), 0);
    while values.len() <= COARSE && (values.len() < best + 24 || values[best] == f64::INFINITY) {
        values.push(at(point(values.len())));
        let last = values.len() - 1;
        if values[last] < values[best] {
            best = last;
        }
    }
    let (mut low, mut high) = (point(best.saturating_sub(1)), point((best + 1).min(COARSE)));
    let golden = 0.618_033_988_749_895;
    let (mut a, mut b) = (high - golden * (high - low), low + golden * (high - low));
    let (mut at_a, mut at_b) = (at(a), at(b));
    for _ in 0..40 {
        if at_a < at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - golden * (high - low);
            at_a = at(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + golden * (high - low);
            at_b = at(b);
        }
    }
    let candidates = [(at_a, a), (at_b, b), (values[best], point(best))];
    let (least, log_gap) =
        candidates.into_iter().fold((f64::INFINITY, 0.0), |m, c| if c.0 < m.0 { c } else { m });
    (least, 1.0 + libm::exp(log_gap))
}
