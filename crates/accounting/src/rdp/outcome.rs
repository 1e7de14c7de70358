//! What a Rényi bound says about probabilities.

use crate::AccountingError;
use reticent_core::rounding::{exp_up, mul_up, sub_up};
use reticent_core::{Epsilon, Order, Probability};

/// Where the probability of an outcome may lie on neighbouring data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutcomeRange {
    /// Rounded down.
    pub lower: f64,
    /// Rounded up.
    pub upper: f64,
}

/// The probability of a bad outcome without a person's record, when it is `probability` with it.
///
/// upper = (e^ε p)^{(α−1)/α}; lower = e^{−ε} p^{α/(α−1)}.
///
/// # Guarantee
/// For D_α ≤ ε in both directions, under its neighbouring relation.
///
/// # Reference
/// Mironov (2017), proposition 10 (probability preservation).
///
/// # Errors
/// [`AccountingError::Invalid`] when the order is 1.
pub fn bad_outcome(
    order: Order,
    epsilon: Epsilon,
    probability: Probability,
) -> Result<OutcomeRange, AccountingError> {
    let (a, e, p) = (order.get(), epsilon.get(), probability.get());
    if a == 1.0 {
        return Err(AccountingError::invalid("order", a, "give an order above 1"));
    }
    if p == 0.0 {
        return Ok(OutcomeRange { lower: 0.0, upper: 0.0 });
    }
    let (rise, fall) = ((e + libm::log(p)) * (a - 1.0) / a, -e + libm::log(p) * a / (a - 1.0));
    let slack = |exponent: f64| 1e-15 * (8.0 + 4.0 * exponent.abs() + 4.0 * e);
    let upper = libm::exp(rise) * (1.0 + slack(rise)) + f64::MIN_POSITIVE;
    let lower = libm::exp(fall) * (1.0 - slack(fall)) - f64::MIN_POSITIVE;
    Ok(OutcomeRange { lower: lower.max(0.0), upper: upper.min(1.0) })
}

/// The factor by which the odds between two data sets may move after an output, on average over
/// outputs: E[R^{α−1}] ≤ e^{(α−1)ε}, so R ≤ e^{ε + ln(1/β)/(α−1)} except with probability β.
///
/// # Guarantee
/// For D_α ≤ ε, under its neighbouring relation; rounded up.
///
/// # Reference
/// Mironov (2017), section VII (Bayes factor), with Markov's inequality.
///
/// # Errors
/// [`AccountingError::Invalid`] when the order is 1 or β = 0.
pub fn bayes_factor(order: Order, epsilon: Epsilon, beta: Probability) -> Result<f64, AccountingError> {
    if order.get() == 1.0 {
        return Err(AccountingError::invalid("order", 1, "give an order above 1"));
    }
    if beta.get() == 0.0 {
        return Err(AccountingError::invalid("beta", 0, "give a probability above 0"));
    }
    Ok(libm::exp(epsilon.get() - libm::log(beta.get()) / (order.get() - 1.0)) * (1.0 + 1e-13))
}

/// The mean of (posterior odds / prior odds)^{α−1} over outputs, at most: e^{(α−1)ε}.
///
/// The odds are those of the data set that was used against a neighbouring one; by Bayes' rule they change by the ratio R of the two
/// densities, and E[R^{α−1}] = e^{(α−1)D_α}. The mean of ln R, the expected change of the log-odds, is D_1.
///
/// # Guarantee
/// For D_α ≤ ε, under its neighbouring relation; rounded up, and infinite where doubles end.
///
/// # Reference
/// Mironov (2017), section VII (Bayes factor).
///
/// # Errors
/// [`AccountingError::Invalid`] when the order is 1, where the moment is 1 and says nothing.
pub fn odds_moment_up(order: Order, epsilon: Epsilon) -> Result<f64, AccountingError> {
    if order.get() == 1.0 {
        return Err(AccountingError::invalid("order", 1, "give an order above 1"));
    }
    Ok(exp_up(mul_up(sub_up(order.get(), 1.0), epsilon.get())))
}
