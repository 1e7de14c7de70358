//! The one unknown of a plan, found by bracketing on the certified upper bound.

use crate::{Accountant, AccountingError};
use reticent_core::Guarantee;

/// Searches stop when the answer is known to this relative width.
const TOLERANCE: f64 = 1e-6;

/// How often a little noise is added so that ε is found to be within the budget too.
const MOST_SETTLED: u32 = 12;

/// More steps than this are not looked for.
const MOST_STEPS: u64 = 1 << 40;

/// ln of the least noise multiplier that is looked for.
const LEAST_LOG_NOISE: f64 = -9.0;

/// The least noise multiplier that is looked for, about 1.23·10⁻⁴: less noise is hardly any, and whatever budget it meets
/// protects hardly anything.
pub fn least_noise_multiplier() -> f64 {
    libm::exp(LEAST_LOG_NOISE)
}

/// The smallest noise multiplier, to a relative 10⁻⁶, with which the account that `plan` returns stays within the
/// budget.
///
/// # Guarantee
/// The account at the returned multiplier meets the budget; at one smaller by 10⁻⁶ it does not, as far as the
/// accountant can certify, unless it is [`least_noise_multiplier`]. `plan` must cost less with more noise.
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
    let excess = |log: f64| plan(libm::exp(log))?.excess(budget);
    // A budget that hardly any noise meets is found at once; the search would pass all the slow places on its way.
    if excess(LEAST_LOG_NOISE).is_ok_and(|excess| excess <= 0.0) {
        return Ok(libm::exp(LEAST_LOG_NOISE));
    }
    let log = least(0.0, (LEAST_LOG_NOISE, 20.8), &excess)?.ok_or_else(|| {
        AccountingError::invalid(
            "epsilon",
            budget.epsilon,
            "give a larger epsilon or delta, or fewer steps: no noise multiplier up to 1e9 is enough",
        )
    })?;
    settled(log, budget, &plan)
}

/// δ at the budget's ε and ε at its δ are bracketed each by itself: a little more noise, where it takes that, so both ways
/// to ask find the budget met.
fn settled(
    mut log: f64,
    budget: Guarantee,
    plan: &impl Fn(f64) -> Result<Accountant, AccountingError>,
) -> Result<f64, AccountingError> {
    let found = libm::exp(log);
    for _ in 0..MOST_SETTLED {
        let spent = plan(libm::exp(log))?.epsilon(budget.delta)?.upper;
        if spent <= budget.epsilon.get() {
            return Ok(libm::exp(log));
        }
        log += (1.5 * (spent / budget.epsilon.get() - 1.0)).min(0.01) + TOLERANCE;
    }
    Ok(found)
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
    let excess = |negated: f64| plan(libm::exp(-negated))?.excess(budget);
    let negated = least(4.0, (0.0, 27.6), &excess)?.ok_or_else(|| {
        AccountingError::invalid(
            "epsilon",
            budget.epsilon,
            "give a larger epsilon or delta, or more noise: no sampling rate down to 1e-12 is small enough",
        )
    })?;
    Ok(libm::exp(-negated))
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
    // Most plans have hundreds of steps or more, and those are the quick ones to account for.
    let (mut low, mut high) = (0, 1024);
    while fits(high)? {
        if high >= MOST_STEPS {
            return Ok(high);
        }
        (low, high) = (high, high * 8);
    }
    while high - low > 1 {
        // Counts grow by factors: the middle in between is geometric while the bracket is wide.
        let middle = if low > 0 && high > 2 * low + 2 {
            (libm::sqrt(low as f64 * high as f64) as u64).clamp(low + 1, high - 1)
        } else if low == 0 && high > 16 {
            high / 8
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

type Excess<'a> = &'a dyn Fn(f64) -> Result<f64, AccountingError>;

/// The least point, to the tolerance, at which a decreasing excess is not above 0; none when there is none.
fn least(start: f64, limits: (f64, f64), excess: Excess<'_>) -> Result<Option<f64>, AccountingError> {
    // Two points with the root in between.
    let (mut low, mut width) = ((start, excess(start)?), 0.25);
    let mut high = low;
    if low.1 > 0.0 {
        while high.1 > 0.0 {
            if high.0 >= limits.1 {
                return Ok(None);
            }
            low = high;
            let next = (high.0 + width).min(limits.1);
            (high, width) = ((next, excess(next)?), 1.6 * width);
        }
    } else {
        while low.1 <= 0.0 {
            if low.0 <= limits.0 {
                return Ok(Some(limits.0));
            }
            high = low;
            let next = (low.0 - width).max(limits.0);
            (low, width) = ((next, excess(next)?), 1.6 * width);
        }
    }
    // Where the straight line between them crosses 0, a little to either side of it in turn; halves now and then.
    let mut round = 0;
    while high.0 - low.0 > TOLERANCE {
        let line = low.0 + (high.0 - low.0) * low.1 / (low.1 - high.1);
        let aside = if round % 2 == 0 { 0.3 * TOLERANCE } else { -0.3 * TOLERANCE };
        let middle = if round % 4 == 3 { 0.5 * (low.0 + high.0) } else { line + aside };
        let middle = if middle > low.0 && middle < high.0 { middle } else { 0.5 * (low.0 + high.0) };
        let here = (middle, excess(middle)?);
        if here.1 > 0.0 {
            low = here;
        } else {
            high = here;
        }
        round += 1;
    }
    Ok(Some(high.0))
}
