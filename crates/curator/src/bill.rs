//! The cost of what precedes the training itself.

use crate::refusal::Refusal;
use reticent_accounting::filter::charge_share;
use reticent_accounting::{Verdict, verify};
use reticent_core::event::read;
use reticent_core::rounding::sub_down;
use reticent_core::{Certificate, Code, Delta, Epsilon, Event, Guarantee, Neighboring, Permit, Plan};
use reticent_data::Schema;
use reticent_data::schema::PrivacyUnit;
use reticent_noise::NoiseSession;
use reticent_noise::query::{self, QueryTerms};

/// The share of ε that counting the rows gets when no size is declared.
const COUNTING_SHARE: f64 = 0.02;

/// How the number of training rows or users was determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sizing {
    /// It is public.
    Known,
    /// It was declared.
    Declared,
    /// It was counted with noise.
    Counted,
}

/// The events charged so far, in sequence.
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

/// A noisy count of the rows for a share of the budget, settled before a row is read.
pub(crate) struct Counting {
    terms: QueryTerms,
    plan: Plan,
    guarantee: Guarantee,
    /// What is left of the budget.
    pub(crate) left: Guarantee,
}

impl Counting {
    pub(crate) fn of(budget: Guarantee) -> Result<Self, Refusal> {
        let terms = QueryTerms::pure(Epsilon::new(COUNTING_SHARE * budget.epsilon.get())?);
        let (answer, plan) = query::rehearse_unpaid(|source| query::count(source, &terms, 0))?;
        let left = sub_down(budget.epsilon.get(), answer.guarantee.epsilon.get());
        let left = Guarantee { epsilon: Epsilon::new(left)?, delta: budget.delta };
        Ok(Self { terms, plan, guarantee: answer.guarantee, left })
    }

    /// Whether a count with these events, of which this ε is stated, is the one that is settled here.
    pub(crate) fn is(&self, events: &[Event], epsilon: f64) -> bool {
        self.plan.events() == events && self.guarantee.epsilon.get() == epsilon
    }

    /// What the count costs.
    pub(crate) fn events(&self) -> &[Event] {
        self.plan.events()
    }
}

/// The main part of a training as it is charged before a row is read.
pub(crate) enum Main {
    /// Exactly these events: nothing that is read decides them.
    Events(Plan),
    /// Whatever is settled by then, held to this as one claim.
    Share(Guarantee),
}

/// A training that is paid for as a whole, before a row is read: in one plan, whose events are those of the certificate.
pub(crate) struct Purchase {
    permit: Permit,
    counting: Option<Counting>,
    /// None where the permit has the main part's own events.
    share: Option<Guarantee>,
}

impl Purchase {
    /// Charges what comes before the main part, the main part, and in parallel `beside`, which is about other rows.
    ///
    /// # Errors
    /// [`Refusal`] when the ledger refuses.
    pub(crate) fn charge(
        before: &[Event],
        main: Main,
        beside: Option<Event>,
        payer: &mut NoiseSession,
    ) -> Result<Self, Refusal> {
        let mut events = before.to_vec();
        let share = match main {
            Main::Events(plan) => {
                events.extend_from_slice(plan.events());
                None
            }
            Main::Share(share) => {
                events.push(share.claim());
                Some(share)
            }
        };
        if let Some(beside) = beside {
            events = vec![Event::Parallel { events: vec![Event::Composed { events }, beside] }];
        }
        Ok(Self { permit: payer.charge(&Plan::new(events)?)?, counting: None, share })
    }

    /// The same with the count that was charged first.
    pub(crate) fn counting(self, counting: Option<Counting>) -> Self {
        Self { counting, ..self }
    }

    /// Counts, and puts the cost on the bill; returns the count, at least 1, and what is left of the budget. None where no
    /// count was charged, or it has been made.
    pub(crate) fn count(
        &mut self,
        rows: u64,
        payer: &mut NoiseSession,
        bill: &mut Bill,
    ) -> Result<Option<(u64, Guarantee)>, Refusal> {
        let Some(Counting { terms, guarantee, left, .. }) = self.counting.take() else { return Ok(None) };
        let counted = query::count(&mut payer.with(&mut self.permit), &terms, rows)?;
        bill.add(&counted.events, guarantee)?;
        Ok(Some((u64::try_from(counted.value).unwrap_or(0).max(1), left)))
    }

    /// The permit for the main part, now that its events are settled, where that is not [`permit`](Self::permit).
    ///
    /// # Errors
    /// [`Refusal`] when the events cost more than the share: a defect, as they were calibrated to it.
    pub(crate) fn share(
        &mut self,
        neighboring: Neighboring,
        events: &Plan,
    ) -> Result<Option<Permit>, Refusal> {
        let charge = |share| charge_share(&mut self.permit, share, neighboring, events);
        self.share.map(charge).transpose().map_err(Refusal::internal)
    }

