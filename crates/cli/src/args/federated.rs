//! `reticent attack federated` as clap reads it.

use super::audit::Statement;
use super::network::ComputingFlags;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// How an attacker departs from the protocol.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Active {
    /// Raise the loss of the audited records between rounds
    Ascent,
    /// The server also keeps its victim apart from all others
    Isolate,
}

#[derive(Debug, Args)]
pub(crate) struct Federated {
    /// Folder of a model written by 'reticent train --federated … --out'
    #[arg(value_name = "MODEL")]
    pub(crate) run: PathBuf,
    /// Who attacks: server, or the name of a party
    #[arg(long, value_name = "NAME", default_value = "server")]
    pub(crate) observer: String,
    /// The party whose records the server asks about [default: the first]
    #[arg(long, value_name = "PARTY")]
    pub(crate) victim: Option<String>,
    /// Observed rounds, as in 1-5, 10-50:10 or 2,4,8; a / separates sets to compare [default: five over the whole run]
    #[arg(long, value_name = "SETS")]
    pub(crate) rounds: Option<String>,
    /// Depart from the protocol in these rounds, instead of looking on
    #[arg(long, value_enum)]
    pub(crate) active: Option<Active>,
    /// Learning rate of the ascent, above 0 [default: 0.05]
    #[arg(long, value_name = "R", allow_hyphen_values = true, requires = "active", hide_short_help = true)]
    pub(crate) rate: Option<String>,
    /// Steps of ascent in a round [default: 5]
    #[arg(long, value_name = "N", allow_hyphen_values = true, requires = "active", hide_short_help = true)]
    pub(crate) ascent_steps: Option<String>,
    /// Data from the same distribution that NO party holds [default: the validation data, or the test split]
    #[arg(long, value_name = "DATA")]
    pub(crate) non_members: Option<PathBuf>,
    /// Maximum number of records to audit, half of them members
    #[arg(long, value_name = "N", default_value = "1000", allow_hyphen_values = true)]
    pub(crate) records: String,
    /// Number of threads [default: all processors]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) threads: Option<String>,
    #[command(flatten)]
    pub(crate) computing: ComputingFlags,
    #[command(flatten)]
    pub(crate) statement: Statement,
    /// Output folder: audit.json, private.json, scores.csv
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
    /// Print one line of JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}
