//! Lock files: one process at a time.

use crate::atomic::check_regular;
use crate::error::FileError;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// How often a lock file that is removed while it is being locked is created again.
const ATTEMPTS: usize = 100;

/// A locked file. The lock ends when this is dropped, or when the process ends for any reason.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    /// Locks a regular file, which is created with its parent folders if it does not exist; `None` if another process holds the
    /// lock.
    ///
    /// # Errors
    /// [`FileError::NotReplaced`] if the name belongs to something other than a regular file; it is not opened, since opening a pipe
    /// waits for its reader. [`FileError::Io`] if it cannot be written.
    pub fn take(path: &Path) -> Result<Option<Self>, FileError> {
        let refuse = |error: &Error| FileError::io(path, "write", error);
        for _ in 0..ATTEMPTS {
            check_regular(path)?;
            if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                fs::create_dir_all(folder).map_err(|error| refuse(&error))?;
            }
            let file = match OpenOptions::new().create(true).truncate(false).write(true).open(path) {
                Ok(file) => file,
                // The previous holder removed the folder.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(refuse(&error)),
            };
            match file.try_lock() {
                // A file that was removed meanwhile protects nothing.
                Ok(()) if is_at(&file, path) => return Ok(Some(Self { path: path.to_owned(), file })),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(refuse(&error)),
            }
        }
        Err(refuse(&ErrorKind::ResourceBusy.into()))
    }

    /// Removes the file and ends the lock.
    pub fn remove(self) {
        // Removed while still locked: nobody can obtain the lock of a file that is about to be removed.
        let _ = fs::remove_file(&self.path);
        drop(self.file);
    }
}

/// Whether an open file still has that name.
#[cfg(unix)]
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(own), Ok(named)) => (own.dev(), own.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// Whether an open file still has that name: on this system an open file keeps its name.
#[cfg(not(unix))]
pub(crate) fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Folder;

    #[test]
    fn one_at_a_time_and_the_next_one_after_it() {
        let folder = Folder::new();
        let path = folder.path("inner").join("run.lock");
        let lock = Lock::take(&path).unwrap().unwrap();
        assert!(Lock::take(&path).unwrap().is_none());
        drop(lock);
        let lock = Lock::take(&path).unwrap().unwrap();
        lock.remove();
        assert!(!path.exists());
        assert!(Lock::take(&path).unwrap().is_some());
    }

    #[cfg(unix)]
    #[test]
    fn pipes_and_links_are_refused_and_not_waited_for() {
        let folder = Folder::new();
        let pipe = folder.path("run.lock");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(matches!(Lock::take(&pipe), Err(FileError::NotReplaced { .. })));
        let link = folder.path("other.lock");
        std::os::unix::fs::symlink(folder.path("elsewhere"), &link).unwrap();
        assert!(matches!(Lock::take(&link), Err(FileError::NotReplaced { .. })));
        assert!(!folder.path("elsewhere").exists());
    }

    #[test]
    fn many_threads_share_a_file_that_comes_and_goes() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let folder = Folder::new();
        let path = folder.path("run.lock");
        let (inside, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let Some(lock) = Lock::take(&path).unwrap() else { continue };
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        taken.fetch_add(1, Ordering::SeqCst);
                        inside.fetch_sub(1, Ordering::SeqCst);
                        lock.remove();
                    }
                });
            }
        });
        assert!(taken.load(Ordering::SeqCst) > 0);
    }
}
