//! The request of a page, as plain data.

use super::statistic::PageStatistic;
use crate::refusal::Refusal;
use crate::release::NoiseChoice;
use reticent_core::{Code, Neighboring};
use reticent_data::Reading;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A page of statistics of one table, by group, under one budget.
///
/// Its fields are the keys of a `report.toml`:
///
/// ```
/// use reticent_curator::page::Page;
///
/// let page = Page::parse(r#"
///     file = "visits.parquet"
///     epsilon = 1.0
///     delta = 1e-6
///     unit = { column = "patient_id", rows = 5, groups = 2 }
///     group-by = { columns = ["ward"], keys = { lists = { ward = ["A", "B"] } } }
///
///     [[questions]]
///     kind = "mean"
///     column = "age"
///     bounds = [0, 120]
///     weight = 2
/// "#, "report.toml")?;
/// assert_eq!(page.questions[0].weight, Some(2.0));
/// # Ok::<(), reticent_curator::Refusal>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// The file; empty for a table that is given beside the request.
    #[serde(default)]
    pub file: PathBuf,
    /// How the file is read, further files of the same table, and derived columns.
    #[serde(default, skip_serializing_if = "Reading::is_default")]
    pub reading: Reading,
    /// A public schema of the table: bounds, categories and the privacy unit that the request does not state are taken from it.
    #[serde(default)]
    pub schema: Option<PathBuf>,
    /// Who is protected and how much of one person counts; each row by itself where it is left out.
    #[serde(default)]
    pub unit: Option<UnitLimits>,
    /// Only rows that satisfy these conditions, such as `sex=Male and age>=18`.
    #[serde(default)]
    pub filter: Option<String>,
    /// The groups that every question is answered for; all rows together where it is left out.
    #[serde(default, alias = "group-by")]
    pub group_by: Option<GroupBy>,
    /// The statistics.
    pub questions: Vec<PageQuestion>,
    /// The total ε of the page. With [`BudgetSplit::ByError`] the most that it may cost.
    #[serde(default)]
    pub epsilon: Option<f64>,
    /// The total δ; Gaussian noise if it is given, Laplace noise otherwise.
    #[serde(default)]
    pub delta: Option<f64>,
    /// How the budget is divided; by what the questions state if it is left out: by error where they state errors, by weights
    /// where they state weights, equally otherwise.
    #[serde(default)]
    pub split: Option<BudgetSplit>,
    /// The noise, Laplace or Gaussian; chosen by δ and the sensitivities if it is left out.
    #[serde(default)]
    pub mechanism: Option<NoiseChoice>,
    /// The neighboring relation.
    #[serde(default = "add_remove")]
    pub neighboring: Neighboring,
    /// The confidence level of each interval by itself.
    #[serde(default = "ninety_five")]
    pub confidence: f64,
    /// Whether counts are made non-negative and cells add up to their totals, after the noise.
    #[serde(default)]
    pub consistent: bool,
}

impl Page {
    /// These statistics of all rows at this ε, under add-remove, each row protected, with 95 % intervals.
    pub fn new(file: impl Into<PathBuf>, questions: Vec<PageQuestion>, epsilon: f64) -> Self {
        Self {
            file: file.into(),
            reading: Reading::default(),
            schema: None,
            unit: None,
            filter: None,
            group_by: None,
            questions,
            epsilon: Some(epsilon),
            delta: None,
            split: None,
            mechanism: None,
            neighboring: add_remove(),
            confidence: ninety_five(),
            consistent: false,
        }
    }

    /// Reads a page from TOML; `name` is the file's name in messages.
    ///
    /// # Errors
    /// [`Refusal`] with the line.
    pub fn parse(text: &str, name: &str) -> Result<Self, Refusal> {
        Ok(reticent_data::toml::read(text, name)?)
    }

