//! `reticent demo` as clap reads it.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Output folder; the folder of an earlier demo is replaced
    #[arg(long, value_name = "DIR", default_value = "demo")]
    pub(crate) out: PathBuf,
    /// Number of threads [default: all processors]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) threads: Option<String>,
    /// Open the page in a browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Few records and steps, to test the command itself: the numbers mean little
    #[arg(long, hide = true)]
    pub(crate) quick: bool,
}
