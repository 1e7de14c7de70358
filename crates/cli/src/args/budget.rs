//! `reticent budget` as clap reads it, and the flags of the verbs that are charged to a budget.

use super::help::budget as help;
use super::help::short;
use super::reading::DialectFlags;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Question {
    /// Create the budget of some people's data
    #[command(after_help = short(help::CREATE), after_long_help = help::CREATE)]
    Create(CreateBudget),
    /// Show what a budget covers, what is spent and what is left
    #[command(after_help = short(help::SHOW), after_long_help = help::SHOW)]
    Show(ShowBudget),
    /// List the charges
    #[command(after_help = short(help::HISTORY), after_long_help = help::HISTORY)]
    History(BudgetHistory),
    /// Declare more data of the same people
    #[command(after_help = short(help::ADD_DATA), after_long_help = help::ADD_DATA)]
    AddData(AddData),
    /// Set a part aside for an analyst or a purpose
    #[command(after_help = short(help::ALLOT), after_long_help = help::ALLOT)]
    Allot(AllotBudget),
    /// Close a budget: nothing can be charged any more
    #[command(after_help = short(help::CLOSE), after_long_help = help::CLOSE)]
    Close(CloseBudget),
    /// Recompute the whole ledger and look for damage, missing charges and copies
    #[command(after_help = short(help::VERIFY), after_long_help = help::VERIFY)]
    Verify(VerifyBudget),
    /// Write the ledger as JSON, for a certificate, a report or an archive
    #[command(after_help = short(help::EXPORT), after_long_help = help::EXPORT)]
    Export(ExportBudget),
    /// Write a page that shows spending over time
    #[command(after_help = short(help::PAGE), after_long_help = help::PAGE)]
    Page(BudgetPage),
}

#[derive(Debug, Args)]
pub(crate) struct CreateBudget {
    /// The file of the budget, e.g. hospital.budget; it must be new
    pub(crate) file: PathBuf,
    /// Limit on epsilon for everything that is ever computed from the data
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) epsilon: String,
    /// Limit on delta, well below 1 / number of people, e.g. 1e-6 [default: 0]
    ///
    /// With a delta, a thousand small questions cost far less than their sum; without one, costs are added up.
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    /// Privacy unit: row, or the column whose value all rows of one person share
    #[arg(long, value_name = "COLUMN", default_value = "row")]
    pub(crate) unit: String,
    /// Neighboring relation: add-remove or replace-one
    ///
    /// add-remove hides whether a record is in the data, replace-one hides what a record contains.
    #[arg(long, value_name = "RELATION", default_value = "add-remove")]
    pub(crate) neighboring: String,
    /// The data: a file, a folder or a pattern in quotes, e.g. 'visits/*.parquet'; can be repeated
    #[arg(long, value_name = "PATH", required = true, num_args = 1..)]
    pub(crate) data: Vec<PathBuf>,
    /// The name of the budget [default: the name of its file]
    #[arg(long, value_name = "TEXT")]
    pub(crate) name: Option<String>,
    /// Last day on which it can be charged, e.g. 2027-01-01 (UTC)
    #[arg(long, value_name = "DATE")]
    pub(crate) valid_until: Option<String>,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) dialect: DialectFlags,
}

#[derive(Debug, Args)]
pub(crate) struct ShowBudget {
    /// The file of the budget
    pub(crate) file: PathBuf,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BudgetHistory {
    /// The file of the budget
    pub(crate) file: PathBuf,
    /// Only the charges of this analyst
    #[arg(long, value_name = "NAME")]
    pub(crate) analyst: Option<String>,
    /// Only the charges for this purpose
    #[arg(long, value_name = "NAME")]
    pub(crate) purpose: Option<String>,
    /// Only so many of the latest charges
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) last: Option<String>,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AddData {
    /// The file of the budget
    pub(crate) file: PathBuf,
    /// Data of the same people: files, folders or patterns in quotes
    #[arg(value_name = "PATH", required = true, num_args = 1..)]
    pub(crate) data: Vec<PathBuf>,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) dialect: DialectFlags,
}

#[derive(Debug, Args)]
pub(crate) struct AllotBudget {
    /// The file of the budget
    pub(crate) file: PathBuf,
    /// The analyst that the part is for
    #[arg(long, value_name = "NAME", required_unless_present = "purpose")]
    pub(crate) analyst: Option<String>,
    /// The purpose that the part is for, instead of an analyst
    #[arg(long, value_name = "NAME", conflicts_with = "analyst")]
    pub(crate) purpose: Option<String>,
    /// Limit on epsilon of the part
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) epsilon: String,
    /// Limit on delta of the part [default: 0]
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    /// Last day on which the part can be charged, e.g. 2027-01-01 (UTC)
    #[arg(long, value_name = "DATE")]
    pub(crate) valid_until: Option<String>,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CloseBudget {
    /// The file of the budget
    pub(crate) file: PathBuf,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyBudget {
    /// The file of the budget
    pub(crate) file: PathBuf,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportBudget {
    /// The file of the budget
    pub(crate) file: PathBuf,
    /// Write the ledger to this file [default: standard output]
    #[arg(long, value_name = "FILE.json")]
    pub(crate) out: Option<PathBuf>,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BudgetPage {
    /// The file of the budget
    pub(crate) file: PathBuf,
    /// Write the page to this file
    #[arg(long, value_name = "FILE.html")]
    pub(crate) out: PathBuf,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The flags of verbs that are charged to a budget.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct BudgetFlags {
    /// Charge this budget, made by 'reticent budget create' [default: the one that --schema names]
    #[arg(long, value_name = "FILE", help_heading = "Budget")]
    pub(crate) budget: Option<PathBuf>,
    /// Who asks, for the ledger and for a part that was set aside
    #[arg(long, value_name = "NAME", help_heading = "Budget", hide_short_help = true)]
    pub(crate) analyst: Option<String>,
    /// What for, likewise
    #[arg(long, value_name = "NAME", help_heading = "Budget", hide_short_help = true)]
    pub(crate) purpose: Option<String>,
}

/// The flags of verbs whose answers a budget remembers.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RememberedFlags {
    #[command(flatten)]
    pub(crate) payer: BudgetFlags,
    /// Pay for a new answer, even if the budget remembers one
    #[arg(long, help_heading = "Budget", hide_short_help = true)]
    pub(crate) refresh: bool,
}
