//! What table files have in common: a path, a size, and that they do not change during a pass.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{DataError, shown, shown_path};

/// The extensions of table files.
const EXTENSIONS: [&str; 6] = ["csv", "parquet", "arrow", "feather", "ipc", "arrows"];

/// A regular file that is not empty.
#[derive(Clone, Debug)]
pub(super) struct TableFile {
    pub(super) path: PathBuf,
    /// The path as messages show it.
    pub(super) name: String,
    pub(super) size_bytes: u64,
}

impl TableFile {
    /// Opens a file with one of the [`EXTENSIONS`], which is returned in lower case.
    pub(super) fn open(path: &Path) -> Result<(Self, File, String), DataError> {
        let name = shown_path(path);
        let about = fs::metadata(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => DataError::NotFound { file: name.clone() },
            _ => DataError::io(&name, "read", &error),
        })?;
        if !about.is_file() {
            return Err(DataError::NotAFile { file: name });
        }
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        if !EXTENSIONS.contains(&extension.as_str()) {
            let extension = if extension.is_empty() { extension } else { shown(&format!(".{extension}")) };
            return Err(DataError::UnknownFormat { file: name, extension });
        }
        let opened = File::open(path).map_err(|error| DataError::io(&name, "read", &error))?;
        if about.len() == 0 {
            return Err(DataError::Empty { file: name });
        }
        Ok((Self { path: path.to_owned(), name, size_bytes: about.len() }, opened, extension))
    }

    /// The file once more, if it still has its size.
    pub(super) fn reopen(&self) -> Result<File, DataError> {
        let failed = |error: std::io::Error| DataError::io(&self.name, "read", &error);
        let opened = File::open(&self.path).map_err(failed)?;
        if opened.metadata().map_err(failed)?.len() != self.size_bytes {
            return Err(self.changed());
        }
        Ok(opened)
    }

    pub(super) fn changed(&self) -> DataError {
        DataError::Changed { file: self.name.clone() }
    }
}
