//! `reticent attack reconstruct` and `attack difference` as clap reads them.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Reconstruct {
    /// Folder of a model written by 'reticent train --out'
    #[arg(value_name = "MODEL")]
    pub(crate) run: PathBuf,
    /// Networks: sizes of the batches whose exact gradient the attacker sees, comma-separated
    #[arg(long, value_name = "B,…", default_value = "1,4,16", allow_hyphen_values = true)]
    pub(crate) batches: String,
    /// Number of batches of each size, or of records of a linear model, that are attacked [default: 12; 200]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) attacked: Option<String>,
    /// Networks: also attack the noisy gradient of one private step on one record, for each of these epsilons; none for no such step
    #[arg(long, value_name = "E,…|none", default_value = "1,8", allow_hyphen_values = true)]
    pub(crate) epsilons: String,
    /// Delta of these private steps
    #[arg(long, value_name = "D", default_value = "1e-5", allow_hyphen_values = true)]
    pub(crate) delta: String,
    /// Networks: optimizer steps of gradient inversion
    #[arg(long, value_name = "T", default_value = "600", allow_hyphen_values = true)]
    pub(crate) steps: String,
    /// Small networks: number of models that a reconstruction network learns from; 0 for no such attack
    #[arg(long, value_name = "N", default_value = "0", allow_hyphen_values = true)]
    pub(crate) shadows: String,
    /// Probability of success without the record, for the bound that the certificate gives; not a population rate
    #[arg(long, value_name = "P", default_value = "0.01", allow_hyphen_values = true)]
    pub(crate) prior: String,
    /// Key of the choice of records; the same key gives the same records
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "TEXT", default_value = "reticent")]
    pub(crate) key: String,
    #[command(flatten)]
    pub(crate) stated: Stated,
}

/// What all attacks on records share.
#[derive(Debug, Clone, Args)]
pub(crate) struct Stated {
    /// Confidence level of intervals and bounds
    #[arg(long, value_name = "C", default_value = "0.95", allow_hyphen_values = true)]
    pub(crate) confidence: String,
    /// Output folder, of the model's audit [default: beside the model; none for releases]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
    /// Print one line of JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Difference {
    /// Folder of a model; or a file with the JSON of 'reticent release page --json', or with exact statistics by name
    #[arg(value_name = "A")]
    pub(crate) first: PathBuf,
    /// The same with or without somebody
    #[arg(value_name = "B")]
    pub(crate) second: PathBuf,
    /// Models: data that neither was trained on [default: held-out rows, or the test split]
    #[arg(long, value_name = "DATA")]
    pub(crate) non_members: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) stated: Stated,
}
