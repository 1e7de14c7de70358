//! The bytes of a file, plain or gzipped, read under limits.
//!
//! A reader asks for as many bytes as the file's header promises. Before anything is allocated, the
//! promise is held against what the file can possibly yield: its own size, or 1,032 times that when
//! compressed, which is the most that DEFLATE can stand for.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::error::{DataError, shown_path};

/// The most bytes that are unpacked from one compressed file: 8 GiB.
pub(crate) const MOST_UNPACKED: u64 = 1 << 33;
/// How many bytes one byte of DEFLATE can stand for, at most.
const MOST_EXPANSION: u64 = 1032;
/// How many bytes are converted at once; a multiple of every value's width.
const CHUNK: usize = 1 << 16;

/// Opens a regular file that is not empty; with it, its size.
pub(crate) fn open(path: &Path, format: &'static str) -> Result<(File, u64), DataError> {
    let file = shown_path(path);
    let failed = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => DataError::NotFound { file: file.clone() },
        _ => DataError::io(&file, "read", &error),
    };
    let about = fs::metadata(path).map_err(failed)?;
    if !about.is_file() {
        return Err(DataError::NotRegular { file });
    }
    if about.len() == 0 {
        return Err(DataError::malformed(&file, format, "it is empty"));
    }
    Ok((File::open(path).map_err(failed)?, about.len()))
}

/// Reads a whole file of UTF-8 text.
pub(crate) fn text(path: &Path, format: &'static str, most: u64) -> Result<String, DataError> {
    let (opened, bytes) = open(path, format)?;
    let file = shown_path(path);
    if bytes > most {
        return Err(DataError::TooLarge { file, bytes, most });
    }
    let mut text = String::new();
    match opened.take(most).read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            Err(DataError::malformed(&file, format, "it is not UTF-8 text"))
        }
        Err(error) => Err(DataError::io(&file, "read", &error)),
    }
}

/// The most bytes that compressed bytes can stand for.
pub(crate) fn most_unpacked(compressed: u64) -> u64 {
    compressed.saturating_mul(MOST_EXPANSION)
}

/// Bytes to be read in order, and how many can come.
pub(crate) struct Source<R> {
    file: String,
    format: &'static str,
    inner: R,
    /// The most bytes that can still come.
    left: u64,
    /// Whether they are uncompressed on disk: memory for them may then be reserved at once.
    plain: bool,
}

impl Source<Box<dyn Read>> {
    /// Opens a file; a gzipped one, which its first bytes tell, is unpacked on the way.
    pub(crate) fn open(path: &Path, format: &'static str) -> Result<Self, DataError> {
        let (opened, bytes) = open(path, format)?;
        let file = shown_path(path);
        let mut opened = BufReader::with_capacity(CHUNK, opened);
        let start = opened.fill_buf().map_err(|error| DataError::io(&file, "read", &error))?;
        if start.starts_with(&[0x1f, 0x8b]) {
            let inner = Box::new(MultiGzDecoder::new(opened));
            return Ok(Self { file, format, inner, left: most_unpacked(bytes), plain: false });
        }
        Ok(Self { file, format, inner: Box::new(opened), left: bytes, plain: true })
    }
}

impl<R: Read> Source<R> {
    /// A source of at most `left` bytes.
    pub(crate) fn new(file: String, format: &'static str, inner: R, left: u64, plain: bool) -> Self {
        Self { file, format, inner, left, plain }
    }

    /// What is read from.
    pub(crate) fn into_inner(self) -> R {
        self.inner
    }

    /// The file is not what it should be.
    pub(crate) fn malformed(&self, reason: &str) -> DataError {
        DataError::malformed(&self.file, self.format, reason)
    }

    /// The file is sound, but holds something that is not read.
    pub(crate) fn unsupported(&self, found: String, advice: &'static str) -> DataError {
        DataError::Unsupported { file: self.file.clone(), found, advice }
    }

    /// The next `N` bytes.
    pub(crate) fn bytes<const N: usize>(&mut self) -> Result<[u8; N], DataError> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// The next `count` values of `W` bytes each.
    pub(crate) fn values<T, const W: usize>(
        &mut self,
        count: u64,
        value: impl Fn([u8; W]) -> T,
    ) -> Result<Vec<T>, DataError> {
        let count = self.affordable(count, W)?;
        let mut values = Vec::new();
        // What lies compressed is only known to be there once it is unpacked.
        let reserve = if self.plain { count } else { count.min(CHUNK) };
        values.try_reserve_exact(reserve).map_err(|_| self.no_room(count, W))?;
        let mut chunk = vec![0u8; CHUNK.min(count.saturating_mul(W))];
        while values.len() < count {
            let wanted = chunk.len().min((count - values.len()) * W);
            self.fill(&mut chunk[..wanted])?;
            values.try_reserve(wanted / W).map_err(|_| self.no_room(count, W))?;
            values.extend(chunk[..wanted].as_chunks::<W>().0.iter().map(|bytes| value(*bytes)));
        }
        Ok(values)
    }

    /// Checks that nothing follows; this also compares the checksum of gzipped bytes.
    pub(crate) fn end(&mut self) -> Result<(), DataError> {
        let mut more = [0];
        loop {
            match self.inner.read(&mut more) {
                Ok(0) => return Ok(()),
                Ok(_) => return Err(self.malformed("it has more bytes than its header says")),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failure(&error)),
            }
        }
    }

    /// Whether that many values can come and would fit; their number.
    fn affordable(&self, count: u64, width: usize) -> Result<usize, DataError> {
        let bytes = count.checked_mul(width as u64).filter(|bytes| *bytes <= self.left);
        let Some(bytes) = bytes else {
            return Err(self.malformed("it is shorter than its header says"));
        };
        if !self.plain && bytes > MOST_UNPACKED {
            return Err(DataError::TooLarge { file: self.file.clone(), bytes, most: MOST_UNPACKED });
        }
        usize::try_from(count).map_err(|_| self.no_room(usize::MAX, width))
    }

    fn no_room(&self, count: usize, width: usize) -> DataError {
        let bytes = (count as u64).saturating_mul(width as u64);
        DataError::TooLarge { file: self.file.clone(), bytes, most: MOST_UNPACKED }
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), DataError> {
        self.inner.read_exact(bytes).map_err(|error| self.failure(&error))?;
        self.left = self.left.saturating_sub(bytes.len() as u64);
        Ok(())
    }

    fn failure(&self, error: &io::Error) -> DataError {
        match error.kind() {
            ErrorKind::UnexpectedEof => self.malformed("it ends too early"),
            ErrorKind::InvalidData | ErrorKind::InvalidInput => {
                self.malformed("its compressed data is corrupt")
            }
            _ => DataError::io(&self.file, "read", error),
        }
    }
}
