//! Atomic writes: a file is written under a temporary name in the same folder, then renamed.
//!
//! Only a regular file is ever replaced. A folder, a device, a pipe, a socket or a symbolic link under the name is
//! refused, before anything is written and again before the file is renamed: a rename would put a file in the place of
//! `/dev/full`, or replace a link instead of the file it points to. Links in parent folders are followed.
//!
//! The writer locks its temporary file. The next writer of the same name removes temporary files that are not locked: their
//! writers were killed.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::FileError;
use crate::lock;

/// Writes a whole file. It appears under its name only when complete, replacing a regular file of that name. After an error
/// nothing is left behind, and a file that was there is unchanged.
///
/// # Errors
/// If the file cannot be written.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_whole(path, bytes, Readers::Default)
}

/// As [`write_atomic`], for a file that only its owner may read, from the first byte on.
///
/// # Errors
/// If the file cannot be written.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_whole(path, bytes, Readers::Owner)
}

/// Who may read a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Everyone whom the system allows by default.
    Default,
    /// Its owner alone, on systems with file owners.
    Owner,
}

fn write_whole(path: &Path, bytes: &[u8], readers: Readers) -> Result<(), FileError> {
    let mut file = AtomicFile::create(path, readers)?;
    file.write_all(bytes).map_err(|error| FileError::io(path, "write", &error))?;
    file.commit()
}

/// A file being written. It gets its name when it is [committed](Self::commit); dropped before that, it is removed.
#[derive(Debug)]
pub struct AtomicFile {
    /// Present until committed.
    file: Option<File>,
    temporary: PathBuf,
    target: PathBuf,
}

impl AtomicFile {
    /// A new temporary file beside `target`.
    ///
    /// # Errors
    /// [`FileError::NotReplaced`] if the name belongs to something other than a regular file; [`FileError::Io`] if the folder
    /// cannot be written.
    pub fn create(target: &Path, readers: Readers) -> Result<Self, FileError> {
        let (temporary, file) = temporary(target, readers)?;
        Ok(Self { file: Some(file), temporary, target: target.to_owned() })
    }

    /// The name it will get.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Writes everything to disk and gives the file its name, replacing a regular file of that name.
    ///
    /// # Errors
    /// As [`AtomicFile::create`]. A file that was there is then unchanged.
    pub fn commit(mut self) -> Result<(), FileError> {
        if let Some(file) = &self.file {
            file.sync_all().map_err(|error| FileError::io(&self.target, "write", &error))?;
        }
        // The lock is held until the file has its name: a writer that looked meanwhile leaves it alone.
        rename(&self.temporary, &self.target)?;
        self.temporary.clear();
        self.file = None;
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.as_mut().map_or(Ok(0), |file| file.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.as_mut().map_or(Ok(()), File::flush)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        self.file = None;
        if !self.temporary.as_os_str().is_empty() {
            // The error that led here is the one to report.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Writes the names in a folder to disk, on systems that can: a file that was renamed is found there after a power failure.
///
/// # Errors
/// If the system refuses.
pub fn sync_folder(folder: &Path) -> Result<(), FileError> {
    if cfg!(unix) {
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(|error| FileError::io(folder, "write", &error))?;
    }
    Ok(())
}

/// Appends a line to a regular file, which is created if it does not exist. An incomplete last line, left by a writer that was
/// killed, is cut off first.
///
/// # Errors
/// If the name belongs to something other than a regular file, or the file cannot be written.
pub fn append_line(path: &Path, line: &str) -> Result<(), FileError> {
    check_regular(path)?;
    let append = || -> std::io::Result<()> {
        let mut options = OpenOptions::new();
        let mut file = options.create(true).truncate(false).read(true).write(true).open(path)?;
        let end = end_of_lines(&mut file)?;
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        file.write_all(format!("{line}\n").as_bytes())
    };
    append().map_err(|error| FileError::io(path, "write", &error))
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

/// Refuses a name that belongs to something other than a regular file.
///
/// # Errors
/// [`FileError::NotReplaced`] for a folder, a device, a pipe, a socket or a symbolic link; [`FileError::Io`] if the system does
/// not say what it is.
pub fn check_regular(path: &Path) -> Result<(), FileError> {
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
            Err(FileError::not_replaced(path, kind))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(FileError::io(path, "write", &error)),
    }
}

/// Gives a finished file its name.
fn rename(temporary: &Path, target: &Path) -> Result<(), FileError> {
    check_regular(target)?;
    fs::rename(temporary, target).map_err(|error| FileError::io(target, "write", &error))
}

/// Lets only its owner read a file, on systems with file owners.
///
/// # Errors
/// If the system refuses.
pub fn make_private(path: &Path) -> Result<(), FileError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))
            .map_err(|error| FileError::io(path, "write", &error))?;
    }
    Ok(())
}

/// A new hidden file beside `target`, locked while it is open. Temporary files of writers that were killed are removed.
fn temporary(target: &Path, readers: Readers) -> Result<(PathBuf, File), FileError> {
    let refuse = |error: &std::io::Error| FileError::io(target, "write", error);
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
            // On systems without file locks, nobody removes temporary files either.
            Ok(file) => match file.try_lock() {
                Ok(()) | Err(TryLockError::Error(_)) if lock::is_at(&file, &temporary) => {
                    return Ok((temporary, file));
                }
                // Removed between its creation and its lock.
                _ => {}
            },
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(refuse(&error)),
        }
    }
}

/// The most entries of a folder that are searched for temporary files.
const MOST_ENTRIES: usize = 1 << 16;

/// Removes the temporary files of a file that nobody has locked: their writers were killed.
pub fn sweep(target: &Path) {
    let Some(name) = target.file_name().and_then(|name| name.to_str()) else { return };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.take(MOST_ENTRIES).flatten() {
        if entry.file_name().to_str().and_then(temporary_of) != Some(name) {
            continue;
        }
        let path = entry.path();
        // A file that cannot be removed takes space and does no other harm.
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

/// The file that a temporary name stands for: `model.json` for `.model.json.4711-0.tmp`.
pub fn temporary_of(name: &str) -> Option<&str> {
    let (target, writer) = name.strip_prefix('.')?.strip_suffix(".tmp")?.rsplit_once('.')?;
    let (process, serial) = writer.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (!target.is_empty() && is_number(process) && is_number(serial)).then_some(target)
}

#[cfg(test)]
mod tests;
