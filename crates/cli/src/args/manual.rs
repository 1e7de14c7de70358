//! `reticent completions` and `man` as clap reads them.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Output folder; it is created if it does not exist
    #[arg(required_unless_present = "markdown")]
    pub(crate) dir: Option<PathBuf>,
    /// Print the reference of all commands as one page of Markdown
    #[arg(long, hide = true, conflicts_with_all = ["dir", "json"])]
    pub(crate) markdown: bool,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}
