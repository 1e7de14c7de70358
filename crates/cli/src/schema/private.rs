//! What can be said of the columns within a budget: two passes, and noise between them.
//!
//! The budget is divided equally among the subjects. A column that may hold numbers spends half of its share on the
//! histogram of magnitudes and a quarter on either end; a column that may hold text spends what the histogram
//! left, or everything if the file says that it is text, on finding labels. What a column does not need stays unspent.

use super::magnitude::{Magnitudes, Outline, around, ladder};
use super::plan::{Budget, Holds, Plan};
use super::{Finding, Learnt};
use crate::fail::Fail;
use crate::scan::scan;
use reticent::core::rounding::div_down;
use reticent::core::{Certificate, Delta, Epsilon, Event, Guarantee, Neighboring};
use reticent::data::Cell;
use reticent::noise::Entropy;
use reticent::noise::query::{Quantile, RankTable, Terms, stable_histogram};
use std::collections::BTreeMap;

/// The share of rows that may lie beyond either bound.
const TAIL: f64 = 0.005;
/// The most labels of one column that are counted.
const MOST_COUNTED: usize = 1_000_000;
/// Kept back so that shares, added up and rounded up, stay within the budget.
const SLACK: f64 = 1e-10;

/// Learns what the columns hold.
pub(super) fn learn(plan: &Plan, budget: &Budget, progress: bool) -> Result<Learnt, Fail> {
    let mut entropy = Entropy::new()?;
    let mut bill = Bill::new()?;
    let of_column = share(budget.epsilon.get(), plan.subjects.len());
    let texts = plan.subjects.iter().filter(|subject| subject.holds != Holds::Numbers).count();
    let delta = Delta::new(share(budget.delta.get(), texts.max(1)))?;

    let outlines = outlines(plan, Epsilon::new(of_column / 2.0)?, progress, &mut entropy, &mut bill)?;
    let mut columns = outlines.into_iter().map(Gathered::by).collect::<Result<Vec<Gathered>, Fail>>()?;
    let named = plan.subjects.iter().map(|subject| subject.name.as_str()).zip(&mut columns);
    let open = named.filter(|(_, column)| !matches!(column, Gathered::Done(_))).collect();
    pass(plan, open, progress, |column, name, cell| column.add(name, cell))?;
    let mut findings = Vec::with_capacity(columns.len());
    for (column, subject) in columns.into_iter().zip(&plan.subjects) {
        findings.push(match column {
            Gathered::Ranks { ranks, edges } => {
                let terms = Terms::pure(Epsilon::new(of_column / 4.0)?);
                Finding::Numbers(bounds(&ranks, edges, &terms, &mut entropy, &mut bill)?)
            }
            Gathered::Labels(labels) => {
                let epsilon = if subject.holds == Holds::Text { of_column } else { of_column / 2.0 };
                let terms = Terms { delta, ..Terms::pure(Epsilon::new(epsilon)?) };
                let answer = stable_histogram(&mut entropy, &terms, &labels)?;
                bill.add(answer.events, answer.guarantee)?;
                Finding::labels(answer.value.into_keys(), "no label has enough rows for this budget")
            }
            Gathered::Done(finding) => finding,
        });
    }
    Ok(Learnt { findings, certificate: Some(bill.certificate(plan)) })
}

/// A part of the budget.
fn share(whole: f64, parts: usize) -> f64 {
    div_down(whole * (1.0 - SLACK), parts as f64)
}

/// The first pass: where the numbers of each subject lie, if it has any.
fn outlines(
    plan: &Plan,
    epsilon: Epsilon,
    progress: bool,
    entropy: &mut Entropy,
    bill: &mut Bill,
) -> Result<Vec<Outline>, Fail> {
    let mut columns: Vec<Option<Magnitudes>> =
        plan.subjects.iter().map(|subject| (subject.holds != Holds::Text).then(Magnitudes::new)).collect();
    let named = plan.subjects.iter().map(|subject| subject.name.as_str()).zip(&mut columns);
    let open = named.filter_map(|(name, column)| column.as_mut().map(|column| (name, column))).collect();
    pass(plan, open, progress, |magnitudes, _, cell| {
        magnitudes.add(cell);
        Ok(())
    })?;
    let outline = |column: Option<Magnitudes>| {
        let Some(magnitudes) = column else { return Ok(Outline::Text) };
        let (outline, answer) = magnitudes.outline(entropy, epsilon)?;
        bill.add(answer.events, answer.guarantee)?;
        Ok(outline)
    };
    columns.into_iter().map(outline).collect()
}

