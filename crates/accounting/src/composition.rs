//! Composition theorems as the courses state them.

use crate::AccountingError;
use crate::kind::of;
use reticent_core::rounding::{add_up, exp_m1_up, ln_down, ln_up, mul_up, sqrt_up, sub_down};
use reticent_core::{Delta, Epsilon, Event, Guarantee, Neighboring};

/// All mechanisms on the same data: ε and δ add up.
///
/// # Guarantee
/// Either neighbouring relation, adaptive choice included; rounded up.
///
/// # Reference
/// Dwork, Roth (2014), theorem 3.16.
///
/// # Errors
/// [`AccountingError::Invalid`] when δ would reach 1 or ε overflow.
pub fn basic(parts: &[Guarantee]) -> Result<Guarantee, AccountingError> {
    let zero = Guarantee { epsilon: Epsilon::new(0.0)?, delta: Delta::ZERO };
    Ok(parts.iter().try_fold(zero, |total, part| total.then(*part))?)
}

/// `count` uses of one (ε, δ) mechanism on the same data: total ε√(2k ln(1/δ′)) + kε(e^ε − 1), total
/// δ′ + kδ.
///
/// # Guarantee
/// Either neighbouring relation, adaptive choice included; rounded up. Never above basic composition
/// at the same total δ.
///
/// # Reference
/// Dwork, Rothblum, Vadhan, *Boosting and differential privacy* (2010), theorem III.3.
///
/// # Errors
/// [`AccountingError::Invalid`] when the slack δ′ is 0 or the total δ reaches 1.
pub fn advanced(part: Guarantee, count: u64, slack: Delta) -> Result<Guarantee, AccountingError> {
    if slack.get() == 0.0 {
        return Err(AccountingError::invalid(
            "slack",
            0,
            "give a delta above 0: the advanced theorem needs some",
        ));
    }
    let (e, k) = (part.epsilon.get(), count as f64);
    let spread = mul_up(e, sqrt_up(mul_up(mul_up(2.0, k), -ln_down(slack.get()))));
    let drift = mul_up(mul_up(k, e), exp_m1_up(e));
    let delta = add_up(slack.get(), mul_up(k, part.delta.get()));
    let epsilon = add_up(spread, drift).min(mul_up(k, e));
    Ok(Guarantee { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(delta)? })
}

/// `count` uses of a pure ε mechanism through Rényi divergence: 4ε√(2n ln(1/δ)), valid while
/// ln(1/δ) ≥ ε²n.
///
/// A pure ε mechanism has D_α ≤ 2αε²; n of them 2αnε², and Mironov's conversion at the best order
/// gives 2nε² + 2√(2nε² ln(1/δ)), at most the stated form in the stated range.
///
/// # Guarantee
/// (returned, δ) under either neighbouring relation; rounded up.
///
/// # Reference
/// Mironov, *Rényi Differential Privacy* (2017), section IV.
///
/// # Errors
/// [`AccountingError::Invalid`] when δ = 0 or ln(1/δ) < ε²n.
pub fn renyi_course(epsilon: Epsilon, count: u64, delta: Delta) -> Result<Epsilon, AccountingError> {
    let (e, n) = (epsilon.get(), count as f64);
    if delta.get() == 0.0 {
        return Err(AccountingError::invalid("delta", 0, "give a delta above 0"));
    }
    let log = -ln_up(delta.get());
    if log < mul_up(mul_up(e, e), n) {
        return Err(AccountingError::invalid(
            "delta",
            delta,
            format!(
                "give a delta with ln(1/delta) of at least epsilon²·count = {}: the formula holds only there",
                e * e * n
            ),
        ));
    }
    let log_up = -ln_down(delta.get());
    Ok(Epsilon::new(mul_up(mul_up(4.0, e), sqrt_up(mul_up(mul_up(2.0, n), log_up))))?)
}

/// Mechanisms on disjoint parts of the data, the part being decided by the record itself.
///
/// # Guarantee
/// Under add-remove a record is in one part only: the largest ε and the largest δ. Under replace-one a
/// record may leave one part and enter another, so both parts are touched: the two largest of each,
/// added up. Rounded up.
///
/// # Reference
/// McSherry, *Privacy integrated queries* (2009), theorem 4, for add-remove.
///
/// # Errors
/// [`AccountingError::Invalid`] when δ would reach 1 or ε overflow.
pub fn parallel(parts: &[Guarantee], neighboring: Neighboring) -> Result<Guarantee, AccountingError> {
    let touched = match neighboring {
        Neighboring::AddRemove => 1,
        Neighboring::ReplaceOne => 2,
    };
    let largest = |value: fn(&Guarantee) -> f64| {
        let mut values: Vec<f64> = parts.iter().map(value).collect();
        values.sort_by(|a, b| b.total_cmp(a));
        values.into_iter().take(touched).fold(0.0, add_up)
    };
    Ok(Guarantee {
        epsilon: Epsilon::new(largest(|g| g.epsilon.get()))?,
        delta: Delta::new(largest(|g| g.delta.get()))?,
    })
}

/// The (ε, δ) that an event states, or that its largest loss amounts to; none where it has a different ε for every δ.
///
/// # Guarantee
/// Under the relation of the event's parameters; rounded up.
///
/// # Errors
/// [`AccountingError::Invalid`] where the claims of disjoint parts add up to none.
pub fn stated(event: &Event, neighboring: Neighboring) -> Result<Option<Guarantee>, AccountingError> {
    of(event, |kind| kind.stated(neighboring))
}

/// The δ′ of advanced composition that leaves the given total δ for `count` uses, rounded down.
///
/// # Errors
/// [`AccountingError::Invalid`] when nothing is left.
pub fn slack_left(total: Delta, part: Delta, count: u64) -> Result<Delta, AccountingError> {
    let left = sub_down(total.get(), mul_up(count as f64, part.get()));
    if left <= 0.0 {
        return Err(AccountingError::invalid(
            "delta",
            total,
            "give a delta above count times that of one use",
        ));
    }
    Ok(Delta::new(left)?)
}
