//! The request for a schema, as plain data.

use reticent_data::Reading;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A schema of a table: drafted from its records, or learnt from them with differential privacy where an ε is given.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnSchema {
    /// The table: a CSV, Parquet or Arrow file, a folder of Parquet files, a glob, or `-` for standard input.
    pub file: PathBuf,
    /// How its files are read: further files, the dialect of CSV text, derived columns. A table that is given beside the request is
    /// taken as it is.
    #[serde(default, skip_serializing_if = "Reading::is_default")]
    pub reading: Reading,
    /// The column to predict.
    #[serde(default)]
    pub label: Option<String>,
    /// The label's positive value: two classes, this one against every other.
    #[serde(default)]
    pub positive: Option<String>,
    /// The column that identifies users, if the privacy unit is a user and not a row.
    #[serde(default)]
    pub unit: Option<String>,
    /// Columns to leave out without reading them.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// The privacy budget ε; without one the schema is a draft that is not private.
    #[serde(default)]
    pub epsilon: Option<f64>,
    /// The δ for finding categories.
    #[serde(default)]
    pub delta: Option<f64>,
    /// The `.toml` file to write the schema to.
    #[serde(default)]
    pub out: Option<PathBuf>,
    /// Whether an existing file is overwritten.
    #[serde(default)]
    pub force: bool,
}

impl LearnSchema {
    /// A draft that is not private.
    pub fn draft(file: impl Into<PathBuf>) -> Self {
        Self { file: file.into(), ..Self::default() }
    }

    /// A schema learnt within this budget.
    pub fn private(file: impl Into<PathBuf>, epsilon: f64, delta: f64) -> Self {
        Self { epsilon: Some(epsilon), delta: Some(delta), ..Self::draft(file) }
    }
}
