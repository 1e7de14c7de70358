//! What was paid before the training itself.

use crate::fail::Fail;
use reticent::core::{Epsilon, Event, Guarantee};
use reticent::noise::Entropy;
use reticent::noise::query::{self, Terms};

/// The share of ε that counting the rows gets when no size is declared.
const COUNTING_SHARE: f64 = 0.02;

/// What a certificate adds where an earlier answer, such as a noisy count, decided later parameters.
pub(crate) const DECIDED: &str = "; the shares are added, since earlier answers decided later parameters";

/// What the rows have paid for so far, in sequence.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bill {
    pub(crate) events: Vec<Event>,
    pub(crate) guarantee: Option<Guarantee>,
}

impl Bill {
    pub(crate) fn add(&mut self, events: &[Event], guarantee: Guarantee) -> Result<(), Fail> {
        self.events.extend_from_slice(events);
        self.guarantee = Some(match self.guarantee {
            None => guarantee,
            Some(before) => before.then(guarantee)?,
        });
        Ok(())
    }

    /// What that adds up to.
    pub(crate) fn cost(&self) -> Result<Guarantee, Fail> {
        Ok(self.guarantee.map_or_else(|| Epsilon::new(0.0).map(Guarantee::pure), Ok)?)
    }
}

/// Counts the rows with noise, for a share of the budget; returns the count, at least 1, and what is left.
pub(crate) fn count_rows(
    budget: Guarantee,
    rows: u64,
    entropy: &mut Entropy,
    bill: &mut Bill,
) -> Result<(u64, Guarantee), Fail> {
    let counting = Epsilon::new(COUNTING_SHARE * budget.epsilon.get())?;
    let counted = query::count(entropy, &Terms::pure(counting), rows)?;
    bill.add(&counted.events, counted.guarantee)?;
    let left = reticent::core::rounding::sub_down(budget.epsilon.get(), counted.guarantee.epsilon.get());
    let left = Guarantee { epsilon: Epsilon::new(left)?, delta: budget.delta };
    Ok((u64::try_from(counted.value).unwrap_or(0).max(1), left))
}
