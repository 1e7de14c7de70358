//! Arguments become a checked plan. The file is opened for its columns; no value is read.

use super::terms::{LEAST_EPSILON, LEAST_QUANTILE_EPSILON, additive, choice};
use super::{accuracy, read};
use crate::args::{self, Ask};
use crate::explain::Code;
use crate::fail::Fail;
use crate::file::Target;
use reticent::core::rounding::{mul_down, sub_down};
use reticent::core::{Epsilon, Guarantee, Neighboring};
use reticent::data::schema::Kind;
use reticent::data::{ColumnKind, Predicate, Schema, TableFile};
use reticent::noise::mechanism::Rule;
use reticent::noise::query::{BoundedSum, Quantile, RankTable, Terms, even_candidates};
use std::path::PathBuf;

/// More candidates than anyone needs; keeps a mistyped number from filling the memory.
const MOST_CANDIDATES: f64 = 1e6;

/// A release about which nothing is left to check but the data.
pub(super) struct Plan {
    pub(super) table: TableFile,
    pub(super) query: Query,
    pub(super) terms: Terms,
    pub(super) filter: Option<Predicate>,
    /// The error for which ε was chosen, where the user gave that.
    pub(super) target: Option<f64>,
    pub(super) json: bool,
    pub(super) dry_run: bool,
    /// Where the answer is drawn.
    pub(super) plot: Option<PathBuf>,
    /// The part of ε that counts clamped values, beside that of `terms`.
    pub(super) counting: Option<Epsilon>,
    /// What is to be said against the plan, without a look at the data.
    pub(super) warnings: Vec<String>,
}

/// The share of ε that a count of clamped values gets.
const COUNTING_SHARE: f64 = 0.05;

/// What is asked.
pub(super) enum Query {
    Count {
        column: Option<String>,
    },
    Sum {
        column: String,
        bounds: [f64; 2],
        integers: bool,
    },
    Mean {
        column: String,
        bounds: [f64; 2],
        integers: bool,
    },
    Histogram {
        column: String,
        cells: Cells,
    },
    Quantile {
        column: String,
        bounds: [f64; 2],
        level: f64,
        quantile: Quantile,
        candidates: Vec<f64>,
        integers: bool,
    },
    Mode {
        column: String,
        categories: Vec<String>,
        rule: Rule,
    },
    Proportion {
        column: String,
        value: String,
    },
}

/// The cells of a histogram.
pub(super) enum Cells {
    Categories(Vec<String>),
    Bins(Vec<f64>),
}

impl Query {
    /// The column asked about.
    pub(super) fn column(&self) -> Option<&str> {
        match self {
            Self::Count { column } => column.as_deref(),
            Self::Sum { column, .. }
            | Self::Mean { column, .. }
            | Self::Histogram { column, .. }
            | Self::Quantile { column, .. }
            | Self::Mode { column, .. }
            | Self::Proportion { column, .. } => Some(column),
        }
    }
}

