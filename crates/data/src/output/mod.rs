//! Files out: written under a temporary name in the same folder, then renamed.
//!
//! Only a regular file is ever replaced. A folder, a device, a pipe, a socket or a symbolic link under the name is
//! refused, before anything is written and once more before the renaming: a rename would put a file in the place of
//! `/dev/full`, or of the link rather than of what it leads to. Links in the folders above the name are followed.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::cell::Cell;
use crate::error::{DataError, shown_path};
use crate::table::{ScanStats, TableFile};

/// Writes a CSV file with a header line; returns the number of rows.
///
/// The file appears under its name only when complete, replacing one that was there; after an error
/// nothing is left behind and a file that was there is untouched.
pub fn write_csv_atomic<R>(
    path: &Path,
    header: &[&str],
    rows: impl IntoIterator<Item = R>,
) -> Result<u64, DataError>
where
    R: IntoIterator,
    R::Item: AsRef<[u8]>,
{
    let mut output = AtomicCsv::create(path, header)?;
    for row in rows {
        output.write(row)?;
    }
    output.commit()
}

/// Writes a whole file, which appears under its name only when complete, as by [`write_csv_atomic`].
///
/// # Errors
/// If the file cannot be written.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), DataError> {
    write_whole(path, bytes, |_| Ok(()))
}

/// As [`write_atomic`], for what only the owner may read: nobody else may from the first byte on.
///
/// # Errors
/// If the file cannot be written.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), DataError> {
    write_whole(path, bytes, make_private)
}

fn write_whole(
    path: &Path,
    bytes: &[u8],
    prepare: impl Fn(&Path) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let (temporary, mut file) = temporary(path)?;
    if let Err(error) = prepare(&temporary) {
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    let written = written.map_err(|error| DataError::io(&shown_path(path), "write", &error));
    written.and_then(|()| rename(&temporary, path)).inspect_err(|_| {
        // The error that led here is the one to report.
        let _ = fs::remove_file(&temporary);
    })
}

/// Adds bytes to the end of a regular file, which is made if there is none.
///
/// # Errors
/// If something else has the name, or the file cannot be written.
pub fn append(path: &Path, bytes: &[u8]) -> Result<(), DataError> {
    check_regular(path)?;
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(bytes))
        .map_err(|error| DataError::io(&shown_path(path), "write", &error))
}

/// Refuses a name that something other than a regular file has.
///
/// # Errors
/// [`DataError::NotReplaced`] for a folder, a device, a pipe, a socket or a symbolic link; [`DataError::Io`] if what is
/// there cannot be told.
pub fn check_regular(path: &Path) -> Result<(), DataError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => Ok(()),
        Ok(found) => {
            let kind = if found.is_dir() {
                "a folder"
            } else if found.is_symlink() {
                "a symbolic link"
            } else {
                "a device, a pipe or a socket"
            };
            Err(DataError::NotReplaced { file: shown_path(path), kind })
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(DataError::io(&shown_path(path), "write", &error)),
    }
}

/// Gives a finished file its name.
fn rename(temporary: &Path, target: &Path) -> Result<(), DataError> {
    check_regular(target)?;
    fs::rename(temporary, target).map_err(|error| DataError::io(&shown_path(target), "write", &error))
}

/// Lets only its owner read a file, where the system knows owners.
///
/// # Errors
/// If the system refuses.
pub fn make_private(path: &Path) -> Result<(), DataError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))
            .map_err(|error| DataError::io(&shown_path(path), "write", &error))?;
    }
    Ok(())
}

/// A new hidden file beside `target`.
fn temporary(target: &Path) -> Result<(PathBuf, File), DataError> {
    let refuse = |error: &std::io::Error| DataError::io(&shown_path(target), "write", error);
    let name = target.file_name().ok_or_else(|| refuse(&ErrorKind::InvalidFilename.into()))?;
    check_regular(target)?;
    loop {
        static SERIAL: AtomicU64 = AtomicU64::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{serial}.tmp", process::id()));
        let temporary = target.with_file_name(hidden);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(refuse(&error)),
        }
    }
}

