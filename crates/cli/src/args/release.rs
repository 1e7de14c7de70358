//! `reticent release` as clap reads it.

use super::help::release as help;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Question {
    /// How many rows there are, or satisfy --where
    #[command(after_help = help::COUNT)]
    Count(Count),
    /// The clamped sum of a numeric column: of values clamped to declared bounds
    #[command(after_help = help::SUM)]
    Sum(Sum),
    /// The clamped mean of a numeric column: of values clamped to declared bounds
    #[command(after_help = help::MEAN)]
    Mean(Mean),
    /// How many rows fall into each declared category or bin
    #[command(after_help = help::HISTOGRAM)]
    Histogram(Histogram),
    /// The median or another quantile of a numeric column, clamped to declared bounds
    #[command(after_help = help::QUANTILE)]
    Quantile(Quantile),
    /// The most common of the declared categories
    #[command(after_help = help::MODE)]
    Mode(Mode),
    /// The share of rows that have a given value
    #[command(after_help = help::PROPORTION)]
    Proportion(Proportion),
    /// Randomize a survey column answer by answer (local model)
    #[command(after_help = help::RANDOMIZE)]
    Randomize(Randomize),
    /// Recover population figures from a randomized column
    #[command(after_help = help::ESTIMATE)]
    Estimate(Estimate),
}

/// What all seven questions share.
#[derive(Debug, Args)]
pub(crate) struct Ask {
    /// The table: a .csv file with a header line, or a .parquet file
    pub(crate) file: PathBuf,
    /// Privacy to spend, above 0; smaller protects more (0.1 to 3 is usual)
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) epsilon: Option<String>,
    /// Use only rows that satisfy conditions, e.g. 'sex=Male and age>=18'
    #[arg(long = "where", value_name = "FILTER")]
    pub(crate) filter: Option<String>,
    /// What is hidden: add-remove (that a record is there at all) or replace-one (what it holds)
    #[arg(long, value_name = "RELATION", default_value = "add-remove")]
    pub(crate) neighboring: String,
    /// Confidence of intervals and bounds
    #[arg(long, value_name = "C", default_value = "0.95", allow_hyphen_values = true)]
    pub(crate) confidence: String,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print what the error would be, without reading any value of the data
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Draw the answer with its interval
    #[arg(long, value_name = "FILE.svg", conflicts_with = "dry_run")]
    pub(crate) plot: Option<PathBuf>,
}

/// The noise of additive answers.
#[derive(Debug, Args)]
pub(crate) struct Noise {
    /// The delta of the claim, for Gaussian noise: far below 1 / number of records, e.g. 1e-6
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    /// Noise: laplace, gaussian or discrete-gaussian [default: laplace, or gaussian with --delta]
    #[arg(long, value_name = "NAME")]
    pub(crate) mechanism: Option<String>,
}

