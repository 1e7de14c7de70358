//! A request becomes a checked plan. The file is opened for its columns; no value is read.

use super::accuracy;
use super::clamp::Clamping;
use super::lists;
use super::query::{Cells, Query};
use super::request::{Release, ReleaseQuestion};
use super::terms::{LEAST_EPSILON, LEAST_QUANTILE_EPSILON, additive, choice, needed_epsilon};
use crate::quantity::finite;
use crate::refusal::Refusal;
use crate::scan::threads;
use reticent_core::{Code, Epsilon, Guarantee, Neighboring};
use reticent_data::{ColumnKind, Predicate, Table, open_table_with, with_derived};
use reticent_noise::query::{Quantile, QueryTerms, RankTable, even_candidates};
use std::sync::Arc;

/// More candidates than anyone needs; keeps a mistyped number from filling the memory.
const MOST_CANDIDATES: u64 = 1_000_000;

/// A checked release; only the data themselves are unread.
#[derive(Debug, Clone)]
pub struct PlannedRelease {
    pub(super) table: Arc<dyn Table>,
    pub(super) query: Query,
    pub(super) terms: QueryTerms,
    pub(super) filter: Option<Predicate>,
    /// The threads that read the table. They do not change the answer.
    pub(super) threads: usize,
    /// The target error for which ε was chosen, if given.
    pub(super) target: Option<f64>,
    /// The part of ε that counts clamped values, beside that of `terms`.
    pub(super) counting: Option<Epsilon>,
    /// Caveats about the plan, from public facts alone.
    pub(super) warnings: Vec<String>,
}

impl PlannedRelease {
    /// The total cost of the release.
    pub(super) fn whole(&self) -> Result<Guarantee, Refusal> {
        let own = Guarantee { epsilon: self.terms.epsilon, delta: self.terms.delta };
        Ok(match self.counting {
            Some(counting) => own.then(Guarantee::pure(counting))?,
            None => own,
        })
    }

    /// Whether the number of rows asked about is public: under replace-one, without a filter.
    pub(super) fn rows_are_public(&self) -> bool {
        self.terms.neighboring == Neighboring::ReplaceOne && self.filter.is_none()
    }
}

/// Checks one of the seven questions.
pub(super) fn plan(release: &Release, given: Option<&Arc<dyn Table>>) -> Result<PlannedRelease, Refusal> {
    match &release.question {
        ReleaseQuestion::Count { column, error } => {
            let terms = additive(release, *error)?;
            finish((release, given), terms, *error, |_| Ok(Query::Count { column: column.clone() }))
        }
        ReleaseQuestion::Sum { column, bounds, integers, count_clamped, schema, error } => {
            let terms = additive(release, *error)?;
            if let (Some(error), true) = (error, count_clamped) {
                let remedy = "cannot be combined with ⟦count_clamped⟧: give ⟦epsilon⟧ instead";
                return Err(Refusal::conflict("error", error, remedy));
            }
            let bounds = lists::bounds(*bounds)?;
            let clamping = Clamping::of(*count_clamped, schema.as_deref(), column, bounds)?;
            let plan = finish((release, given), terms, *error, |table| {
                let integers = whole_numbers(table, column, *integers)?;
                Ok(Query::Sum { column: column.clone(), bounds, integers })
            })?;
            clamping.into(plan)
        }
        ReleaseQuestion::Mean { column, bounds, integers, count_clamped, schema } => {
            let terms = additive(release, None)?;
            let bounds = lists::bounds(*bounds)?;
            let clamping = Clamping::of(*count_clamped, schema.as_deref(), column, bounds)?;
            let plan = finish((release, given), terms, None, |table| {
                let integers = whole_numbers(table, column, *integers)?;
                Ok(Query::Mean { column: column.clone(), bounds, integers })
            })?;
            clamping.into(plan)
        }
        ReleaseQuestion::Histogram { column, categories, bins } => {
            let terms = additive(release, None)?;
            let cells = match (categories, bins) {
                (Some(_), Some(_)) => {
                    let remedy = "give either ⟦categories⟧ or ⟦bins⟧";
                    return Err(Refusal::about(Code::Conflict, "bins", remedy));
                }
                (Some(list), None) => Cells::Categories(lists::names("categories", list, 1)?),
                (None, Some(list)) => Cells::Bins(lists::edges(list)?),
                (None, None) => {
                    let remedy = "give the categories to count, or ⟦bins⟧ for a numeric column";
                    return Err(Refusal::missing("categories", remedy));
                }
            };
            finish((release, given), terms, None, |_| Ok(Query::Histogram { column: column.clone(), cells }))
        }
        ReleaseQuestion::Quantile {
            column,
            bounds,
            integers,
            count_clamped,
            schema,
            quantile,
            candidates,
        } => {
            let terms = choice(release, LEAST_QUANTILE_EPSILON)?;
            let bounds = lists::bounds(*bounds)?;
            let level = finite("quantile", *quantile)?;
            let quantile = Quantile::new(level)?;
            let count = candidate_count(*candidates)?;
            let clamping = Clamping::of(*count_clamped, schema.as_deref(), column, bounds)?;
            let plan = finish((release, given), terms, None, |table| {
                let integers = whole_numbers(table, column, *integers)?;
                let candidates = even_candidates(bounds[0], bounds[1], count, integers)?;
                RankTable::new(candidates.clone()).map_err(|_| too_close(bounds))?;
                Ok(Query::Quantile { column: column.clone(), bounds, level, quantile, candidates, integers })
            })?;
            clamping.into(plan)
        }
        ReleaseQuestion::Mode { column, categories, rule } => {
            let terms = choice(release, LEAST_EPSILON)?;
            let categories = lists::names("categories", categories, 1)?;
            let (column, rule) = (column.clone(), (*rule).into());
            finish((release, given), terms, None, |_| Ok(Query::Mode { column, categories, rule }))
        }
        ReleaseQuestion::Proportion { column, value } => {
            let terms = additive(release, None)?;
            let asked = value.trim().to_owned();
            if asked.is_empty() {
                return Err(Refusal::value("value", value, "give a value, such as yes"));
            }
            finish((release, given), terms, None, |_| {
                Ok(Query::Proportion { column: column.clone(), value: asked })
            })
        }
    }
}

