//! Files out: written under a temporary name in the same folder, then renamed.
//!
//! Only a regular file is ever replaced. A folder, a device, a pipe, a socket or a symbolic link under the name is
//! refused, before anything is written and once more before the renaming: a rename would put a file in the place of
//! `/dev/full`, or of the link rather than of what it leads to. Links in the folders above the name are followed.
//!
//! A temporary file is locked by its writer. Whoever writes a file of the same name next takes away those that nobody has
//! locked: their writers were killed.

mod lock;

pub use lock::Lock;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
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
    write_csv(path, header, rows, Readers::Usual)
}

/// As [`write_csv_atomic`], for what only the owner may read: nobody else may from the first byte on.
pub fn write_csv_private<R>(
    path: &Path,
    header: &[&str],
    rows: impl IntoIterator<Item = R>,
) -> Result<u64, DataError>
where
    R: IntoIterator,
    R::Item: AsRef<[u8]>,
{
    write_csv(path, header, rows, Readers::Owner)
}

fn write_csv<R>(
    path: &Path,
    header: &[&str],
    rows: impl IntoIterator<Item = R>,
    readers: Readers,
) -> Result<u64, DataError>
where
    R: IntoIterator,
    R::Item: AsRef<[u8]>,
{
    let mut output = AtomicCsv::create(path, header, readers)?;
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
    write_whole(path, bytes, Readers::Usual)
}

/// As [`write_atomic`], for what only the owner may read: nobody else may from the first byte on.
///
/// # Errors
/// If the file cannot be written.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), DataError> {
    write_whole(path, bytes, Readers::Owner)
}

/// Who may read a new file.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Readers {
    /// Whom the system lets by default.
    Usual,
    /// Its owner alone, where the system knows owners.
    Owner,
}

fn write_whole(path: &Path, bytes: &[u8], readers: Readers) -> Result<(), DataError> {
    let (temporary, mut file) = temporary(path, readers)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    let written = written.map_err(|error| DataError::io(&shown_path(path), "write", &error));
    written.and_then(|()| rename(&temporary, path)).inspect_err(|_| {
        // The error that led here is the one to report.
        let _ = fs::remove_file(&temporary);
    })
}

/// Has the names in a folder reach the disk, where folders can be synchronised: a file that was renamed is found there after the
/// system itself was stopped.
///
/// # Errors
/// If the system refuses.
pub fn sync_folder(folder: &Path) -> Result<(), DataError> {
    if cfg!(unix) {
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(|error| DataError::io(&shown_path(folder), "write", &error))?;
    }
    Ok(())
}

/// Adds a line to the end of a regular file, which is made if there is none. The half line that a killed writer left there is
/// cut off first.
///
/// # Errors
/// If something else has the name, or the file cannot be written.
pub fn append_line(path: &Path, line: &str) -> Result<(), DataError> {
    check_regular(path)?;
    let append = || -> std::io::Result<()> {
        let mut options = OpenOptions::new();
        let mut file = options.create(true).truncate(false).read(true).write(true).open(path)?;
        let end = end_of_lines(&mut file)?;
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        file.write_all(format!("{line}\n").as_bytes())
    };
    append().map_err(|error| DataError::io(&shown_path(path), "write", &error))
}

/// Where the last whole line of a file ends.
fn end_of_lines(file: &mut File) -> std::io::Result<u64> {
    const CHUNK: u64 = 1 << 12;
    let mut end = file.seek(SeekFrom::End(0))?;
    while end > 0 {
        let start = end.saturating_sub(CHUNK);
        let mut bytes = vec![0; usize::try_from(end - start).unwrap_or_default()];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut bytes)?;
        if let Some(place) = bytes.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + place as u64 + 1);
        }
        end = start;
    }
    Ok(0)
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

/// A new hidden file beside `target`, locked while it is open. What killed writers of the same file left is taken away.
fn temporary(target: &Path, readers: Readers) -> Result<(PathBuf, File), DataError> {
    let refuse = |error: &std::io::Error| DataError::io(&shown_path(target), "write", error);
    let name = target.file_name().ok_or_else(|| refuse(&ErrorKind::InvalidFilename.into()))?;
    check_regular(target)?;
    sweep(target);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if readers == Readers::Owner {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    #[cfg(not(unix))]
    let _ = readers;
    loop {
        static SERIAL: AtomicU64 = AtomicU64::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{serial}.tmp", process::id()));
        let temporary = target.with_file_name(hidden);
        match options.open(&temporary) {
            // Where files cannot be locked, nobody takes them away either.
            Ok(file) => match file.try_lock() {
                Ok(()) | Err(TryLockError::Error(_)) if lock::is_at(&file, &temporary) => {
                    return Ok((temporary, file));
                }
                // Taken away between its making and its lock.
                _ => {}
            },
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(refuse(&error)),
        }
    }
}

/// The most entries of a folder that are looked at for what killed writers left.
const MOST_ENTRIES: usize = 1 << 16;

/// Takes away what killed writers of a file have left beside it, under temporary names that nobody has locked.
pub fn sweep(target: &Path) {
    let Some(name) = target.file_name().and_then(|name| name.to_str()) else { return };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.take(MOST_ENTRIES).flatten() {
        if entry.file_name().to_str().and_then(temporary_of) != Some(name) {
            continue;
        }
        let path = entry.path();
        // A file that cannot be taken away takes room and does no other harm.
        if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
            continue;
        }
        if let Ok(file) = OpenOptions::new().write(true).open(&path)
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(&path);
        }
    }
}

/// The file that a temporary name is for: `model.json` for `.model.json.4711-0.tmp`.
pub fn temporary_of(name: &str) -> Option<&str> {
    let (target, writer) = name.strip_prefix('.')?.strip_suffix(".tmp")?.rsplit_once('.')?;
    let (process, serial) = writer.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (!target.is_empty() && is_number(process) && is_number(serial)).then_some(target)
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
    let mut written = AtomicCsv::create(output, &names, Readers::Usual)?;
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
    fn create(target: &Path, header: &[&str], readers: Readers) -> Result<Self, DataError> {
        let (temporary, file) = temporary(target, readers)?;
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
                _ => DataError::io(&file, "write", &std::io::Error::other(reason)),
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