/// Private choices take no δ: the flag is there to say so.
#[derive(Debug, Args)]
pub(crate) struct Choice {
    #[arg(long, hide = true, allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Count {
    /// Count only rows that have a value in this column
    #[arg(long)]
    pub(crate) column: Option<String>,
    /// Spend the least epsilon that keeps the error within this, instead of --epsilon
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub(crate) error: Option<String>,
    #[command(flatten)]
    pub(crate) noise: Noise,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct Sum {
    #[command(flatten)]
    pub(crate) numeric: Numeric,
    /// Spend the least epsilon that keeps the error within this, instead of --epsilon
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub(crate) error: Option<String>,
    #[command(flatten)]
    pub(crate) noise: Noise,
}

#[derive(Debug, Args)]
pub(crate) struct Mean {
    #[command(flatten)]
    pub(crate) numeric: Numeric,
    #[command(flatten)]
    pub(crate) noise: Noise,
}

/// A numeric column with public bounds.
#[derive(Debug, Args)]
pub(crate) struct Numeric {
    /// The column to ask about
    #[arg(long)]
    pub(crate) column: String,
    /// Public bounds, e.g. 0,120; values outside are clamped to them
    #[arg(long, value_name = "LO,HI", allow_hyphen_values = true)]
    pub(crate) bounds: String,
    /// The column holds whole numbers (a Parquet file says so itself); others are rounded
    #[arg(long)]
    pub(crate) integers: bool,
    /// Spend 5 % of epsilon on a private count of the values that are outside of the bounds or not numbers
    #[arg(long)]
    pub(crate) count_clamped: bool,
    /// What is publicly known of the table: bounds, categories, the label
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) schema: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct Histogram {
    /// The column to ask about
    #[arg(long)]
    pub(crate) column: String,
    /// Public categories, comma-separated; put one that has a comma in "double quotes"
    #[arg(long, value_name = "A,B,…", conflicts_with = "bins")]
    pub(crate) categories: Option<String>,
    /// Public bin edges for a numeric column: 0,10,20 gives [0,10) and [10,20]
    #[arg(long, value_name = "EDGES", allow_hyphen_values = true)]
    pub(crate) bins: Option<String>,
    #[command(flatten)]
    pub(crate) noise: Noise,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct Quantile {
    #[command(flatten)]
    pub(crate) numeric: Numeric,
    /// Which quantile, from 0.001 to 0.999
    #[arg(long, value_name = "Q", default_value = "0.5", allow_hyphen_values = true)]
    pub(crate) quantile: String,
    /// How many candidates at most, evenly spaced between the bounds
    #[arg(long, value_name = "N", default_value = "1001", allow_hyphen_values = true)]
    pub(crate) candidates: String,
    #[command(flatten)]
    pub(crate) choice: Choice,
}

#[derive(Debug, Args)]
pub(crate) struct Mode {
    /// The column to ask about
    #[arg(long)]
    pub(crate) column: String,
    /// Public categories, comma-separated; put one that has a comma in "double quotes"
    #[arg(long, value_name = "A,B,…")]
    pub(crate) categories: String,
    /// Rule of choice: exponential, permute-and-flip or report-noisy-max
    #[arg(long, value_name = "NAME", default_value = "permute-and-flip")]
    pub(crate) mechanism: String,
    #[command(flatten)]
    pub(crate) choice: Choice,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct Proportion {
    /// The column to ask about
    #[arg(long)]
    pub(crate) column: String,
    /// The value asked about
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) value: String,
    #[command(flatten)]
    pub(crate) noise: Noise,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct Randomize {
    /// The table: a .csv file with a header line, or a .parquet file
    pub(crate) file: PathBuf,
    /// The column to ask about
    #[arg(long)]
    pub(crate) column: String,
    /// Public categories, comma-separated; put one that has a comma in "double quotes"
    #[arg(long, value_name = "A,B,…")]
    pub(crate) categories: String,
    /// Privacy of each answer, above 0
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) epsilon: String,
    /// Where to write the randomized column, as CSV
    #[arg(long, alias = "output", value_name = "FILE.csv")]
    pub(crate) out: PathBuf,
    /// Other columns to copy, comma-separated: they are NOT protected
    #[arg(long, value_name = "A,B,…")]
    pub(crate) keep_columns: Option<String>,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Estimate {
    /// The table: a .csv file with a header line, or a .parquet file
    pub(crate) file: PathBuf,
    /// The column to ask about
    #[arg(long)]
    pub(crate) column: String,
    /// Public categories, comma-separated; put one that has a comma in "double quotes"
    #[arg(long, value_name = "A,B,…")]
    pub(crate) categories: String,
    /// The epsilon of the randomization
    #[arg(long, value_name = "E", allow_hyphen_values = true, conflicts_with = "keep_probability")]
    pub(crate) epsilon: Option<String>,
    /// The keep probability of the randomization, instead of --epsilon
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    pub(crate) keep_probability: Option<String>,
    /// Confidence of intervals and bounds
    #[arg(long, value_name = "C", default_value = "0.95", allow_hyphen_values = true)]
    pub(crate) confidence: String,
    /// Draw the shares with their intervals
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}
