//! Learning the columns with differential privacy: two passes over the data.
//!
//! The budget is divided equally among the subjects. A column that may hold numbers spends half of its share on the
//! histogram of magnitudes and a quarter on either end; a column that may hold text spends what the histogram
//! left, or everything if the file says that it is text, on finding labels. Which of these happens to a column is itself
//! learnt from the data, so the cost is stated before the data are read, for the worst case: it must not depend on the data.

use super::magnitude::{Magnitudes, Outline, around, ladder};
use super::plan::{Budget, ColumnContent, PlannedSchema, Subject};
use super::{Finding, Learnt};
use crate::refusal::Refusal;
use crate::scan::{Size, scan};
use crate::watch::Watch;
use reticent_core::rounding::div_down;
use reticent_core::{Certificate, Delta, Epsilon, Event, Fact, Guarantee, Neighboring};
use reticent_data::Cell;
use reticent_noise::mechanism::{DiscreteLaplace, StableHistogram};
use reticent_noise::query::{Quantile, QueryTerms, RankTable, stable_histogram};
use reticent_noise::{Mechanism, Releaser};
use std::collections::BTreeMap;

/// The share of rows that may lie beyond either bound.
const TAIL: f64 = 0.005;
/// Kept back so that shares, added up and rounded up, stay within the budget.
const SLACK: f64 = 1e-10;

/// Learns what the columns hold.
pub(super) fn learn(
    plan: &PlannedSchema,
    budget: &Budget,
    source: &mut impl Releaser,
    watch: &dyn Watch,
) -> Result<Learnt, Refusal> {
    let shares = Shares::of(plan, budget)?;
    let certificate = certificate(plan, &shares)?;
    let outlines = outlines(plan, shares.magnitudes, watch, source)?;
    let mut columns = outlines.into_iter().map(Gathered::by).collect::<Result<Vec<Gathered>, Refusal>>()?;
    let named = plan.subjects.iter().map(|subject| subject.name.as_str()).zip(&mut columns);
    let open = named.filter(|(_, column)| !matches!(column, Gathered::Done(_))).collect();
    pass(plan, open, watch, Gathered::add)?;
    let finding = |(column, subject): (Gathered, &Subject)| {
        Ok(match column {
            Gathered::Ranks { ranks, edges } => {
                Finding::Numbers(bounds(&ranks, edges, &QueryTerms::pure(shares.end), source)?)
            }
            Gathered::Labels(labels) => {
                let terms =
                    QueryTerms { delta: shares.delta, ..QueryTerms::pure(shares.labels(subject.holds)) };
                let answer = stable_histogram(source, &terms, &labels)?;
                Finding::labels(answer.value.into_keys(), "no category has enough rows for this budget")
            }
            Gathered::Done(finding) => finding,
        })
    };
    let findings = columns.into_iter().zip(&plan.subjects).map(finding).collect::<Result<_, Refusal>>()?;
    Ok(Learnt { findings, certificate: Some(certificate) })
}

/// What each step may spend on a column.
struct Shares {
    column: Epsilon,
    magnitudes: Epsilon,
    end: Epsilon,
    /// For the labels of one column.
    delta: Delta,
}

impl Shares {
    fn of(plan: &PlannedSchema, budget: &Budget) -> Result<Self, Refusal> {
        let share = |whole: f64, parts: usize| div_down(whole * (1.0 - SLACK), parts.max(1) as f64);
        let texts = plan.subjects.iter().filter(|subject| subject.holds != ColumnContent::Numbers).count();
        let column = share(budget.epsilon.get(), plan.subjects.len());
        Ok(Self {
            column: Epsilon::new(column)?,
            magnitudes: Epsilon::new(column / 2.0)?,
            end: Epsilon::new(column / 4.0)?,
            delta: Delta::new(share(budget.delta.get(), texts))?,
        })
    }

    /// For the labels of a column.
    fn labels(&self, holds: ColumnContent) -> Epsilon {
        // Where a histogram of magnitudes came before, it took as much as is left.
        if holds == ColumnContent::Text { self.column } else { self.magnitudes }
    }

