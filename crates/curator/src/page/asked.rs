//! Questions about which nothing is left to check, and what each needs to be released.

use super::axis::Axis;
use super::declared::Declared;
use super::outcome::{ClampedColumn, PageUnit};
use super::request::{PageQuestion, UnitLimits};
use super::statistic::{CellColumn, ColumnPair, NumberColumn, PageStatistic, RankedColumn};
use crate::quantity::finite;
use crate::refusal::Refusal;
use crate::release::{bounds, whole_numbers};
use reticent_core::{Code, Fact};
use reticent_data::Table;
use reticent_noise::query::even_candidates;
use std::collections::BTreeSet;

/// The candidates of a quantile where none are asked for.
const CANDIDATES: u64 = 1024;
/// The most candidates of a quantile: each level of the tree holds them for every group.
const MOST_CANDIDATES: u64 = 1 << 16;
/// The most cells of a histogram or a contingency table.
const MOST_CELLS: usize = 1 << 20;

/// A checked question.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Asked {
    pub(super) name: String,
    /// The statistic, as the request spells it.
    pub(super) kind: &'static str,
    pub(super) columns: Vec<String>,
    pub(super) weight: f64,
    pub(super) error: Option<f64>,
    pub(super) size: Option<u64>,
    pub(super) need: Need,
    pub(super) form: Form,
}

/// Numbers of a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Numbers {
    pub(super) column: String,
    pub(super) bounds: [f64; 2],
    pub(super) integers: bool,
}

/// What has to be released for a question. Equal needs share one release.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Need {
    /// The number of rows, or of those with a value in a column.
    Rows { column: Option<String> },
    /// The number of people.
    People,
    /// The sum of clamped values.
    Sum(Numbers),
    /// The sum of clamped totals of people.
    Total(Numbers),
    /// Number, sum and, at order 2, sum of squares.
    Moments { of: Numbers, order: u8 },
    /// The moments of two columns together.
    Joint([Numbers; 2]),
    /// The number of rows in each cell of a column.
    Cells { column: String, axis: Axis },
    /// The number of rows in each combination of cells, and on request in each cell of each column.
    Table { axes: Vec<(String, Axis)>, margins: bool },
    /// How many cells of a column have rows.
    Distinct { column: String, axis: Axis },
    /// Rows with a value, and other rows.
    Share { column: String, value: String },
    /// The number of rows up to each candidate.
    Ranks { of: Numbers, candidates: u64 },
}

/// How an answer follows from what is released.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Form {
    Count,
    People,
    Sum,
    Mean,
    Variance,
    StandardDeviation,
    Quantiles(Vec<f64>),
    Histogram,
    Mode,
    TopK(usize),
    Proportion,
    Distinct,
    Covariance,
    Correlation,
    Trend,
    Contingency { margins: bool },
}

impl Form {
    /// What an answer counts or measures.
    pub(super) fn unit(&self) -> PageUnit {
        match self {
            Self::Count | Self::Histogram | Self::Mode | Self::TopK(_) | Self::Contingency { .. } => {
                PageUnit::Rows
            }
            Self::People => PageUnit::People,
            Self::Sum | Self::Mean | Self::StandardDeviation | Self::Quantiles(_) => PageUnit::Column,
            Self::Variance | Self::Covariance => PageUnit::Squared,
            Self::Proportion => PageUnit::Share,
            Self::Distinct => PageUnit::Values,
            Self::Correlation => PageUnit::Number,
            Self::Trend => PageUnit::PerUnit,
        }
    }
}

/// Where questions are checked.
pub(super) struct Context<'a> {
    pub(super) table: &'a dyn Table,
    pub(super) declared: &'a Declared,
    pub(super) unit: Option<&'a UnitLimits>,
}

