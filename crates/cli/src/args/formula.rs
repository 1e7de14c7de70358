//! `reticent account formula` as clap reads it.

use super::help::formula as help;
use super::help::short;
use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum Formula {
    /// The probability of every candidate of a private choice
    #[command(name = "selection", after_help = short(help::SELECTION), after_long_help = help::SELECTION)]
    PrivateChoice(PrivateChoice),
    /// How far one person can move several counts, a sum or a mean
    #[command(name = "sensitivity", after_help = short(help::SENSITIVITY), after_long_help = help::SENSITIVITY)]
    QuerySensitivity(QuerySensitivity),
    /// Standard deviation of Gaussian noise: analytic, classical and short formula
    #[command(name = "gaussian", after_help = short(help::GAUSSIAN), after_long_help = help::GAUSSIAN)]
    GaussianNoise(GaussianNoise),
    /// The claim of publishing one random record in full
    #[command(after_help = short(help::RANDOM_RECORD), after_long_help = help::RANDOM_RECORD)]
    RandomRecord(RandomRecord),
    /// Composition of pure mechanisms in Rényi form, beside the other theorems
    #[command(after_help = short(help::COMPOSITION), after_long_help = help::COMPOSITION)]
    Composition(Composition),
    /// Sensitivity and noise of output perturbation
    #[command(after_help = short(help::OUTPUT_PERTURBATION), after_long_help = help::OUTPUT_PERTURBATION)]
    OutputPerturbation(OutputPerturbation),
    /// Number of records with which output perturbation reaches an excess risk
    #[command(after_help = short(help::SAMPLE_SIZE), after_long_help = help::SAMPLE_SIZE)]
    SampleSize(SampleSize),
    /// Noise of projected stochastic gradient descent
    #[command(after_help = short(help::PROJECTED_SGD), after_long_help = help::PROJECTED_SGD)]
    ProjectedSgd(ProjectedSgd),
}

#[derive(Debug, Args)]
pub(crate) struct PrivateChoice {
    /// Candidates with public or assumed scores, e.g. dark=500,brown=399
    #[arg(long, value_name = "NAME=SCORE,…", allow_hyphen_values = true)]
    pub(crate) choices: String,
    /// Epsilon of the claim
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) epsilon: Option<String>,
    /// How far one person can move an answer or a score
    #[arg(long, value_name = "S", default_value = "1", allow_hyphen_values = true)]
    pub(crate) sensitivity: String,
    /// Exponential or permute-and-flip
    #[arg(long, value_name = "NAME", default_value = "exponential")]
    pub(crate) mechanism: String,
    /// All scores move the same way between neighbors, as counts do under add-remove
    #[arg(long)]
    pub(crate) monotone: bool,
    /// Shortfall of the bound [default: the gap between the best score and the next]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) shortfall: Option<String>,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct QuerySensitivity {
    /// Number of counts that are released together
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub(crate) counts: Option<String>,
    /// In how many of the counts one person can be [default: all of them]
    #[arg(long, value_name = "M", allow_hyphen_values = true)]
    pub(crate) overlap: Option<String>,
    /// Public bounds, e.g. 0,120; values outside are clamped
    #[arg(long, value_name = "LO,HI", allow_hyphen_values = true)]
    pub(crate) bounds: Option<String>,
    /// Number of records
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) dataset_size: Option<String>,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A claim.
#[derive(Debug, Args)]
pub(crate) struct Claim {
    /// Epsilon of the claim
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) epsilon: Option<String>,
    /// Delta of the claim
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GaussianNoise {
    #[command(flatten)]
    pub(crate) claim: Claim,
    /// How far one person can move an answer or a score
    #[arg(long, value_name = "S", default_value = "1", allow_hyphen_values = true)]
    pub(crate) sensitivity: String,
}

#[derive(Debug, Args)]
pub(crate) struct RandomRecord {
    /// Number of records
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) dataset_size: String,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Composition {
    #[command(flatten)]
    pub(crate) claim: Claim,
    /// Number of mechanisms
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub(crate) count: String,
    /// Probability of the outcome when the person's record is used, from 0 to 1
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    pub(crate) probability: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct OutputPerturbation {
    #[command(flatten)]
    pub(crate) claim: Claim,
    /// Number of records
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) dataset_size: String,
    /// L2 regularization strength: the coefficient of |w|^2 / 2 in the objective
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    pub(crate) regularization: String,
    /// Lipschitz constant of the loss
    #[arg(long, value_name = "G", default_value = "1", allow_hyphen_values = true)]
    pub(crate) lipschitz: String,
}

#[derive(Debug, Args)]
pub(crate) struct SampleSize {
    #[command(flatten)]
    pub(crate) claim: Claim,
    /// Excess risk: how far the mean loss on the population may be above that of the best weights
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub(crate) excess: String,
    /// Half of the probability with which the bound may fail
    #[arg(long, value_name = "P", default_value = "0.05", allow_hyphen_values = true)]
    pub(crate) failure: String,
    /// Number of weights
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) dimension: String,
    /// Norm of the weights that the model is compared with
    #[arg(long, value_name = "R", default_value = "1", allow_hyphen_values = true)]
    pub(crate) radius: String,
    /// Lipschitz constant of the loss
    #[arg(long, value_name = "G", default_value = "1", allow_hyphen_values = true)]
    pub(crate) lipschitz: String,
}

#[derive(Debug, Args)]
pub(crate) struct ProjectedSgd {
    #[command(flatten)]
    pub(crate) claim: Claim,
    /// Number of records
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) dataset_size: String,
    /// Number of steps
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) steps: String,
    /// Lipschitz constant of the loss
    #[arg(long, value_name = "G", default_value = "1", allow_hyphen_values = true)]
    pub(crate) lipschitz: String,
}
