//! Training and test rows, assigned by a keyed hash. The claims are proven in `proof.md` beside this file.

mod sip;

use crate::cell::{Cell, Number};
use crate::error::DataError;
use sip::Sip;

/// The side of a split that a row is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitSide {
    /// For training.
    Train,
    /// For testing.
    Test,
}

/// A rule that assigns every row to one side: by a keyed hash (SipHash-2-4) of its content, or of its user.
///
/// [`Encoder::encode_split`](crate::Encoder::encode_split) gives the k-th of several equal rows a coin of its own, a hash of
/// their content and of k; with a user id, all rows of a user share one coin. [`Split::row`] looks at one row by itself, so
/// there equal rows are on the same side. Sides do not depend on the file format or on the machine. The test share is met on
/// average over keys.
///
/// # Guarantee
/// Under add-remove neighbours, adding or removing one row (or one user) changes one of the two sides by that one and leaves
/// the other as it is, as collections without an order. Under replace-one neighbours a replaced row may change sides, so
/// the size of a side is then *not* public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    key: [u64; 2],
    /// A hash below this is on the test side.
    below: u128,
}

impl Split {
    /// A split whose test side gets that share of the rows, on average.
    ///
    /// # Errors
    /// If the share is not between 0 and 1.
    pub fn new(key: &str, test_share: f64) -> Result<Self, DataError> {
        if !(0.0..=1.0).contains(&test_share) {
            return Err(DataError::TestShare { share: test_share.to_string() });
        }
        // Exact: a float below 2 times a power of two.
        let below = (test_share * 18_446_744_073_709_551_616.0) as u128;
        Ok(Self { key: halves(key), below })
    }

    /// The share of rows that the test side gets, on average.
    pub fn test_share(&self) -> f64 {
        self.below as f64 / 18_446_744_073_709_551_616.0
    }

    /// The side of all rows of a user.
    pub fn user(&self, id: &Cell<'_>) -> SplitSide {
        self.side(add_cell(Sip::new(self.key).with(b"user"), id).finish())
    }

    /// The side of a row, given as the names and cells of its columns. The order of the columns does
    /// not count, and neither does how a number is written: `39`, `39.0` and the integer 39 are the
    /// same.
    pub fn row<'a>(&self, columns: impl IntoIterator<Item = (&'a str, &'a Cell<'a>)>) -> SplitSide {
        let hash = |(name, cell): (&str, &Cell<'_>)| {
            let named = Sip::new(self.key).with(&(name.len() as u64).to_le_bytes()).with(name.as_bytes());
            add_cell(named, cell).finish()
        };
        let sum = columns.into_iter().map(hash).fold(0, u64::wrapping_add);
        self.side(Sip::new(self.key).with(b"row").with(&sum.to_le_bytes()).finish())
    }

    /// The side of the `occurrence`-th row or unit of this content, counted from 1. Only contents that are equal may share a count: that
    /// different ones have the same hash is no reason.
    pub fn occurrence(&self, content: u64, occurrence: u64) -> SplitSide {
        let hash = Sip::new(self.key).with(b"occurrence").with(&content.to_le_bytes());
        self.side(hash.with(&occurrence.to_le_bytes()).finish())
    }

    /// A hash of an encoded row under the key of this split.
    pub(crate) fn content(&self, entries: impl IntoIterator<Item = (u32, f64)>, label: Option<f64>) -> u64 {
        let add = |hash: Sip, (column, value): (u32, f64)| {
            hash.with(&column.to_le_bytes()).with(&value.to_bits().to_le_bytes())
        };
        let hash = entries.into_iter().fold(Sip::new(self.key).with(b"content"), add);
        // The length of what is hashed distinguishes a row without a label from every row with one.
        label.into_iter().fold(hash, |hash, label| hash.with(&label.to_bits().to_le_bytes())).finish()
    }

    fn side(&self, hash: u64) -> SplitSide {
        if u128::from(hash) < self.below { SplitSide::Test } else { SplitSide::Train }
    }
}

/// A hash (SipHash-2-4) of bytes under a key: the same on every machine, and without a pattern to anyone who chose the bytes
/// without knowing the key. Orders and partitions that must be repeatable are made of it.
pub fn keyed_hash(key: &str, bytes: &[u8]) -> u64 {
    KeyedHash::new(key).of(bytes)
}

/// [`keyed_hash`] of many texts under one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedHash([u64; 2]);

impl KeyedHash {
    /// The hash under this key.
    pub fn new(key: &str) -> Self {
        Self(halves(key))
    }

    /// The hash of these bytes.
    pub fn of(&self, bytes: &[u8]) -> u64 {
        Sip::new(self.0).with(bytes).finish()
    }
}

/// The key of the hash, from text of any length.
fn halves(key: &str) -> [u64; 2] {
    let half = |label: &[u8]| Sip::new([0, 0]).with(label).with(key.as_bytes()).finish();
    [half(b"reticent split, first half: "), half(b"reticent split, second half: ")]
}

/// Hashes the meaning of a cell: nothing, a number or a label.
fn add_cell(hash: Sip, cell: &Cell<'_>) -> Sip {
    // Text that starts differently is not a number and need not be parsed.
    let may_be_number = match cell {
        Cell::Text(text) => {
            text.trim_start().starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first))
        }
        // Their labels are how a CSV file writes them.
        Cell::Date(_) | Cell::Timestamp(_) => false,
        _ => true,
    };
    if may_be_number && let Ok(Some(number)) = cell.number() {
        return match whole(number) {
            Ok(integer) => hash.with(b"i").with(&integer.to_le_bytes()),
            Err(float) => hash.with(b"f").with(&float.to_bits().to_le_bytes()),
        };
    }
    match cell.label() {
        None => hash.with(b"n"),
        Some(label) => hash.with(b"t").with(label.as_bytes()),
    }
}

/// The number as an integer, if it is one that fits.
fn whole(number: Number) -> Result<i64, f64> {
    match number {
        Number::Integer(integer) => Ok(integer),
        // 2^63 itself does not fit, and every whole float below it does.
        Number::Float(float) if float.trunc() == float && float.abs() < 9_223_372_036_854_775_808.0 => {
            Ok(float as i64)
        }
        Number::Float(float) => Err(float),
    }
}

#[cfg(test)]
mod tests;
