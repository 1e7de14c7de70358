//! A record replaced in a Poisson sample of a clipped sum: (1 − q)N(0, σ²) + qN(1, σ²) against
//! (1 − q)N(0, σ²) + qN(−1, σ²).
//!
//! | name | symbol | meaning |
//! |---|---|---|
//! | `rate` | q | probability of a record to be in the sample |
//! | `sigma` | σ | noise over what one record can add |
//! | | w | 1/σ² |
//! | | A(x), B(x) | 1 − q + q·e^{w(x − ½)} and A(−x): the two densities over that of N(0, σ²) |
//! | | L(x) | ln A − ln B, increasing and odd |

use super::loss::{TAILS, Tilted, most_points};
use super::tails::Tails;
use reticent_core::special::{normal_cdf, normal_tail};

/// The x at which L = t: w·x = t/2 + arsinh((1 − q)·sinh(t/2)·e^{w/2}/q).
fn point(rate: f64, sigma: f64, t: f64) -> f64 {
    // Where the noise is tiny, the factor of sinh(0) = 0 is infinite.
    if t == 0.0 {
        return 0.0;
    }
    let (half, w) = (0.5 * t.abs(), 1.0 / (sigma * sigma));
    let odds = (1.0 - rate) / rate;
    let direct = odds * libm::exp(0.5 * w) * libm::sinh(half);
    let rise = if direct < 1e300 {
        libm::asinh(direct)
    } else {
        // ln(2·that): sinh(t/2) = e^{t/2}(1 − e^{−t})/2.
        libm::log(odds) + 0.5 * w + half + libm::log(-libm::expm1(-2.0 * half))
    };
    let x = (half + rise) / w;
    if t < 0.0 { -x } else { x }
}

pub(super) fn tails(rate: f64, sigma: f64, t: f64) -> Tails {
    let x = point(rate, sigma, t);
    let mixed =
        |tail: fn(f64) -> f64, shift: f64| (1.0 - rate) * tail(x / sigma) + rate * tail((x - shift) / sigma);
    Tails {
        p_above: mixed(normal_tail, 1.0),
        p_below: mixed(normal_cdf, 1.0),
        q_above: mixed(normal_tail, -1.0),
        q_below: mixed(normal_cdf, -1.0),
    }
}

/// ln A at x, and the share of its second term.
pub(crate) fn log_part(rate: f64, w: f64, x: f64) -> (f64, f64) {
    let exponent = w * (x - 0.5);
    if exponent < 30.0 {
        let moved = rate * libm::exp(exponent);
        (libm::log1p(rate * libm::expm1(exponent)), moved / (1.0 - rate + moved))
    } else {
        let still = (1.0 - rate) / rate * libm::exp(-exponent);
        (exponent + libm::log(rate) + libm::log1p(still), 1.0 / (1.0 + still))
    }
}

/// Beyond this x the density tilted by c only falls, at least as fast as that of N(this, σ²).
pub(crate) fn last_mode(rate: f64, w: f64, c: f64) -> f64 {
    let (_, share) = log_part(rate, w, 0.0);
    1.0 + c + c * share
}

/// The points of the law tilted by c, fine enough for |y| ≤ reach.
pub(super) fn tilted(rate: f64, sigma: f64, c: f64, reach: f64) -> Option<Tilted> {
    let w = 1.0 / (sigma * sigma);
    // As for mixtures, with phases of A within [0, θ] and of B within [−θ, 0]: those of their ratio are within 2θ.
    let strip = (sigma * sigma).min(6.0 * sigma);
    let exponent = 38.0 + 0.5 * (strip / sigma).powi(2) + 2.0 * reach * strip * w + 0.62 * c;
    let step = 2.0 * std::f64::consts::PI * strip / exponent;
    let (from, to) = (-TAILS * sigma, last_mode(rate, w, c) + TAILS * sigma);
    let points = ((to - from) / step).ceil();
    if points.is_nan() || points > most_points(reach) {
        return None;
    }
    let count = points as usize + 1;
    let (mut losses, mut logs, mut slopes) =
        (Vec::with_capacity(count), Vec::with_capacity(count), Vec::with_capacity(count));
    for i in 0..count {
        let x = from + step * i as f64;
        let ((log_a, share_a), (log_b, share_b)) = (log_part(rate, w, x), log_part(rate, w, -x));
        losses.push(log_a - log_b);
        logs.push(log_a + c * (log_a - log_b) - 0.5 * w * x * x);
        slopes.push(w * (share_a + share_b));
    }
    // The density of L between two points is at least this share of the lesser one: see the proof.
    let dip = libm::exp(-(c + 6.0) * (step * w).powi(2) / 32.0);
    Some(Tilted::new(losses, &logs, slopes, step, sigma, dip))
}
