//! `reticent attack attribute` as clap reads it.

use super::disclosure::Stated;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Attribute {
    /// Folder of a model of a table, written by 'reticent train --out'
    #[arg(value_name = "MODEL")]
    pub(crate) run: PathBuf,
    /// Column to guess from all other columns and the label, with and without the model; one of categories
    #[arg(long, value_name = "COLUMN")]
    pub(crate) column: String,
    /// Data that the model was not trained on; half of it is the attacker's own [default: held-out rows, or the test split]
    #[arg(long, value_name = "DATA")]
    pub(crate) non_members: Option<PathBuf>,
    /// Most records to judge, half of them members
    #[arg(long, value_name = "N", default_value = "4000", allow_hyphen_values = true)]
    pub(crate) records: String,
    /// Models that the attacker trains on halves of its own records; 0 for no calibrated attack
    #[arg(long, value_name = "N", default_value = "4", allow_hyphen_values = true)]
    pub(crate) references: String,
    /// Key of the choice of records; the same key gives the same records
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "TEXT", default_value = "reticent")]
    pub(crate) key: String,
    #[command(flatten)]
    pub(crate) stated: Stated,
}
