//! Every verb that writes files, killed at its system calls many times: `cargo xtask kills`. Not a step of the gate, whose tests have the
//! quick form of it.

use crate::shell::{self, Result, Shell};

/// How often, unless another number is given.
const KILLS: &str = "300";

/// Runs the test of kills with so many of them.
pub(crate) fn run(shell: &Shell, count: Option<&str>) -> Result<String> {
    let count = count.unwrap_or(KILLS);
    let arguments =
        ["test", "--package", "reticent-cli", "--test", "all", "folder::kills", "--", "--nocapture"];
    let mut command = shell.cargo(&arguments);
    command.env("RETICENT_KILLS", count);
    shell::run(command)?;
    Ok(format!("{count} kills asked for, and everything in order after each"))
}
