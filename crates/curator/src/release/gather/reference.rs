//! The same pass cell by cell, to compare with.

use super::super::plan::PlannedRelease;
use super::super::query::{Cells, Query, empty_sum};
use super::{Gathered, Pass, columns_of};
use reticent_data::{Cell, DataError, Table};
use reticent_noise::query::RankTable;
use std::collections::BTreeMap;

/// Reads the table once, row by row.
pub(super) fn gather_cells(plan: &PlannedRelease) -> Pass {
    let (columns, asked) = columns_of(plan);
    let table: &dyn Table = &plan.table;
    let mut gatherer = Gatherer::new(plan);
    let stats = table.scan(&columns, &mut |_| {}, &mut |_, cells| {
        if plan.filter.as_ref().is_none_or(|filter| filter.matches(cells)) {
            gatherer.add(asked.map(|index| cells[index]));
        }
        Ok::<(), DataError>(())
    });
    let outside = if plan.counting.is_some() { gatherer.outside } else { 0 };
    Pass { gathered: gatherer.gathered, rows: stats.unwrap().rows, outside }
}

/// Counters per label of a declared category.
struct Labels<'a>(BTreeMap<&'a str, usize>);

impl<'a> Labels<'a> {
    fn new(categories: &'a [String]) -> Self {
        Self(categories.iter().enumerate().map(|(index, name)| (name.as_str(), index)).collect())
    }

    /// The category of a cell; `None` for a missing or undeclared value.
    fn index(&self, cell: &Cell<'_>) -> Option<usize> {
        cell.label().and_then(|label| self.0.get(label.as_ref()).copied())
    }
}

struct Gatherer<'a> {
    query: &'a Query,
    labels: Labels<'a>,
    /// A missing value counts as the middle of the bounds.
    middle_for_missing: bool,
    gathered: Gathered,
    outside: u64,
}

impl<'a> Gatherer<'a> {
    fn new(plan: &'a PlannedRelease) -> Self {
        let gathered = match &plan.query {
            Query::Count { .. } => Gathered::Count(0),
            Query::Sum { bounds, integers, .. } | Query::Mean { bounds, integers, .. } => {
                Gathered::Sum(empty_sum(*bounds, *integers).unwrap())
            }
            Query::Histogram { cells: Cells::Categories(names), .. }
            | Query::Mode { categories: names, .. } => Gathered::Cells(vec![0; names.len()]),
            Query::Histogram { cells: Cells::Bins(edges), .. } => Gathered::Cells(vec![0; edges.len() - 1]),
            Query::Quantile { candidates, .. } => {
                Gathered::Ranks(RankTable::new(candidates.clone()).unwrap())
            }
            Query::Proportion { .. } => Gathered::Share { matching: 0, others: 0 },
        };
        let labels = match &plan.query {
            Query::Histogram { cells: Cells::Categories(names), .. }
            | Query::Mode { categories: names, .. } => Labels::new(names),
            _ => Labels::new(&[]),
        };
        let middle_for_missing = matches!(plan.query, Query::Mean { .. }) && plan.rows_are_public();
        Self { query: &plan.query, labels, middle_for_missing, gathered, outside: 0 }
    }

    /// Counts in one row that satisfies the filter.
    fn add(&mut self, cell: Option<Cell<'_>>) {
        let cell = cell.unwrap_or(Cell::Boolean(true));
        let number = || cell.number().ok().flatten().map(|number| number.to_f64());
        if let Query::Sum { bounds, .. } | Query::Mean { bounds, .. } | Query::Quantile { bounds, .. } =
            self.query
        {
            let is_inside = number().map_or(cell.is_null(), |value| (bounds[0]..=bounds[1]).contains(&value));
            self.outside += u64::from(!is_inside);
        }
        match (&mut self.gathered, self.query) {
            (Gathered::Count(count), _) => *count += u64::from(!cell.is_null()),
            (
                Gathered::Sum(sum),
                Query::Sum { bounds: [low, high], .. } | Query::Mean { bounds: [low, high], .. },
            ) => match number() {
                Some(value) => sum.add(value.clamp(*low, *high)),
                None if self.middle_for_missing => sum.add_middle(),
                None => {}
            },
            (Gathered::Cells(counts), Query::Histogram { cells: Cells::Bins(edges), .. }) => {
                if let Some(bin) = number().and_then(|value| bin_of(edges, value)) {
                    counts[bin] += 1;
                }
            }
            (Gathered::Cells(counts), _) => {
                if let Some(index) = self.labels.index(&cell) {
                    counts[index] += 1;
                }
            }
            (Gathered::Ranks(ranks), _) => {
                if let Some(value) = number() {
                    ranks.add(value);
                }
            }
            (Gathered::Share { matching, others }, Query::Proportion { value, .. }) => {
                let same = cell.label().is_some_and(|label| label == value.as_str());
                *(if same { matching } else { others }) += 1;
            }
            // The pairs above are all that `new` makes.
            (Gathered::Sum(_) | Gathered::Share { .. }, _) => {}
        }
    }
}

/// The half-open bin that holds a value; the last one is closed.
pub(super) fn bin_of(edges: &[f64], value: f64) -> Option<usize> {
    let bins = edges.len() - 1;
    let above = edges.partition_point(|edge| *edge <= value);
    match above {
        0 => None,
        n if n <= bins => Some(n - 1),
        _ => (value == edges[bins]).then_some(bins - 1),
    }
}