    /// Reads a page from a TOML file; relative paths in it are relative to its folder.
    ///
    /// # Errors
    /// [`Refusal`] when the file cannot be read or is not a page.
    pub fn read(path: &Path) -> Result<Self, Refusal> {
        let name = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| {
            let code = if error.kind() == ErrorKind::NotFound { Code::NotFound } else { Code::Unreadable };
            Refusal::value("report", &name, format!("cannot be read: {error}")).coded(code).because(error)
        })?;
        let mut page = Self::parse(&text, &name)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let below = |file: &mut PathBuf| *file = folder.join(&*file);
        // Standard input is `-`.
        if !page.file.as_os_str().is_empty() && page.file != Path::new("-") {
            below(&mut page.file);
        }
        page.reading.also.iter_mut().for_each(below);
        page.schema.iter_mut().for_each(below);
        if let Some(GroupBy { keys: Some(Keys::File(file)), .. }) = &mut page.group_by {
            below(file);
        }
        Ok(page)
    }
}

/// The privacy unit of a page: all rows that share a value of a column; and how much of them counts.
///
/// A row without a value belongs to nobody and is left out. Any text is a value but blank, whatever counts as missing in other columns.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitLimits {
    /// The column that names the person, such as `patient_id`; from the schema if it is left out.
    #[serde(default)]
    pub column: Option<String>,
    /// The most rows of one person that count in one group.
    #[serde(default)]
    pub rows: Option<u64>,
    /// The most groups that one person counts in.
    #[serde(default)]
    pub groups: Option<u64>,
    /// Bounds on what one person adds to the sum of a column in one group, instead of a limit on rows: the total of all rows of a
    /// person in the group is clamped to them.
    #[serde(default)]
    pub totals: BTreeMap<String, [f64; 2]>,
    /// The key of the order by which rows and groups beyond the limits are left out: the same key keeps the same rows.
    #[serde(default)]
    pub key: Option<String>,
}

/// The groups of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupBy {
    /// The columns whose values together name a group.
    pub columns: Vec<String>,
    /// The groups; all combinations of the categories that the schema declares if it is left out.
    #[serde(default)]
    pub keys: Option<Keys>,
}

/// Where the groups come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Keys {
    /// All combinations of these public values of each column.
    Lists(BTreeMap<String, Vec<String>>),
    /// These combinations, each with one value per column.
    Rows(Vec<Vec<String>>),
    /// The combinations that a public CSV file has: its header names the columns.
    File(PathBuf),
    /// Those that a private selection finds: groups with few people are not named.
    Selected(SelectedKeys),
}

/// What a private selection of groups may cost, as part of the page's budget.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelectedKeys {
    /// The share of ε, between 0 and 1.
    #[serde(default = "tenth")]
    pub share: f64,
    /// The δ of the selection, as part of the page's δ; half of it if it is left out.
    #[serde(default)]
    pub delta: Option<f64>,
}

/// One statistic of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageQuestion {
    /// Its name in the outcome; made from the statistic and its columns if it is left out.
    #[serde(default)]
    pub name: Option<String>,
    /// Its weight where the budget is split by weights; 1 if it is left out.
    #[serde(default)]
    pub weight: Option<f64>,
    /// The error that is wanted at the page's confidence, where the budget is split by error.
    #[serde(default)]
    pub error: Option<f64>,
    /// The number of rows of a group for which the wanted error of a mean, a proportion, a variance, a quantile or a trend is to
    /// hold: their error depends on it.
    #[serde(default)]
    pub size: Option<u64>,
    /// The statistic.
    #[serde(flatten)]
    pub statistic: PageStatistic,
}

impl From<PageStatistic> for PageQuestion {
    fn from(statistic: PageStatistic) -> Self {
        Self { name: None, weight: None, error: None, size: None, statistic }
    }
}

/// How the budget of a page is divided among what it releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetSplit {
    /// The same share for every release.
    Equally,
    /// In proportion to the weights of the questions; what several questions share gets the largest of theirs.
    Weights,
    /// As little as reaches the wanted error of every question.
    ByError,
}

impl FromStr for BudgetSplit {
    type Err = Refusal;

    fn from_str(name: &str) -> Result<Self, Refusal> {
        match name {
            "equally" => Ok(Self::Equally),
            "weights" => Ok(Self::Weights),
            "by-error" => Ok(Self::ByError),
            _ => Err(Refusal::unknown("split", name, "unknown: give equally, weights or by-error")),
        }
    }
}

pub(super) fn add_remove() -> Neighboring {
    Neighboring::AddRemove
}

pub(super) fn ninety_five() -> f64 {
    0.95
}

fn tenth() -> f64 {
    0.1
}
