//! The header line: its separator and its names. Nothing else of a file decides how the file is read.

use std::io::{BufRead, BufReader, Read};

use super::super::reading::{Dialect, Quoting};
use super::super::{ColumnInfo, ColumnKind};
use super::records::{Broken, Records};
use crate::error::DataError;

/// The separators that are looked for.
const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The separator of a file: the one given, else the candidate that the header line has most of outside of quotes.
pub(super) fn separator(file: &str, source: impl Read, dialect: &Dialect) -> Result<u8, DataError> {
    if let Some(separator) = dialect.separator {
        return Ok(separator);
    }
    let counts = count(file, source, dialect.quoting)?;
    let most = counts.iter().copied().max().unwrap_or_default();
    let best: Vec<u8> = CANDIDATES
        .into_iter()
        .zip(counts)
        .filter(|(_, count)| *count == most)
        .map(|(sign, _)| sign)
        .collect();
    match best[..] {
        // A header of one column: in its rows a comma is a decimal comma, if there are such.
        _ if most == 0 => Ok(if dialect.decimal_comma { b';' } else { b',' }),
        [only] => Ok(only),
        _ => {
            let words: Vec<&str> = best.iter().map(|sign| word(*sign)).collect();
            Err(DataError::AmbiguousSeparator { file: file.to_owned(), signs: words.join(" and ") })
        }
    }
}

fn word(sign: u8) -> &'static str {
    match sign {
        b',' => "commas",
        b';' => "semicolons",
        b'\t' => "tabs",
        _ => "vertical bars",
    }
}

/// How often the header line has each candidate outside of quotes.
fn count(file: &str, source: impl Read, quoting: Quoting) -> Result<[u64; 4], DataError> {
    let mut counts = [0; 4];
    let (mut starts, mut quoted, mut seen) = (true, false, false);
    let mut escaped = false;
    let mut line = BufReader::with_capacity(1 << 12, source);
    let start = line.fill_buf().map_err(|error| failure(file, Broken::Io(error)))?;
    if matches!(start, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) {
        return Err(failure(file, Broken::Utf16));
    }
    let mut line = line.bytes();
    while let Some(byte) = line.next().transpose().map_err(|error| failure(file, Broken::Io(error)))? {
        if quoted {
            // A quote that is written twice closes the field and opens it again.
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoting == Quoting::Backslash => escaped = true,
                b'"' => (quoted, starts) = (false, true),
                _ => {}
            }
            continue;
        }
        if let Some(candidate) = CANDIDATES.iter().position(|sign| *sign == byte) {
            counts[candidate] += 1;
            (starts, seen) = (true, true);
            continue;
        }
        match byte {
            b'\n' | b'\r' if seen => break,
            b'\n' | b'\r' => {}
            b'"' if starts && quoting != Quoting::None => (quoted, seen) = (true, true),
            // The bytes of a byte-order mark come before the first field.
            0xef | 0xbb | 0xbf if !seen => {}
            _ => (starts, seen) = (false, true),
        }
    }
    Ok(counts)
}

/// The columns that the first record names.
pub(super) fn columns<R: Read>(file: &str, records: &mut Records<R>) -> Result<Vec<ColumnInfo>, DataError> {
    if !records.advance().map_err(|broken| failure(file, broken))? {
        return Err(DataError::Empty { file: file.to_owned() });
    }
    let not_text = || DataError::HeaderNotText { file: file.to_owned() };
    let name = |place: usize| {
        let (field, escaped) = records.field(place);
        let mut bytes = Vec::new();
        if escaped {
            records.unescape(field, &mut bytes);
        } else {
            bytes.extend_from_slice(field);
        }
        let name = String::from_utf8(bytes).map_err(|_| not_text())?;
        if name.contains('\0') {
            return Err(not_text());
        }
        Ok(ColumnInfo { name: name.trim().to_owned(), kind: ColumnKind::Text })
    };
    (0..records.len()).map(name).collect()
}

/// What is wrong with a file, by its name.
pub(super) fn failure(file: &str, broken: Broken) -> DataError {
    let file_name = file.to_owned();
    match broken {
        Broken::Unclosed(line) => DataError::UnclosedQuote { file: file_name, line },
        Broken::Stray(line) => DataError::StrayQuote { file: file_name, line },
        Broken::Utf16 => DataError::Utf16 { file: file_name },
        Broken::TooLong => DataError::malformed(file, "CSV", "a row is longer than a gibibyte"),
        Broken::Io(error) => match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                DataError::malformed(file, "compressed", "its compressed data ends too early")
            }
            std::io::ErrorKind::InvalidData | std::io::ErrorKind::InvalidInput => {
                DataError::malformed(file, "compressed", "its compressed data is corrupt")
            }
            _ => DataError::io(file, "read", &error),
        },
    }
}
