//! One pass over the data: rows become counts, grid sums or ranks, which is all that noise is added to.

use super::plan::PlannedRelease;
use super::query::{Cells, Query, empty_sum};
use crate::refusal::Refusal;
use crate::scan::scan;
use crate::watch::Watch;
use reticent_core::{MergeError, Partial};
use reticent_data::{Cell, Predicate};
use reticent_noise::query::{BoundedSum, RankTable};
use std::collections::BTreeMap;

/// The aggregated rows. Private: only noisy answers may leave this crate.
#[derive(Clone, PartialEq)]
pub(super) enum Gathered {
    Count(u64),
    Sum(BoundedSum),
    Cells(Vec<u64>),
    Ranks(RankTable),
    Share { matching: u64, others: u64 },
}

/// The result of one pass.
#[derive(Clone, PartialEq)]
pub(super) struct Pass {
    pub(super) gathered: Gathered,
    /// The number of all rows.
    pub(super) rows: u64,
    /// How many values were clamped, or left out because they are not numbers.
    pub(super) outside: u64,
}

/// What passes over parts of the rows came to, for one plan.
impl Partial for Pass {
    fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        let mut merged = self.clone();
        merged.rows.merge(&other.rows)?;
        merged.outside.merge(&other.outside)?;
        match (&mut merged.gathered, &other.gathered) {
            (Gathered::Count(own), Gathered::Count(more)) => own.merge(more)?,
            (Gathered::Sum(own), Gathered::Sum(more)) => own.merge(more)?,
            (Gathered::Cells(own), Gathered::Cells(more)) => own.merge(more)?,
            (Gathered::Ranks(own), Gathered::Ranks(more)) => own.merge(more)?,
            (
                Gathered::Share { matching, others },
                Gathered::Share { matching: more_matching, others: more_others },
            ) => {
                matching.merge(more_matching)?;
                others.merge(more_others)?;
            }
            _ => return Err(MergeError::Mismatch { what: "questions" }),
        }
        *self = merged;
        Ok(())
    }
}

/// Reads the table once. No cell is an error: one that is not a finite number counts as missing.
pub(super) fn gather(plan: &PlannedRelease, watch: &dyn Watch) -> Result<Pass, Refusal> {
    // The filter's columns first, so that its cells are the first ones.
    let filtered: &[String] = plan.filter.as_ref().map_or(&[], Predicate::columns);
    let mut columns: Vec<&str> = filtered.iter().map(String::as_str).collect();
    let asked = plan.query.column().map(|column| {
        columns.iter().position(|known| *known == column).unwrap_or_else(|| {
            columns.push(column);
            columns.len() - 1
        })
    });
    let mut gatherer = Gatherer::new(plan)?;
    let rows = scan(&plan.table, &columns, plan.terms.neighboring.into(), watch, &mut |_, cells| {
        if plan.filter.as_ref().is_none_or(|filter| filter.matches(cells)) {
            gatherer.add(asked.map(|index| cells[index]));
        }
        Ok(())
    })?;
    Ok(Pass { gathered: gatherer.gathered, rows, outside: gatherer.outside })
}

/// What a table without rows comes to, or one with a single row where the number of rows is public.
pub(super) fn nothing(plan: &PlannedRelease) -> Result<Pass, Refusal> {
    let mut gathered = Gatherer::new(plan)?.gathered;
    let rows = u64::from(plan.rows_are_public());
    if rows == 1 {
        match &mut gathered {
            Gathered::Sum(sum) => sum.add_middle(),
            Gathered::Share { others, .. } => *others = 1,
            Gathered::Count(_) | Gathered::Cells(_) | Gathered::Ranks(_) => {}
        }
    }
    Ok(Pass { gathered, rows, outside: 0 })
}

/// Counters per label of a declared category.
pub(super) struct Labels<'a>(BTreeMap<&'a str, usize>);

impl<'a> Labels<'a> {
    pub(super) fn new(categories: &'a [String]) -> Self {
        Self(categories.iter().enumerate().map(|(index, name)| (name.as_str(), index)).collect())
    }

