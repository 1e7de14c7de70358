//! `reticent attack exposure` as clap reads it.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Exposure {
    /// Folder of a language model written by 'reticent train --out'; its training is repeated with secrets
    #[arg(value_name = "MODEL")]
    pub(crate) run: PathBuf,
    /// Text of a secret, with one place such as {digits:4}, {lower:6}, {hex:8} or {abc:5} for five of the symbols a, b, c
    #[arg(long, value_name = "TEXT", default_value = "my pin is {digits:4}")]
    pub(crate) format: String,
    /// How often secrets are in the training data, comma-separated: a group of secrets for each number
    #[arg(long, value_name = "N,…", default_value = "1,4,16", allow_hyphen_values = true)]
    pub(crate) repetitions: String,
    /// Number of secrets of each group; as many that are never planted are ranked beside them
    #[arg(long, value_name = "N", default_value = "8", allow_hyphen_values = true)]
    pub(crate) secrets: String,
    /// Number of candidates to draw if the format has more than a million; the rank is then estimated
    #[arg(long, value_name = "N", default_value = "100000", allow_hyphen_values = true)]
    pub(crate) candidates: String,
    /// Number of continuations of the text before the secret to sample from the model; 0 for none
    #[arg(long, value_name = "N", default_value = "1000", allow_hyphen_values = true)]
    pub(crate) continuations: String,
    #[command(flatten)]
    pub(crate) computing: super::network::ComputingFlags,
    /// Confidence level of intervals and bounds
    #[arg(long, value_name = "C", default_value = "0.95", allow_hyphen_values = true)]
    pub(crate) confidence: String,
    /// Key of the secrets; the same key gives the same secrets
    #[arg(long, value_name = "TEXT", default_value = "reticent")]
    pub(crate) key: String,
    /// Folder of the audit that the result goes to, for 'reticent report' [default: MODEL-audit]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
    /// Print one line of JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}
