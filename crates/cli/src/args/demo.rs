//! `reticent demo` as clap reads it.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Where everything goes; the folder of an earlier demo is replaced
    #[arg(long, value_name = "DIR", default_value = "demo")]
    pub(crate) out: PathBuf,
    /// Threads to use [default: all processors]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) threads: Option<String>,
    /// Open the page in a browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// A few records and steps, to try the command itself: its numbers show little
    #[arg(long, hide = true)]
    pub(crate) quick: bool,
}
