//! The Rust files of a folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::shell::{Failure, Result};

/// Every Rust file below `folder`, in order; none where there is no such folder.
pub(crate) fn below(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop().filter(|folder| folder.is_dir()) {
        for entry in fs::read_dir(&folder).map_err(|error| Failure::file(&folder, &error))? {
            let path = entry.map_err(|error| Failure::file(&folder, &error))?.path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|extension| extension == "rs") => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    Ok(found)
}
