//! The bytes of a text file: unpacked if they are compressed, decoded if they are not UTF-8.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;

use super::encoding::{Decoded, Encoding};

/// How gzip and zstd begin.
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// The text of a file as UTF-8, as far as it is text.
pub(super) struct Text {
    inner: Box<dyn Read + Send>,
    taken: Arc<AtomicU64>,
    /// Whether the bytes are those of the file.
    pub(super) plain: bool,
}

impl Text {
    /// The compression is recognised by the first bytes.
    pub(super) fn open(file: File, encoding: Encoding) -> io::Result<Self> {
        let taken = Arc::new(AtomicU64::new(0));
        let mut bytes = BufReader::with_capacity(1 << 16, Counted { inner: file, taken: taken.clone() });
        let start = bytes.fill_buf()?;
        let (mut plain, gzip, zstd) = (false, start.starts_with(GZIP), start.starts_with(ZSTD));
        let unpacked: Box<dyn Read + Send> = if gzip {
            Box::new(MultiGzDecoder::new(bytes))
        } else if zstd {
            Box::new(zstd::stream::read::Decoder::with_buffer(bytes)?)
        } else {
            plain = true;
            Box::new(bytes)
        };
        if encoding == Encoding::Utf8 {
            return Ok(Self { inner: unpacked, taken, plain });
        }
        Ok(Self { inner: Box::new(Decoded::new(unpacked, encoding)), taken, plain: false })
    }

    /// How many bytes of the file have been read.
    pub(super) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }
}

impl Read for Text {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer)
    }
}

/// A file that counts the bytes read from it.
struct Counted {
    inner: File,
    taken: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
