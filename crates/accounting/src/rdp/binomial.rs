//! The upper tail of a binomial distribution, never below the truth.

use reticent_core::special::{deviance, stirling_error};

/// Terms are added one by one up to this many; a geometric series bounds the rest.
const MOST_TERMS: u32 = 200_000;

/// P(X ≥ `at_least`) for X ~ Binomial(`trials`, `rate`), rounded up.
///
/// Sums of positive terms only. Above the mean the terms from `at_least` up are added and the rest is
/// bounded by a geometric series; below it the terms under `at_least` are added and taken from 1.
///
/// # Guarantee
/// Never below the probability. In the tail above the mean the excess is relative, so that very small
/// probabilities keep their size. `rate` must be from 0 to 1; beyond 2⁵³ trials the answer is 1.
///
/// # Reference
/// Loader, *Fast and accurate computation of binomial probabilities* (2000), for the single term.
pub fn binomial_tail_up(trials: u64, rate: f64, at_least: u64) -> f64 {
    if at_least == 0 {
        return 1.0;
    }
    if at_least > trials || rate <= 0.0 {
        return 0.0;
    }
    if rate >= 1.0 || trials > 1 << 53 {
        return 1.0;
    }
    let (n, k) = (trials as f64, at_least as f64);
    let odds = rate / (1.0 - rate);
    if k > n * rate {
        let mut sum = 1.0;
        let mut term = 1.0;
        let mut j = k;
        for _ in 0..MOST_TERMS {
            let ratio = (n - j) / (j + 1.0) * odds;
            // Ratios fall: what is left is at most term·ratio/(1 − ratio).
            if ratio < 1.0 && term * ratio < 1e-17 * sum * (1.0 - ratio) {
                break;
            }
            term *= ratio;
            sum += term;
            j += 1.0;
        }
        let ratio = ((n - j) / (j + 1.0) * odds).min(1.0 - f64::EPSILON);
        let rest = term * ratio / (1.0 - ratio);
        let (log_first, slack) = log_term(n, k, rate);
        return (libm::exp(log_first + slack) * (sum + rest) * (1.0 + 1e-10)).min(1.0);
    }
    // From at_least − 1 down, each term is (j/(n − j + 1))/odds of the one above it.
    let (mut sum, mut term, mut j) = (1.0, 1.0, k - 1.0);
    for _ in 0..MOST_TERMS {
        term *= j / (n - j + 1.0) / odds;
        if term < 1e-17 * sum {
            break;
        }
        sum += term;
        j -= 1.0;
    }
    let (log_first, slack) = log_term(n, k - 1.0, rate);
    (1.0 - libm::exp(log_first - slack) * sum * (1.0 - 1e-10)).clamp(0.0, 1.0).next_up().min(1.0)
}

/// ln P(X = k) and a bound on its rounding error.
fn log_term(n: f64, k: f64, rate: f64) -> (f64, f64) {
    if k <= 0.0 {
        let log = n * libm::log1p(-rate);
        return (log, 1e-15 * (1.0 + log.abs()));
    }
    if k >= n {
        let log = n * libm::log(rate);
        return (log, 1e-15 * (1.0 + log.abs()));
    }
    let (mean, others) = (n * rate, n * (1.0 - rate));
    let (up, down) = (deviance(k, mean), deviance(n - k, others));
    let scale = 0.5 * libm::log(n / (2.0 * std::f64::consts::PI * k * (n - k)));
    let log = scale + stirling_error(n) - stirling_error(k) - stirling_error(n - k) - up - down;
    (log, 1e-15 * (64.0 + 8.0 * (k - mean).abs() + 4.0 * (up + down) + scale.abs()))
}
