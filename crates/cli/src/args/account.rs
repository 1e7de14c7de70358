//! `reticent account` as clap reads it.

use super::help::account as help;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Question {
    /// The epsilon that events add up to at a delta
    #[command(after_help = help::EPSILON)]
    Epsilon(Epsilon),
    /// The delta that events add up to at an epsilon
    #[command(after_help = help::DELTA)]
    Delta(Delta),
    /// The least noise multiplier for a budget
    #[command(after_help = help::NOISE)]
    Noise(Budget),
    /// The largest number of steps within a budget
    #[command(after_help = help::STEPS)]
    Steps(Budget),
    /// The largest sampling rate within a budget
    #[command(after_help = help::RATE)]
    Rate(Budget),
    /// Rényi divergences at given orders
    #[command(after_help = help::RDP)]
    Rdp(Rdp),
    /// What an attacker can achieve: misses against false alarms
    #[command(after_help = help::TRADEOFF)]
    Tradeoff(Tradeoff),
    /// What a group of people is promised
    #[command(after_help = help::GROUP)]
    Group(Group),
    /// How much likelier a bad outcome becomes for a person whose record is used
    #[command(after_help = help::OUTCOME)]
    Outcome(Outcome),
    /// What an output can make somebody believe about one person
    #[command(after_help = help::POSTERIOR)]
    Posterior(Posterior),
    /// Epsilon by every accountant, side by side
    #[command(after_help = help::COMPARE)]
    Compare(Compare),
    /// The paragraph for a paper or a model card
    #[command(after_help = help::STATEMENT)]
    Statement(Statement),
}

/// What happened: a list of events, or a training run in short.
#[derive(Debug, Args)]
pub(crate) struct Source {
    /// A JSON file of events, or a certificate; - reads standard input
    #[arg(long, value_name = "FILE.json", help_heading = "What happened (a list of events)")]
    pub(crate) events: Option<PathBuf>,
    /// Noise of a step: sigma / clipping norm, above 0
    #[arg(long, value_name = "S", allow_hyphen_values = true, help_heading = TRAINING)]
    pub(crate) noise_multiplier: Option<String>,
    /// Probability of each record to be in a step [default: 1, every record in every step]
    #[arg(long, value_name = "Q", allow_hyphen_values = true, help_heading = TRAINING)]
    pub(crate) sampling_rate: Option<String>,
    /// Number of steps [default: 1]
    #[arg(long, value_name = "T", allow_hyphen_values = true, help_heading = TRAINING)]
    pub(crate) steps: Option<String>,
    /// Number of records; with --batch-size instead of --sampling-rate: Q = B / N
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = TRAINING)]
    pub(crate) dataset_size: Option<String>,
    /// Records in a batch (on average, when sampled)
    #[arg(long, value_name = "B", allow_hyphen_values = true, help_heading = TRAINING)]
    pub(crate) batch_size: Option<String>,
    /// Passes over the data, instead of --steps: T = K N / B, rounded up
    #[arg(long, value_name = "K", allow_hyphen_values = true, help_heading = TRAINING)]
    pub(crate) epochs: Option<String>,
    /// How batches were really drawn: poisson, shuffled, without-replacement or balls-in-bins [default: poisson]
    #[arg(long, value_name = "NAME", help_heading = TRAINING)]
    pub(crate) sampling: Option<String>,
    /// What is hidden: add-remove (that a record is there at all) or replace-one (what it holds) [default: as the
    /// events say, or add-remove]
    #[arg(long, value_name = "RELATION")]
    pub(crate) neighboring: Option<String>,
}

const TRAINING: &str = "What happened (a training run with clipped gradients and Gaussian noise)";

/// What all questions share.
#[derive(Debug, Args)]
pub(crate) struct Ask {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Accountant: pld, rdp, moments, optimal, advanced or basic [default: pld, the tightest]
    #[arg(long, value_name = "NAME")]
    pub(crate) accountant: Option<String>,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Epsilon {
    /// The delta of the claim: far below 1 / number of records, e.g. 1e-6
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    /// How far apart the ends may be, relative to the upper one, where the accountant is pld [default: 1e-4]
    #[arg(long, value_name = "W", allow_hyphen_values = true)]
    pub(crate) width: Option<String>,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct Delta {
    /// The epsilon to hold or stay within
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) epsilon: Option<String>,
    /// How far apart the ends may be, relative to the upper one, where the accountant is pld [default: 1e-4]
    #[arg(long, value_name = "W", allow_hyphen_values = true)]
    pub(crate) width: Option<String>,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct Budget {
    /// The epsilon to hold or stay within
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) epsilon: Option<String>,
    /// The delta of the claim: far below 1 / number of records, e.g. 1e-6
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct Rdp {
    /// Orders, comma-separated: 1 is the Kullback-Leibler divergence, inf the largest loss
    #[arg(long, value_name = "A,B,…", allow_hyphen_values = true)]
    pub(crate) orders: Option<String>,
    /// Also convert to epsilon at this delta, at the best order of all
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct Tradeoff {
    /// False-positive rates from 0 to 1, comma-separated
    #[arg(long, value_name = "A,B,…", allow_hyphen_values = true)]
    pub(crate) fpr: Option<String>,
    /// Draw the whole curve
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct Group {
    /// How many people, or records of one person, change together
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub(crate) size: String,
    /// The delta of the promise to the group; not needed for pure, approximate and rdp events
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct Outcome {
    /// Probability of the outcome when the person's record is used, from 0 to 1
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    pub(crate) probability: String,
    /// Also use the (epsilon, delta) claim at this delta
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

/// Flags that say nothing beside claims that are given.
const CLAIMED: [&str; 10] = [
    "events",
    "noise_multiplier",
    "sampling_rate",
    "steps",
    "dataset_size",
    "batch_size",
    "epochs",
    "sampling",
    "neighboring",
    "accountant",
];

#[derive(Debug, Args)]
pub(crate) struct Posterior {
    /// Beliefs before, from 0 to 1, comma-separated
    #[arg(long, value_name = "P", default_value = "0.01,0.1,0.5", allow_hyphen_values = true)]
    pub(crate) prior: String,
    /// Pure claims to compare, comma-separated, instead of events
    #[arg(long, value_name = "E", allow_hyphen_values = true, conflicts_with_all = CLAIMED)]
    pub(crate) epsilon: Option<String>,
    /// Probability with which the bound may fail; needed where some outputs can tell any amount, as with Gaussian noise
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    /// Draw the belief after against the belief before
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The delta of the claim: far below 1 / number of records, e.g. 1e-6
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    /// Draw epsilon against steps (against repetitions of the list, for --events)
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct Statement {
    /// The delta of the claim: far below 1 / number of records, e.g. 1e-6
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    /// What one unit of protection is, e.g. 'user' [default: as the certificate says, or record]
    #[arg(long, value_name = "NAME")]
    pub(crate) unit: Option<String>,
    #[command(flatten)]
    pub(crate) ask: Ask,
}
