//! Datasets that are not bundled: folders in one data folder, found by name.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::error::{DataError, shown, shown_path};

/// The environment variable that names the data folder.
pub const DATA_FOLDER: &str = "RETICENT_DATA";

/// The folder of a dataset: `name` in `data_dir`, or where that is not given in the folder that the
/// environment variable `RETICENT_DATA` names.
///
/// # Errors
/// If neither is given, or the folder has no such dataset; the error then lists what it has.
pub fn find_dataset(name: &str, data_dir: Option<&Path>) -> Result<PathBuf, DataError> {
    find(name, data_dir, env::var_os(DATA_FOLDER))
}

fn find(name: &str, data_dir: Option<&Path>, variable: Option<OsString>) -> Result<PathBuf, DataError> {
    let variable = variable.filter(|value| !value.is_empty()).map(PathBuf::from);
    let Some(folder) = data_dir.map(Path::to_path_buf).or(variable) else {
        return Err(DataError::NoDataFolder { name: shown(name) });
    };
    let mut parts = Path::new(name).components();
    let plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    let path = folder.join(name);
    if plain && path.is_dir() {
        return Ok(path);
    }
    let entries = fs::read_dir(&folder)
        .map_err(|error| DataError::io(&shown_path(&folder), "read the data folder", &error))?;
    let folders = entries.filter_map(Result::ok).filter(|entry| entry.path().is_dir());
    let mut known: Vec<String> =
        folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    known.sort();
    // fashion-mnist is fashion_mnist, if no other folder is.
    let plainly = |name: &str| name.to_lowercase().replace('_', "-");
    let mut alike = known.iter().filter(|known| plain && plainly(known) == plainly(name));
    if let (Some(only), None) = (alike.next(), alike.next()) {
        return Ok(folder.join(only));
    }
    Err(DataError::unknown_dataset(shown_path(&folder), name, known))
}

#[cfg(test)]
mod tests;
