//! `reticent account` as clap reads it.

use super::help::account as help;
use super::help::short;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one of them in a process")]
pub(crate) enum Request {
    #[command(flatten)]
    Question(Question),
    /// Evaluate closed formulas of textbooks and courses, in the range in which they hold
    #[command(after_help = short(super::help::formula::FORMULA), after_long_help = super::help::formula::FORMULA)]
    #[command(arg_required_else_help = true)]
    Formula {
        #[command(subcommand)]
        formula: super::formula::Formula,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Question {
    /// Compute epsilon at a given delta
    #[command(after_help = short(help::EPSILON), after_long_help = help::EPSILON)]
    Epsilon(Epsilon),
    /// Compute delta at a given epsilon
    #[command(after_help = short(help::DELTA), after_long_help = help::DELTA)]
    Delta(Delta),
    /// Find the smallest noise multiplier for a budget
    #[command(after_help = short(help::NOISE), after_long_help = help::NOISE)]
    Noise(Budget),
    /// Find the largest number of steps within a budget
    #[command(after_help = short(help::STEPS), after_long_help = help::STEPS)]
    Steps(Budget),
    /// Find the largest sampling rate within a budget
    #[command(after_help = short(help::RATE), after_long_help = help::RATE)]
    Rate(Budget),
    /// Compute Rényi divergences at given orders
    #[command(after_help = short(help::RDP), after_long_help = help::RDP)]
    Rdp(Rdp),
    /// Bound any attack: false-negative rate against false-positive rate
    #[command(after_help = short(help::TRADEOFF), after_long_help = help::TRADEOFF)]
    Tradeoff(Tradeoff),
    /// Bound any attack that recovers a record or an attribute: success with the record, by success without it
    #[command(after_help = short(help::RECONSTRUCTION), after_long_help = help::RECONSTRUCTION)]
    Reconstruction(Reconstruction),
    /// Compute the guarantee of a group of people
    #[command(after_help = short(help::GROUP), after_long_help = help::GROUP)]
    Group(Group),
    /// Bound how much the use of a person's record changes the probability of an outcome
    #[command(after_help = short(help::OUTCOME), after_long_help = help::OUTCOME)]
    Outcome(Outcome),
    /// Bound what an observer can believe about one person after an output
    #[command(after_help = short(help::POSTERIOR), after_long_help = help::POSTERIOR)]
    Posterior(Posterior),
    /// Compare epsilon by every accountant
    #[command(after_help = short(help::COMPARE), after_long_help = help::COMPARE)]
    Compare(Compare),
    /// Write the privacy statement for a paper or a model card
    #[command(after_help = short(help::STATEMENT), after_long_help = help::STATEMENT)]
    Statement(Statement),
}

/// The events: a list, or the parameters of a training run.
#[derive(Debug, Args)]
pub(crate) struct Source {
    /// A JSON file of events, or a certificate; - reads standard input
    #[arg(long, value_name = "FILE.json", help_heading = "Events from a file")]
    pub(crate) events: Option<PathBuf>,
    /// The history of an Opacus accountant as JSON: json.dumps(accountant.history)
    #[arg(long, value_name = "FILE.json", help_heading = "Events from a file")]
    pub(crate) opacus: Option<PathBuf>,
    /// An event of dp_accounting as Python prints it: repr(event)
    #[arg(long, value_name = "FILE", help_heading = "Events from a file")]
    pub(crate) dp_event: Option<PathBuf>,
    /// Noise multiplier: sigma / clipping norm, above 0
    #[arg(long, value_name = "S", allow_hyphen_values = true, help_heading = TRAINING)]
    pub(crate) noise_multiplier: Option<String>,
    /// Sampling rate: the probability that a record is in a step [default: 1, every record in every step]
    #[arg(long, value_name = "Q", allow_hyphen_values = true, help_heading = TRAINING)]
    pub(crate) sampling_rate: Option<String>,
    /// Number of steps [default: 1]
    #[arg(long, value_name = "T", allow_hyphen_values = true, help_heading = TRAINING)]
    pub(crate) steps: Option<String>,
    /// Number of records N; with --batch-size B it replaces --sampling-rate: Q = B / N
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = TRAINING)]
    pub(crate) dataset_size: Option<String>,
    /// Batch size: records in a step (the expected number, if sampled)
    #[arg(long, value_name = "B", allow_hyphen_values = true, help_heading = TRAINING)]
    pub(crate) batch_size: Option<String>,
    /// Number of epochs, instead of --steps: T = K N / B, rounded up
    #[arg(long, value_name = "K", allow_hyphen_values = true, help_heading = TRAINING)]
    pub(crate) epochs: Option<String>,
    /// How batches were really sampled: poisson, shuffled, without-replacement or balls-in-bins [default: poisson]
    #[arg(long, value_name = "NAME", help_heading = TRAINING)]
    pub(crate) sampling: Option<String>,
    /// Neighboring relation: add-remove or replace-one [default: from the events, or add-remove]
    ///
    /// add-remove hides whether a record is in the data, replace-one hides what a record contains.
    #[arg(long, value_name = "RELATION")]
    pub(crate) neighboring: Option<String>,
}

