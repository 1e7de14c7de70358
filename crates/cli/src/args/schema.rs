//! `reticent schema` as clap reads it.

use super::help::schema as help;
use super::help::short;
use super::reading::ReadingFlags;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Question {
    /// Draft a schema from the data, or learn one with differential privacy
    #[command(after_help = short(help::INFER), after_long_help = help::INFER)]
    Infer(Infer),
}

#[derive(Debug, Args)]
pub(crate) struct Infer {
    /// The table: a CSV, Parquet or Arrow file, a folder of Parquet files, or - for standard input
    pub(crate) file: PathBuf,
    /// The column to predict
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// The positive value of the label: two classes, this value against all others
    #[arg(long, value_name = "VALUE", requires = "label", allow_negative_numbers = true)]
    pub(crate) positive: Option<String>,
    /// Privacy unit: protect all rows that share a value in this column, instead of single rows
    #[arg(long, value_name = "COLUMN")]
    pub(crate) unit: Option<String>,
    /// Leave this column out without reading it; may be repeated
    #[arg(long, value_name = "COLUMN")]
    pub(crate) ignore: Vec<String>,
    /// Learn the schema with differential privacy, with this privacy budget
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) epsilon: Option<String>,
    /// Delta for finding categories, well below 1 / number of records
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    /// Write the schema to this file [default: standard output]
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite the file at --out
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) budget: super::budget::BudgetFlags,
    #[command(flatten)]
    pub(crate) reading: ReadingFlags,
}
