//! The statistics that are released as a page of one question, as clap reads them.

use super::reading::ReadingFlags;
use super::{Ask, Noise};
use clap::Args;
use std::path::PathBuf;

/// The flags of additive noise, and those that all statistics share.
#[derive(Debug, Args)]
pub(crate) struct Terms {
    #[command(flatten)]
    pub(crate) noise: Noise,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct People {
    #[command(flatten)]
    pub(crate) terms: Terms,
}

/// Variance and standard deviation.
#[derive(Debug, Args)]
pub(crate) struct Spread {
    /// The column
    #[arg(long)]
    pub(crate) column: String,
    /// Public bounds, e.g. 0,120; values outside are clamped
    #[arg(long, value_name = "LO,HI", allow_hyphen_values = true)]
    pub(crate) bounds: Option<String>,
    /// The public schema of the table: bounds, categories, label
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) schema: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) terms: Terms,
}

#[derive(Debug, Args)]
pub(crate) struct Median {
    #[command(flatten)]
    pub(crate) spread: Spread,
    /// Maximum number of candidates, evenly spaced between the bounds
    #[arg(long, value_name = "N", default_value = "1001", allow_hyphen_values = true)]
    pub(crate) candidates: String,
}

#[derive(Debug, Args)]
pub(crate) struct Quantiles {
    #[command(flatten)]
    pub(crate) median: Median,
    /// Which quantiles, comma-separated, each between 0 and 1
    #[arg(long, value_name = "Q,Q,…", default_value = "0.25,0.5,0.75")]
    pub(crate) quantiles: String,
}

/// Covariance, correlation and trend.
#[derive(Debug, Args)]
pub(crate) struct Pair {
    /// The columns with their bounds or cells, in the words of 'reticent release page'
    #[arg(long, value_name = "COLUMNS")]
    pub(crate) columns: String,
    /// The public schema of the table: bounds, categories, label
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) schema: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) terms: Terms,
}

/// A column of declared categories.
#[derive(Debug, Args)]
pub(crate) struct Declared {
    /// The column
    #[arg(long)]
    pub(crate) column: String,
    /// Public categories, comma-separated; quote one that contains a comma: "a,b"
    #[arg(long, value_name = "A,B,…")]
    pub(crate) categories: Option<String>,
    /// The public schema of the table: bounds, categories, label
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) schema: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) terms: Terms,
}

#[derive(Debug, Args)]
pub(crate) struct Top {
    /// How many categories
    #[arg(long, value_name = "K", default_value = "3")]
    pub(crate) k: String,
    #[command(flatten)]
    pub(crate) declared: Declared,
}

/// `reticent release limits`.
#[derive(Debug, Args)]
pub(crate) struct Limits {
    /// The table: a CSV, Parquet or Arrow file, a folder of Parquet files, or - for standard input
    pub(crate) file: PathBuf,
    /// The column that names the person, e.g. patient_id
    #[arg(long, value_name = "COLUMN")]
    pub(crate) unit: String,
    /// Answer for each group: the columns whose values name a group, comma-separated
    #[arg(long, value_name = "A,B,…")]
    pub(crate) group_by: Option<String>,
    /// Privacy budget epsilon, above 0; smaller is more private (0.1 to 3 is usual)
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) epsilon: String,
    /// The share of people who are to be within the limits
    #[arg(long, value_name = "SHARE", default_value = "0.95", allow_hyphen_values = true)]
    pub(crate) share: String,
    /// Use only rows that satisfy a condition, e.g. 'sex=Male and age>=18'
    ///
    /// Conditions are joined by and, or, not and parentheses: = != < <= > >=, in (AA, UA), not in, between 18 and 65, is missing,
    /// dates (date >= 2013-05-01) and arithmetic (arr_delay - dep_delay > 15; abs, min, max, floor, year, month, day, weekday,
    /// hour). A value with signs goes into quotes, a column with signs, or on the right of =, into backquotes. A comparison with a
    /// missing value is never true, and neither is its negation.
    #[arg(long = "where", value_name = "FILTER")]
    pub(crate) filter: Option<String>,
    /// Neighboring relation: add-remove or replace-one
    ///
    /// add-remove hides whether a record is in the data, replace-one hides what a record contains.
    #[arg(long, value_name = "RELATION", default_value = "add-remove")]
    pub(crate) neighboring: String,
    /// Confidence level of intervals and bounds
    #[arg(long, value_name = "C", default_value = "0.95", allow_hyphen_values = true)]
    pub(crate) confidence: String,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the whole certificate to this file
    #[arg(long, value_name = "FILE.json")]
    pub(crate) certificate: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) budget: super::budget::BudgetFlags,
    #[command(flatten)]
    pub(crate) reading: ReadingFlags,
}
