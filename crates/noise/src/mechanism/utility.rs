//! What selection does to scores that are public or assumed: the probability of every candidate, and which rule loses least.

use super::SelectionRule;
use super::quadrature::legendre;
use crate::NoiseError;
use reticent_core::{Epsilon, Sensitivity};

/// Expected shortfall of each rule, in units of the score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RuleErrors {
    /// Of [`SelectionRule::Exponential`].
    pub exponential: f64,
    /// Of [`SelectionRule::PermuteAndFlip`].
    pub permute_and_flip: f64,
    /// Of [`SelectionRule::ReportNoisyMax`].
    pub report_noisy_max: f64,
}

impl RuleErrors {
    /// The rule with the least expected shortfall.
    pub fn best(&self) -> SelectionRule {
        if self.report_noisy_max < self.permute_and_flip && self.report_noisy_max < self.exponential {
            SelectionRule::ReportNoisyMax
        } else if self.permute_and_flip <= self.exponential {
            SelectionRule::PermuteAndFlip
        } else {
            SelectionRule::Exponential
        }
    }
}

/// Expected shortfall of each rule on these scores, by quadrature.
///
/// The scores must be public or hypothetical: the answer is a function of them without noise.
///
/// # Errors
/// [`NoiseError::Invalid`] for ε = 0, no scores, or a score that is not finite.
pub fn compare_rules(
    scores: &[f64],
    sensitivity: Sensitivity,
    epsilon: Epsilon,
    monotone: bool,
) -> Result<RuleErrors, NoiseError> {
    if scores.is_empty() {
        return Err(NoiseError::invalid("scores", "none", "give at least one"));
    }
    if let Some(bad) = scores.iter().find(|score| !score.is_finite()) {
        return Err(NoiseError::invalid("scores", bad, "give finite numbers"));
    }
    let rate = epsilon.positive()? / sensitivity.get() / if monotone { 1.0 } else { 2.0 };
    let best = scores.iter().copied().fold(f64::MIN, f64::max);
    let gaps: Vec<f64> = scores.iter().map(|score| (best - score) * rate).collect();
    let mean = |weights: Vec<f64>| {
        let total: f64 = weights.iter().sum();
        weights.iter().zip(&gaps).filter(|(w, _)| **w > 0.0).map(|(w, gap)| w * gap).sum::<f64>()
            / total
            / rate
    };
    Ok(RuleErrors {
        exponential: mean(gaps.iter().map(|gap| libm::exp(-gap)).collect()),
        permute_and_flip: mean(flip_weights(&gaps)),
        report_noisy_max: mean(laplace_weights(&gaps)),
    })
}

/// The probability of each candidate under the exponential mechanism, whose gaps are in units of the exponent.
pub(super) fn exponential_probabilities(gaps: &[f64]) -> Vec<f64> {
    normalized(gaps.iter().map(|gap| libm::exp(-gap)).collect())
}

/// The probability of each candidate under permute-and-flip, whose gaps are in units of the exponent.
pub(super) fn flip_probabilities(gaps: &[f64]) -> Vec<f64> {
    normalized(flip_weights(gaps))
}

/// Divided by their sum.
fn normalized(weights: Vec<f64>) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).collect()
}

/// P(i) = e^{−gᵢ} ∫₀¹ Π_{j≠i} (1 − u·e^{−gⱼ}) du: candidates come at independent uniform times u, and each is kept with
/// probability e^{−g}. The integrand is a polynomial of degree below the number of candidates, which the quadrature integrates
/// exactly for up to 4000 candidates and far beyond the digits of a double for more.
fn flip_weights(gaps: &[f64]) -> Vec<f64> {
    let kept: Vec<f64> = gaps.iter().map(|gap| libm::exp(-gap)).collect();
    let mut weights = vec![0.0; gaps.len()];
    for (u, step) in legendre((gaps.len() / 2 + 1).min(2000)) {
        let factors: Vec<f64> = kept.iter().map(|kept| 1.0 - u * kept).collect();
        spread_product(&factors, |i| step * kept[i], &mut weights);
    }
    weights
}

/// P(i) = ∫ f(v + gᵢ) Π_{j≠i} F(v + gⱼ) dv for standard Laplace noise.
fn laplace_weights(gaps: &[f64]) -> Vec<f64> {
    let cdf = |t: f64| if t < 0.0 { 0.5 * libm::exp(t) } else { 1.0 - 0.5 * libm::exp(-t) };
    integrate(gaps.len(), -40.0, 60.0, |v, weights, step| {
        let factors: Vec<f64> = gaps.iter().map(|gap| cdf(v + gap)).collect();
        spread_product(&factors, |i| step * 0.5 * libm::exp(-(v + gaps[i]).abs()), weights);
    })
}

/// Adds weight(i)·Π_{j≠i} factors[j] to every entry, by products from both sides.
fn spread_product(factors: &[f64], weight: impl Fn(usize) -> f64, weights: &mut [f64]) {
    let mut after = vec![1.0; factors.len() + 1];
    for i in (0..factors.len()).rev() {
        after[i] = after[i + 1] * factors[i];
    }
    let mut before = 1.0;
    for i in 0..factors.len() {
        weights[i] += weight(i) * before * after[i + 1];
        before *= factors[i];
    }
}

/// The midpoint rule with 4 000 points: an estimate to three digits or more.
fn integrate(n: usize, from: f64, to: f64, mut add: impl FnMut(f64, &mut [f64], f64)) -> Vec<f64> {
    const POINTS: u32 = 4000;
    let step = (to - from) / f64::from(POINTS);
    let mut weights = vec![0.0; n];
    for k in 0..POINTS {
        add(from + (f64::from(k) + 0.5) * step, &mut weights, step);
    }
    weights
}
