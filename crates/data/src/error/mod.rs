//! What can go wrong with a table, one line each.

use std::fmt::Write as _;
use std::path::Path;

use thiserror::Error;

/// How many column names an error message lists.
const LISTED: usize = 12;
/// How many characters of a value or of a lower layer's message an error message shows.
const SHOWN: usize = 60;

/// An error about a table: its message is one line that says what to do.
///
/// Row numbers count data rows from 1; the header line of a CSV file is not a row.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DataError {
    /// The path names nothing.
    #[error("{file}: no such file")]
    NotFound {
        /// The path as given.
        file: String,
    },
    /// The path names a folder or a device.
    #[error("{file}: not a regular file: give a .csv or .parquet file")]
    NotAFile {
        /// The path as given.
        file: String,
    },
    /// The file name's extension is neither `.csv` nor `.parquet`.
    #[error("{file}: unknown table format \"{extension}\": give a .csv or .parquet file")]
    UnknownFormat {
        /// The path as given.
        file: String,
        /// The extension with its dot; empty when there is none.
        extension: String,
    },
    /// The operating system refused.
    #[error("{file}: cannot {action}: {reason}")]
    Io {
        /// The path as given.
        file: String,
        /// What was attempted: `read`, `write`, ...
        action: &'static str,
        /// The system's message.
        reason: String,
    },
    /// The file has no bytes, or a CSV file has no header line.
    #[error("{file}: the file is empty: a table needs at least a header with column names")]
    Empty {
        /// The path as given.
        file: String,
    },
    /// The file's bytes are not those of its format.
    #[error(
        "{file}: not a readable {format} file ({reason}): check that it is complete and has the right extension"
    )]
    Malformed {
        /// The path as given.
        file: String,
        /// `CSV` or `Parquet`.
        format: &'static str,
        /// What the reader met.
        reason: String,
    },
    /// The file was replaced or altered between opening and reading it.
    #[error("{file}: the file changed while it was being read: run again once nothing writes to it")]
    Changed {
        /// The path as given.
        file: String,
    },
    /// Two columns share a name.
    #[error("{file}: two columns are named \"{column}\": rename one of them")]
    DuplicateColumn {
        /// The path as given.
        file: String,
        /// The name.
        column: String,
    },
    /// The table has no column of that name.
    #[error("column \"{column}\" is not in {file}: it has {}{}", listed(known), hint(suggestion.as_deref()))]
    UnknownColumn {
        /// The path as given.
        file: String,
        /// The name asked for.
        column: String,
        /// The table's columns.
        known: Vec<String>,
        /// The table's column with the closest name, if one is close.
        suggestion: Option<String>,
    },
    /// A CSV row has more or fewer fields than the header.
    #[error(
        "{file}: row {row} does not fit the header (fields: {found} instead of {expected}): fix or quote that line"
    )]
    Ragged {
        /// The path as given.
        file: String,
        /// The row.
        row: u64,
        /// Fields in the header.
        expected: usize,
        /// Fields in the row.
        found: usize,
    },
    /// A CSV header is not text.
    #[error("{file}: the header line is not UTF-8 text: save the file as UTF-8")]
    HeaderNotText {
        /// The path as given.
        file: String,
    },
    /// A CSV field is not UTF-8.
    #[error("{file}: column \"{column}\", row {row} is not UTF-8 text: save the file as UTF-8")]
    NotText {
        /// The path as given.
        file: String,
        /// The column.
        column: String,
        /// The row.
        row: u64,
    },
    /// A Parquet column has a type that is neither number, text nor boolean.
    #[error(
        "column \"{column}\" of {file} holds {kind} values, which are not supported: convert it to numbers or text"
    )]
    UnsupportedType {
        /// The path as given.
        file: String,
        /// The column.
        column: String,
        /// The type in words, such as `date`.
        kind: String,
    },
    /// A Parquet column is compressed with a codec that is not built in.
    #[error(
        "column \"{column}\" of {file} is compressed with {codec}: write the file with zstd, snappy or no compression"
    )]
    UnsupportedCompression {
        /// The path as given.
        file: String,
        /// The column.
        column: String,
        /// The codec's name.
        codec: String,
    },
    /// An unsigned 64-bit integer is too large for a signed one.
    #[error(
        "column \"{column}\", row {row}: {value} is above 9223372036854775807: store the column as floats"
    )]
    IntegerTooLarge {
        /// The column.
        column: String,
        /// The row.
        row: u64,
        /// The value.
        value: u64,
    },
    /// A cell that must be a number is not one.
    #[error(
        "column \"{column}\", row {row}: \"{value}\" is not a number: fix the cell or choose a numeric column"
    )]
    NotANumber {
        /// The column.
        column: String,
        /// The row.
        row: u64,
        /// The cell's text, shortened.
        value: String,
    },
    /// A number is NaN or infinite.
    #[error(
        "column \"{column}\", row {row}: the number is not finite (NaN or infinite): replace it or leave the cell empty"
    )]
    NotFinite {
        /// The column.
        column: String,
        /// The row.
        row: u64,
    },
    /// A filter could not be read.
    #[error(
        "filter \"{filter}\": {problem}: write column=value, with = != < <= > or >=, joined by \" and \"; quote a value that has spaces or signs"
    )]
    Filter {
        /// The filter as given.
        filter: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Output is CSV, and the name given says something else.
    #[error("{file}: the output is written as CSV: give a name that ends in .csv")]
    OutputNotCsv {
        /// The path as given.
        file: String,
    },
    /// A row to be written has more or fewer fields than the header.
    #[error(
        "{file}: row {row} of the output does not fit the header (fields: {found} instead of {expected}): give one per column"
    )]
    OutputRow {
        /// The path as given.
        file: String,
        /// The row.
        row: u64,
        /// Fields in the header.
        expected: usize,
        /// Fields in the row.
        found: usize,
    },
}

