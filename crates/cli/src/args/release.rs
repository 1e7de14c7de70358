//! `reticent release` as clap reads it.

use super::budget::{BudgetFlags, RememberedFlags};
use super::help::page as pages;
use super::help::release as help;
use super::help::short;
use super::page::{Groups, Page, PageFiles, Person};
use super::reading::ReadingFlags;
use super::statistic::{Declared, Limits, Median, Pair, People, Quantiles, Spread, Top};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Question {
    /// Release a page of statistics, by group, under one budget
    #[command(after_help = short(pages::PAGE), after_long_help = pages::PAGE)]
    Page(Box<Page>),
    /// Count rows
    #[command(after_help = short(help::COUNT), after_long_help = help::COUNT)]
    Count(Count),
    /// Sum a numeric column, with values clamped to declared bounds
    #[command(after_help = short(help::SUM), after_long_help = help::SUM)]
    Sum(Sum),
    /// Average a numeric column, with values clamped to declared bounds
    #[command(after_help = short(help::MEAN), after_long_help = help::MEAN)]
    Mean(Mean),
    /// Count the rows in each declared category or bin
    #[command(after_help = short(help::HISTOGRAM), after_long_help = help::HISTOGRAM)]
    Histogram(Histogram),
    /// Find the median or another quantile of a numeric column
    #[command(after_help = short(help::QUANTILE), after_long_help = help::QUANTILE)]
    Quantile(Quantile),
    /// Find the most common of the declared categories
    #[command(after_help = short(help::MODE), after_long_help = help::MODE)]
    Mode(Mode),
    /// Find the proportion of rows that have a given value
    #[command(after_help = short(help::PROPORTION), after_long_help = help::PROPORTION)]
    Proportion(Proportion),
    /// Count people: the distinct values of the column of --unit
    #[command(after_help = short(pages::PEOPLE), after_long_help = pages::PEOPLE)]
    People(People),
    /// Variance of a numeric column, with values clamped to declared bounds
    #[command(after_help = short(pages::VARIANCE), after_long_help = pages::VARIANCE)]
    Variance(Spread),
    /// Standard deviation of a numeric column, with values clamped to declared bounds
    #[command(after_help = short(pages::STDDEV), after_long_help = pages::STDDEV)]
    Stddev(Spread),
    /// Find the median of a numeric column
    #[command(after_help = short(pages::MEDIAN), after_long_help = pages::MEDIAN)]
    Median(Median),
    /// Find several quantiles of a numeric column from one release
    #[command(after_help = short(pages::QUANTILES), after_long_help = pages::QUANTILES)]
    Quantiles(Quantiles),
    /// Covariance of two numeric columns
    #[command(after_help = short(pages::COVARIANCE), after_long_help = pages::COVARIANCE)]
    Covariance(Pair),
    /// Correlation of two numeric columns
    #[command(after_help = short(pages::CORRELATION), after_long_help = pages::CORRELATION)]
    Correlation(Pair),
    /// Least-squares line of one numeric column on another
    #[command(after_help = short(pages::TREND), after_long_help = pages::TREND)]
    Trend(Pair),
    /// Count how many of the declared values occur
    #[command(after_help = short(pages::DISTINCT), after_long_help = pages::DISTINCT)]
    Distinct(Declared),
    /// Find the most common of the declared categories, with their counts
    #[command(after_help = short(pages::TOP), after_long_help = pages::TOP)]
    Top(Top),
    /// Count the rows in each combination of categories or bins of several columns
    #[command(after_help = short(pages::CONTINGENCY), after_long_help = pages::CONTINGENCY)]
    Contingency(Pair),
    /// Suggest limits per person from a private estimate
    #[command(after_help = short(pages::LIMITS), after_long_help = pages::LIMITS)]
    Limits(Limits),
    /// Apply randomized response to a survey column (local model)
    #[command(after_help = short(help::RANDOMIZE), after_long_help = help::RANDOMIZE)]
    Randomize(Randomize),
    /// Estimate population proportions from a randomized column
    #[command(after_help = short(help::ESTIMATE), after_long_help = help::ESTIMATE)]
    Estimate(Estimate),
}

/// The flags that all statistics share.
#[derive(Debug, Args)]
pub(crate) struct Ask {
    /// The table: a CSV, Parquet or Arrow file, a folder of Parquet files, or - for standard input
    pub(crate) file: PathBuf,
    /// Privacy budget epsilon, above 0; smaller is more private (0.1 to 3 is usual)
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) epsilon: Option<String>,
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
    /// Number of threads [default: all processors]
    #[arg(long, value_name = "N", allow_hyphen_values = true, hide_short_help = true)]
    pub(crate) threads: Option<String>,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the expected error without reading any value
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Plot the answer with its interval
    #[arg(long, value_name = "FILE.svg", conflicts_with = "dry_run")]
    pub(crate) plot: Option<PathBuf>,
    /// Write the whole certificate to this file
    #[arg(long, value_name = "FILE.json", conflicts_with = "dry_run")]
    pub(crate) certificate: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) budget: RememberedFlags,
    #[command(flatten)]
    pub(crate) person: Person,
    #[command(flatten)]
    pub(crate) groups: Groups,
    #[command(flatten)]
    pub(crate) files: PageFiles,
    #[command(flatten)]
    pub(crate) reading: ReadingFlags,
}

