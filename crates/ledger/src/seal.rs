//! The seal of a budget: a small file elsewhere that says how far the record was seen to go.
//!
//! It has two places, each with the number and the digest of an entry and a checksum; the entries take turns. So a write that is
//! cut off destroys one place at most. It is written after the record is synced and is not synced itself: when the machine fails, it
//! may be behind the record, which is allowed, and never ahead of it.

use crate::StoreError;
use crate::charge::hex;
use crate::record::{Digest, Record};
use crate::rows::Rows;
use reticent_core::Cause;
use sha2::{Digest as _, Sha256};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Bytes of a place.
const PLACE: usize = 256;

/// The first word of a place.
const FORM: &str = "reticent-seal-1";

/// How long to wait before looking at a lock again.
const PAUSE: Duration = Duration::from_millis(2);

/// How far a record goes: the number and the digest of its last entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) number: u64,
    pub(crate) digest: Digest,
}

impl Mark {
    pub(crate) fn of(record: &Record) -> Self {
        Self { number: record.number, digest: record.digest }
    }
}

/// The seal of one budget.
#[derive(Debug, Clone)]
pub(crate) struct Seal {
    path: PathBuf,
    id: Digest,
    patience: Duration,
}

impl Seal {
    /// The seal of the budget with this identity, in a folder of seals.
    pub(crate) fn new(folder: &Path, id: Digest, patience: Duration) -> Self {
        let path = folder.join(format!("{}.seal", &hex(&id)[..32]));
        Self { path, id, patience }
    }

    fn failed(&self, action: &'static str, error: &Error) -> StoreError {
        StoreError::Io { place: self.path.display().to_string(), action, cause: Cause::of_system(error) }
    }

    fn place(&self, mark: Mark) -> Vec<u8> {
        let text = format!("{FORM} {} {:020} {} ", hex(&self.id), mark.number, hex(&mark.digest));
        let check = hex(&Sha256::digest(text.as_bytes())[..8]);
        let mut place = format!("{text}{check}").into_bytes();
        place.resize(PLACE - 1, b' ');
        place.push(b'\n');
        place
    }

    /// What a place says, if it is whole and about this budget.
    fn read_place(&self, place: &[u8]) -> Option<Mark> {
        let text = std::str::from_utf8(place).ok()?;
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let [_, _, number, digest, _] = words[..] else { return None };
        let bytes: Vec<u8> = (0..digest.len() / 2)
            .map(|at| u8::from_str_radix(digest.get(2 * at..2 * at + 2)?, 16).ok())
            .collect::<Option<_>>()?;
        let mark = Mark { number: number.parse().ok()?, digest: bytes.try_into().ok()? };
        (self.place(mark) == place).then_some(mark)
    }

    /// The furthest mark; none where there is no seal yet.
    ///
    /// # Errors
    /// [`StoreError::Altered`] when the file has no whole place.
    pub(crate) fn read(&self) -> Result<Option<Mark>, StoreError> {
        match fs::read(&self.path) {
            Ok(bytes) => self.furthest(&bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed("read", &error)),
        }
    }

    fn furthest(&self, bytes: &[u8]) -> Result<Option<Mark>, StoreError> {
        let marks = bytes.chunks(PLACE).filter_map(|place| self.read_place(place));
        let mark = marks.max_by_key(|mark| mark.number);
        if mark.is_none() && !bytes.is_empty() {
            let what = "its seal cannot be read: remove the seal if the record is known to be the latest";
            return Err(StoreError::Altered {
                place: self.path.display().to_string(),
                what: what.to_owned(),
            });
        }
        Ok(mark)
    }

    /// Writes a mark, unless the seal is as far already.
    pub(crate) fn advance(&self, mark: Mark) -> Result<(), StoreError> {
        self.write(mark).map_err(|error| match error {
            Unwritten::Io(error) => self.failed("write", &error),
            Unwritten::Store(error) => error,
        })
    }

