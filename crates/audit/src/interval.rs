//! Intervals for shares.

use crate::findings::Estimate;

/// The exact two-sided interval for a share.
pub fn clopper_pearson(successes: u64, trials: u64, confidence: f64) -> Estimate {
    let (lower, upper) = reticent_core::special::clopper_pearson(successes, trials, 0.5 * (1.0 - confidence));
    Estimate { value: successes as f64 / trials.max(1) as f64, lower, upper, confidence }
}