    /// The category of a cell; `None` for a missing or undeclared value.
    pub(super) fn index(&self, cell: &Cell<'_>) -> Option<usize> {
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
    fn new(plan: &'a PlannedRelease) -> Result<Self, Refusal> {
        let gathered = match &plan.query {
            Query::Count { .. } => Gathered::Count(0),
            Query::Sum { bounds, integers, .. } | Query::Mean { bounds, integers, .. } => {
                Gathered::Sum(empty_sum(*bounds, *integers)?)
            }
            Query::Histogram { cells: Cells::Categories(names), .. }
            | Query::Mode { categories: names, .. } => Gathered::Cells(vec![0; names.len()]),
            Query::Histogram { cells: Cells::Bins(edges), .. } => Gathered::Cells(vec![0; edges.len() - 1]),
            Query::Quantile { candidates, .. } => Gathered::Ranks(RankTable::new(candidates.clone())?),
            Query::Proportion { .. } => Gathered::Share { matching: 0, others: 0 },
        };
        let labels = match &plan.query {
            Query::Histogram { cells: Cells::Categories(names), .. }
            | Query::Mode { categories: names, .. } => Labels::new(names),
            _ => Labels::new(&[]),
        };
        let middle_for_missing = matches!(plan.query, Query::Mean { .. }) && plan.rows_are_public();
        Ok(Self { query: &plan.query, labels, middle_for_missing, gathered, outside: 0 })
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
fn bin_of(edges: &[f64], value: f64) -> Option<usize> {
    let bins = edges.len() - 1;
    let above = edges.partition_point(|edge| *edge <= value);
    match above {
        0 => None,
        n if n <= bins => Some(n - 1),
        _ => (value == edges[bins]).then_some(bins - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::{Release, ReleaseQuestion};
    use crate::watch::Unwatched;
    use reticent_core::Neighboring;
    use reticent_data::arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
    use reticent_data::{MemoryTable, Table};
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn bins_are_half_open_and_the_last_is_closed() {
        let edges = [0.0, 10.0, 20.0];
        let expected =
            [(-0.1, None), (0.0, Some(0)), (9.9, Some(0)), (10.0, Some(1)), (20.0, Some(1)), (20.1, None)];
        for (value, bin) in expected {
            assert_eq!(bin_of(&edges, value), bin, "{value}");
        }
    }

    fn people() -> RecordBatch {
        let value = |row: i32| match row % 7 {
            0 => None,
            1 => Some(f64::NAN),
            _ => Some(f64::from(row) * 0.37 - 5.0),
        };
        let ages: ArrayRef = Arc::new(Float64Array::from_iter((0..200).map(value)));
        let name = |row: i32| ["a", "b", "c", ""][row as usize % 4];
        let groups: ArrayRef = Arc::new(StringArray::from_iter_values((0..200).map(name)));
        RecordBatch::try_from_iter_with_nullable([("age", ages, true), ("group", groups, true)]).unwrap()
    }

    fn pass(release: &Release, batches: Vec<RecordBatch>) -> Pass {
        let table: Arc<dyn Table> = Arc::new(MemoryTable::new("people", people().schema(), batches).unwrap());
        gather(&release.check_table(table).unwrap(), &Unwatched::new()).unwrap()
    }

    #[test]
    fn passes_over_parts_of_a_table_merge_to_the_pass_over_the_whole() {
        let questions = [
            json!({"kind": "count"}),
            json!({"kind": "count", "column": "age"}),
            json!({"kind": "sum", "column": "age", "bounds": [0, 50]}),
            json!({"kind": "mean", "column": "age", "bounds": [0.5, 50.25], "count_clamped": true}),
            json!({"kind": "histogram", "column": "group", "categories": ["a", "b"]}),
            json!({"kind": "histogram", "column": "age", "bins": [0, 10, 30]}),
            json!({"kind": "quantile", "column": "age", "bounds": [0, 50]}),
            json!({"kind": "mode", "column": "group", "categories": ["a", "c"]}),
            json!({"kind": "proportion", "column": "group", "value": "b"}),
        ];
        for (question, neighboring) in questions.iter().flat_map(|question| {
            [Neighboring::AddRemove, Neighboring::ReplaceOne].map(|relation| (question, relation))
        }) {
            let asked: ReleaseQuestion = serde_json::from_value(question.clone()).unwrap();
            let release = Release { neighboring, ..Release::new("", asked, 1.0) };
            let whole = pass(&release, vec![people()]);
            for cuts in [[1, 2], [50, 120], [199, 199]] {
                let parts = [(0, cuts[0]), (cuts[0], cuts[1] - cuts[0]), (cuts[1], 200 - cuts[1])];
                // A table without rows is refused where their number is public.
                let parts = parts.into_iter().filter(|(_, length)| *length > 0);
                let parts: Vec<Pass> = parts
                    .map(|(start, length)| pass(&release, vec![people().slice(start, length)]))
                    .collect();
                let mut merged = parts[parts.len() - 1].clone();
                for part in &parts[..parts.len() - 1] {
                    merged.merge(part).unwrap();
                }
                assert!(merged == whole, "{question} {cuts:?}");
            }
        }
    }

    #[test]
    fn passes_for_different_questions_do_not_merge() {
        let release = |question| Release::new("", question, 1.0);
        let count = release(ReleaseQuestion::Count { column: None, error: None });
        let share =
            release(ReleaseQuestion::Proportion { column: "group".to_owned(), value: "a".to_owned() });
        let (mut one, other) = (pass(&count, vec![people()]), pass(&share, vec![people()]));
        let before = one.clone();
        assert_eq!(one.merge(&other), Err(MergeError::Mismatch { what: "questions" }));
        assert!(one == before);
    }

    #[test]
    fn a_file_and_a_table_are_not_both_asked_about() {
        let release = Release::new("people.csv", ReleaseQuestion::Count { column: None, error: None }, 1.0);
        let table: Arc<dyn Table> =
            Arc::new(MemoryTable::new("people", people().schema(), vec![people()]).unwrap());
        let refusal = release.check_table(table).unwrap_err();
        assert!(refusal.to_string().contains("the table itself is given"), "{refusal}");
    }
}