const TRAINING: &str = "Events of a training run (DP-SGD: clipped gradients, Gaussian noise)";

/// The flags that all questions share.
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
    /// Delta, well below 1 / number of records, e.g. 1e-6
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    /// Maximum relative gap between upper and lower bound, for the pld accountant [default: 1e-4]
    #[arg(long, value_name = "W", allow_hyphen_values = true)]
    pub(crate) width: Option<String>,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct Delta {
    /// Epsilon of the claim or budget
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) epsilon: Option<String>,
    /// Maximum relative gap between upper and lower bound, for the pld accountant [default: 1e-4]
    #[arg(long, value_name = "W", allow_hyphen_values = true)]
    pub(crate) width: Option<String>,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct Budget {
    /// Epsilon of the claim or budget
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) epsilon: Option<String>,
    /// Delta, well below 1 / number of records, e.g. 1e-6
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct Rdp {
    /// Rényi orders, comma-separated: 1 is the Kullback-Leibler divergence, inf the maximum privacy loss
    #[arg(long, value_name = "A,B,…", allow_hyphen_values = true)]
    pub(crate) orders: Option<String>,
    /// Also convert to epsilon at this delta, at the best order
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
    /// Plot the whole trade-off curve
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct Reconstruction {
    /// Probabilities that the attack succeeds against a release without the record, comma-separated
    ///
    /// This is what the attacker achieves by public knowledge, the other records and luck; it is not a population rate.
    #[arg(long, value_name = "P", default_value = "0.001,0.01,0.1", allow_hyphen_values = true)]
    pub(crate) prior: String,
    /// Plot the bound against the prior
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct Group {
    /// Group size: how many people, or records of one person, change together
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub(crate) size: String,
    /// Delta of the group's guarantee; not needed for pure, approximate and rdp events
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
    /// Also use the (epsilon, delta) guarantee at this delta
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

/// Flags that conflict with a pure epsilon that is given directly.
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
    /// Prior probabilities, from 0 to 1, comma-separated
    #[arg(long, value_name = "P", default_value = "0.01,0.1,0.5", allow_hyphen_values = true)]
    pub(crate) prior: String,
    /// Values of pure epsilon to compare, comma-separated, instead of events
    #[arg(long, value_name = "E", allow_hyphen_values = true, conflicts_with_all = CLAIMED)]
    pub(crate) epsilon: Option<String>,
    /// Probability with which the bound may fail; needed if the privacy loss is unbounded, as with Gaussian noise
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    /// Rényi orders, comma-separated: also bound the mean of (posterior odds / prior odds)^(order - 1)
    ///
    /// At order 1 it is the mean change of the log-odds.
    #[arg(long, value_name = "A,B,…", allow_hyphen_values = true, conflicts_with = "epsilon")]
    pub(crate) orders: Option<String>,
    /// Plot the posterior against the prior
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// Delta, well below 1 / number of records, e.g. 1e-6
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    /// Plot epsilon against steps (against repetitions of the list, for --events)
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) ask: Ask,
}

#[derive(Debug, Args)]
pub(crate) struct Statement {
    /// Delta, well below 1 / number of records, e.g. 1e-6
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    /// Name of the privacy unit, e.g. 'user' [default: from the certificate, or record]
    #[arg(long, value_name = "NAME")]
    pub(crate) unit: Option<String>,
    #[command(flatten)]
    pub(crate) ask: Ask,
}
