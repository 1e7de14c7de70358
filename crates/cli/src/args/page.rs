//! The flags of a page of statistics: who is protected, by which groups, which statistics.

use super::budget::RememberedFlags;
use super::reading::ReadingFlags;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use std::path::PathBuf;

/// `reticent release page`.
#[derive(Debug, Args)]
pub(crate) struct Page {
    /// The table: a CSV, Parquet or Arrow file, a folder of Parquet files, or - for standard input
    pub(crate) file: PathBuf,
    /// The statistics and what they may cost, as a file; flags override it
    #[arg(value_name = "REPORT.toml")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) statistics: Statistics,
    /// Privacy budget epsilon of the whole page, above 0; with --split by-error the most it may cost
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) epsilon: Option<String>,
    /// Delta of the whole page, for Gaussian noise and for --select-keys, e.g. 1e-6
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    /// How the budget is divided: equally, weights or by-error [default: by what the statistics state]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "HOW")]
    pub(crate) split: Option<String>,
    /// Noise mechanism: laplace, gaussian or discrete-gaussian [default: laplace, or gaussian with --delta]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "NAME")]
    pub(crate) mechanism: Option<String>,
    /// Use only rows that satisfy a condition, e.g. 'sex=Male and age>=18'
    ///
    /// Conditions are joined by and, or, not and parentheses: = != < <= > >=, in (AA, UA), not in, between 18 and 65, is missing,
    /// dates (date >= 2013-05-01) and arithmetic (arr_delay - dep_delay > 15; abs, min, max, floor, year, month, day, weekday,
    /// hour). A value with signs goes into quotes, a column with signs, or on the right of =, into backquotes. A comparison with a
    /// missing value is never true, and neither is its negation.
    #[arg(long = "where", value_name = "FILTER")]
    pub(crate) filter: Option<String>,
    #[command(flatten)]
    pub(crate) person: Person,
    #[command(flatten)]
    pub(crate) groups: Groups,
    /// Make counts non-negative and totals agree, after the noise; intervals still hold
    #[arg(hide_short_help = true)]
    #[arg(long)]
    pub(crate) consistent: bool,
    /// The public schema of the table: bounds, categories, label
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) schema: Option<PathBuf>,
    /// Neighboring relation: add-remove or replace-one [default: add-remove]
    ///
    /// add-remove hides whether a record is in the data, replace-one hides what a record contains.
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "RELATION")]
    pub(crate) neighboring: Option<String>,
    /// Confidence level of intervals and bounds [default: 0.95]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "C", allow_hyphen_values = true)]
    pub(crate) confidence: Option<String>,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the expected error without reading any value
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) files: PageFiles,
    /// Write the whole certificate to this file
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "FILE.json", conflicts_with = "dry_run")]
    pub(crate) certificate: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) budget: RememberedFlags,
    #[command(flatten)]
    pub(crate) reading: ReadingFlags,
}

/// Files that a page is written to.
#[derive(Debug, Default, Args)]
pub(crate) struct PageFiles {
    /// Write the answers as a CSV table, one figure a line
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "FILE.csv", conflicts_with = "dry_run")]
    pub(crate) csv: Option<PathBuf>,
    /// Write the answers as a Parquet table, one figure a row
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "FILE.parquet", conflicts_with = "dry_run")]
    pub(crate) parquet: Option<PathBuf>,
    /// Write the answers as a page with charts, which loads nothing
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "FILE.html", conflicts_with = "dry_run")]
    pub(crate) html: Option<PathBuf>,
}

impl PageFiles {
    /// Whether one of them is asked for.
    pub(crate) fn is_any(&self) -> bool {
        self.csv.is_some() || self.parquet.is_some() || self.html.is_some()
    }
}

/// Who is protected, and how much of one person counts.
#[derive(Debug, Default, Args)]
pub(crate) struct Person {
    /// Protect all rows that share a value of this column, e.g. patient_id, instead of each row
    #[arg(long, value_name = "COLUMN")]
    pub(crate) unit: Option<String>,
    /// With --unit: the most rows of one person that count in one group
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) rows_per_person: Option<String>,
    /// With --unit and --group-by: the most groups that one person counts in
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) groups_per_person: Option<String>,
    /// With --unit: bounds on what one person adds to the sum of a column, e.g. 'visits in 0,20'; may be repeated
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "COLUMN in LO,HI")]
    pub(crate) total_per_person: Vec<String>,
    /// With --unit: the key of the order in which rows beyond the limits are left out; the same key keeps the same rows
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "TEXT")]
    pub(crate) bounding_key: Option<String>,
}

impl Person {
    /// Whether one of them is given.
    pub(crate) fn is_any(&self) -> bool {
        self.unit.is_some()
            || self.rows_per_person.is_some()
            || self.groups_per_person.is_some()
            || !self.total_per_person.is_empty()
            || self.bounding_key.is_some()
    }
}