impl Plan {
    /// What the release spends in all.
    pub(super) fn whole(&self) -> Result<Guarantee, Fail> {
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

/// A sum over these bounds with nothing in it.
pub(super) fn empty_sum([low, high]: [f64; 2], integers: bool) -> Result<BoundedSum, Fail> {
    BoundedSum::new(low, high, integers).map_err(Fail::noise("--bounds"))
}

/// Whether the library sums these values as whole numbers, without a finer grid.
pub(super) fn whole_sums(bounds: [f64; 2], integers: bool) -> bool {
    integers && bounds.iter().all(|end| end.fract() == 0.0 && end.abs() <= (1u64 << 52) as f64)
}

/// Checks the arguments of one of the seven questions.
pub(super) fn plan(question: args::Question) -> Result<Plan, Fail> {
    match question {
        args::Question::Count(a) => {
            let terms = additive(&a.ask, &a.noise, a.error.as_deref())?;
            finish(a.ask, terms, a.error, |_| Ok(Query::Count { column: a.column }))
        }
        args::Question::Sum(a) => {
            let (terms, n) = (additive(&a.numeric.ask, &a.noise, a.error.as_deref())?, a.numeric);
            if let (Some(error), true) = (&a.error, n.count_clamped) {
                let remedy = "goes with --epsilon only where clamped values are counted";
                return Err(Fail::conflict("--error", error, remedy));
            }
            let bounds = read::bounds(&n.bounds)?;
            let extra = Extra::of(&n, bounds)?;
            let plan = finish(n.ask, terms, a.error, |table| {
                let integers = integers(table, &n.column, n.integers)?;
                Ok(Query::Sum { column: n.column, bounds, integers })
            })?;
            extra.into(plan)
        }
        args::Question::Mean(a) => {
            let (terms, n) = (additive(&a.numeric.ask, &a.noise, None)?, a.numeric);
            let bounds = read::bounds(&n.bounds)?;
            let extra = Extra::of(&n, bounds)?;
            let plan = finish(n.ask, terms, None, |table| {
                let integers = integers(table, &n.column, n.integers)?;
                Ok(Query::Mean { column: n.column, bounds, integers })
            })?;
            extra.into(plan)
        }
        args::Question::Histogram(a) => {
            let terms = additive(&a.ask, &a.noise, None)?;
            let cells = match (&a.categories, &a.bins) {
                (Some(list), _) => Cells::Categories(read::names("--categories", list, 1)?),
                (None, Some(list)) => Cells::Bins(read::edges(list)?),
                (None, None) => {
                    return Err(Fail::missing(
                        "--categories",
                        "declare what to count, or give --bins for a numeric column",
                    ));
                }
            };
            finish(a.ask, terms, None, |_| Ok(Query::Histogram { column: a.column, cells }))
        }
        args::Question::Quantile(a) => {
            let (terms, n) = (choice(&a.numeric.ask, &a.choice, LEAST_QUANTILE_EPSILON)?, a.numeric);
            let bounds = read::bounds(&n.bounds)?;
            let level = read::number("--quantile", &a.quantile)?;
            let quantile = Quantile::new(level)?;
            let count = candidate_count(&a.candidates)?;
            let extra = Extra::of(&n, bounds)?;
            let plan = finish(n.ask, terms, None, |table| {
                let integers = integers(table, &n.column, n.integers)?;
                let candidates = even_candidates(bounds[0], bounds[1], count, integers)?;
                RankTable::new(candidates.clone()).map_err(|_| too_close(&n.bounds))?;
                Ok(Query::Quantile { column: n.column, bounds, level, quantile, candidates, integers })
            })?;
            extra.into(plan)
        }
        args::Question::Mode(a) => {
            let terms = choice(&a.ask, &a.choice, LEAST_EPSILON)?;
            let rule = rule(&a.mechanism)?;
            let categories = read::names("--categories", &a.categories, 1)?;
            finish(a.ask, terms, None, |_| Ok(Query::Mode { column: a.column, categories, rule }))
        }
        args::Question::Proportion(a) => {
            let terms = additive(&a.ask, &a.noise, None)?;
            let value = a.value.trim().to_owned();
            if value.is_empty() {
                return Err(Fail::flag("--value", &a.value, "give the value asked about, such as yes"));
            }
            finish(a.ask, terms, None, |_| Ok(Query::Proportion { column: a.column, value }))
        }
        args::Question::Randomize(_) | args::Question::Estimate(_) => {
            Err(Fail::new(Code::Internal, "a survey is not a question about a table"))
        }
    }
}

/// What was asked about clamping.
struct Extra {
    count_clamped: bool,
    warnings: Vec<String>,
}

impl Extra {
    fn of(numeric: &args::Numeric, bounds: [f64; 2]) -> Result<Self, Fail> {
        let mut warnings = Vec::new();
        if let Some(path) = &numeric.schema {
            let schema = Schema::read(path).map_err(Fail::data("--schema"))?;
            if schema.is_draft() {
                let remedy =
                    "it is a draft that was read off the records: replace its bounds by public ones first";
                return Err(Fail::flag("--schema", &path.display().to_string(), remedy).coded(Code::Schema));
            }
            warnings.extend(inside(&schema, &numeric.column, bounds));
        }
        Ok(Self { count_clamped: numeric.count_clamped, warnings })
    }

    /// The plan with part of its ε set aside.
    fn into(self, mut plan: Plan) -> Result<Plan, Fail> {
        plan.warnings = self.warnings;
        if self.count_clamped {
            let whole = plan.terms.epsilon.get();
            let counting = Epsilon::new(COUNTING_SHARE * whole)?;
            // A little less, so that the parts of the answer add up to no more than was asked for, rounded up each.
            plan.terms.epsilon = Epsilon::new(mul_down(sub_down(whole, counting.get()), 1.0 - 1e-15))?;
            plan.counting = Some(counting);
        }
        Ok(plan)
    }
}

/// Says that bounds leave out values that the schema allows.
fn inside(schema: &Schema, column: &str, [low, high]: [f64; 2]) -> Option<String> {
    let declared = schema.columns().iter().find(|known| known.name == column)?;
    let Kind::Numeric(allowed) = &declared.kind else { return None };
    (low > allowed.low() || high < allowed.high()).then(|| {
        format!(
            "--bounds {low},{high}: inside of the schema's bounds {} to {}: values between are clamped, and the answer is about \
             clamped values (--count-clamped counts them)",
            allowed.low(),
            allowed.high()
        )
    })
}

/// Opens the table, checks columns and the filter, and settles ε where an error was given instead.
fn finish(
    ask: Ask,
    terms: Terms,
    error: Option<String>,
    query: impl FnOnce(&TableFile) -> Result<Query, Fail>,
) -> Result<Plan, Fail> {
    if let Some(path) = &ask.plot {
        Target::plot(path).check()?;
    }
    let filter = ask.filter.as_deref().map(Predicate::parse).transpose().map_err(Fail::data("--where"))?;
    let target = error.as_deref().map(|text| read::number("--error", text)).transpose()?;
    let table = TableFile::open(&ask.file)?;
    let query = query(&table)?;
    if let Some(column) = query.column() {
        table.column(column).map_err(Fail::data("--column"))?;
    }
    for column in filter.iter().flat_map(Predicate::columns) {
        table.column(column).map_err(Fail::data("--where"))?;
    }
    let (counting, warnings) = (None, Vec::new());
    let (json, dry_run, plot) = (ask.json, ask.dry_run, ask.plot);
    let mut plan = Plan { table, query, terms, filter, target, json, dry_run, plot, counting, warnings };
    if let (Query::Mode { .. }, Some(path)) = (&plan.query, &plan.plot) {
        let remedy = "leave it out: the answer is a name, and nothing else may be drawn";
        return Err(Fail::flag("--plot", &path.display().to_string(), remedy));
    }
    if let Some(error) = target {
        let needed = accuracy::epsilon_for(&plan, error)?;
        plan.terms.epsilon = read::needed_epsilon(error, needed, LEAST_EPSILON)?;
    }
    Ok(plan)
}

fn rule(text: &str) -> Result<Rule, Fail> {
    match text {
        "exponential" => Ok(Rule::Exponential),
        "permute-and-flip" => Ok(Rule::PermuteAndFlip),
        "report-noisy-max" => Ok(Rule::ReportNoisyMax),
        _ => Err(Fail::unknown(
            "--mechanism",
            text,
            "unknown: give exponential, permute-and-flip or report-noisy-max",
        )),
    }
}

fn candidate_count(text: &str) -> Result<usize, Fail> {
    let count = read::number("--candidates", text)?;
    if !(2.0..=MOST_CANDIDATES).contains(&count) || count.fract() != 0.0 {
        return Err(Fail::flag(
            "--candidates",
            text,
            format!("give a whole number from 2 to {MOST_CANDIDATES}"),
        ));
    }
    Ok(count as usize)
}

fn too_close(bounds: &str) -> Fail {
    Fail::flag("--bounds", bounds, "give bounds further apart: no two candidates fit between them")
        .coded(Code::Bounds)
}

/// Whether the column holds whole numbers: because the file declares it or the user does, never
/// because its values look so.
fn integers(table: &TableFile, column: &str, declared: bool) -> Result<bool, Fail> {
    let found = table.column(column).map_err(Fail::data("--column"))?;
    // A Parquet file says what its columns hold; of CSV every column is text.
    let is_parquet = table.path().extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"));
    if is_parquet && matches!(found.kind, ColumnKind::Text | ColumnKind::Boolean) {
        let remedy =
            "the file says that it holds text or truth values: choose a numeric column, or convert it";
        return Err(Fail::flag("--column", column, remedy).coded(Code::Type));
    }
    Ok(declared || found.kind == ColumnKind::Integer)
}