    /// What a column costs at most, whatever is found in it.
    fn price(&self, holds: ColumnContent) -> Result<Vec<(Event, Guarantee)>, Refusal> {
        let magnitudes = || -> Result<(Event, Guarantee), Refusal> {
            let noise = DiscreteLaplace::new(1, self.magnitudes)?;
            Ok((noise.event(), noise.guarantee()))
        };
        // Two ends cost as much ε as the labels and no δ.
        let labels = || -> Result<(Event, Guarantee), Refusal> {
            let epsilon = self.labels(holds);
            let delta = StableHistogram::new(Neighboring::AddRemove, epsilon, self.delta)?.guarantee().delta;
            Ok((Event::Approximate { epsilon, delta }, Guarantee { epsilon, delta }))
        };
        let end = (Event::Pure { epsilon: self.end }, Guarantee::pure(self.end));
        Ok(match holds {
            ColumnContent::Numbers => vec![magnitudes()?, end.clone(), end],
            ColumnContent::Either => vec![magnitudes()?, labels()?],
            ColumnContent::Text => vec![labels()?],
        })
    }
}

/// What the plan costs, whatever the table holds.
pub(super) fn cost(plan: &PlannedSchema, budget: &Budget) -> Result<Certificate, Refusal> {
    certificate(plan, &Shares::of(plan, budget)?)
}

fn certificate(plan: &PlannedSchema, shares: &Shares) -> Result<Certificate, Refusal> {
    let (mut events, mut guarantee) = (Vec::new(), Guarantee::pure(Epsilon::new(0.0)?));
    for subject in &plan.subjects {
        for (event, cost) in shares.price(subject.holds)? {
            guarantee = guarantee.then(cost)?;
            events.push(event);
        }
    }
    let mut public = vec![Fact::Columns];
    if let (Some(label), Some(positive)) = (&plan.label, &plan.positive) {
        public.push(Fact::Positive { value: positive.to_string(), label: label.to_string() });
    }
    let accountant = "basic composition";
    Ok(Certificate::compose("row", Neighboring::AddRemove, events, guarantee, accountant, public))
}

/// The first pass: where the numbers of each subject lie, if it has any.
fn outlines(
    plan: &PlannedSchema,
    epsilon: Epsilon,
    watch: &dyn Watch,
    source: &mut impl Releaser,
) -> Result<Vec<Outline>, Refusal> {
    let mut columns: Vec<Option<Magnitudes>> = plan
        .subjects
        .iter()
        .map(|subject| (subject.holds != ColumnContent::Text).then(Magnitudes::new))
        .collect();
    let named = plan.subjects.iter().map(|subject| subject.name.as_str()).zip(&mut columns);
    let open = named.filter_map(|(name, column)| column.as_mut().map(|column| (name, column))).collect();
    pass(plan, open, watch, Magnitudes::add)?;
    let outline = |(subject, column): (&Subject, Option<Magnitudes>)| {
        let found = column.map_or(Ok(Outline::Text), |magnitudes| magnitudes.outline(source, epsilon))?;
        Ok(paid_for(subject.holds, found))
    };
    plan.subjects.iter().zip(columns).map(outline).collect()
}

/// The outline as far as the column's price allows: labels are not in that of a column of numbers, whatever noise makes its
/// histogram look like.
fn paid_for(holds: ColumnContent, found: Outline) -> Outline {
    if holds == ColumnContent::Numbers && found == Outline::Text { Outline::Blank } else { found }
}

/// Round numbers around all but the tails, from two private choices, and not beyond the edges.
fn bounds(
    ranks: &RankTable,
    edges: [f64; 2],
    terms: &QueryTerms,
    source: &mut impl Releaser,
) -> Result<[f64; 2], Refusal> {
    let mut end = |level: f64| -> Result<f64, Refusal> {
        Ok(ranks.choose(source, terms, Quantile::new(level)?)?.value)
    };
    let (one, other) = (end(TAIL)?, end(1.0 - TAIL)?);
    let round = ladder(&[10, 20, 25, 50]);
    let part = around(&round, [one.min(other), one.max(other)]);
    let (low, high) = (part[0].max(edges[0]), part[part.len() - 1].min(edges[1]));
    Ok(if low < high { [low, high] } else { edges })
}

/// What the second pass gathers of a column. Private: only noisy answers may leave this file.
enum Gathered {
    Ranks {
        ranks: RankTable,
        edges: [f64; 2],
    },
    Labels(BTreeMap<String, u64>),
    /// Nothing more.
    Done(Finding),
}