/// Checks the questions of a page.
pub(super) fn asked(questions: &[PageQuestion], context: &Context<'_>) -> Result<Vec<Asked>, Refusal> {
    if questions.is_empty() {
        return Err(Refusal::missing("questions", "ask for at least one statistic"));
    }
    let mut known = BTreeSet::new();
    let check = |(place, question): (usize, &PageQuestion)| {
        let mut asked = context.one(question).map_err(|refusal| {
            let name = question.name.clone().unwrap_or_else(|| format!("question {}", place + 1));
            refusal.within(&name)
        })?;
        if !known.insert(asked.name.clone()) {
            if question.name.is_some() {
                let remedy = "is the name of another question: give each its own";
                return Err(Refusal::value("name", &asked.name, remedy).coded(Code::List));
            }
            let base = asked.name.clone();
            let names = (2..).map(|number: usize| format!("{base} ({number})"));
            asked.name = names.into_iter().find(|name| !known.contains(name)).unwrap_or(base);
            known.insert(asked.name.clone());
        }
        Ok(asked)
    };
    questions.iter().enumerate().map(check).collect()
}

impl Context<'_> {
    fn one(&self, question: &PageQuestion) -> Result<Asked, Refusal> {
        let (kind, columns, need, form) = self.settled(&question.statistic)?;
        let name = match &question.name {
            Some(name) if name.trim().is_empty() => {
                return Err(Refusal::value("name", name, "give a name, or leave it out"));
            }
            Some(name) => name.trim().to_owned(),
            None if columns.is_empty() => kind.to_owned(),
            None => format!("{kind} of {}", columns.join(", ")),
        };
        let positive = |field: &str, value: Option<f64>| -> Result<Option<f64>, Refusal> {
            let value = value.map(|value| finite(field, value)).transpose()?;
            match value.filter(|value| *value <= 0.0) {
                Some(bad) => Err(Refusal::value(field, bad, "give a number above 0")),
                None => Ok(value),
            }
        };
        let weight = positive("weight", question.weight)?.unwrap_or(1.0);
        if !(1e-6..=1e6).contains(&weight) {
            return Err(Refusal::value("weight", weight, "give a number from 0.000001 to 1000000"));
        }
        let error = positive("error", question.error)?;
        if question.size == Some(0) {
            return Err(Refusal::value("size", 0, "give at least 1 row"));
        }
        Ok(Asked { name, kind, columns, weight, error, size: question.size, need, form })
    }

    /// The statistic's name, its columns, what it needs and how it is answered.
    fn settled(&self, statistic: &PageStatistic) -> Result<(&'static str, Vec<String>, Need, Form), Refusal> {
        Ok(match statistic {
            PageStatistic::Count { column } => {
                column.as_deref().map(|column| self.known(column)).transpose()?;
                let columns = column.iter().cloned().collect();
                ("count", columns, Need::Rows { column: column.clone() }, Form::Count)
            }
            PageStatistic::People => {
                if self.unit.is_none() && self.declared.unit().is_none() {
                    let remedy = "give the column that names a person: without it each row is one, and count counts rows";
                    return Err(Refusal::missing("unit", remedy));
                }
                ("people", Vec::new(), Need::People, Form::People)
            }
            PageStatistic::Sum(of) => ("sum", vec![of.column.clone()], self.sum(of)?, Form::Sum),
            PageStatistic::Mean(of) => {
                let need = Need::Moments { of: self.numbers(of)?, order: 1 };
                ("mean", vec![of.column.clone()], need, Form::Mean)
            }
            PageStatistic::Variance(of) => {
                let need = Need::Moments { of: self.numbers(of)?, order: 2 };
                ("variance", vec![of.column.clone()], need, Form::Variance)
            }
            PageStatistic::StandardDeviation(of) => {
                let need = Need::Moments { of: self.numbers(of)?, order: 2 };
                ("standard deviation", vec![of.column.clone()], need, Form::StandardDeviation)
            }
            PageStatistic::Median(RankedColumn { column, bounds, integers, candidates }) => {
                let need = self.ranks(column, *bounds, *integers, *candidates)?;
                ("median", vec![column.clone()], need, Form::Quantiles(vec![0.5]))
            }
            PageStatistic::Quantiles { column, bounds, integers, quantiles, candidates } => {
                let need = self.ranks(column, *bounds, *integers, *candidates)?;
                ("quantiles", vec![column.clone()], need, Form::Quantiles(levels(quantiles)?))
            }
            PageStatistic::Histogram(of) => {
                ("histogram", vec![of.column.clone()], self.cells(of)?, Form::Histogram)
            }
            PageStatistic::Mode(of) => ("mode", vec![of.column.clone()], self.cells(of)?, Form::Mode),
            PageStatistic::TopK { k, column, categories } => {
                let axis = self.axis(&listed(column, categories))?;
                let cells = axis.len();
                let k = usize::try_from(*k).ok().filter(|k| (1..=cells).contains(k)).ok_or_else(|| {
                    let remedy = format!("give a number from 1 to the number of categories, {cells}");
                    Refusal::value("k", k, remedy)
                })?;
                let need = Need::Cells { column: column.clone(), axis };
                ("top-k", vec![column.clone()], need, Form::TopK(k))
            }
            PageStatistic::Proportion { column, value } => {
                self.known(column)?;
                let value = value.trim().to_owned();
                if value.is_empty() {
                    return Err(Refusal::value("value", value, "give a value, such as yes"));
                }
                let values = std::slice::from_ref(&value);
                self.table.check_values(column, values).map_err(Refusal::data("value"))?;
                let need = Need::Share { column: column.clone(), value };
                ("proportion", vec![column.clone()], need, Form::Proportion)
            }
            PageStatistic::DistinctCount { column, categories } => {
                let axis = self.axis(&listed(column, categories))?;
                let need = Need::Distinct { column: column.clone(), axis };
                ("distinct-count", vec![column.clone()], need, Form::Distinct)
            }
            PageStatistic::Covariance(pair) => {
                ("covariance", pair.columns.to_vec(), self.joint(pair)?, Form::Covariance)
            }
            PageStatistic::Correlation(pair) => {
                ("correlation", pair.columns.to_vec(), self.joint(pair)?, Form::Correlation)
            }
            PageStatistic::Trend(pair) => ("trend", pair.columns.to_vec(), self.joint(pair)?, Form::Trend),
            PageStatistic::Contingency { columns, margins } => {
                let names = columns.iter().map(|of| of.column.clone()).collect();
                let form = Form::Contingency { margins: *margins };
                ("contingency", names, self.crossed(columns, *margins)?, form)
            }
        })
    }

    fn known(&self, column: &str) -> Result<(), Refusal> {
        self.table.column(column).map_err(Refusal::data("column"))?;
        Ok(())
    }

    fn bounded(&self, column: &str, given: Option<[f64; 2]>, integers: bool) -> Result<Numbers, Refusal> {
        let integers = whole_numbers(self.table, column, integers)?;
        let Some(ends) = given.or_else(|| self.declared.bounds(column)) else {
            let remedy = format!("give public bounds of {column}, such as 0,120, here or in a schema");
            return Err(Refusal::missing("bounds", remedy));
        };
        Ok(Numbers { column: column.to_owned(), bounds: bounds(ends)?, integers })
    }

    fn numbers(&self, of: &NumberColumn) -> Result<Numbers, Refusal> {
        self.bounded(&of.column, of.bounds, of.integers)
    }

    fn sum(&self, of: &NumberColumn) -> Result<Need, Refusal> {
        let Some(ends) = self.unit.and_then(|unit| unit.totals.get(&of.column)) else {
            return Ok(Need::Sum(self.numbers(of)?));
        };
        let integers = whole_numbers(self.table, &of.column, of.integers)?;
        if let Some([low, high]) = of.bounds {
            let remedy =
                format!("⟦totals⟧ bounds the total of a person in {}: give one of the two", of.column);
            return Err(Refusal::conflict("bounds", format!("{low},{high}"), remedy));
        }
        Ok(Need::Total(Numbers { column: of.column.clone(), bounds: bounds(*ends)?, integers }))
    }

    fn ranks(
        &self,
        column: &str,
        given: Option<[f64; 2]>,
        integers: bool,
        candidates: Option<u64>,
    ) -> Result<Need, Refusal> {
        let candidates = candidates.unwrap_or(CANDIDATES);
        if !(2..=MOST_CANDIDATES).contains(&candidates) {
            let remedy = format!("give a whole number from 2 to {MOST_CANDIDATES}");
            return Err(Refusal::value("candidates", candidates, remedy));
        }
        Ok(Need::Ranks { of: self.bounded(column, given, integers)?, candidates })
    }

    fn axis(&self, of: &CellColumn) -> Result<Axis, Refusal> {
        self.known(&of.column)?;
        if let Some(categories) = &of.categories {
            self.table.check_values(&of.column, categories).map_err(Refusal::data("categories"))?;
        }
        Axis::of(of, self.declared.categories(&of.column))
    }

    fn cells(&self, of: &CellColumn) -> Result<Need, Refusal> {
        Ok(Need::Cells { column: of.column.clone(), axis: self.axis(of)? })
    }

    fn crossed(&self, columns: &[CellColumn], margins: bool) -> Result<Need, Refusal> {
        if columns.len() < 2 {
            let remedy = "give at least two columns with their cells; a histogram has one";
            return Err(Refusal::missing("columns", remedy));
        }
        let mut axes: Vec<(String, Axis)> = Vec::with_capacity(columns.len());
        for of in columns {
            if axes.iter().any(|(known, _)| *known == of.column) {
                let remedy = "is listed twice: list it once";
                return Err(Refusal::value("columns", &of.column, remedy).coded(Code::List));
            }
            axes.push((of.column.clone(), self.axis(of)?));
        }
        let cells = axes.iter().try_fold(1usize, |cells, (_, axis)| cells.checked_mul(axis.len()));
        match cells {
            Some(cells) if cells <= MOST_CELLS => Ok(Need::Table { axes, margins }),
            _ => {
                let remedy =
                    format!("these are more than {MOST_CELLS} cells: use fewer columns or wider cells");
                Err(Refusal::about(Code::List, "columns", remedy))
            }
        }
    }

    fn joint(&self, ColumnPair { columns: [one, other], bounds }: &ColumnPair) -> Result<Need, Refusal> {
        if one == other {
            let remedy = "give two different columns";
            return Err(Refusal::value("columns", one, remedy).coded(Code::List));
        }
        let ends = |place: usize| bounds.map(|both| both[place]);
        Ok(Need::Joint([self.bounded(one, ends(0), false)?, self.bounded(other, ends(1), false)?]))
    }
}

