//! What events reveal outright, whatever is made of them afterwards.

use super::EventTally;
use crate::AccountingError;
use crate::kind::of;
use reticent_core::{Delta, Event, Neighboring};

/// What rounding may have added to a logarithm here.
const SLACK: f64 = 1e-13;

/// A δ at which the events may have a finite ε: not below the probability with which they reveal everything. Every
/// method of the accountant is asked with one of these, so that none can answer where no answer exists.
#[derive(Debug, Clone, Copy)]
pub(super) struct CheckedDelta(Delta);

impl CheckedDelta {
    /// # Errors
    /// [`AccountingError::Invalid`] for δ = 0 and [`AccountingError::Impossible`] for a δ that is too small.
    pub(super) fn new(
        delta: Delta,
        tally: &EventTally,
        neighboring: Neighboring,
    ) -> Result<Self, AccountingError> {
        if delta.get() == 0.0 {
            return Err(AccountingError::invalid("delta", 0, "give a delta above 0 and below 1, e.g. 1e-6"));
        }
        let revealed = revealed(tally, neighboring);
        if delta.get() < revealed {
            return Err(AccountingError::impossible(delta.get(), revealed));
        }
        Ok(Self(delta))
    }

    pub(super) fn delta(self) -> Delta {
        self.0
    }
}

/// The probability with which mechanisms that the events allow reveal everything, rounded down: δ(ε) is no smaller at any
/// ε.
pub(crate) fn revealed(tally: &EventTally, neighboring: Neighboring) -> f64 {
    let leaks = tally.parts().iter().map(|(count, event)| *count as f64 * leak(event, neighboring));
    probability(leaks.sum())
}

/// 1 − e^{−leak}, rounded down.
pub(crate) fn probability(leak: f64) -> f64 {
    -libm::expm1(-leak * (1.0 - SLACK)) * (1.0 - SLACK)
}

/// −ln of the probability that nothing is revealed. It adds up over events in sequence.
pub(crate) fn leak(event: &Event, neighboring: Neighboring) -> f64 {
    of(event, |kind| kind.leak(neighboring))
}

/// With probability `rate` the record is in the sample.
pub(crate) fn thinned(rate: f64, inner: f64) -> f64 {
    if inner == 0.0 { 0.0 } else { -libm::log1p(-rate * probability(inner)) }
}
