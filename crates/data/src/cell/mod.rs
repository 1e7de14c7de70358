//! One value of a table and its readings: as a number, as a category label, as CSV text.

mod time;

use std::borrow::Cow;
use std::cmp::Ordering;

use thiserror::Error;

use crate::error::{DataError, shown};
pub(crate) use time::{DAY_MILLISECONDS, civil};
use time::{MICROSECONDS, day_of};
pub use time::{date_label, parse_date, parse_timestamp, timestamp_label};

/// One value of a table. Text is as the file has it; text that is blank once trimmed is [`Cell::Null`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// No value.
    Null,
    /// An integer, from Parquet.
    Integer(i64),
    /// A floating-point number, from Parquet; 32-bit floats are widened exactly. May be NaN or infinite.
    Float(f64),
    /// Text; every value of a CSV file that is not null.
    Text(&'a str),
    /// A truth value, from Parquet.
    Boolean(bool),
    /// A day, in days since 1970-01-01, from Parquet or Arrow.
    Date(i32),
    /// A point in time, in microseconds since 1970-01-01 00:00 UTC, from Parquet or Arrow.
    Timestamp(i64),
}

/// A finite number that keeps integers exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer that fits 64 bits.
    Integer(i64),
    /// Any other finite number.
    Float(f64),
}

/// Why a cell cannot be read as a number; [`NumberError::at`] adds the place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NumberError {
    /// The text (shortened) is not a number.
    #[error("\"{0}\" is not a number")]
    NotANumber(String),
    /// NaN or infinite.
    #[error("the number is not finite (NaN or infinite)")]
    NotFinite,
}

impl NumberError {
    /// The same error with its column and row.
    pub fn at(self, column: &str, row: u64) -> DataError {
        let column = shown(column);
        match self {
            NumberError::NotANumber(value) => DataError::NotANumber { column, row, value },
            NumberError::NotFinite => DataError::NotFinite { column, row },
        }
    }
}

impl<'a> Cell<'a> {
    /// Text as a cell: null when blank.
    pub fn from_text(text: &'a str) -> Self {
        if text.trim().is_empty() { Cell::Null } else { Cell::Text(text) }
    }

    /// Whether there is no value.
    pub fn is_null(&self) -> bool {
        matches!(self, Cell::Null)
    }

    /// The cell as a finite number; `None` when null.
    ///
    /// Text is trimmed and read as an integer if it is one that fits 64 bits, else as a float (so a
    /// longer integer becomes the nearest float). A boolean is not a number. A date is its days since 1970-01-01, and a timestamp
    /// its seconds since then: an integer if there is no fraction, else the nearest float.
    pub fn number(&self) -> Result<Option<Number>, NumberError> {
        match *self {
            Cell::Null => Ok(None),
            Cell::Integer(integer) => Ok(Some(Number::Integer(integer))),
            Cell::Float(float) if float.is_finite() => Ok(Some(Number::Float(float))),
            Cell::Float(_) => Err(NumberError::NotFinite),
            Cell::Text(text) => {
                let text = text.trim();
                if text.is_empty() { Ok(None) } else { Number::parse(text).map(Some) }
            }
            Cell::Boolean(truth) => Err(NumberError::NotANumber(truth.to_string())),
            Cell::Date(days) => Ok(Some(Number::Integer(i64::from(days)))),
            Cell::Timestamp(at) if at % MICROSECONDS == 0 => Ok(Some(Number::Integer(at / MICROSECONDS))),
            Cell::Timestamp(at) => Ok(Some(Number::Float(at as f64 / MICROSECONDS as f64))),
        }
    }

    /// The day since 1970-01-01 that the cell names: of a date, of a timestamp (in UTC) and of text that [`parse_date`] or
    /// [`parse_timestamp`] reads. `None` for every other cell.
    pub fn date(&self) -> Option<i32> {
        match *self {
            Cell::Date(days) => Some(days),
            Cell::Timestamp(at) => Some(day_of(at)),
            Cell::Text(text) => parse_date(text).or_else(|| parse_timestamp(text).map(day_of)),
            _ => None,
        }
    }

