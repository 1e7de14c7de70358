//! The command line as clap reads it: names, help and nothing checked yet.

pub(crate) mod account;
mod attribute;
pub(crate) mod audit;
pub(crate) mod budget;
pub(crate) mod demo;
mod disclosure;
pub(crate) mod exposure;
pub(crate) mod federated;
pub(crate) mod formula;
mod help;
pub(crate) mod learn;
pub(crate) mod manual;
pub(crate) mod network;
pub(crate) mod page;
pub(crate) mod reading;
mod release;
pub(crate) mod schema;
pub(crate) mod statistic;
#[cfg(test)]
mod tests;
pub(crate) mod tune;

pub(crate) use release::*;

use crate::screen;
use clap::{Args, ColorChoice, Parser, Subcommand};
use help::short;

/// Differential privacy for tables and models: private statistics, private training, privacy accounting, and audits of what
/// a trained model leaks
#[derive(Debug, Parser)]
#[command(name = "reticent", version, max_term_width = 100, arg_required_else_help = true)]
#[command(styles = screen::HELP)]
#[command(after_help = "\
Start here: reticent demo
Examples and exit statuses: reticent --help")]
#[command(after_long_help = "\
Examples:
  reticent demo
  reticent release mean testdata/adult/adult.parquet --column age --bounds 17,90 --epsilon 1
  reticent train --epsilon 1
  reticent audit --scores scores.csv
  reticent account epsilon --noise-multiplier 1 --sampling-rate 0.01 --steps 10000 --delta 1e-5

Exit status: 0 success, 2 refused (an error with a code), 70 internal error, 130 interrupted,
141 the reader of standard output closed it.
Every error has a code: 'reticent explain CODE' says what it means and how to fix it.")]
pub(crate) struct Cli {
    /// Use colours: auto, always or never
    ///
    /// With auto, colours are used on a terminal, unless NO_COLOR is set; CLICOLOR_FORCE=1 turns them on elsewhere too.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_short_help = true, hide_possible_values = true)]
    pub(crate) color: ColorChoice,
    /// Do not show progress
    ///
    /// Progress goes to standard error: a bar on a terminal, a line every five seconds elsewhere, nothing with --json.
    /// RETICENT_QUIET=1 does the same.
    #[arg(long, short, global = true, hide_short_help = true)]
    pub(crate) quiet: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Take a guided tour on bundled data
    #[command(after_help = short(help::demo::DEMO), after_long_help = help::demo::DEMO)]
    Demo(demo::Demo),
    /// Release a statistic of a table with differential privacy
    #[command(after_long_help = help::release::RELEASE, arg_required_else_help = true)]
    Release {
        #[command(subcommand)]
        question: Box<Question>,
    },
    /// Keep a privacy budget: a limit on everything computed from some people's data
    #[command(after_long_help = help::budget::BUDGET, arg_required_else_help = true)]
    Budget {
        #[command(subcommand)]
        question: budget::Question,
    },
    /// Compute the privacy cost of releases and training runs, or the noise that a budget needs
    #[command(after_help = short(help::account::ACCOUNT), after_long_help = help::account::ACCOUNT)]
    #[command(arg_required_else_help = true)]
    Account {
        #[command(subcommand)]
        question: account::Request,
    },
    /// Train a linear model or a neural network with differential privacy
    #[command(after_help = short(help::learn::TRAIN), after_long_help = help::learn::TRAIN)]
    Train(Box<learn::Train>),
    /// Search the settings of a network with differential privacy, and state what the whole search costs
    #[command(after_help = short(help::learn::TUNE), after_long_help = help::learn::TUNE)]
    #[command(mut_args(tune::fitted))]
    Tune(Box<tune::Tune>),
    /// Predict with a trained model
    #[command(after_help = short(help::learn::PREDICT), after_long_help = help::learn::PREDICT)]
    Predict(learn::Predict),
    /// Evaluate a trained model on labelled data
    #[command(after_help = short(help::learn::EVALUATE), after_long_help = help::learn::EVALUATE)]
    Evaluate(learn::Evaluate),
    /// Draw texts from a trained language model
    #[command(after_help = short(help::learn::SAMPLE), after_long_help = help::learn::SAMPLE)]
    Sample(learn::Sample),
    /// Draft or learn a schema: the public bounds and categories of a table
    #[command(after_long_help = help::schema::SCHEMA, arg_required_else_help = true)]
    Schema {
        #[command(subcommand)]
        question: schema::Question,
    },
    /// Audit a model: run membership inference attacks and bound epsilon from below
    #[command(after_help = short(help::audit::AUDIT), after_long_help = help::audit::AUDIT)]
    #[command(arg_required_else_help = true)]
    Audit(Box<audit::Audit>),
    /// Run the parts of an audit: single attacks, reference models as jobs, canaries
    #[command(after_help = short(help::audit::ATTACK), after_long_help = help::audit::ATTACK)]
    #[command(arg_required_else_help = true)]
    Attack {
        #[command(subcommand)]
        question: Box<audit::Attack>,
    },
    /// Write an audit and a certificate as one page for a data-protection assessment
    #[command(after_help = short(help::audit::REPORT), after_long_help = help::audit::REPORT)]
    Report(audit::Report),
    /// Explain the code of an error and how to fix it
    Explain(Explain),
    /// Print the completion script of a shell
    #[command(after_help = short(help::manual::COMPLETIONS), after_long_help = help::manual::COMPLETIONS)]
    Completions(manual::Completions),
    /// Write a man page for every command
    #[command(after_help = short(help::manual::MAN), after_long_help = help::manual::MAN)]
    Man(manual::Man),
}

/// The arguments of `reticent explain`.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The code, such as R201; without one, all codes are listed
    #[arg(value_name = "CODE")]
    pub(crate) code: Option<String>,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the page of the documentation
    #[arg(long, hide = true, conflicts_with_all = ["code", "json"])]
    pub(crate) markdown: bool,
}
