//! CSV bytes, split into records and fields.
//!
//! The rule: a quote is a sign only where a field starts. Inside of a field that starts otherwise it is a character like any
//! other. A quoted field ends at its closing quote, which a separator, a line end or the end of the file must follow; a quote that
//! belongs to it is written twice, or after a backslash where the dialect says so. Anything else is refused with its line, and so
//! is a quote that is never closed: it would swallow the rows after it. A record ends at `\n`, `\r` or both; empty lines are none.
//!
//! Bytes are read in blocks. First the places of all signs of a block are listed, eight bytes at a time; then records are walked
//! from sign to sign, so that a byte that is not a sign is looked at once.

use std::io::{self, Read};

use super::super::reading::Quoting;

/// The bytes of one block, unless a record is longer.
const BLOCK: usize = 1 << 18;
/// The longest record. Places in a block are kept in 32 bits.
const LONGEST: usize = 1 << 30;
const MARK: &[u8] = b"\xef\xbb\xbf";

/// What is wrong with CSV bytes.
#[derive(Debug)]
pub(super) enum Broken {
    /// The file ends inside of a quoted field; the line of its quote, from 1.
    Unclosed(u64),
    /// Text follows a closing quote; the line of that quote, from 1.
    Stray(u64),
    /// A record is longer than [`LONGEST`].
    TooLong,
    /// The bytes are UTF-16.
    Utf16,
    /// The bytes cannot be read.
    Io(io::Error),
}

/// A field of the current record, between its quotes if it has any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FieldSpan {
    start: u32,
    end: u32,
    /// Whether it has quotes or backslashes that stand for others.
    escaped: bool,
}

/// What ends a walk along a record.
enum Walk {
    /// The record, and where the next one may start.
    Whole,
    /// The file.
    End,
    /// More bytes are needed.
    More,
}

/// Records of CSV bytes, one at a time.
pub(super) struct Records<R> {
    source: R,
    separator: u8,
    quoting: Quoting,
    bytes: Vec<u8>,
    /// How many of the bytes are read.
    filled: usize,
    /// Whether nothing follows them.
    ended: bool,
    /// Where the next record starts, or empty lines before it.
    at: usize,
    /// The places of the signs, in rising order.
    signs: Vec<u32>,
    /// The first sign that is not before `at`.
    sign: usize,
    fields: Vec<FieldSpan>,
    /// The bytes before the block, and the line ends in them.
    before: u64,
    lines_before: u64,
}

impl<R: Read> Records<R> {
    /// Reads the first block; a byte-order mark is not part of the first record.
    pub(super) fn new(source: R, separator: u8, quoting: Quoting) -> Result<Self, Broken> {
        let mut records = Self {
            source,
            separator,
            quoting,
            bytes: vec![0; BLOCK],
            filled: 0,
            ended: false,
            at: 0,
            signs: Vec::new(),
            sign: 0,
            fields: Vec::new(),
            before: 0,
            lines_before: 0,
        };
        records.fill()?;
        match &records.bytes[..records.filled] {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => return Err(Broken::Utf16),
            bytes if bytes.starts_with(MARK) => records.at = MARK.len(),
            _ => {}
        }
        Ok(records)
    }

    /// Where the bytes come from.
    pub(super) fn source(&self) -> &R {
        &self.source
    }

    /// How many bytes lie before the next record.
    pub(super) fn position(&self) -> u64 {
        self.before + self.at as u64
    }

    /// Moves to the next record; whether there is one.
    pub(super) fn advance(&mut self) -> Result<bool, Broken> {
        loop {
            match self.walk()? {
                Walk::Whole => return Ok(true),
                Walk::End => return Ok(false),
                Walk::More => self.fill()?,
            }
        }
    }

    /// The number of fields of the current record.
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    /// The bytes of a field of the current record, and whether [`unescape`](Self::unescape) has to look at them.
    pub(super) fn field(&self, place: usize) -> (&[u8], bool) {
        let span = self.fields[place];
        (&self.bytes[span.start as usize..span.end as usize], span.escaped)
    }

    /// Appends a field without the quotes and backslashes that stand for others.
    pub(super) fn unescape(&self, field: &[u8], text: &mut Vec<u8>) {
        let mut rest = field.iter();
        while let Some(byte) = rest.next().copied() {
            let next = rest.as_slice().first().copied();
            let escapes = match byte {
                b'"' => next == Some(b'"'),
                b'\\' => self.quoting == Quoting::Backslash && matches!(next, Some(b'"' | b'\\')),
                _ => false,
            };
            text.push(if escapes { rest.next().copied().unwrap_or(byte) } else { byte });
        }
    }