/// Copies a table to a CSV file with one column replaced.
///
/// Every row goes through `replace`, which gets the row number from 1 and the column's cell and gives
/// the new field; the other columns are copied, with blank text becoming empty. `output` may be the
/// input's own path. It is written as by [`write_csv_atomic`] and its name must end in `.csv`.
pub fn rewrite_column<E: From<DataError>>(
    input: &TableFile,
    column: &str,
    output: &Path,
    on_progress: &mut dyn FnMut(u64),
    replace: &mut dyn FnMut(u64, Cell<'_>) -> Result<String, E>,
) -> Result<ScanStats, E> {
    if !output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
        return Err(DataError::OutputNotCsv { file: shown_path(output) }.into());
    }
    input.column(column)?;
    let names: Vec<&str> = input.columns().iter().map(|column| column.name.as_str()).collect();
    let mut written = AtomicCsv::create(output, &names)?;
    let mut visit = |row: u64, cells: &[Cell<'_>]| -> Result<(), E> {
        for (&name, cell) in names.iter().zip(cells) {
            if name == column {
                written.field(replace(row, *cell)?)?;
            } else {
                written.field(cell.csv_text().as_bytes())?;
            }
        }
        Ok(written.end_row()?)
    };
    let stats = input.scan(&names, on_progress, &mut visit)?;
    written.commit()?;
    Ok(stats)
}

/// A CSV file in the making. Dropped without [`AtomicCsv::commit`], it vanishes.
struct AtomicCsv {
    /// There until committed.
    writer: Option<csv::Writer<File>>,
    temporary: PathBuf,
    target: PathBuf,
    rows: u64,
}

impl AtomicCsv {
    fn create(target: &Path, header: &[&str]) -> Result<Self, DataError> {
        let (temporary, file) = temporary(target)?;
        let writer = csv::WriterBuilder::new().buffer_capacity(1 << 16).from_writer(file);
        let mut output = Self { writer: Some(writer), temporary, target: target.to_owned(), rows: 0 };
        output.with_writer(|writer| writer.write_record(header))?;
        Ok(output)
    }

    fn write(&mut self, row: impl IntoIterator<Item: AsRef<[u8]>>) -> Result<(), DataError> {
        for field in row {
            self.field(field)?;
        }
        self.end_row()
    }

    fn field(&mut self, field: impl AsRef<[u8]>) -> Result<(), DataError> {
        self.with_writer(|writer| writer.write_field(field))
    }

    fn end_row(&mut self) -> Result<(), DataError> {
        self.rows += 1;
        self.with_writer(|writer| writer.write_record(None::<&[u8]>))
    }

    /// Flushes, and gives the file its name; returns the number of rows.
    fn commit(mut self) -> Result<u64, DataError> {
        self.with_writer(|writer| {
            writer.flush()?;
            Ok(writer.get_ref().sync_all()?)
        })?;
        self.writer = None;
        rename(&self.temporary, &self.target)?;
        self.temporary.clear();
        Ok(self.rows)
    }

    fn with_writer(
        &mut self,
        act: impl FnOnce(&mut csv::Writer<File>) -> csv::Result<()>,
    ) -> Result<(), DataError> {
        let Some(writer) = self.writer.as_mut() else { return Ok(()) };
        act(writer).map_err(|error| {
            let file = shown_path(&self.target);
            let reason = error.to_string();
            match error.into_kind() {
                csv::ErrorKind::Io(error) => DataError::io(&file, "write", &error),
                csv::ErrorKind::UnequalLengths { expected_len, len, .. } => DataError::OutputRow {
                    file,
                    row: self.rows,
                    expected: usize::try_from(expected_len).unwrap_or(usize::MAX),
                    found: usize::try_from(len).unwrap_or(usize::MAX),
                },
                _ => DataError::Io { file, action: "write", reason },
            }
        })
    }
}

impl Drop for AtomicCsv {
    fn drop(&mut self) {
        // Closed first: a writer still open flushes when dropped.
        self.writer = None;
        if !self.temporary.as_os_str().is_empty() {
            // The error that led here is the one to report.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

#[cfg(test)]
mod tests;