/// Round numbers around all but the tails, from two private choices.
fn bounds(
    ranks: &RankTable,
    edges: [f64; 2],
    terms: &Terms,
    entropy: &mut Entropy,
    bill: &mut Bill,
) -> Result<[f64; 2], Fail> {
    let mut end = |level: f64| -> Result<f64, Fail> {
        let chosen = ranks.choose(entropy, terms, Quantile::new(level)?)?;
        bill.add(vec![chosen.event], chosen.guarantee)?;
        Ok(chosen.value)
    };
    let (one, other) = (end(TAIL)?, end(1.0 - TAIL)?);
    let round = ladder(&[10, 20, 25, 50]);
    let ends = |interval: [f64; 2]| {
        let part = around(&round, interval);
        [part[0], part[part.len() - 1]]
    };
    let found = ends([one.min(other), one.max(other)]);
    Ok(if found[0] < found[1] { found } else { ends(edges) })
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
    fn by(outline: Outline) -> Result<Self, Fail> {
        Ok(match outline {
            Outline::Numbers(edges) if edges[0] < edges[1] => {
                let candidates = ladder(&(10..100).collect::<Vec<u8>>());
                Self::Ranks { ranks: RankTable::new(around(&candidates, edges).to_vec())?, edges }
            }
            Outline::Numbers(_) => Self::Done(Finding::Nothing("nothing but 0 has enough rows".to_owned())),
            Outline::Text => Self::Labels(BTreeMap::new()),
            Outline::Blank => {
                Self::Done(Finding::Nothing("no values have enough rows for this budget".to_owned()))
            }
        })
    }

    fn add(&mut self, name: &str, cell: &Cell<'_>) -> Result<(), Fail> {
        match self {
            Self::Ranks { ranks, .. } => {
                if let Ok(Some(number)) = cell.number() {
                    ranks.add(number.to_f64());
                }
            }
            Self::Labels(labels) => {
                let Some(label) = cell.label() else { return Ok(()) };
                if let Some(rows) = labels.get_mut(label.as_ref()) {
                    *rows += 1;
                } else if labels.len() < MOST_COUNTED {
                    labels.insert(label.into_owned(), 1);
                } else {
                    // To keep some and drop others would let one row push out another's label.
                    let problem = format!("it has more than {MOST_COUNTED} different labels");
                    return Err(Fail::new(format!(
                        "column \"{name}\": {problem}: leave it out with --ignore"
                    )));
                }
            }
            Self::Done(_) => {}
        }
        Ok(())
    }
}

/// Reads these columns, if there are any, and adds each cell to what is gathered of its column.
fn pass<T>(
    plan: &Plan,
    mut columns: Vec<(&str, &mut T)>,
    progress: bool,
    add: impl Fn(&mut T, &str, &Cell<'_>) -> Result<(), Fail>,
) -> Result<(), Fail> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    if !names.is_empty() {
        scan(&plan.table, &names, progress, &mut |_, cells| {
            columns.iter_mut().zip(cells).try_for_each(|((name, column), cell)| add(column, name, cell))
        })?;
    }
    Ok(())
}

/// Releases as they add up.
struct Bill {
    events: Vec<Event>,
    total: Guarantee,
}

impl Bill {
    fn new() -> Result<Self, Fail> {
        Ok(Self { events: Vec::new(), total: Guarantee::pure(Epsilon::new(0.0)?) })
    }

    fn add(&mut self, events: Vec<Event>, guarantee: Guarantee) -> Result<(), Fail> {
        self.total = self.total.then(guarantee)?;
        self.events.extend(events);
        Ok(())
    }

    fn certificate(self, plan: &Plan) -> Certificate {
        let mut public = vec!["names and declared types of the columns".to_owned()];
        if let (Some(label), Some(positive)) = (&plan.label, &plan.positive) {
            public.push(format!("positive value {positive} of {label}"));
        }
        Certificate {
            unit: "row".to_owned(),
            neighboring: Neighboring::AddRemove,
            events: self.events,
            guarantee: self.total,
            accountant: "basic composition".to_owned(),
            public,
        }
    }
}
