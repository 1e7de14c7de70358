//! Balls in bins: every record in one of T batches at random, with Gaussian noise on each batch.

use super::balls_add::AddDirection;

/// Whole orders up to this are worked out; above them there is no amplification.
const MOST_ORDERS: f64 = 512.0;

/// Noise multipliers outside this range leave the range of doubles, and nothing is amplified.
const SIGMAS: std::ops::RangeInclusive<f64> = 0.2..=1e6;

/// One epoch of balls in bins with Gaussian noise of multiplier σ on each of T batches.
///
/// # Guarantee
/// Add-remove neighbours, both directions; each record is thrown into one of the T batches independently and
/// evenly, and batch sums have ℓ2 sensitivity 1. Never above one use of the Gaussian. Rounded up.
///
/// # Reference
/// Chua et al., *Balls-and-Bins Sampling for DP-SGD* (2025), for the pair of distributions; the moments are
/// derived in the proof of this module.
#[derive(Debug, Clone, PartialEq)]
pub struct BallsInBins {
    sigma: f64,
    /// (n − 1)·D_n at n = 0, 1, 2, …, in the worse direction.
    log_moments: Vec<f64>,
}

impl BallsInBins {
    /// Works out the moments of all whole orders that are amplified noticeably.
    pub fn new(bins: u64, sigma: f64) -> Self {
        if bins < 2 || !SIGMAS.contains(&sigma) {
            return Self { sigma, log_moments: Vec::new() };
        }
        let (t, w) = (bins as f64, 1.0 / (sigma * sigma));
        // At large orders the gain in D_α is ln T only, out of α/(2σ²).
        let top = (8.0 * sigma * sigma * libm::log(t) + 16.0).min(MOST_ORDERS).ceil() as usize;
        let remove = remove_log_moments(t, w, top);
        let add = AddDirection::new(t, sigma, top as f64);
        let log_moments = remove
            .into_iter()
            .enumerate()
            .map(|(n, removed)| {
                let (n, beta) = (n as f64, n as f64 - 1.0);
                if n < 2.0 {
                    return 0.0;
                }
                // The mean of the ratios is at least their geometric mean.
                let geometric = 0.5 * w * beta * (1.0 + beta / t) * (1.0 + 1e-14);
                let worse = if geometric <= removed {
                    removed
                } else {
                    removed.max(geometric.min(add.log_moment(beta)))
                };
                worse.min(0.5 * w * n * beta * (1.0 + 1e-14))
            })
            .collect();
        Self { sigma, log_moments }
    }

    /// D_α of one epoch, at any real order.
    pub fn rdp(&self, order: f64) -> f64 {
        let plain = order / (2.0 * self.sigma * self.sigma) * (1.0 + 1e-15);
        let whole = order.floor();
        // (α − 1)·D_α is convex and 0 at 1: a chord is above it.
        let at = |n: f64| self.log_moments.get(n as usize).copied().unwrap_or(f64::INFINITY);
        let chord = if whole == order {
            at(whole)
        } else {
            at(whole) * (1.0 - (order - whole)) + at(whole + 1.0) * (order - whole)
        };
        let amplified = chord / (order - 1.0) * (1.0 + 1e-14);
        if amplified.is_nan() { plain } else { amplified.min(plain) }
    }
}

