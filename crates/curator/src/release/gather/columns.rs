//! What one thread gathers, column by column.

use super::super::plan::PlannedRelease;
use super::super::query::{Cells, Query, empty_sum};
use super::{Gathered, Pass};
use crate::refusal::Refusal;
use reticent_data::{CellBatch, LabelCodes, Numbers, RowMask};
use reticent_noise::query::{BoundedSum, RankTable, SortedPoints};

/// What the rows seen so far come to.
pub(super) struct Gatherer {
    gathering: Gathering,
    /// A missing value counts as the middle of the bounds.
    middle_for_missing: bool,
    /// Whether values outside of the bounds are counted.
    counts_outside: bool,
    outside: u64,
    /// Reused from batch to batch.
    floats: Vec<f64>,
}

enum Gathering {
    Count(u64),
    Sum(BoundedSum, [f64; 2]),
    Bins(Bins),
    Labels(Labels),
    Ranks(RankTable, [f64; 2]),
    Share { counted: Labels, all: u64 },
}

impl Gatherer {
    pub(super) fn new(plan: &PlannedRelease) -> Result<Self, Refusal> {
        let gathering = match &plan.query {
            Query::Count { .. } => Gathering::Count(0),
            Query::Sum { bounds, integers, .. } | Query::Mean { bounds, integers, .. } => {
                Gathering::Sum(empty_sum(*bounds, *integers)?, *bounds)
            }
            Query::Histogram { cells: Cells::Categories(names), .. }
            | Query::Mode { categories: names, .. } => Gathering::Labels(Labels::new(names)),
            Query::Histogram { cells: Cells::Bins(edges), .. } => Gathering::Bins(Bins::new(edges)?),
            Query::Quantile { candidates, bounds, .. } => {
                Gathering::Ranks(RankTable::new(candidates.clone())?, *bounds)
            }
            Query::Proportion { value, .. } => {
                Gathering::Share { counted: Labels::new(std::slice::from_ref(value)), all: 0 }
            }
        };
        let middle_for_missing = matches!(plan.query, Query::Mean { .. }) && plan.rows_are_public();
        let counts_outside = plan.counting.is_some();
        Ok(Self { gathering, middle_for_missing, counts_outside, outside: 0, floats: Vec::new() })
    }

    /// Adds the selected rows of a batch, of which the column at place `asked` is asked about.
    pub(super) fn add(&mut self, batch: &CellBatch<'_>, asked: Option<usize>, selected: &RowMask) {
        // Only a count has no column.
        let Some(column) = asked else {
            if let Gathering::Count(count) = &mut self.gathering {
                *count += selected.count();
            }
            return;
        };
        match &mut self.gathering {
            Gathering::Labels(labels) => labels.add(batch, column, selected),
            Gathering::Share { counted, all } => {
                counted.add(batch, column, selected);
                *all += selected.count();
            }
            Gathering::Count(count) => *count += among(batch, column, selected).count(),
            Gathering::Bins(bins) => {
                let rows = among(batch, column, selected);
                bins.add(batch.floats(column, &mut self.floats), &rows);
            }
            Gathering::Sum(sum, bounds) => {
                let rows = among(batch, column, selected);
                let numbers = match batch.numbers(column) {
                    Some(Numbers::Int8(values)) => sum.add_rows(values, rows.words()),
                    Some(Numbers::Int16(values)) => sum.add_rows(values, rows.words()),
                    Some(Numbers::Int32(values)) => sum.add_rows(values, rows.words()),
                    Some(Numbers::UInt8(values)) => sum.add_rows(values, rows.words()),
                    Some(Numbers::UInt16(values)) => sum.add_rows(values, rows.words()),
                    Some(Numbers::UInt32(values)) => sum.add_rows(values, rows.words()),
                    Some(Numbers::Float32(values)) => sum.add_rows(values, rows.words()),
                    _ => sum.add_rows(batch.floats(column, &mut self.floats), rows.words()),
                };
                if self.middle_for_missing {
                    sum.add_middles(selected.count() - numbers);
                }
                if self.counts_outside {
                    let values = batch.floats(column, &mut self.floats);
                    self.outside += rows.count() - inside(values, &rows, *bounds);
                }
            }
            Gathering::Ranks(ranks, bounds) => {
                let rows = among(batch, column, selected);
                let values = batch.floats(column, &mut self.floats);
                ranks.add_rows(values, rows.words());
                if self.counts_outside {
                    self.outside += rows.count() - inside(values, &rows, *bounds);
                }
            }
        }
    }

