//! The call of the library: gathered rows in, a noisy answer and its certificate out.

use super::gather::{Gathered, Pass};
use super::plan::{Cells, Plan, Query, whole_sums};
use crate::digits::exactly;
use crate::explain::Code;
use crate::fail::Fail;
use reticent::core::{Certificate, Epsilon, Event, Fact, Guarantee, Neighboring};
use reticent::noise::Entropy;
use reticent::noise::query::{self, Answer, Terms};

/// What may be printed.
pub(super) struct Outcome {
    pub(super) found: Found,
    /// Where clamped values were counted.
    pub(super) clamped: Option<Clamped>,
    pub(super) certificate: Certificate,
}

/// A noisy count of the values outside of the bounds or not numbers.
pub(super) struct Clamped {
    pub(super) value: i128,
    pub(super) interval: [f64; 2],
}

impl Clamped {
    /// Counts them with a part of ε.
    ///
    /// A row is one of them or is not, so one more, less or another row moves the count by at most 1 under either relation.
    fn count(
        plan: &Plan,
        epsilon: Epsilon,
        outside: u64,
        entropy: &mut Entropy,
    ) -> Result<Answer<i128>, Fail> {
        let terms = Terms {
            neighboring: plan.terms.neighboring,
            confidence: plan.terms.confidence,
            ..Terms::pure(epsilon)
        };
        Ok(query::count(entropy, &terms, outside)?)
    }

    /// What is said where clamping certainly, up to the confidence, moved the answer.
    pub(super) fn warning(&self) -> Option<String> {
        (self.interval[0] > 0.0).then(|| {
            format!(
                "warning: at least {} values are outside of --bounds or not numbers: the answer and its interval are about clamped \
                 values, and the values as they are may give another\n",
                self.interval[0]
            )
        })
    }
}

/// The answer proper.
pub(super) enum Found {
    Number { value: f64, interval: [f64; 2], whole: bool },
    Counts { labels: Vec<String>, values: Vec<f64>, intervals: Vec<[f64; 2]> },
    Choice { label: String, shortfall: f64 },
}

/// Releases the planned answer.
pub(super) fn answer(plan: &Plan, pass: &Pass, entropy: &mut Entropy) -> Result<Outcome, Fail> {
    let Pass { gathered, rows, outside } = pass;
    let rows = *rows;
    let terms = &plan.terms;
    let rows_public = plan.rows_are_public().then_some(rows);
    let number = |answer: Answer<f64>, whole: bool| {
        let interval = if whole { inward(answer.interval[0]) } else { answer.interval[0] };
        (Found::Number { value: answer.value, interval, whole }, answer.events, answer.guarantee)
    };
    let (found, mut events, mut guarantee) = match (&plan.query, gathered) {
        (Query::Count { .. }, Gathered::Count(count)) => {
            let Answer { value, interval, events, guarantee } = query::count(entropy, terms, *count)?;
            number(Answer { value: value as f64, interval, events, guarantee }, true)
        }
        (Query::Sum { bounds, integers, .. }, Gathered::Sum(sum)) => {
            number(query::sum(entropy, terms, sum)?, whole_sums(*bounds, *integers))
        }
        (Query::Mean { .. }, Gathered::Sum(sum)) => {
            number(query::mean(entropy, terms, sum, rows_public)?, false)
        }
        (Query::Proportion { .. }, Gathered::Share { matching, others }) => {
            number(query::proportion(entropy, terms, *matching, *others, rows_public)?, false)
        }
        (Query::Quantile { quantile, candidates, .. }, Gathered::Ranks(ranks)) => {
            let whole = candidates.iter().all(|candidate| candidate.fract() == 0.0);
            let mut released = ranks.quantile(entropy, terms, *quantile)?;
            // The interval's ends are drawn apart from the answer: an answer outside is moved to it,
            // which costs nothing, because only released numbers go in.
            let [low, high] = released.interval[0];
            released.value = released.value.clamp(low, high);
            number(released, whole)
        }
        (Query::Histogram { cells, .. }, Gathered::Cells(counts)) => {
            let released = query::histogram(entropy, terms, counts)?;
            let values = released.value.iter().map(|count| *count as f64).collect();
            let intervals = released.interval.into_iter().map(inward).collect();
            (Found::Counts { labels: cells.labels(), values, intervals }, released.events, released.guarantee)
        }
        (Query::Mode { categories, rule, .. }, Gathered::Cells(counts)) => {
            let released = query::mode(entropy, terms, *rule, counts)?;
            let label = categories.get(released.value).cloned().unwrap_or_default();
            (Found::Choice { label, shortfall: released.interval[0][1] }, released.events, released.guarantee)
        }
        _ => return Err(Fail::new(Code::Internal, "what was gathered does not fit the question")),
    };
    if let Found::Number { value, interval, .. } = &found
        && !(value.is_finite() && interval.iter().all(|end| end.is_finite()))
    {
        return Err(Fail::new(
            Code::Bounds,
            "--bounds: the answer is beyond what numbers can hold: give smaller bounds",
        ));
    }
    let mut clamped = None;
    if let Some(epsilon) = plan.counting {
        let counted = Clamped::count(plan, epsilon, *outside, entropy)?;
        let [low, high] = inward(counted.interval[0]);
        clamped = Some(Clamped { value: counted.value.max(0), interval: [low.max(0.0), high.max(0.0)] });
        events.extend(counted.events);
        guarantee = guarantee.then(counted.guarantee)?;
    }
    Ok(Outcome { found, clamped, certificate: certificate(plan, events, guarantee, rows) })
}

/// The whole numbers of an interval, as its ends: for an answer known to be whole.
fn inward([low, high]: [f64; 2]) -> [f64; 2] {
    [low.ceil(), high.floor()]
}

fn certificate(plan: &Plan, events: Vec<Event>, guarantee: Guarantee, rows: u64) -> Certificate {
    let mut public = public(plan);
    if plan.terms.neighboring == Neighboring::ReplaceOne {
        public.push(Fact::Rows(rows));
    }
    let accountant = if events.len() == 1 { "stated by the mechanism" } else { "basic composition" };
    Certificate::compose("row", plan.terms.neighboring, events, guarantee, accountant, public)
}

/// What the plan takes as public.
pub(super) fn public(plan: &Plan) -> Vec<Fact> {
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
    facts
}

impl Cells {
    /// What each cell is called.
    pub(super) fn labels(&self) -> Vec<String> {
        match self {
            Self::Categories(names) => names.clone(),
            Self::Bins(edges) => {
                let last = edges.len() - 2;
                let label = |(index, pair): (usize, &[f64])| {
                    let close = if index == last { ']' } else { ')' };
                    format!("[{},{}{close}", exactly(pair[0]), exactly(pair[1]))
                };
                edges.windows(2).enumerate().map(label).collect()
            }
        }
    }
}
