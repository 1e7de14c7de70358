//! Opening a page in the browser.

use std::path::Path;
use std::process::{Command, Stdio};

/// Opens a file in the browser. A failure is only a warning, because the file was written.
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
            format!("warning: cannot start {program} ({error}): open {} yourself\n", page.display())
        }
    }
}