/// The groups that a statistic is released for.
#[derive(Debug, Default, Args)]
pub(crate) struct Groups {
    /// Answer for each group: the columns whose values name a group, comma-separated
    #[arg(long, value_name = "A,B,…")]
    pub(crate) group_by: Option<String>,
    /// The public groups: a CSV file whose header names the columns, or COLUMN=A,B,…, once for each column
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "KEYS")]
    pub(crate) keys: Vec<String>,
    /// Find the groups privately with this share of epsilon (0.1 if only the flag is given); needs --delta
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "SHARE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(conflicts_with = "keys")]
    pub(crate) select_keys: Option<String>,
}

impl Groups {
    /// Whether one of them is given.
    pub(crate) fn is_any(&self) -> bool {
        self.group_by.is_some() || !self.keys.is_empty() || self.select_keys.is_some()
    }
}

/// A flag that asks for a statistic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StatisticFlag {
    /// Its name, without hyphens in front.
    pub(crate) name: &'static str,
    /// What stands for the value.
    pub(crate) value: &'static str,
    help: &'static str,
    /// Whether it may stand alone.
    alone: bool,
}

/// The flags of statistics, in the order of the help.
#[rustfmt::skip]
pub(crate) const STATISTICS: &[StatisticFlag] = &[
    StatisticFlag { name: "count", value: "[COLUMN]", help: "Count rows, or rows with a value in COLUMN", alone: true },
    StatisticFlag { name: "people", value: "", help: "Count people: distinct values of --unit", alone: true },
    StatisticFlag { name: "sum", value: "COLUMN in LO,HI", help: "Sum values clamped to LO and HI", alone: false },
    StatisticFlag { name: "mean", value: "COLUMN in LO,HI", help: "Average values clamped to LO and HI", alone: false },
    StatisticFlag { name: "variance", value: "COLUMN in LO,HI", help: "Variance of clamped values", alone: false },
    StatisticFlag { name: "stddev", value: "COLUMN in LO,HI", help: "Standard deviation of clamped values", alone: false },
    StatisticFlag { name: "median", value: "COLUMN in LO,HI", help: "Median of clamped values", alone: false },
    StatisticFlag { name: "quantiles", value: "COLUMN in LO,HI at Q,Q", help: "Several quantiles from one release", alone: false },
    StatisticFlag { name: "histogram", value: "COLUMN of A,B", help: "Rows in each category; bins or dates: COLUMN by 0,10,20", alone: false },
    StatisticFlag { name: "proportion", value: "COLUMN is VALUE", help: "Proportion of rows with a value", alone: false },
    StatisticFlag { name: "mode", value: "COLUMN of A,B", help: "The most common of the declared categories", alone: false },
    StatisticFlag { name: "top", value: "K COLUMN of A,B", help: "The K most common of the declared categories", alone: false },
    StatisticFlag { name: "distinct", value: "COLUMN of A,B", help: "How many of the declared values occur", alone: false },
    StatisticFlag { name: "covariance", value: "X in LO,HI and Y in LO,HI", help: "Covariance of two columns", alone: false },
    StatisticFlag { name: "correlation", value: "X in LO,HI and Y in LO,HI", help: "Correlation of two columns", alone: false },
    StatisticFlag { name: "trend", value: "Y in LO,HI on X in LO,HI", help: "Least-squares line of Y on X", alone: false },
    StatisticFlag { name: "contingency", value: "A of X,Y and B of Z,W", help: "Rows in each combination of cells", alone: false },
];

/// Those that `-h` shows.
const SHORT: [&str; 5] = ["count", "people", "mean", "median", "histogram"];

/// The statistics that were asked for by flags, in the order in which they were typed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Statistics(pub(crate) Vec<(&'static str, String)>);

impl Args for Statistics {
    fn augment_args(command: Command) -> Command {
        STATISTICS.iter().fold(command, |command, flag| {
            let argument = Arg::new(flag.name)
                .long(flag.name)
                .help(flag.help)
                .help_heading("Statistics (each may be repeated; see --help for all of them)")
                .hide_short_help(!SHORT.contains(&flag.name))
                .action(ArgAction::Append);
            command.arg(match flag.alone {
                true if flag.value.is_empty() => argument
                    .num_args(0..=1)
                    .require_equals(true)
                    .default_missing_value("")
                    .value_name("CLAUSES"),
                true => argument
                    .num_args(0..=1)
                    .require_equals(true)
                    .default_missing_value("")
                    .value_name("COLUMN"),
                false => argument.value_name(flag.value),
            })
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Statistics {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut asked = Vec::new();
        for flag in STATISTICS {
            let values = matches.get_many::<String>(flag.name).into_iter().flatten();
            let places = matches.indices_of(flag.name).into_iter().flatten();
            asked.extend(places.zip(values).map(|(place, text)| (place, flag.name, text.clone())));
        }
        asked.sort_by_key(|(place, ..)| *place);
        Ok(Self(asked.into_iter().map(|(_, name, text)| (name, text)).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