    fn write(&self, mark: Mark) -> Result<(), Unwritten> {
        let is_new = !self.path.exists();
        if is_new && let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file =
            OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&self.path)?;
        self.lock(&file)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let known = self.furthest(&bytes)?;
        if known.is_some_and(|known| known.number >= mark.number) {
            return Ok(());
        }
        // The place that does not hold the furthest mark.
        let is_first = bytes.chunks(PLACE).next().is_some_and(|place| self.read_place(place) == known);
        let place = if known.is_some() && is_first { PLACE as u64 } else { 0 };
        file.seek(SeekFrom::Start(place))?;
        file.write_all(&self.place(mark))?;
        if is_new && let Some(folder) = self.path.parent() {
            file.sync_data()?;
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    }

    fn lock(&self, file: &File) -> Result<(), Unwritten> {
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) if start.elapsed() < self.patience => {
                    std::thread::sleep(PAUSE);
                }
                Err(TryLockError::WouldBlock) => {
                    let (place, seconds) = (self.path.display().to_string(), self.patience.as_secs());
                    return Err(Unwritten::Store(StoreError::Busy { place, seconds }));
                }
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
        }
    }
}

enum Unwritten {
    Io(Error),
    Store(StoreError),
}

impl From<Error> for Unwritten {
    fn from(error: Error) -> Self {
        Self::Io(error)
    }
}

impl From<StoreError> for Unwritten {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// What is wrong with a record that once went as far as this mark; nothing where it still does.
pub(crate) fn behind(rows: &mut dyn Rows, mark: Mark) -> Result<Option<String>, StoreError> {
    let found = rows.at(mark.number)?;
    Ok(match found {
        Some(record) if record.digest == mark.digest => None,
        Some(_) => Some(format!(
            "entry {} is not the one that was seen before: this is another copy of the budget",
            mark.number
        )),
        None => Some(format!(
            "it was seen to go up to entry {}, and has less now: an older copy was put in its place",
            mark.number
        )),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(number: u64) -> Mark {
        Mark { number, digest: [number as u8; 32] }
    }

    #[test]
    fn a_seal_only_advances_and_survives_a_torn_write() {
        let folder = tempfile::tempdir().unwrap();
        let seal = Seal::new(&folder.path().join("seals"), [7; 32], Duration::from_millis(50));
        assert_eq!(seal.read().unwrap(), None);
        for number in [0, 1, 2, 5, 4, 6] {
            seal.advance(mark(number)).unwrap();
        }
        assert_eq!(seal.read().unwrap(), Some(mark(6)));
        // The next one goes to the other place; wherever it is cut off, one of the two is read.
        let before = fs::read(&seal.path).unwrap();
        seal.advance(mark(7)).unwrap();
        let after = fs::read(&seal.path).unwrap();
        for cut in 0..=PLACE {
            let mut torn = before.clone();
            torn.resize(2 * PLACE, 0);
            torn[PLACE..PLACE + cut].copy_from_slice(&after[PLACE..PLACE + cut]);
            fs::write(&seal.path, &torn).unwrap();
            let found = seal.read().unwrap().unwrap();
            assert_eq!(found, mark(if torn == after { 7 } else { 6 }), "{cut}");
        }
        // Another budget's seal, or none at all.
        fs::write(&seal.path, "something else").unwrap();
        assert!(matches!(seal.read(), Err(StoreError::Altered { .. })));
        assert!(matches!(seal.advance(mark(9)), Err(StoreError::Altered { .. })));
        fs::write(&seal.path, "").unwrap();
        assert_eq!(seal.read().unwrap(), None);
    }

    #[test]
    fn a_locked_seal_is_waited_for_and_then_refused() {
        let folder = tempfile::tempdir().unwrap();
        let seal = Seal::new(folder.path(), [7; 32], Duration::from_millis(20));
        seal.advance(mark(0)).unwrap();
        let other = File::open(&seal.path).unwrap();
        other.lock().unwrap();
        assert!(matches!(seal.advance(mark(1)), Err(StoreError::Busy { .. })));
        other.unlock().unwrap();
        seal.advance(mark(1)).unwrap();
    }
}
