//! Where a chart may be written, and writing it: under a temporary name, then renamed.

use crate::fail::Fail;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Refuses a place where no chart can go, before anything is worked out.
pub(crate) fn check(path: &Path) -> Result<(), Fail> {
    let refuse = |remedy: &str| Err(Fail::flag("--plot", &path.display().to_string(), remedy));
    let is_svg = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg"));
    if !is_svg || path.file_name().is_none() {
        return refuse("give a name that ends in .svg");
    }
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => refuse("something else has that name: give another one"),
        Err(error) if error.kind() != ErrorKind::NotFound => refuse(&format!("cannot be written: {error}")),
        _ => match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            Some(folder) if !folder.is_dir() => refuse("there is no such folder: make it first"),
            _ => Ok(()),
        },
    }
}

/// Writes the chart; nothing is left behind when that fails.
pub(crate) fn write(path: &Path, svg: &str) -> Result<(), Fail> {
    check(path)?;
    let refuse = |error: io::Error| {
        Fail::flag("--plot", &path.display().to_string(), format!("cannot be written: {error}"))
    };
    let temporary = temporary(path);
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&temporary)
        .and_then(|mut file| file.write_all(svg.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // What matters is the first error: the file may not even be there.
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(refuse)
}

/// A hidden name in the same folder.
fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}
