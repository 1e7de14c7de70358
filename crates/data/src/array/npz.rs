//! NumPy's `.npz` format: a ZIP archive of `.npy` files, stored or deflated.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::CrcReader;
use flate2::bufread::DeflateDecoder;

use super::{Array, npy};
use crate::error::{DataError, shown_path};
use crate::source::{MOST_UNPACKED, Source, most_unpacked, open};

const END_MARK: [u8; 4] = *b"PK\x05\x06";
const ENTRY_MARK: [u8; 4] = *b"PK\x01\x02";
const LOCAL_MARK: [u8; 4] = *b"PK\x03\x04";
/// The length of the record at the end, without its comment.
const END_LENGTH: u64 = 22;
/// The most bytes that the directory may have.
const MOST_DIRECTORY: u64 = 64 << 20;
/// What a field of four bytes holds where the true value stands in a ZIP64 record.
const ELSEWHERE: u32 = u32::MAX;

/// A `.npz` archive whose arrays are read one at a time.
#[derive(Clone, Debug)]
pub struct NpzFile {
    path: PathBuf,
    /// The path as messages show it.
    file: String,
    /// The names of the arrays, in the order of the archive.
    names: Vec<String>,
    members: Vec<Member>,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    deflated: bool,
    checksum: u32,
    packed: u64,
    unpacked: u64,
    /// Where its local header starts.
    at: u64,
}