impl Ask {
    /// Whether the answer is a page of one question: by group, about people, or with its files.
    pub(crate) fn is_page(&self) -> bool {
        self.person.is_any() || self.groups.is_any() || self.files.is_any()
    }
}

/// The flags of additive noise.
#[derive(Debug, Args)]
pub(crate) struct Noise {
    /// Delta, for Gaussian noise: well below 1 / number of records, e.g. 1e-6
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    /// Noise mechanism: laplace, gaussian or discrete-gaussian [default: laplace, or gaussian with --delta]
    #[arg(long, value_name = "NAME")]
    pub(crate) mechanism: Option<String>,
}

/// Private selection has δ = 0: the flag exists only to be refused with an explanation.
#[derive(Debug, Args)]
pub(crate) struct Choice {
    #[arg(long, hide = true, allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Count {
    /// Count only rows with a value in this column
    #[arg(long)]
    pub(crate) column: Option<String>,
    /// Target error, instead of --epsilon: spend the smallest epsilon that reaches it
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
    /// Target error, instead of --epsilon: spend the smallest epsilon that reaches it
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
    /// The column
    #[arg(long)]
    pub(crate) column: String,
    /// Public bounds, e.g. 0,120; values outside are clamped
    #[arg(long, value_name = "LO,HI", allow_hyphen_values = true)]
    pub(crate) bounds: String,
    /// Treat the column as integers and round other values (Parquet files declare this themselves)
    #[arg(long)]
    pub(crate) integers: bool,
    /// Spend 5 % of epsilon on a private count of values that are outside the bounds or not numbers
    #[arg(long)]
    pub(crate) count_clamped: bool,
    /// The public schema of the table: bounds, categories, label
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) schema: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct Histogram {
    /// The column
    #[arg(long)]
    pub(crate) column: String,
    /// Public categories, comma-separated; quote one that contains a comma: "a,b"
    #[arg(long, value_name = "A,B,…", conflicts_with = "bins")]
    pub(crate) categories: Option<String>,
    /// Public bin edges of a numeric column: 0,10,20 gives [0,10) and [10,20]
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
    /// Maximum number of candidates, evenly spaced between the bounds
    #[arg(long, value_name = "N", default_value = "1001", allow_hyphen_values = true)]
    pub(crate) candidates: String,
    #[command(flatten)]
    pub(crate) choice: Choice,
}

#[derive(Debug, Args)]
pub(crate) struct Mode {
    /// The column
    #[arg(long)]
    pub(crate) column: String,
    /// Public categories, comma-separated; quote one that contains a comma: "a,b"
    #[arg(long, value_name = "A,B,…")]
    pub(crate) categories: String,
    /// Selection mechanism: exponential, permute-and-flip or report-noisy-max
    #[arg(long, value_name = "NAME", default_value = "permute-and-flip")]
    pub(crate) mechanism: String,
    #[command(flatten)]
    pub(crate) choice: Choice,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct Proportion {
    /// The column
    #[arg(long)]
    pub(crate) column: String,
    /// The value whose proportion is released
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) value: String,
    #[command(flatten)]
    pub(crate) noise: Noise,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct Randomize {
    /// The table: a CSV, Parquet or Arrow file, a folder of Parquet files, or - for standard input
    pub(crate) file: PathBuf,
    /// The column
    #[arg(long)]
    pub(crate) column: String,
    /// Public categories, comma-separated; quote one that contains a comma: "a,b"
    #[arg(long, value_name = "A,B,…")]
    pub(crate) categories: String,
    /// Local epsilon of each answer, above 0
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) epsilon: String,
    /// Write the randomized column to this CSV file
    #[arg(long, alias = "output", value_name = "FILE.csv")]
    pub(crate) out: PathBuf,
    /// Other columns to copy, comma-separated: they are NOT protected
    #[arg(long, value_name = "A,B,…")]
    pub(crate) keep_columns: Option<String>,
    /// Write the whole certificate to this file
    #[arg(long, value_name = "FILE.json")]
    pub(crate) certificate: Option<PathBuf>,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) budget: BudgetFlags,
    #[command(flatten)]
    pub(crate) reading: ReadingFlags,
}

#[derive(Debug, Args)]
pub(crate) struct Estimate {
    /// The table: a CSV, Parquet or Arrow file, a folder of Parquet files, or - for standard input
    pub(crate) file: PathBuf,
    /// The column
    #[arg(long)]
    pub(crate) column: String,
    /// Public categories, comma-separated; quote one that contains a comma: "a,b"
    #[arg(long, value_name = "A,B,…")]
    pub(crate) categories: String,
    /// The local epsilon of the randomized response
    #[arg(long, value_name = "E", allow_hyphen_values = true, conflicts_with = "keep_probability")]
    pub(crate) epsilon: Option<String>,
    /// The probability of keeping an answer, instead of --epsilon
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    pub(crate) keep_probability: Option<String>,
    /// Confidence level of intervals and bounds
    #[arg(long, value_name = "C", default_value = "0.95", allow_hyphen_values = true)]
    pub(crate) confidence: String,
    /// Plot the proportions with their intervals
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingFlags,
}