    /// The permit for everything else.
    pub(crate) fn permit(&mut self) -> &mut Permit {
        &mut self.permit
    }

    /// The permit for the main part, where nothing else is left to be drawn.
    ///
    /// # Errors
    /// As [`share`](Self::share).
    pub(crate) fn into_main(mut self, neighboring: Neighboring, events: &Plan) -> Result<Permit, Refusal> {
        Ok(self.share(neighboring, events)?.unwrap_or(self.permit))
    }
}

/// The cost of a schema that was learnt from the data.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SchemaCost {
    /// What happened, as the schema lists it; a claim of the cost where it lists nothing.
    pub(crate) events: Vec<Event>,
    pub(crate) guarantee: Guarantee,
}

/// The cost of a schema that was learnt from the data, under the relation of the training.
///
/// # Errors
/// [`Refusal`] when it was paid for another unit or under another relation, or is not what its events add up to.
pub(crate) fn spent(schema: &Schema, neighboring: Neighboring) -> Result<Option<SchemaCost>, Refusal> {
    let Some(spent) = schema.spent() else { return Ok(None) };
    let refuse = |code: Code, why: &str| {
        let text = format!("[spent]: what learning the schema cost {why}");
        Err(Refusal::about(code, "schema", text))
    };
    if *schema.unit() != PrivacyUnit::Row {
        let why =
            "protects rows, but the unit is a column: write the bounds and categories from public knowledge";
        return refuse(Code::Schema, why);
    }
    if spent.neighboring() != neighboring.to_string() {
        let why = format!("is stated under {}: train with ⟦neighboring⟧ {0}", spent.neighboring());
        return refuse(Code::Relation, &why);
    }
    let stated = Guarantee { epsilon: Epsilon::new(spent.epsilon())?, delta: Delta::new(spent.delta())? };
    let listed = match spent.events().trim() {
        // Files from before events were read.
        "" | "[]" => return Ok(Some(SchemaCost { events: vec![stated.claim()], guarantee: stated })),
        text => match read(text) {
            Ok(listed) => listed.events,
            Err(problem) => {
                let why = format!(
                    "has events that cannot be read ({problem}): restore what 'reticent schema' wrote"
                );
                return refuse(Code::Schema, &why);
            }
        },
    };
    match covers(stated, &listed, neighboring)? {
        Verdict::Holds(_) => Ok(Some(SchemaCost { events: listed, guarantee: stated })),
        other => {
            let why = format!(
                "is stated as {stated}, which {other}: restore what 'reticent schema' wrote, or learn the schema again"
            );
            refuse(Code::Schema, &why)
        }
    }
}

/// Whether the events that are listed for a cost add up to it.
pub(crate) fn covers(
    stated: Guarantee,
    events: &[Event],
    neighboring: Neighboring,
) -> Result<Verdict, Refusal> {
    let claim =
        Certificate::compose("row", neighboring, events.to_vec(), stated, "basic composition", Vec::new());
    Ok(verify(&claim)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(epsilon: &str, events: &str) -> Result<Option<SchemaCost>, Refusal> {
        let text = format!(
            "unit = \"row\"\n[columns]\n[spent]\nepsilon = {epsilon}\ndelta = 1e-6\nneighboring = \"add-remove\"\nevents = '{events}'\n"
        );
        spent(&Schema::parse(&text, "s.toml").unwrap(), Neighboring::AddRemove)
    }

    #[test]
    fn a_schema_is_held_to_its_own_events() {
        let events = r#"[{"discrete_laplace":{"noise_multiplier":4.0}},{"pure":{"epsilon":0.125}},{"pure":{"epsilon":0.125}},{"approximate":{"epsilon":0.5,"delta":1e-6}}]"#;
        let found = cost("1.0", events).unwrap().unwrap();
        assert_eq!((found.events.len(), found.guarantee.epsilon.get()), (4, 1.0));
        assert!(cost("1.5", events).is_ok());
        for below in ["0.0", "0.001", "0.99"] {
            let refusal = cost(below, events).unwrap_err();
            assert_eq!(refusal.code(), Code::Schema, "{refusal}");
            assert!(
                refusal.to_string().contains("[spent]: what learning the schema cost is stated as"),
                "{refusal}"
            );
        }
        // Files from before events were read: the claim is all there is.
        let found = cost("1.0", "[]").unwrap().unwrap();
        assert_eq!(found.events, [found.guarantee.claim()]);
        for unread in ["[{\"unheard_of\":{}}]", "learnt"] {
            assert_eq!(cost("1.0", unread).unwrap_err().code(), Code::Schema);
        }
    }
}
