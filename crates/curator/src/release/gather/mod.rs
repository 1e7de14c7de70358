//! One pass over the data: rows become counts, grid sums or ranks, which is all that noise is added to.

mod columns;

use super::plan::PlannedRelease;
use crate::refusal::Refusal;
use crate::scan::summarize;
use crate::watch::Watch;
use columns::Gatherer;
use reticent_core::{MergeError, Partial};
use reticent_data::{BatchSummary, CellBatch, Predicate, RowMask};
use reticent_noise::query::{BoundedSum, RankTable};

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
    /// How many values were clamped, or left out because they are not numbers; 0 unless the plan counts them.
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
    let (columns, asked) = columns_of(plan);
    let summary = BatchSummary {
        start: &|| Gatherer::new(plan),
        add: &|gatherer: &mut Gatherer, batch| {
            gatherer.add(batch, asked, &selected(plan.filter.as_ref(), batch));
            Ok(())
        },
    };
    let size = plan.terms.neighboring.into();
    let (rows, parts) = summarize(&plan.table, &columns, size, plan.threads, watch, &summary)?;
    let mut pass = Gatherer::new(plan)?.finish(rows);
    for part in parts {
        // All rows are counted by the pass already.
        pass.merge(&part.finish(0)).map_err(|error| Refusal::internal(error.to_string()))?;
    }
    Ok(pass)
}

/// The columns to be read, those of the filter first, and the place of the one asked about.
fn columns_of(plan: &PlannedRelease) -> (Vec<&str>, Option<usize>) {
    let filtered: &[String] = plan.filter.as_ref().map_or(&[], Predicate::columns);
    let mut columns: Vec<&str> = filtered.iter().map(String::as_str).collect();
    let asked = plan.query.column().map(|column| {
        columns.iter().position(|known| *known == column).unwrap_or_else(|| {
            columns.push(column);
            columns.len() - 1
        })
    });
    (columns, asked)
}

/// The rows of a batch that satisfy the filter, whose columns are the first ones.
fn selected(filter: Option<&Predicate>, batch: &CellBatch<'_>) -> RowMask {
    filter.map_or_else(|| RowMask::all(batch.rows()), |filter| filter.mask(batch))
}

/// What a table without rows comes to, or one with a single row where the number of rows is public.
pub(super) fn nothing(plan: &PlannedRelease) -> Result<Pass, Refusal> {
    let mut gathered = Gatherer::new(plan)?.finish(0).gathered;
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

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
