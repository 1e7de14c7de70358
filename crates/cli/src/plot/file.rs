//! Where a chart may be written, and writing it: under a temporary name, then renamed.

use crate::fail::Fail;
use reticent::data::write_atomic;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

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
    write_atomic(path, svg.as_bytes()).map_err(Fail::data("--plot"))
}