impl Need {
    /// Whether rows are what is counted or added up, and not people.
    pub(super) fn is_about_rows(&self) -> bool {
        !matches!(self, Self::People | Self::Total(_))
    }

    /// What it is, in a few words.
    pub(super) fn about(&self) -> String {
        match self {
            Self::Rows { column: None } => "rows".to_owned(),
            Self::Rows { column: Some(column) } => format!("rows with a value of {column}"),
            Self::People => "people".to_owned(),
            Self::Sum(of) => format!("sum of {}", of.column),
            Self::Total(of) => format!("sum of {} with totals per person", of.column),
            Self::Moments { of, order: 1 } => format!("number and sum of {}", of.column),
            Self::Moments { of, .. } => format!("number, sum and squares of {}", of.column),
            Self::Joint([one, other]) => format!("joint moments of {} and {}", one.column, other.column),
            Self::Cells { column, .. } => format!("cells of {column}"),
            Self::Distinct { column, .. } => format!("values of {column} that occur"),
            Self::Table { axes, .. } => {
                let names: Vec<&str> = axes.iter().map(|(column, _)| column.as_str()).collect();
                format!("cells of {}", names.join(", "))
            }
            Self::Share { column, value } => format!("rows with {column} = {value}, and others"),
            Self::Ranks { of, .. } => format!("ranks of {}", of.column),
        }
    }

