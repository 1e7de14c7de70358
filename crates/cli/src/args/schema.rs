//! `reticent schema` as clap reads it.

use super::help::schema as help;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Question {
    /// Draft a schema from the records, or learn one with differential privacy
    #[command(after_help = help::INFER)]
    Infer(Infer),
}

#[derive(Debug, Args)]
pub(crate) struct Infer {
    /// The table: a .csv file with a header line, or a .parquet file
    pub(crate) file: PathBuf,
    /// The column that a model will predict
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// The label's positive value: two classes, this one against every other
    #[arg(long, value_name = "VALUE", requires = "label", allow_negative_numbers = true)]
    pub(crate) positive: Option<String>,
    /// Protect all rows that share a value in this column, instead of each row
    #[arg(long, value_name = "COLUMN")]
    pub(crate) unit: Option<String>,
    /// A column to leave out without looking at it; may be given several times
    #[arg(long, value_name = "COLUMN")]
    pub(crate) ignore: Vec<String>,
    /// Learn the schema with differential privacy, spending this much
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) epsilon: Option<String>,
    /// The delta to spend on finding categories, far below 1 / number of records
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    /// Where to write the schema [default: standard output]
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file at --out
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}
