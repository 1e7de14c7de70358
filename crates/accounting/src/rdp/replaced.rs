//! A record replaced in a Poisson sample of a clipped sum, by quadrature at any real order.
//!
//! The pair is that of the tight accountant: P = A·N(0, σ²) against Q = B·N(0, σ²), B(x) = A(−x), and E_Q[(P/Q)^α] is
//! 1 + E_Q[F(P/Q)] for F(r) = r^α − 1 − α(r − 1) ≥ 0, so nothing cancels. Steps and ends are derived in the proof.

use super::sampled::{MOST_POINTS, TAILS, log_excess, log_excess_far, log_one_plus};
use crate::tight::{last_mode, log_part};

/// (α − 1)·D_α of (1 − q)N(0, σ²) + qN(1, σ²) from (1 − q)N(0, σ²) + qN(−1, σ²), rounded up.
///
/// # Guarantee
/// An upper bound on (α − 1)·D_α in both directions, for replace-one neighbours, Poisson sampling and a sum to which a
/// record in the sample adds at most 1.
///
/// # Reference
/// The pair: the proof of [`crate::tight`]; the quadrature as in [`super::sampled_gaussian_log_moment`].
pub fn replaced_log_moment(rate: f64, sigma: f64, order: f64) -> f64 {
    if rate == 0.0 {
        return 0.0;
    }
    let w = 1.0 / (sigma * sigma);
    // Both laws are mixtures of N(0) and N(±1) with the same weights: at most 1 − q + q·e^{2α(α − 1)w}.
    let apart = 2.0 * order * (order - 1.0) * w * (1.0 + 1e-15);
    let convex = if apart < 600.0 { libm::log1p(rate * libm::expm1(apart)) * (1.0 + 1e-14) } else { apart };
    if rate == 1.0 {
        return apart;
    }
    quadrature(rate, sigma, order).min(convex)
}

fn quadrature(rate: f64, sigma: f64, order: f64) -> f64 {
    let w = 1.0 / (sigma * sigma);
    let strip = (sigma * sigma).min(4.0 * sigma);
    let step = 2.0 * std::f64::consts::PI * strip / (60.0 + 0.5 * (strip / sigma).powi(2) + 0.14 * order);
    let (from, to) = (-1.0 - TAILS * sigma, last_mode(rate, w, order - 1.0) + TAILS * sigma);
    let points = ((to - from) / step).ceil();
    if points.is_nan() || points > MOST_POINTS {
        return f64::INFINITY;
    }
    let mut logs = Vec::with_capacity(points as usize + 1);
    for i in 0..=points as u64 {
        let x = from + step * i as f64;
        let ((log_a, _), (log_b, _)) = (log_part(rate, w, x), log_part(rate, w, -x));
        let ratio = log_a - log_b;
        // P/Q − 1 = q·e^{−w/2}·2sinh(wx)/B, without cancellation where it is small.
        let rise = if ratio.abs() < 0.5 {
            let size = libm::exp(w * (x.abs() - 0.5) + libm::log(rate) - log_b);
            size * -libm::expm1(-2.0 * w * x.abs()) * x.signum()
        } else {
            libm::expm1(ratio)
        };
        let excess =
            if ratio < 30.0 && rise > -0.5 { log_excess(rise, order) } else { log_excess_far(ratio, order) };
        logs.push(excess + log_b - 0.5 * w * x * x);
    }
    log_one_plus(&logs, step, sigma)
}