    /// What was gathered from a table of so many rows.
    pub(super) fn finish(self, rows: u64) -> Pass {
        let gathered = match self.gathering {
            Gathering::Count(count) => Gathered::Count(count),
            Gathering::Sum(sum, _) => Gathered::Sum(sum),
            Gathering::Bins(bins) => Gathered::Cells(bins.counts()),
            Gathering::Labels(labels) => Gathered::Cells(labels.counts()),
            Gathering::Ranks(ranks, _) => Gathered::Ranks(ranks),
            Gathering::Share { counted, all } => {
                let matching = counted.counts().iter().sum();
                Gathered::Share { matching, others: all - matching }
            }
        };
        Pass { gathered, rows, outside: self.outside }
    }
}

/// The selected rows that have a value in a column.
fn among(batch: &CellBatch<'_>, column: usize, selected: &RowMask) -> RowMask {
    let mut rows = batch.present(column);
    rows.intersect(selected);
    rows
}

/// Calls `each` for the value of every row of the set.
fn for_each<T: Copy>(values: &[T], rows: &RowMask, mut each: impl FnMut(T)) {
    for (values, word) in values.chunks(64).zip(rows.words()) {
        if *word == u64::MAX {
            values.iter().for_each(|value| each(*value));
        } else {
            for (place, value) in values.iter().enumerate() {
                if word >> place & 1 == 1 {
                    each(*value);
                }
            }
        }
    }
}

/// How many of the rows have a value from low to high.
fn inside(values: &[f64], rows: &RowMask, [low, high]: [f64; 2]) -> u64 {
    let is_inside = |value: f64| u64::from(value >= low) & u64::from(value <= high);
    let count = |(values, word): (&[f64], &u64)| -> u64 {
        if *word == u64::MAX {
            return values.iter().map(|value| is_inside(*value)).sum();
        }
        let in_set = |place: usize| word >> place & 1;
        values.iter().enumerate().map(|(place, value)| is_inside(*value) & in_set(place)).sum()
    };
    values.chunks(64).zip(rows.words()).map(count).sum()
}

/// Half-open bins, of which the last one is closed.
struct Bins {
    edges: SortedPoints,
    /// How many values are at or above so many edges, and at the end how many are not numbers.
    above: Vec<u64>,
    /// How many values are the last edge.
    at_last: u64,
}

impl Bins {
    fn new(edges: &[f64]) -> Result<Self, Refusal> {
        let sorted = SortedPoints::new(edges.to_vec()).map_err(Refusal::noise("bins"))?;
        Ok(Self { edges: sorted, above: vec![0; edges.len() + 2], at_last: 0 })
    }

    fn add(&mut self, values: &[f64], rows: &RowMask) {
        let Self { edges, above, at_last } = self;
        let not_a_number = above.len() - 1;
        let last = edges.points()[edges.points().len() - 1];
        for_each(values, rows, |value| {
            let place = if value.is_finite() { edges.up_to(value) } else { not_a_number };
            above[place] += 1;
            *at_last += u64::from(value == last);
        });
    }

    /// The number of values in each bin.
    fn counts(self) -> Vec<u64> {
        let bins = self.edges.points().len() - 1;
        let mut counts = self.above[1..=bins].to_vec();
        if let Some(last) = counts.last_mut() {
            *last += self.at_last;
        }
        counts
    }
}

/// Counts of declared labels.
struct Labels {
    codes: LabelCodes,
    /// At the end the number of rows without a declared label.
    counts: Vec<u64>,
    /// Reused from batch to batch.
    places: Vec<u32>,
}

impl Labels {
    fn new(names: &[String]) -> Self {
        let codes = LabelCodes::new(names.iter().map(String::as_str));
        Self { codes, counts: vec![0; names.len() + 1], places: Vec::new() }
    }

    fn add(&mut self, batch: &CellBatch<'_>, column: usize, selected: &RowMask) {
        self.places.clear();
        self.codes.read(batch, column, &mut self.places);
        let undeclared = self.counts.len() - 1;
        for_each(&self.places, selected, |place| {
            self.counts[usize::try_from(place).map_or(undeclared, |place| place.min(undeclared))] += 1;
        });
    }

    fn counts(mut self) -> Vec<u64> {
        self.counts.pop();
        self.counts
    }
}