impl DataError {
    pub(crate) fn unknown_column(file: &str, column: &str, known: Vec<String>) -> Self {
        let suggestion = closest(column, &known).map(str::to_owned);
        DataError::UnknownColumn { file: file.to_owned(), column: shown(column), known, suggestion }
    }

    pub(crate) fn io(file: &str, action: &'static str, error: &std::io::Error) -> Self {
        DataError::Io { file: file.to_owned(), action, reason: shown(&error.to_string()) }
    }

    pub(crate) fn malformed(file: &str, format: &'static str, reason: &str) -> Self {
        DataError::Malformed { file: file.to_owned(), format, reason: shown(reason) }
    }
}

/// `text` without line breaks or control characters, and not too long.
pub(crate) fn shown(text: &str) -> String {
    let mut kept: String = text.chars().take(SHOWN).map(plain).collect();
    if text.chars().nth(SHOWN).is_some() {
        kept.push('…');
    }
    kept
}

/// A path as messages show it.
pub(crate) fn shown_path(path: &Path) -> String {
    path.to_string_lossy().chars().map(plain).collect()
}

fn plain(character: char) -> char {
    if character.is_control() { ' ' } else { character }
}

fn listed(columns: &[String]) -> String {
    let mut list = columns.iter().take(LISTED).map(|name| shown(name)).collect::<Vec<_>>().join(", ");
    if columns.len() > LISTED {
        // Writing to a string cannot fail.
        let _ = write!(list, " and {} more", columns.len() - LISTED);
    }
    if list.is_empty() { "no columns".to_owned() } else { list }
}

fn hint(suggestion: Option<&str>) -> String {
    suggestion.map(|name| format!(" (did you mean \"{}\"?)", shown(name))).unwrap_or_default()
}

/// The name in `known` closest to `wanted`, if at most a third of its letters differ; case does not count.
fn closest<'a>(wanted: &str, known: &'a [String]) -> Option<&'a str> {
    let wanted: Vec<char> = wanted.to_lowercase().chars().collect();
    known
        .iter()
        .filter_map(|name| {
            let letters: Vec<char> = name.to_lowercase().chars().collect();
            let distance = edit_distance(&wanted, &letters);
            (distance <= wanted.len().max(letters.len()) / 3).then_some((distance, name.as_str()))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Levenshtein distance.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = above[0];
        above[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = above[j + 1];
            above[j + 1] = substituted.min(above[j] + 1).min(diagonal + 1);
        }
    }
    above[b.len()]
}

#[cfg(test)]
mod tests;