/// ln E[R^n] for n = 0..=top, R the mean of T independent e^{x − w/2}, x ~ N(0, w), rounded up.
fn remove_log_moments(bins: f64, w: f64, top: usize) -> Vec<f64> {
    let central = central_log_moments(w, top);
    let log_factorial: Vec<f64> = (0..=top).map(|k| libm::lgamma(k as f64 + 1.0)).collect();
    let series: Vec<f64> = (0..=top).map(|k| central[k] - log_factorial[k]).collect();
    let power = power(&series, bins);
    // A logarithm of size L carries an error of a few L·2⁻⁵², once for every step of its recursion; squaring
    // multiplies errors by the power.
    let largest = central.iter().filter(|l| l.is_finite()).fold(1.0, |m: f64, l| m.max(l.abs()))
        + log_factorial[top]
        + top as f64 * libm::log(bins);
    let slack = 4e-15 * (top as f64) * largest.max(1.0);
    let log_bins = libm::log(bins);
    let spread: Vec<f64> = (0..=top).map(|k| power[k] + log_factorial[k] - k as f64 * log_bins).collect();
    (0..=top)
        .map(|n| {
            // E[R^n] = 1 + Σ_{k≥2} C(n, k)·E[(R − 1)^k], all terms positive.
            let excess = log_sum(
                (2..=n).map(|k| spread[k] + log_factorial[n] - log_factorial[k] - log_factorial[n - k]),
            ) + slack;
            if excess > 30.0 { excess + libm::exp(-excess) } else { libm::log1p(libm::exp(excess)) }
        })
        .map(|v| v * (1.0 + 1e-14))
        .collect()
}

/// ln E[(r − 1)^k], r = e^{x − w/2}, x ~ N(0, w).
///
/// E[r·g(r)] = E[g(e^w r)] and e^w r − 1 = e^w(r − 1) + (e^w − 1) give a recursion with positive terms only:
/// μ_{k+1} = Σ_{j<k} C(k, j)·e^{jw}(e^w − 1)^{k−j}·μ_j + (e^{kw} − 1)·μ_k, from μ₀ = 1 and μ₁ = 0.
fn central_log_moments(w: f64, top: usize) -> Vec<f64> {
    let log_rise = |k: f64| k * w + libm::log(-libm::expm1(-k * w));
    let step = log_rise(1.0);
    let log_factorial: Vec<f64> = (0..=top).map(|k| libm::lgamma(k as f64 + 1.0)).collect();
    let mut logs = vec![0.0, f64::NEG_INFINITY];
    for k in 1..top {
        let last = logs[k] + log_rise(k as f64);
        let others = (0..k).map(|j| {
            log_factorial[k] - log_factorial[j] - log_factorial[k - j]
                + j as f64 * w
                + (k - j) as f64 * step
                + logs[j]
        });
        let next = log_sum(others.chain([last]));
        logs.push(next);
    }
    logs
}

/// ln of the coefficients of (Σ a_k x^k)^T from those of the series, with a₀ = 1, a₁ = 0 and a_k ≥ 0.
fn power(series: &[f64], bins: f64) -> Vec<f64> {
    let top = series.len() - 1;
    if 2.0 * (bins + 1.0) < top as f64 {
        return power_by_squaring(series, bins as u64);
    }
    // n·c_n = Σ_{k≥2} (k(T + 1) − n)·a_k·c_{n−k}: no factor is negative for n ≤ 2(T + 1).
    let mut logs = vec![0.0];
    for n in 1..=top {
        let factor = |k: usize| libm::log((k as f64 * (bins + 1.0) - n as f64).max(0.0) / n as f64);
        let next = log_sum((2..=n).map(|k| factor(k) + series[k] + logs[n - k]));
        logs.push(next);
    }
    logs
}

fn power_by_squaring(series: &[f64], bins: u64) -> Vec<f64> {
    let times = |a: &[f64], b: &[f64]| -> Vec<f64> {
        (0..a.len()).map(|n| log_sum((0..=n).map(|k| a[k] + b[n - k]))).collect()
    };
    let mut result = vec![f64::NEG_INFINITY; series.len()];
    result[0] = 0.0;
    let (mut base, mut left) = (series.to_vec(), bins);
    while left > 0 {
        if left & 1 == 1 {
            result = times(&result, &base);
        }
        left >>= 1;
        if left > 0 {
            base = times(&base, &base);
        }
    }
    result
}

/// ln Σ e^l; −∞ for nothing.
fn log_sum(logs: impl Iterator<Item = f64> + Clone) -> f64 {
    let top = logs.clone().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + libm::log(logs.map(|l| libm::exp(l - top)).sum())
}
