//! Closed formulas of the textbooks, each refused outside the range in which it holds. The accountants are tighter.

use crate::AccountingError;
use reticent_core::rounding::{add_up, div_up, exp_up, ln_down, ln_up, mul_down, mul_up, sqrt_up};
use reticent_core::{Delta, Epsilon, Guarantee, Probability, Scale};

/// Publishing one of `records` records in full, chosen uniformly: (0, 1/records).
///
/// # Guarantee
/// Replace-one, the number of records being public; rounded up. With probability 1/records the record of a given person is
/// published, which is why δ must be far below that.
///
/// # Reference
/// Dwork, Roth (2014), section 2.3: a δ of the order of 1/n allows it.
///
/// # Errors
/// [`AccountingError::Invalid`] below 2 records: the only record is published for certain.
pub fn random_record(records: u64) -> Result<Guarantee, AccountingError> {
    if records < 2 {
        let remedy = "give at least 2: of one record nothing is hidden";
        return Err(AccountingError::invalid("dataset_size", records, remedy));
    }
    let delta = div_up(1.0, count_down(records));
    Ok(Guarantee { epsilon: Epsilon::new(0.0)?, delta: Delta::new(delta)? })
}

/// The largest probability of an outcome on neighbouring data after `count` pure ε mechanisms, when it is Q:
/// exp(2ε√(count·ln(1/Q)))·Q.
///
/// A pure ε mechanism has D_α ≤ αε²/2, n of them αnε²/2. Probability preservation at α = √(2 ln(1/Q)/(nε²)) gives
/// exp(√2·ε√(n ln(1/Q)) − nε²/2)·Q where α ≥ 1, and the stated form is at least that. Where α < 1, it is above 1.
///
/// # Guarantee
/// Either neighbouring relation, mechanisms chosen beforehand; rounded up and at most 1.
///
/// # Reference
/// Mironov, *Rényi Differential Privacy* (2017), section IV; Bun, Steinke, *Concentrated Differential Privacy* (2016), for D_α ≤ αε²/2.
///
/// # Errors
/// None but those of the checked types.
pub fn composed_outcome_up(
    epsilon: Epsilon,
    count: u64,
    probability: Probability,
) -> Result<Probability, AccountingError> {
    let (e, q) = (epsilon.get(), probability.get());
    if q == 0.0 {
        // The loss of pure mechanisms is bounded: what cannot happen cannot happen on neighbouring data.
        return Ok(Probability::new(0.0)?);
    }
    let root = sqrt_up(mul_up(count_up(count), -ln_down(q)).max(0.0));
    let exponent = mul_up(mul_up(2.0, e), root);
    Ok(Probability::new(mul_up(exp_up(exponent), q).min(1.0))?)
}

/// A run of projected stochastic gradient descent as the courses analyse it: every step draws one record uniformly and adds
/// N(0, σ²) to every coordinate of its gradient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProjectedSgd {
    /// The Lipschitz constant l of the loss: no gradient is longer.
    pub lipschitz: Scale,
    /// The number of records n, public.
    pub records: u64,
    /// The number of steps T.
    pub steps: u64,
}

impl ProjectedSgd {
    /// σ = 16·l·√(T·ln(2/δ)·ln(2.5T/(δn)))/(nε), rounded up.
    ///
    /// Gaussian noise with σ₀ = 2l√(2 ln(1.25/δ₀))/ε₀ for a sensitivity of 2l and δ₀ = nδ/(2T), amplification by sampling to
    /// (e^{ε₀} − 1)/n ≤ 2ε₀/n and δ₀/n, and advanced composition with δ/2. The stated σ makes both terms of the composition at
    /// most ε/2 for ε ≤ 1. The Gaussian formula needs ε₀ = nε/(4√(2T ln(2/δ))) below 1.
    ///
    /// # Guarantee
    /// (ε, δ) under replace-one for all T noisy gradients. [`Accountant`](crate::Accountant) certifies it with far less noise.
    ///
    /// # Reference
    /// Bassily, Smith, Thakurta, *Private empirical risk minimization* (2014), algorithm 1, with other constants; derived above
    /// from Dwork, Roth (2014), theorems A.1 and 3.20, and Balle, Barthe, Gaboardi (2018).
    ///
    /// # Errors
    /// [`AccountingError::Invalid`] for ε = 0 or ε > 1, δ = 0, fewer than 2 records, T ≤ (nε)²/(32 ln(2/δ)), or δ₀ of 1 or more.
    pub fn sigma_up(&self, budget: Guarantee) -> Result<Scale, AccountingError> {
        let (e, d) = (budget.epsilon.positive()?, budget.delta.get());
        if e > 1.0 {
            return Err(AccountingError::invalid(
                "epsilon",
                e,
                "give an epsilon of at most 1: the formula is for those",
            ));
        }
        if d == 0.0 {
            return Err(AccountingError::invalid("delta", 0, "give a delta above 0"));
        }
        if self.records < 2 {
            return Err(AccountingError::invalid("dataset_size", self.records, "give at least 2"));
        }
        let (n, t) = (count_down(self.records), count_up(self.steps));
        let (halves, least) = (mul_up(2.0, div_up(1.0, d)), self.least_steps(budget));
        if self.steps < least {
            let remedy = format!("give at least {least} steps: the formula fails below");
            return Err(AccountingError::invalid("steps", self.steps, remedy));
        }
        let inner = mul_up(2.5, div_up(t, mul_down(d, n)));
        // ln(1.25/δ₀) = ln(2.5T/(δn)), and δ₀ must be a probability.
        if inner <= 1.25 {
            let remedy = "give more steps: the delta of one step would reach 1";
            return Err(AccountingError::invalid("steps", self.steps, remedy));
        }
        let product = mul_up(t, mul_up(ln_up(halves), ln_up(inner)));
        let sigma = div_up(mul_up(mul_up(16.0, self.lipschitz.get()), sqrt_up(product)), mul_down(n, e));
        Ok(Scale::new(sigma)?)
    }

    /// The least number of steps for which the formula holds: more than (nε)²/(32 ln(2/δ)).
    fn least_steps(&self, budget: Guarantee) -> u64 {
        let product = mul_up(count_up(self.records), budget.epsilon.get());
        let log = mul_down(32.0, ln_down(2.0) + -ln_up(budget.delta.get()));
        let bound = add_up(div_up(mul_up(product, product), log * (1.0 - 1e-12)), 0.0);
        // A double cast to an integer saturates.
        (bound.floor() as u64).saturating_add(1)
    }
}

/// A count as a double that is not above it.
fn count_down(count: u64) -> f64 {
    if count > 1 << 53 { (count as f64).next_down() } else { count as f64 }
}

/// A count as a double that is not below it.
fn count_up(count: u64) -> f64 {
    if count > 1 << 53 { (count as f64).next_up() } else { count as f64 }
}

#[cfg(test)]
#[path = "textbook_tests.rs"]
mod tests;
