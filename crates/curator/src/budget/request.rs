//! Requests about a budget itself, as plain data.

use reticent_core::Neighboring;
use reticent_data::Reading;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A new budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateBudget {
    /// Its file, which must be new.
    pub file: PathBuf,
    /// The population: whose data these are; the name of the file if it is left out.
    #[serde(default)]
    pub name: Option<String>,
    /// The limit on ε.
    pub epsilon: f64,
    /// The limit on δ; 0 if it is left out, and then costs are added up.
    #[serde(default)]
    pub delta: Option<f64>,
    /// Who is protected: `row`, `image` or `answer`, or the column that all rows of one person share.
    #[serde(default = "row")]
    pub unit: String,
    /// The neighboring relation of the limit and of every charge.
    #[serde(default = "add_remove")]
    pub neighboring: Neighboring,
    /// The data: files, folders, patterns such as `visits/*.parquet`, or `memory` for tables in memory.
    pub data: Vec<PathBuf>,
    /// How the files are read: a question that reads them in another way is refused. Further files and derived columns are up to
    /// the question.
    #[serde(default, skip_serializing_if = "Reading::is_default")]
    pub reading: Reading,
    /// The last day on which it can be charged, such as `2027-01-01`, or a moment in UTC.
    #[serde(default, alias = "valid-until")]
    pub valid_until: Option<String>,
}

impl CreateBudget {
    /// A budget for the rows of these data, without a δ, under add-remove.
    pub fn new(file: impl Into<PathBuf>, epsilon: f64, data: impl Into<PathBuf>) -> Self {
        Self {
            file: file.into(),
            name: None,
            epsilon,
            delta: None,
            unit: row(),
            neighboring: add_remove(),
            data: vec![data.into()],
            reading: Reading::default(),
            valid_until: None,
        }
    }
}

/// How a budget stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShowBudget {
    /// Its file.
    pub file: PathBuf,
}

/// The charges of a budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetHistory {
    /// Its file.
    pub file: PathBuf,
    /// Only those of this analyst.
    #[serde(default)]
    pub analyst: Option<String>,
    /// Only those for this purpose.
    #[serde(default)]
    pub purpose: Option<String>,
    /// Only so many of the latest.
    #[serde(default)]
    pub last: Option<u64>,
}

/// More data of the same people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddData {
    /// The file of the budget.
    pub file: PathBuf,
    /// The data, as for [`CreateBudget`].
    pub data: Vec<PathBuf>,
    /// How they are read, as for [`CreateBudget`].
    #[serde(default, skip_serializing_if = "Reading::is_default")]
    pub reading: Reading,
}

/// A part of a budget for one analyst or one purpose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllotBudget {
    /// The file of the budget.
    pub file: PathBuf,
    /// The analyst; or `purpose`.
    #[serde(default)]
    pub analyst: Option<String>,
    /// The purpose.
    #[serde(default)]
    pub purpose: Option<String>,
    /// The limit on ε.
    pub epsilon: f64,
    /// The limit on δ; 0 if it is left out.
    #[serde(default)]
    pub delta: Option<f64>,
    /// The last day on which it can be charged.
    #[serde(default, alias = "valid-until")]
    pub valid_until: Option<String>,
}

/// The end of a budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CloseBudget {
    /// Its file.
    pub file: PathBuf,
    /// Why it is closed, for the record.
    #[serde(default)]
    pub reason: Option<String>,
}

/// A check of the whole record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerifyBudget {
    /// The file of the budget.
    pub file: PathBuf,
}

/// The record as one document, without answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportBudget {
    /// The file of the budget.
    pub file: PathBuf,
    /// The `.json` file to write; none if only the outcome is wanted.
    #[serde(default)]
    pub out: Option<PathBuf>,
}

/// A page that shows spending over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawSpending {
    /// The file of the budget.
    pub file: PathBuf,
    /// The `.html` file to write.
    pub out: PathBuf,
}

fn row() -> String {
    "row".to_owned()
}

fn add_remove() -> Neighboring {
    Neighboring::AddRemove
}
