//! What was paid before the training itself.

use crate::refusal::Refusal;
use reticent_core::{Code, Delta, Epsilon, Event, Guarantee, Neighboring};
use reticent_data::Schema;
use reticent_data::schema::Unit;
use reticent_noise::Entropy;
use reticent_noise::query::{self, Terms};

/// The share of ε that counting the rows gets when no size is declared.
const COUNTING_SHARE: f64 = 0.02;

/// What a certificate adds where an earlier answer, such as a noisy count, decided later parameters.
pub(crate) const DECIDED: &str = "; the shares are added, since earlier answers decided later parameters";

/// How the number of training rows or users is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sizing {
    /// It is public.
    Known,
    /// It was declared.
    Declared,
    /// It was counted with noise.
    Counted,
}

/// What the rows have paid for so far, in sequence.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bill {
    pub(crate) events: Vec<Event>,
    pub(crate) guarantee: Option<Guarantee>,
}

impl Bill {
    pub(crate) fn add(&mut self, events: &[Event], guarantee: Guarantee) -> Result<(), Refusal> {
        self.events.extend_from_slice(events);
        self.guarantee = Some(match self.guarantee {
            None => guarantee,
            Some(before) => before.then(guarantee)?,
        });
        Ok(())
    }

    /// What that adds up to.
    pub(crate) fn cost(&self) -> Result<Guarantee, Refusal> {
        Ok(self.guarantee.map_or_else(|| Epsilon::new(0.0).map(Guarantee::pure), Ok)?)
    }
}

/// Counts the rows with noise, for a share of the budget; returns the count, at least 1, and what is left.
pub(crate) fn count_rows(
    budget: Guarantee,
    rows: u64,
    entropy: &mut Entropy,
    bill: &mut Bill,
) -> Result<(u64, Guarantee), Refusal> {
    let counting = Epsilon::new(COUNTING_SHARE * budget.epsilon.get())?;
    let counted = query::count(entropy, &Terms::pure(counting), rows)?;
    bill.add(&counted.events, counted.guarantee)?;
    let left = reticent_core::rounding::sub_down(budget.epsilon.get(), counted.guarantee.epsilon.get());
    let left = Guarantee { epsilon: Epsilon::new(left)?, delta: budget.delta };
    Ok((u64::try_from(counted.value).unwrap_or(0).max(1), left))
}

/// The cost of a schema that was learnt from the data, under the relation of the training.
pub(crate) fn spent(schema: &Schema, neighboring: Neighboring) -> Result<Option<Guarantee>, Refusal> {
    let Some(spent) = schema.spent() else { return Ok(None) };
    let refuse = |code: Code, why: &str| {
        let text = format!("[spent]: what learning the schema cost {why}");
        Err(Refusal::about(code, "schema", text))
    };
    if *schema.unit() != Unit::Row {
        let why = "was paid for rows, and the unit is a column: write the bounds and categories from public knowledge";
        return refuse(Code::Schema, why);
    }
    if spent.neighboring() != neighboring.to_string() {
        let why = format!("is stated under {}: train with ⟦neighboring⟧ {0}", spent.neighboring());
        return refuse(Code::Relation, &why);
    }
    Ok(Some(Guarantee { epsilon: Epsilon::new(spent.epsilon())?, delta: Delta::new(spent.delta())? }))
}