    /// The microseconds since 1970-01-01 00:00 UTC that the cell names: of a timestamp, of a date (its midnight) and of text that
    /// [`parse_timestamp`] or [`parse_date`] reads. `None` for every other cell.
    pub fn timestamp(&self) -> Option<i64> {
        match *self {
            Cell::Date(days) => Some(time::midnight(days)),
            Cell::Timestamp(at) => Some(at),
            Cell::Text(text) => parse_timestamp(text).or_else(|| parse_date(text).map(time::midnight)),
            _ => None,
        }
    }

    /// [`Cell::number`] with an error that names the column and the row.
    pub fn number_at(&self, column: &str, row: u64) -> Result<Option<Number>, DataError> {
        self.number().map_err(|error| error.at(column, row))
    }

    /// The text by which categories are matched; `None` when null.
    ///
    /// Text is trimmed; integers, and floats with an integer value, have no decimals; booleans are
    /// `true` and `false`; dates and timestamps are ISO 8601 ([`date_label`], [`timestamp_label`]).
    pub fn label(&self) -> Option<Cow<'a, str>> {
        match *self {
            Cell::Null => None,
            Cell::Integer(integer) => Some(Cow::Owned(integer.to_string())),
            // Adding zero turns -0 into 0.
            Cell::Float(float) => Some(Cow::Owned((float + 0.0).to_string())),
            Cell::Text(text) => {
                let text = text.trim();
                (!text.is_empty()).then_some(Cow::Borrowed(text))
            }
            Cell::Boolean(truth) => Some(Cow::Borrowed(if truth { "true" } else { "false" })),
            Cell::Date(days) => Some(Cow::Owned(date_label(days))),
            Cell::Timestamp(at) => Some(Cow::Owned(timestamp_label(at))),
        }
    }

    /// The field that a CSV file holds for this cell: empty for null, text unchanged, and numbers such
    /// that reading them back gives the same number.
    pub fn csv_text(&self) -> Cow<'a, str> {
        match *self {
            Cell::Null => Cow::Borrowed(""),
            Cell::Integer(integer) => Cow::Owned(integer.to_string()),
            Cell::Float(float) => Cow::Owned(format!("{float:?}")),
            Cell::Text(text) => Cow::Borrowed(text),
            Cell::Boolean(truth) => Cow::Borrowed(if truth { "true" } else { "false" }),
            Cell::Date(days) => Cow::Owned(date_label(days)),
            Cell::Timestamp(at) => Cow::Owned(timestamp_label(at)),
        }
    }
}

impl Number {
    /// Reads trimmed text: an integer if it fits 64 bits, else a finite float.
    pub fn parse(text: &str) -> Result<Self, NumberError> {
        let text = text.trim();
        if let Ok(integer) = text.parse::<i64>() {
            return Ok(Number::Integer(integer));
        }
        match text.parse::<f64>() {
            Ok(float) if float.is_finite() => Ok(Number::Float(float)),
            Ok(_) => Err(NumberError::NotFinite),
            Err(_) => Err(NumberError::NotANumber(shown(text))),
        }
    }

    /// The nearest float; exact for floats and for integers up to 2^53 in size.
    pub fn to_f64(self) -> f64 {
        match self {
            Number::Integer(integer) => integer as f64,
            Number::Float(float) => float,
        }
    }

    /// Exact comparison, without rounding an integer to a float. `None` only if a float is NaN, which
    /// no reading of a cell yields.
    pub fn compare(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Integer(a), Number::Integer(b)) => Some(a.cmp(&b)),
            (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b),
            (Number::Integer(a), Number::Float(b)) => compare_exactly(a, b),
            (Number::Float(a), Number::Integer(b)) => compare_exactly(b, a).map(Ordering::reverse),
        }
    }
}

/// 2^63, one above the largest `i64`.
const BEYOND: f64 = 9_223_372_036_854_775_808.0;

fn compare_exactly(integer: i64, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    if float >= BEYOND {
        return Some(Ordering::Less);
    }
    if float < -BEYOND {
        return Some(Ordering::Greater);
    }
    // Truncation is exact here: the float lies in the range of i64.
    let whole = float.trunc();
    Some(integer.cmp(&(whole as i64)).then(whole.total_cmp(&float)))
}

#[cfg(test)]
mod tests;
