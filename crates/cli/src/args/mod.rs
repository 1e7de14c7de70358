//! The command line as clap reads it: names, help and nothing checked yet.

pub(crate) mod account;
pub(crate) mod audit;
pub(crate) mod demo;
mod help;
pub(crate) mod learn;
pub(crate) mod manual;
pub(crate) mod network;
mod release;
pub(crate) mod schema;
#[cfg(test)]
mod tests;

pub(crate) use release::*;

use clap::{Args, Parser, Subcommand};

/// Answer questions about private data and learn from it with noise that hides every single row, account for
/// what it costs, and measure what still leaks.
#[derive(Debug, Parser)]
#[command(name = "reticent", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "\
Try: reticent demo
     reticent release mean testdata/adult/adult.parquet --column age --bounds 17,90 --epsilon 1
     reticent train --epsilon 1
     reticent audit --scores scores.csv
     reticent account epsilon --noise-multiplier 1 --sampling-rate 0.01 --steps 10000 --delta 1e-5

Exit status: 0 done, 2 refused (an error with a code), 70 a defect of the program, 130 interrupted,
141 the reader of standard output has ended.
Errors have codes: 'reticent explain CODE' says what one means and how to mend it.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// A guided tour on bundled data: begin here
    #[command(after_help = help::demo::DEMO)]
    Demo(demo::Demo),
    /// Answer a question about a table with differential privacy
    #[command(after_help = help::release::RELEASE, arg_required_else_help = true)]
    Release {
        #[command(subcommand)]
        question: Question,
    },
    /// What releases and training runs cost together, and how much noise a budget needs
    #[command(after_help = help::account::ACCOUNT, arg_required_else_help = true)]
    Account {
        #[command(subcommand)]
        question: account::Question,
    },
    /// Train a model with differential privacy: linear, or a network
    #[command(after_help = help::learn::TRAIN)]
    Train(Box<learn::Train>),
    /// What a trained model says about the rows of a table
    #[command(after_help = help::learn::PREDICT)]
    Predict(learn::Predict),
    /// How well a trained model does on a labelled table
    #[command(after_help = help::learn::EVALUATE)]
    Evaluate(learn::Evaluate),
    /// Draft the schema of a table: the bounds and categories that training takes as given
    #[command(after_help = help::schema::SCHEMA, arg_required_else_help = true)]
    Schema {
        #[command(subcommand)]
        question: schema::Question,
    },
    /// What a model leaks about who was in its training data: ours, or anybody's
    #[command(after_help = help::audit::AUDIT, arg_required_else_help = true)]
    Audit(Box<audit::Audit>),
    /// Single attacks, reference models as independent jobs, canaries
    #[command(after_help = help::audit::ATTACK, arg_required_else_help = true)]
    Attack {
        #[command(subcommand)]
        question: Box<audit::Attack>,
    },
    /// An audit and a certificate as one page for a data-protection assessment
    #[command(after_help = help::audit::REPORT)]
    Report(audit::Report),
    /// What the code of an error means, and how to mend it
    Explain(Explain),
    /// A script that completes commands and flags, for a shell
    #[command(after_help = help::manual::COMPLETIONS)]
    Completions(manual::Completions),
    /// Write a man page for every command
    #[command(after_help = help::manual::MAN)]
    Man(manual::Man),
}

/// The arguments of `reticent explain`.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The code, such as R201; all codes with their titles if left out
    #[arg(value_name = "CODE")]
    pub(crate) code: Option<String>,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the page of the documentation
    #[arg(long, hide = true, conflicts_with_all = ["code", "json"])]
    pub(crate) markdown: bool,
}