    /// What it takes as public, by column.
    pub(super) fn facts(&self) -> Vec<Fact> {
        let named = |column: &str, facts: Vec<Fact>| Fact::Other(format!("{column}: {}", Fact::line(&facts)));
        let numbers = |of: &Numbers| {
            let [low, high] = of.bounds;
            named(&of.column, vec![Fact::Bounds { low, high }, Fact::Integers(of.integers)])
        };
        match self {
            Self::Rows { .. } | Self::People => Vec::new(),
            // The bounds of totals are among the limits of the unit.
            Self::Total(of) => vec![named(&of.column, vec![Fact::Integers(of.integers)])],
            Self::Sum(of) | Self::Moments { of, .. } => vec![numbers(of)],
            Self::Ranks { of, candidates } => {
                let asked = usize::try_from(*candidates).unwrap_or(usize::MAX);
                // Whole numbers have no more candidates than there are between the bounds.
                let [low, high] = of.bounds;
                let used = even_candidates(low, high, asked, of.integers).map_or(asked, |all| all.len());
                let candidates = Fact::Candidates(used);
                vec![numbers(of), named(&of.column, vec![candidates])]
            }
            Self::Joint(both) => both.iter().map(numbers).collect(),
            Self::Cells { column, axis } | Self::Distinct { column, axis } => {
                vec![named(column, vec![axis.fact()])]
            }
            Self::Table { axes, .. } => {
                axes.iter().map(|(column, axis)| named(column, vec![axis.fact()])).collect()
            }
            Self::Share { column, value } => vec![named(column, vec![Fact::Value(value.clone())])],
        }
    }

