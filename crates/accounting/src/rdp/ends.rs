//! The two ends of a Rényi curve: D₁ and D_∞.

use super::curve::unsupported;
use crate::AccountingError;
use crate::kind::of;
use reticent_core::{Epsilon, Event, Order};

/// D₁, the Kullback–Leibler divergence, where a closed form bounds it.
///
/// # Guarantee
/// Between neighbouring data, under the relation of the event's parameters, in the worse direction; rounded
/// up. It is that of the worst mechanism the event allows; discrete Laplace noise is taken as any pure event.
///
/// # Reference
/// Mironov (2017), table II; the limits at order 1 of the curves used here.
///
/// # Errors
/// [`AccountingError::Unsupported`] for other events.
pub fn kullback_leibler(event: &Event) -> Result<f64, AccountingError> {
    of(event, |kind| kind.kullback_leibler())
}

/// D_∞, the largest privacy loss; infinite where it has no bound.
///
/// # Guarantee
/// Between neighbouring data, under the relation of the event's parameters, in both directions; rounded up.
///
/// # Reference
/// Mironov (2017), table II; Papernot, Steinke (2022), theorem 2 at infinite orders, for the best of a
/// random number of runs.
///
/// # Errors
/// [`AccountingError::Unsupported`] for other events.
pub fn largest_loss(event: &Event) -> Result<f64, AccountingError> {
    of(event, |kind| kind.largest_loss())
}

/// The order and the divergence of an event of which the divergence at one order is all that is known.
pub fn one_order(event: &Event) -> Option<(Order, Epsilon)> {
    of(event, |kind| kind.one_order())
}

/// D₁ of an event for which none is known.
pub(crate) fn no_divergence() -> AccountingError {
    unsupported("event", "its Kullback-Leibler divergence has no closed form here")
}

/// D_∞ of an event for which none is known.
pub(crate) fn no_largest() -> AccountingError {
    unsupported("event", "its largest loss has no closed form here")
}

/// D_∞ of a claim of this size that Gaussian noise meets.
pub(crate) fn unbounded(size: f64) -> f64 {
    if size == 0.0 { 0.0 } else { f64::INFINITY }
}

pub(crate) fn times(count: u64, value: f64) -> f64 {
    if count == 0 { 0.0 } else { count as f64 * value * (1.0 + 1e-15) }
}

pub(crate) fn sum(
    events: &[Event],
    each: impl Fn(&Event) -> Result<f64, AccountingError>,
) -> Result<f64, AccountingError> {
    events.iter().try_fold(0.0, |total: f64, event| Ok((total + each(event)?).next_up()))
}
