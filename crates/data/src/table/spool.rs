//! Standard input, kept in a private temporary file: a table is read more than once.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Read};
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::error::DataError;

/// The name of standard input in messages.
pub(super) const STANDARD_INPUT: &str = "standard input";

/// Bytes in a temporary file that only its owner can read. On Linux it has no name, so it is gone with the process, however
/// that ends; elsewhere it is removed when the last table that reads it is dropped.
#[derive(Debug)]
pub(super) struct Spool {
    file: File,
    /// Where it lies, as long as it has a name.
    named: Option<PathBuf>,
    pub(super) size_bytes: u64,
}

impl Spool {
    /// Copies everything.
    pub(super) fn of(source: &mut impl Read) -> io::Result<Self> {
        let (mut file, path) = create()?;
        let named = if cfg!(target_os = "linux") {
            fs::remove_file(&path)?;
            None
        } else {
            Some(path)
        };
        let mut spool = Self { file: file.try_clone()?, named, size_bytes: 0 };
        spool.size_bytes = io::copy(source, &mut file)?;
        Ok(spool)
    }

    /// The bytes from their start, with a position of their own.
    pub(super) fn reopen(&self) -> io::Result<File> {
        match &self.named {
            Some(path) => File::open(path),
            None => File::open(format!("/proc/self/fd/{}", descriptor(&self.file))),
        }
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        if let Some(path) = &self.named {
            // There is nobody left to tell.
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(unix)]
fn descriptor(file: &File) -> i32 {
    std::os::fd::AsRawFd::as_raw_fd(file)
}

#[cfg(not(unix))]
fn descriptor(_: &File) -> i32 {
    -1
}

/// A new file that only its owner can read.
fn create() -> io::Result<(File, PathBuf)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("reticent-{}-{count}.spool", process::id()));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&path) {
            // Somebody else's, or left behind.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => return Ok((file, path)),
        }
    }
}

/// Standard input, read once for the whole process: every table that names it sees the same bytes.
pub(super) fn standard_input() -> Result<Arc<Spool>, DataError> {
    static READ: OnceLock<Mutex<Option<Arc<Spool>>>> = OnceLock::new();
    // A panic while it was copied has left nothing behind.
    let mut read = READ.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(spool) = &*read {
        return Ok(spool.clone());
    }
    let mut input = io::stdin().lock();
    if input.is_terminal() {
        return Err(DataError::Terminal);
    }
    let spool = Spool::of(&mut input).map_err(|error| DataError::io(STANDARD_INPUT, "keep", &error))?;
    Ok(read.insert(Arc::new(spool)).clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pass_over_spooled_bytes_starts_at_their_start() {
        let bytes = b"a,b\n1,2\n".repeat(10_000);
        let spool = Spool::of(&mut &bytes[..]).unwrap();
        assert_eq!(spool.size_bytes, bytes.len() as u64);
        let (mut one, mut other) = (spool.reopen().unwrap(), spool.reopen().unwrap());
        let mut first = [0; 100];
        one.read_exact(&mut first).unwrap();
        let mut whole = Vec::new();
        other.read_to_end(&mut whole).unwrap();
        assert_eq!(whole, bytes);
        one.read_exact(&mut first).unwrap();
        assert_eq!(first[..], bytes[100..200]);
    }
}
