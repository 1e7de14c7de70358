//! The call of the library: gathered rows in, a noisy answer and its certificate out.

use super::clamp::Clamped;
use super::gather::{Gathered, Pass};
use super::mechanism::MechanismSummary;
use super::outcome::{ReleasedAnswer, ReleasedValue};
use super::plan::PlannedRelease;
use super::query::{Cells, Query, whole_sums};
use super::settled::settled;
use crate::refusal::Refusal;
use reticent_core::{Certificate, Event, Fact, Guarantee, Neighboring};
use reticent_noise::Releaser;
use reticent_noise::query::{self, Answer};

/// The draws of an answer.
pub(super) struct Drawn {
    found: ReleasedValue,
    clamped: Option<Clamped>,
    pub(super) events: Vec<Event>,
    guarantee: Guarantee,
}

/// Draws the planned answer: every release of the plan, in sequence.
pub(super) fn draw(plan: &PlannedRelease, pass: &Pass, source: &mut impl Releaser) -> Result<Drawn, Refusal> {
    let Pass { gathered, rows, outside } = pass;
    let terms = &plan.terms;
    let rows_public = plan.rows_are_public().then_some(*rows);
    let number = |answer: Answer<f64>, whole: bool| {
        let interval = if whole { inward(answer.interval[0]) } else { answer.interval[0] };
        (ReleasedValue::Number { value: answer.value, interval, whole }, answer.events, answer.guarantee)
    };
    let (found, mut events, mut guarantee) = match (&plan.query, gathered) {
        (Query::Count { .. }, Gathered::Count(count)) => {
            let Answer { value, interval, events, guarantee } = query::count(source, terms, *count)?;
            number(Answer { value: value as f64, interval, events, guarantee }, true)
        }
        (Query::Sum { bounds, integers, .. }, Gathered::Sum(sum)) => {
            number(query::sum(source, terms, sum)?, whole_sums(*bounds, *integers))
        }
        (Query::Mean { .. }, Gathered::Sum(sum)) => {
            number(query::mean(source, terms, sum, rows_public)?, false)
        }
        (Query::Proportion { .. }, Gathered::Share { matching, others }) => {
            number(query::proportion(source, terms, *matching, *others, rows_public)?, false)
        }
        (Query::Quantile { quantile, candidates, .. }, Gathered::Ranks(ranks)) => {
            let whole = candidates.iter().all(|candidate| candidate.fract() == 0.0);
            let mut released = ranks.quantile(source, terms, *quantile)?;
            // The interval's ends are drawn apart from the answer: an answer outside is moved to it,
            // which costs nothing, because only released numbers go in.
            let [low, high] = released.interval[0];
            released.value = released.value.clamp(low, high);
            number(released, whole)
        }
        (Query::Histogram { cells, .. }, Gathered::Cells(counts)) => {
            let released = query::histogram(source, terms, counts)?;
            let values = released.value.iter().map(|count| *count as f64).collect();
            let intervals = released.interval.into_iter().map(inward).collect();
            (
                ReleasedValue::Counts { labels: cells.labels(), values, intervals },
                released.events,
                released.guarantee,
            )
        }
        (Query::Mode { categories, rule, .. }, Gathered::Cells(counts)) => {
            let released = query::mode(source, terms, *rule, counts)?;
            let label = categories.get(released.value).cloned().unwrap_or_default();
            (
                ReleasedValue::Choice { label, shortfall: released.interval[0][1] },
                released.events,
                released.guarantee,
            )
        }
        _ => return Err(Refusal::internal("the gathered data do not fit the question")),
    };
    let mut clamped = None;
    if let Some(epsilon) = plan.counting {
        let counted = Clamped::count(plan, epsilon, *outside, source)?;
        let [low, high] = inward(counted.interval[0]);
        let value = counted.value.max(0) as f64;
        clamped = Some(Clamped { value, interval: [low.max(0.0), high.max(0.0)] });
        events.extend(counted.events);
        guarantee = guarantee.then(counted.guarantee)?;
    }
    Ok(Drawn { found, clamped, events, guarantee })
}

/// What was drawn as an outcome with its certificate.
pub(super) fn outcome(plan: &PlannedRelease, rows: u64, drawn: Drawn) -> ReleasedAnswer {
    let Drawn { found, clamped, events, guarantee } = drawn;
    let mut warnings = plan.warnings.clone();
    warnings.extend(clamped.as_ref().and_then(Clamped::warning));
    ReleasedAnswer {
        query: settled(plan),
        found,
        confidence: plan.terms.confidence.get(),
        clamped,
        mechanism: MechanismSummary::of(plan, &events),
        target: plan.target,
        warnings,
        certificate: certificate(plan, events, guarantee, rows),
    }
}

/// The whole numbers of an interval, as its ends: for an answer known to be whole.
fn inward([low, high]: [f64; 2]) -> [f64; 2] {
    [low.ceil(), high.floor()]
}

fn certificate(plan: &PlannedRelease, events: Vec<Event>, guarantee: Guarantee, rows: u64) -> Certificate {
    let mut public = public(plan);
    if plan.terms.neighboring == Neighboring::ReplaceOne {
        public.push(Fact::Rows(rows));
    }
    let accountant = if events.len() == 1 { "stated by the mechanism" } else { "basic composition" };
    Certificate::compose("row", plan.terms.neighboring, events, guarantee, accountant, public)
}

/// The public facts of the plan.
pub(super) fn public(plan: &PlannedRelease) -> Vec<Fact> {
    let mut facts = Vec::new();
    let range = |[low, high]: &[f64; 2]| Fact::Bounds { low: *low, high: *high };
    let type_of = |integers: &bool| Fact::Integers(*integers);
    match &plan.query {
        Query::Count { .. } => {}
        Query::Sum { bounds, integers, .. } | Query::Mean { bounds, integers, .. } => {
            facts.extend([range(bounds), type_of(integers)]);
        }
        Query::Quantile { bounds, integers, candidates, .. } => {
            facts.extend([range(bounds), Fact::Candidates(candidates.len()), type_of(integers)]);
        }
        Query::Histogram { cells: Cells::Categories(names), .. } | Query::Mode { categories: names, .. } => {
            facts.push(Fact::Categories(names.clone()));
        }
        Query::Histogram { cells: Cells::Bins(edges), .. } => {
            facts.push(Fact::Bins(edges.clone()));
        }
        Query::Proportion { value, .. } => facts.push(Fact::Value(value.to_string())),
    }
    if let Some(filter) = &plan.filter {
        facts.push(Fact::Filter(filter.to_string()));
    }
    facts.extend(plan.table.derivations().iter().map(|derivation| Fact::Derived(derivation.to_string())));
    facts
}