impl NpzFile {
    /// Opens an archive and reads its directory.
    ///
    /// # Errors
    /// If the file cannot be read or is not a ZIP archive of `.npy` files; encrypted archives and archives
    /// of more than 4 GiB (ZIP64) are not read.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let (mut opened, bytes) = open(path, npy::FORMAT)?;
        let file = shown_path(path);
        let malformed = |reason| DataError::malformed(&file, npy::FORMAT, reason);
        let end = tail(&mut opened, bytes).map_err(|error| DataError::io(&file, "read", &error))?;
        let (start, size, count) = directory(&end).ok_or_else(|| malformed("it is not a ZIP archive"))?;
        if start == u64::from(ELSEWHERE) {
            let found = "a ZIP64 archive".to_owned();
            let advice = "save its arrays with numpy.save, one file each";
            return Err(DataError::Unsupported { file, found, advice });
        }
        if size > MOST_DIRECTORY || start + size > bytes - END_LENGTH {
            return Err(malformed("its directory lies outside the file"));
        }
        opened.seek(SeekFrom::Start(start)).map_err(|error| DataError::io(&file, "read", &error))?;
        let mut source = Source::new(file.clone(), npy::FORMAT, opened, size, true);
        let listing = source.values(size, |[byte]: [u8; 1]| byte)?;
        let mut archive = Self { path: path.to_owned(), file, names: Vec::new(), members: Vec::new() };
        let mut rest = listing.as_slice();
        for _ in 0..count {
            rest = archive.add(rest)?;
        }
        if archive.names.iter().collect::<BTreeSet<_>>().len() < archive.names.len() {
            return Err(archive.malformed("two arrays share a name"));
        }
        Ok(archive)
    }

    /// The names of the arrays, in the order of the archive and without `.npy`.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Reads one array, and compares its checksum.
    ///
    /// # Errors
    /// If there is no array of that name, or as [`read_npy`](super::read_npy).
    pub fn read(&self, name: &str) -> Result<Array, DataError> {
        let found = self.names.iter().position(|known| known == name).and_then(|at| self.members.get(at));
        let member = *found.ok_or_else(|| DataError::unknown_array(&self.file, name, self.names.clone()))?;
        let failed = |error: std::io::Error| DataError::io(&self.file, "read", &error);
        let mut opened = File::open(&self.path).map_err(failed)?;
        opened.seek(SeekFrom::Start(member.at)).map_err(failed)?;
        let mut source = Source::new(self.file.clone(), npy::FORMAT, opened, 30, true);
        let local: [u8; 30] = source.bytes()?;
        if !local.starts_with(&LOCAL_MARK) {
            return Err(source.malformed("its directory points nowhere"));
        }
        let mut opened = source.into_inner();
        let skipped = i64::from(short(&local, 26)) + i64::from(short(&local, 28));
        opened.seek(SeekFrom::Current(skipped)).map_err(failed)?;
        let packed = BufReader::new(opened).take(member.packed);
        if member.deflated {
            self.unpack(member, CrcReader::new(DeflateDecoder::new(packed)))
        } else {
            self.unpack(member, CrcReader::new(packed))
        }
    }

    fn unpack(&self, member: Member, unpacked: CrcReader<impl Read>) -> Result<Array, DataError> {
        let plain = !member.deflated;
        let mut source = Source::new(self.file.clone(), npy::FORMAT, unpacked, member.unpacked, plain);
        let array = npy::read(&mut source)?;
        source.end()?;
        let unpacked = source.into_inner();
        if unpacked.crc().sum() != member.checksum {
            return Err(self.malformed("its checksum is wrong"));
        }
        Ok(array)
    }

    /// Adds the member that `directory` starts with; what follows it.
    fn add<'d>(&mut self, directory: &'d [u8]) -> Result<&'d [u8], DataError> {
        let cut = || self.malformed("its directory is cut short");
        let (entry, rest) = directory.split_first_chunk::<46>().ok_or_else(cut)?;
        if !entry.starts_with(&ENTRY_MARK) {
            return Err(self.malformed("its directory is corrupt"));
        }
        let length = usize::from(short(entry, 28));
        let (name, rest) = rest.split_at_checked(length).ok_or_else(cut)?;
        let extra = usize::from(short(entry, 30)) + usize::from(short(entry, 32));
        let rest = rest.get(extra..).ok_or_else(cut)?;
        let (flags, method) = (short(entry, 8), short(entry, 10));
        let (packed, unpacked, at) = (long(entry, 20), long(entry, 24), long(entry, 42));
        let refuse = |found: &str| {
            let advice = "save it with numpy.savez or numpy.savez_compressed";
            DataError::Unsupported { file: self.file.clone(), found: found.to_owned(), advice }
        };
        if flags & 1 != 0 {
            return Err(refuse("an encrypted archive"));
        }
        if !matches!(method, 0 | 8) {
            return Err(refuse(&format!("an archive compressed by method {method}")));
        }
        if [packed, unpacked, at].contains(&ELSEWHERE) {
            return Err(refuse("a ZIP64 archive"));
        }
        let (packed, unpacked, at) = (u64::from(packed), u64::from(unpacked), u64::from(at));
        let most = if method == 8 { most_unpacked(packed).min(MOST_UNPACKED) } else { packed };
        if unpacked > most || (method == 0 && unpacked != packed) {
            return Err(self.malformed("the sizes in its directory contradict each other"));
        }
        let name = std::str::from_utf8(name).ok().and_then(|name| name.strip_suffix(".npy"));
        let Some(name) = name.map(str::to_owned) else {
            return Err(refuse("an archive with other files than .npy"));
        };
        self.names.push(name);
        let checksum = long(entry, 16);
        self.members.push(Member { deflated: method == 8, checksum, packed, unpacked, at });
        Ok(rest)
    }

    fn malformed(&self, reason: &str) -> DataError {
        DataError::malformed(&self.file, npy::FORMAT, reason)
    }
}

/// The last bytes of a file: all that can hold the record at the end and its comment.
fn tail(opened: &mut File, bytes: u64) -> std::io::Result<Vec<u8>> {
    let length = bytes.min(END_LENGTH + u64::from(u16::MAX));
    opened.seek(SeekFrom::Start(bytes - length))?;
    let mut tail = Vec::new();
    opened.take(length).read_to_end(&mut tail)?;
    Ok(tail)
}

/// Where the directory starts, its size and its number of entries.
fn directory(tail: &[u8]) -> Option<(u64, u64, u16)> {
    let last = tail.len().checked_sub(END_LENGTH as usize)?;
    let at = (0..=last).rev().find(|&at| {
        let comment = tail.len() - at - END_LENGTH as usize;
        tail[at..].starts_with(&END_MARK) && usize::from(short(&tail[at..], 20)) == comment
    })?;
    let record = &tail[at..];
    // One volume, and as many entries on it as there are.
    if long(record, 4) != 0 || short(record, 8) != short(record, 10) {
        return None;
    }
    Some((u64::from(long(record, 16)), u64::from(long(record, 12)), short(record, 10)))
}

/// Two bytes at a place, which the slice has.
fn short(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// Four bytes at a place, which the slice has.
fn long(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