    /// Bounds that values are clamped to, by column.
    pub(super) fn clamped(&self) -> Vec<ClampedColumn> {
        let of = |of: &Numbers, person: bool| ClampedColumn {
            column: of.column.clone(),
            bounds: of.bounds,
            person,
        };
        match self {
            Self::Sum(numbers) | Self::Moments { of: numbers, .. } | Self::Ranks { of: numbers, .. } => {
                vec![of(numbers, false)]
            }
            Self::Total(numbers) => vec![of(numbers, true)],
            Self::Joint(both) => both.iter().map(|numbers| of(numbers, false)).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether what is released for this need answers the other one too, once `self` is raised by
    /// [`raised`](Self::raised).
    pub(super) fn serves(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Moments { of, .. }, Self::Moments { of: asked, .. } | Self::Sum(asked)) => of == asked,
            (Self::Moments { of, .. }, Self::Rows { column: Some(column) }) => of.column == *column,
            (Self::Table { axes, .. }, Self::Table { axes: asked, .. }) => axes == asked,
            (own, other) => own == other,
        }
    }

    /// The least need that serves both.
    pub(super) fn raised(self, other: &Self) -> Self {
        match (self, other) {
            (Self::Moments { of, order }, Self::Moments { order: asked, .. }) => {
                Self::Moments { of, order: order.max(*asked) }
            }
            (Self::Table { axes, margins }, Self::Table { margins: asked, .. }) => {
                Self::Table { axes, margins: margins || *asked }
            }
            (own, _) => own,
        }
    }
}

/// A column with declared categories.
fn listed(column: &str, categories: &Option<Vec<String>>) -> CellColumn {
    CellColumn { column: column.to_owned(), categories: categories.clone(), ..CellColumn::default() }
}

/// Quantiles between 0 and 1, in the order asked for.
fn levels(quantiles: &[f64]) -> Result<Vec<f64>, Refusal> {
    if quantiles.is_empty() {
        return Err(Refusal::missing("quantiles", "give at least one, such as 0.25,0.5,0.75"));
    }
    for level in quantiles {
        let level = finite("quantiles", *level)?;
        if !(level > 0.0 && level < 1.0) {
            return Err(Refusal::value(
                "quantiles",
                level,
                "give numbers between 0 and 1, such as 0.25,0.5,0.75",
            ));
        }
    }
    Ok(quantiles.to_vec())
}

/// The distinct needs of questions, and which of them serves each question. What serves most comes before what it can replace.
pub(super) fn shared(asked: &[Asked]) -> (Vec<Need>, Vec<usize>) {
    let mut needs: Vec<Need> = Vec::new();
    // Moments first: they serve sums and counts of the column too. Tables with margins serve those without.
    let is_wide = |need: &Need| matches!(need, Need::Moments { .. } | Need::Table { .. });
    for need in asked.iter().map(|asked| &asked.need).filter(|need| is_wide(need)) {
        match needs.iter().position(|known| known.serves(need)) {
            Some(place) => needs[place] = needs[place].clone().raised(need),
            None => needs.push(need.clone()),
        }
    }
    let mut serving = Vec::with_capacity(asked.len());
    for need in asked.iter().map(|asked| &asked.need) {
        let place = needs.iter().position(|known| known.serves(need)).unwrap_or_else(|| {
            needs.push(need.clone());
            needs.len() - 1
        });
        serving.push(place);
    }
    (needs, serving)
}
