//! The lane of stored budgets: a thousand kills, many flipped bytes, and the same suites against a PostgreSQL server.

use crate::shell::{Result, Shell, capture, run};

/// How often processes are killed, and files get flipped bytes.
const KILLS: &str = "1000";
const FLIPS: &str = "5000";

/// Runs the suites of `crates/ledger` in their long form.
pub(crate) fn check(shell: &Shell) -> Result<String> {
    let features = ["--package", "reticent-ledger", "--features", "postgres"];
    run(shell.cargo(&[&["clippy"], &features[..], &["--all-targets", "--", "-D", "warnings"]].concat()))?;
    let has_server = has_server(shell);
    let mut command = shell.cargo(&[&["test"], &features[..], &["--lib", "--", "--nocapture"]].concat());
    command.env("RETICENT_KILLS", KILLS).env("RETICENT_FLIPS", FLIPS);
    if has_server {
        // A server that does not start is then an error.
        command.env("RETICENT_POSTGRES", "1");
    }
    run(command)?;
    let server =
        if has_server { "also with PostgreSQL" } else { "PostgreSQL SKIPPED (initdb was not found)" };
    Ok(format!("{KILLS} kills, {FLIPS} files with flipped bytes, {server}"))
}

/// Whether the packages of a server are installed, where Debian has them or on the path.
fn has_server(shell: &Shell) -> bool {
    let mut initdb = shell.program("sh");
    initdb.args(["-c", "command -v initdb || ls /usr/lib/postgresql/*/bin/initdb"]);
    capture(initdb).is_ok()
}