impl Gathered {
    /// Nothing yet, of a column with that outline.
    fn by(outline: Outline) -> Result<Self, Refusal> {
        Ok(match outline {
            Outline::Numbers(edges) if edges[0] < edges[1] => {
                let rungs = ladder(&(10..100).collect::<Vec<u8>>());
                let candidates = around(&rungs, edges).to_vec();
                let edges = [candidates[0], candidates[candidates.len() - 1]];
                Self::Ranks { ranks: RankTable::new(candidates)?, edges }
            }
            Outline::Numbers(_) => {
                Self::Done(Finding::Nothing("no value other than 0 has enough rows".to_owned()))
            }
            Outline::Text => Self::Labels(BTreeMap::new()),
            Outline::Blank => {
                Self::Done(Finding::Nothing("no values have enough rows for this budget".to_owned()))
            }
        })
    }

    /// Adds a cell. However many labels there are, all are counted: to keep some and drop others would let one row push out
    /// another's label, and to refuse would tell that there are so many.
    fn add(&mut self, cell: &Cell<'_>) {
        match self {
            Self::Ranks { ranks, .. } => {
                if let Ok(Some(number)) = cell.number() {
                    ranks.add(number.to_f64());
                }
            }
            Self::Labels(labels) => {
                let Some(label) = cell.label() else { return };
                if let Some(rows) = labels.get_mut(label.as_ref()) {
                    *rows += 1;
                } else {
                    labels.insert(label.into_owned(), 1);
                }
            }
            Self::Done(_) => {}
        }
    }
}

/// Reads these columns, if there are any, and adds each cell to what is gathered of its column.
fn pass<T>(
    plan: &PlannedSchema,
    mut columns: Vec<(&str, &mut T)>,
    watch: &dyn Watch,
    add: impl Fn(&mut T, &Cell<'_>),
) -> Result<(), Refusal> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    if !names.is_empty() {
        scan(&plan.table, &names, Size::Private, watch, &mut |_, cells| {
            columns.iter_mut().zip(cells).for_each(|((_, column), cell)| add(column, cell));
            Ok(())
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_numbers_never_goes_the_way_of_labels() {
        for (holds, labels) in
            [(ColumnContent::Numbers, false), (ColumnContent::Either, true), (ColumnContent::Text, true)]
        {
            let way = Gathered::by(paid_for(holds, Outline::Text)).unwrap();
            assert_eq!(matches!(way, Gathered::Labels(_)), labels, "{holds:?}");
        }
    }

    #[test]
    fn every_label_is_counted_however_many_there_are() {
        let mut column = Gathered::Labels(BTreeMap::new());
        for label in 0..=1_000_000u32 {
            column.add(&Cell::Text(&label.to_string()));
        }
        assert!(matches!(column, Gathered::Labels(labels) if labels.len() == 1_000_001));
    }

    #[test]
    fn every_way_through_a_column_costs_at_most_its_price_and_its_share() {
        for share in [1e-5, 0.1 / 3.0, 0.7, 50.0] {
            let of = |part: f64| Epsilon::new(share / part).unwrap();
            let delta = Delta::new(1e-7).unwrap();
            let shares = Shares { column: of(1.0), magnitudes: of(2.0), end: of(4.0), delta };
            let total = |steps: Vec<Guarantee>| {
                steps.into_iter().reduce(|sum, step| sum.then(step).unwrap()).unwrap()
            };
            // First one end with the other: that sum is exact.
            let ends = Guarantee::pure(shares.end).then(Guarantee::pure(shares.end)).unwrap();
            let magnitudes = DiscreteLaplace::new(1, shares.magnitudes).unwrap().guarantee();
            let labels = |holds| {
                let epsilon = shares.labels(holds);
                StableHistogram::new(Neighboring::AddRemove, epsilon, delta).unwrap().guarantee()
            };
            let ways = [
                (ColumnContent::Numbers, vec![magnitudes]),
                (ColumnContent::Numbers, vec![magnitudes, ends]),
                (ColumnContent::Either, vec![magnitudes]),
                (ColumnContent::Either, vec![magnitudes, ends]),
                (ColumnContent::Either, vec![magnitudes, labels(ColumnContent::Either)]),
                (ColumnContent::Text, vec![labels(ColumnContent::Text)]),
            ];
            for (holds, way) in ways {
                let (price, way) = (shares.price(holds).unwrap(), total(way));
                let price = total(price.into_iter().map(|(_, cost)| cost).collect());
                assert!(way.epsilon <= price.epsilon && way.delta <= price.delta, "{holds:?} at {share}");
                // The slack is what the sum may exceed its parts by.
                let most = share * (1.0 + SLACK / 1e3);
                assert!(price.epsilon.get() <= most && price.delta <= delta, "{holds:?}: {price}");
            }
        }
    }
}