    fn walk(&mut self) -> Result<Walk, Broken> {
        let bytes = &self.bytes[..self.filled];
        let (mut start, mut sign) = (self.at, self.sign);
        while let Some(b'\n' | b'\r') = bytes.get(start) {
            start += 1;
            sign += 1;
        }
        if start == bytes.len() {
            (self.at, self.sign) = (start, sign);
            return Ok(if self.ended { Walk::End } else { Walk::More });
        }
        self.fields.clear();
        let next = 'record: loop {
            if bytes.get(start) == Some(&b'"') && self.quoting != Quoting::None {
                let Some((close, after, escaped)) = self.closing(start, sign + 1)? else {
                    return Ok(Walk::More);
                };
                self.fields.push(FieldSpan { start: start as u32 + 1, end: close as u32, escaped });
                match bytes.get(close + 1) {
                    Some(byte) if *byte == self.separator => (start, sign) = (close + 2, after + 1),
                    Some(b'\n' | b'\r') => break 'record (close + 2, after + 1),
                    Some(_) => return Err(Broken::Stray(self.line(close))),
                    None if self.ended => break 'record (close + 1, after),
                    None => return Ok(Walk::More),
                }
                continue;
            }
            loop {
                let Some(place) = self.signs.get(sign) else {
                    if !self.ended {
                        return Ok(Walk::More);
                    }
                    let end = bytes.len();
                    self.fields.push(FieldSpan { start: start as u32, end: end as u32, escaped: false });
                    break 'record (end, sign);
                };
                sign += 1;
                let byte = bytes[*place as usize];
                // A quote or a backslash inside of a plain field is a character like any other.
                if byte == self.separator || byte == b'\n' || byte == b'\r' {
                    self.fields.push(FieldSpan { start: start as u32, end: *place, escaped: false });
                    start = *place as usize + 1;
                    if byte == self.separator {
                        break;
                    }
                    break 'record (start, sign);
                }
            }
        };
        (self.at, self.sign) = next;
        Ok(Walk::Whole)
    }

    /// The closing quote of a field whose quote opens at `open`, the first sign after it, and whether anything inside stands for
    /// something else; `None` if more bytes are needed.
    fn closing(&self, open: usize, mut sign: usize) -> Result<Option<(usize, usize, bool)>, Broken> {
        let bytes = &self.bytes[..self.filled];
        let mut escaped = false;
        while let Some(place) = self.signs.get(sign) {
            let place = *place as usize;
            sign += 1;
            let next = bytes.get(place + 1);
            match (bytes[place], next) {
                (b'"' | b'\\', None) if !self.ended => return Ok(None),
                (b'"', Some(b'"')) => (escaped, sign) = (true, sign + 1),
                (b'"', _) => return Ok(Some((place, sign, escaped))),
                (b'\\', Some(b'"' | b'\\')) if self.quoting == Quoting::Backslash => {
                    (escaped, sign) = (true, sign + 1);
                }
                _ => {}
            }
        }
        if self.ended { Err(Broken::Unclosed(self.line(open))) } else { Ok(None) }
    }

    /// The line of a place, from 1.
    fn line(&self, place: usize) -> u64 {
        self.lines_before + count_lines(&self.bytes[..place]) + 1
    }

    /// Drops the records before the current one, reads on, and lists the signs.
    fn fill(&mut self) -> Result<(), Broken> {
        self.lines_before += count_lines(&self.bytes[..self.at]);
        self.before += self.at as u64;
        self.bytes.copy_within(self.at..self.filled, 0);
        self.filled -= self.at;
        self.at = 0;
        if self.filled * 2 > self.bytes.len() {
            if self.bytes.len() >= LONGEST {
                return Err(Broken::TooLong);
            }
            self.bytes.resize(self.bytes.len() * 2, 0);
        }
        while self.filled < self.bytes.len() {
            match self.source.read(&mut self.bytes[self.filled..]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Broken::Io(error)),
            }
        }
        // Without quotes or backslashes their places are those of the separator.
        let quote = if self.quoting == Quoting::None { self.separator } else { b'"' };
        let escape = if self.quoting == Quoting::Backslash { b'\\' } else { self.separator };
        list(&self.bytes[..self.filled], [self.separator, b'\n', b'\r', quote, escape], &mut self.signs);
        self.sign = 0;
        Ok(())
    }
}

fn count_lines(bytes: &[u8]) -> u64 {
    // As many bytes at a time as a byte can count.
    let count = |part: &[u8]| part.iter().fold(0u8, |count, byte| count + u8::from(*byte == b'\n'));
    bytes.chunks(192).map(|part| u64::from(count(part))).sum()
}

/// Lists the places of the signs.
fn list(bytes: &[u8], signs: [u8; 5], places: &mut Vec<u32>) {
    places.clear();
    let is_sign = |byte: u8| signs.iter().fold(false, |found, sign| found | (byte == *sign));
    let (blocks, rest) = bytes.as_chunks::<64>();
    let mut base = 0u32;
    for block in blocks {
        let mut hits = [0u8; 64];
        for (hit, byte) in hits.iter_mut().zip(block) {
            *hit = u8::from(is_sign(*byte));
        }
        let mut bits = 0u64;
        for (word, eight) in hits.as_chunks::<8>().0.iter().enumerate() {
            // The lowest bits of eight bytes, gathered in the highest byte of a product.
            let gathered = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            bits |= gathered << (8 * word);
        }
        while bits != 0 {
            places.push(base + bits.trailing_zeros());
            bits &= bits - 1;
        }
        base += 64;
    }
    places.extend(rest.iter().zip(base..).filter(|(byte, _)| is_sign(**byte)).map(|(_, place)| place));
}