/// Opens the table unless it is given, checks columns and the filter, and settles ε where an error was given instead.
fn finish(
    (release, given): (&Release, Option<&Arc<dyn Table>>),
    terms: QueryTerms,
    error: Option<f64>,
    query: impl FnOnce(&dyn Table) -> Result<Query, Refusal>,
) -> Result<PlannedRelease, Refusal> {
    let filter =
        release.filter.as_deref().map(Predicate::parse).transpose().map_err(Refusal::data("filter"))?;
    let target = error.map(|error| finite("error", error)).transpose()?;
    let threads = threads(release.threads)?;
    let table = match given {
        None => open_table_with(&release.file, &release.reading)?,
        Some(table) if release.file.as_os_str().is_empty() => with_derived(table.clone(), &release.reading)?,
        Some(_) => {
            let remedy = "leave it empty: the table itself is given";
            return Err(Refusal::conflict("file", release.file.display(), remedy));
        }
    };
    let query = query(&table)?;
    if let Some(column) = query.column() {
        table.column(column).map_err(Refusal::data("column"))?;
    }
    match &query {
        Query::Histogram { column, cells: Cells::Categories(categories) }
        | Query::Mode { column, categories, .. } => {
            table.check_values(column, categories).map_err(Refusal::data("categories"))?;
        }
        Query::Proportion { column, value } => {
            table.check_values(column, std::slice::from_ref(value)).map_err(Refusal::data("value"))?;
        }
        _ => {}
    }
    let filter = filter.map(|filter| filter.check(&table)).transpose().map_err(Refusal::data("filter"))?;
    let (counting, warnings) = (None, Vec::new());
    let mut plan = PlannedRelease { table, query, terms, filter, threads, target, counting, warnings };
    if let Some(error) = target {
        plan.terms.epsilon = needed_epsilon(error, accuracy::epsilon_for(&plan, error)?)?;
    }
    Ok(plan)
}

fn candidate_count(count: u64) -> Result<usize, Refusal> {
    if !(2..=MOST_CANDIDATES).contains(&count) {
        let remedy = format!("give a whole number from 2 to {MOST_CANDIDATES}");
        return Err(Refusal::value("candidates", count, remedy));
    }
    Ok(count as usize)
}

fn too_close([low, high]: [f64; 2]) -> Refusal {
    let remedy = "give bounds farther apart: no two candidates fit between them";
    Refusal::value("bounds", format!("{low},{high}"), remedy).coded(Code::Bounds)
}

/// Whether the column holds whole numbers: because the file declares it or the request does, never
/// because its values look so.
pub(crate) fn whole_numbers(table: &dyn Table, column: &str, declared: bool) -> Result<bool, Refusal> {
    let found = table.column(column).map_err(Refusal::data("column"))?;
    // Every column of a CSV file is text, even if all of it reads as numbers.
    if table.declares_kinds() && matches!(found.kind, ColumnKind::Text | ColumnKind::Boolean) {
        let remedy = "this column holds text or Boolean values: choose a numeric column, or convert it";
        return Err(Refusal::value("column", column, remedy).coded(Code::Type));
    }
    Ok(declared || matches!(found.kind, ColumnKind::Integer | ColumnKind::Date))
}
