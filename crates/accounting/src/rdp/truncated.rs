//! Poisson samples cut to a largest batch, with Gaussian noise.

use super::binomial::binomial_tail_up;
use super::sampled::sampled_gaussian_log_moment;

/// The Gaussian on a Poisson sample of which at most `max_batch` records are kept, under add-remove.
///
/// # Guarantee
/// Add-remove neighbours, both directions; the records kept must be a uniform choice among the sampled
/// ones, and the sum over the batch must have ℓ2 sensitivity 1 to adding a record. Rounded up.
///
/// # Reference
/// Derived in the proof of this module; the sampler: arXiv 2508.15089.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TruncatedPoisson {
    sigma: f64,
    rate: f64,
    /// Probability that a record is sampled and then takes another's place, given a full batch.
    replacing: f64,
    /// Probability that the other records fill the batch, rounded up.
    full: f64,
}

impl TruncatedPoisson {
    /// n records, each sampled with probability `rate`, at most `max_batch` kept, noise of σ.
    pub fn new(dataset_size: u64, rate: f64, max_batch: u64, sigma: f64) -> Self {
        let batch = max_batch as f64;
        Self {
            sigma,
            rate,
            replacing: (rate * (batch / (batch + 1.0)) * (1.0 + 1e-15)).min(rate),
            full: binomial_tail_up(dataset_size, rate, max_batch),
        }
    }

    /// ln((1 − τ)·A_α(q, σ) + τ·A_α(qB/(B + 1), σ/2)), an upper bound on (α − 1)·D_α.
    pub fn log_moment(&self, order: f64) -> f64 {
        let alone = sampled_gaussian_log_moment(self.rate, self.sigma, order);
        if self.full == 0.0 {
            return alone;
        }
        let replaced = sampled_gaussian_log_moment(self.replacing, self.sigma / 2.0, order).max(alone);
        let gap = replaced - alone;
        let added = if gap < 600.0 {
            libm::log1p(self.full * libm::expm1(gap))
        } else {
            // ln(1 + τ(e^g − 1)) ≤ ln(1 + τe^g)
            let grown = libm::log(self.full) + gap;
            if grown > 30.0 { grown + libm::exp(-grown) } else { libm::log1p(libm::exp(grown)) }
        };
        (alone + added * (1.0 + 1e-13)) * (1.0 + 1e-14)
    }
}
