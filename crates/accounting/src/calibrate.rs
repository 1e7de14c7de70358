//! The one unknown of a plan, found by bracketing on the certified upper bound.

use crate::{Accountant, AccountingError};
use reticent_core::Guarantee;

/// Searches stop when the answer is known to this relative width.
const TOLERANCE: f64 = 1e-6;

/// More steps than this are not looked for.
const MOST_STEPS: u64 = 1 << 40;

/// The smallest noise multiplier, to a relative 10⁻⁶, with which the account that `plan` returns stays within the
/// budget.
///
/// # Guarantee
/// The account at the returned multiplier meets the budget; at one smaller by 10⁻⁶ it does not, as far as the
/// accountant can certify. `plan` must cost less with more noise.
///
/// # Reference
/// Bisection on ln σ.
///
/// # Errors
/// [`AccountingError::Invalid`] when no multiplier up to 10⁹ is enough, and the errors of `plan`.
pub fn noise_multiplier(
    budget: Guarantee,
    plan: impl Fn(f64) -> Result<Accountant, AccountingError>,
) -> Result<f64, AccountingError> {
    let enough = |log: f64| plan(libm::exp(log))?.meets(budget);
    let (low, high) = bracket(0.0, (-9.0, 20.8), &enough)?.ok_or_else(|| {
        AccountingError::invalid(
            "epsilon",
            budget.epsilon,
            "give a larger epsilon or delta, or fewer steps: no noise multiplier up to 1e9 is enough",
        )
    })?;
    Ok(libm::exp(bisect(low, high, &enough)?))
}

/// The largest sampling rate, to a relative 10⁻⁶, with which the account that `plan` returns stays within the
/// budget; 1 when everything may be in every step.
///
/// # Guarantee
/// The account at the returned rate meets the budget. `plan` must cost more with a larger rate.
///
/// # Reference
/// Bisection on ln q.
///
/// # Errors
/// [`AccountingError::Invalid`] when no rate down to 10⁻¹² is small enough, and the errors of `plan`.
pub fn sampling_rate(
    budget: Guarantee,
    plan: impl Fn(f64) -> Result<Accountant, AccountingError>,
) -> Result<f64, AccountingError> {
    if plan(1.0)?.meets(budget)? {
        return Ok(1.0);
    }
    let enough = |negated: f64| plan(libm::exp(-negated))?.meets(budget);
    let (low, high) = bracket(4.0, (0.0, 27.6), &enough)?.ok_or_else(|| {
        AccountingError::invalid(
            "epsilon",
            budget.epsilon,
            "give a larger epsilon or delta, or more noise: no sampling rate down to 1e-12 is small enough",
        )
    })?;
    Ok(libm::exp(-bisect(low, high, &enough)?))
}

/// The largest number of steps with which the account that `plan` returns stays within the budget.
///
/// # Guarantee
/// The account at the returned number meets the budget. `plan` must cost more with more steps.
///
/// # Reference
/// Doubling, then bisection.
///
/// # Errors
/// [`AccountingError::Invalid`] when not even one step fits, and the errors of `plan`.
pub fn steps(
    budget: Guarantee,
    plan: impl Fn(u64) -> Result<Accountant, AccountingError>,
) -> Result<u64, AccountingError> {
    match largest_count(|count| plan(count)?.meets(budget))? {
        0 => Err(AccountingError::invalid(
            "epsilon",
            budget.epsilon,
            "give a larger epsilon or delta, or more noise: not even one step fits",
        )),
        count => Ok(count),
    }
}

/// The largest count that fits, at most 2^40; 0 when one does not.
pub(crate) fn largest_count(
    fits: impl Fn(u64) -> Result<bool, AccountingError>,
) -> Result<u64, AccountingError> {
    let (mut low, mut high) = (0, 1);
    while fits(high)? {
        if high >= MOST_STEPS {
            return Ok(high);
        }
        (low, high) = (high, high * 4);
    }
    while high - low > 1 {
        // Counts grow by factors: the middle in between is geometric while the bracket is wide.
        let middle = if high > 2 * low + 2 {
            (libm::sqrt(low.max(1) as f64 * high as f64) as u64).clamp(low + 1, high - 1)
        } else {
            low + (high - low) / 2
        };
        if fits(middle)? {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

type Enough<'a> = &'a dyn Fn(f64) -> Result<bool, AccountingError>;

/// A point where it is not enough and one above it where it is, around `start`; none when the upper limit is not.
fn bracket(
    start: f64,
    limits: (f64, f64),
    enough: Enough<'_>,
) -> Result<Option<(f64, f64)>, AccountingError> {
    let (mut low, mut high, mut width) = (start, start, 0.25);
    if enough(start)? {
        while low > limits.0 {
            (high, low) = (low, (low - width).max(limits.0));
            if !enough(low)? {
                return Ok(Some((low, high)));
            }
            width *= 1.6;
        }
        return Ok(Some((limits.0, limits.0)));
    }
    while high < limits.1 {
        (low, high) = (high, (high + width).min(limits.1));
        if enough(high)? {
            return Ok(Some((low, high)));
        }
        width *= 1.6;
    }
    Ok(None)
}

/// The upper end of a bracket as narrow as the tolerance.
fn bisect(low: f64, high: f64, enough: Enough<'_>) -> Result<f64, AccountingError> {
    let (mut low, mut high) = (low, high);
    while high - low > TOLERANCE {
        let middle = 0.5 * (low + high);
        if enough(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(high)
}
