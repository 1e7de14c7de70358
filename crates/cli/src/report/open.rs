//! A page in the user's browser.

use std::path::Path;
use std::process::{Command, Stdio};

/// Asks the system to show a file; what went wrong is a warning, since the file is there.
pub(crate) fn open(page: &Path) -> String {
    let (program, before): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(target_os = "windows") {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let started = Command::new(program)
        .args(before)
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match started {
        Ok(_) => String::new(),
        Err(error) => {
            format!("warning: {program} could not be started ({error}): open {} yourself\n", page.display())
        }
    }
}
