//! A column of a batch read as a whole.

use arrow_array::Array;

use super::codes::Codes;
use super::mask::RowMask;
use super::view::View;
use crate::cell::Cell;

/// The values of a column of numbers as they are stored. A row that is not [present](super::CellBatch::present) holds any value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Numbers<'a> {
    /// 8-bit integers.
    Int8(&'a [i8]),
    /// 16-bit integers.
    Int16(&'a [i16]),
    /// 32-bit integers.
    Int32(&'a [i32]),
    /// 64-bit integers.
    Int64(&'a [i64]),
    /// 8-bit unsigned integers.
    UInt8(&'a [u8]),
    /// 16-bit unsigned integers.
    UInt16(&'a [u16]),
    /// 32-bit unsigned integers.
    UInt32(&'a [u32]),
    /// 64-bit unsigned integers.
    UInt64(&'a [u64]),
    /// Single precision; may be NaN or infinite.
    Float32(&'a [f32]),
    /// Double precision; may be NaN or infinite.
    Float64(&'a [f64]),
}

impl<'a> View<'a> {
    /// The stored numbers, if that is what the column has.
    pub(super) fn numbers(&self) -> Option<Numbers<'a>> {
        Some(match self {
            View::Int8(array) => Numbers::Int8(array.values()),
            View::Int16(array) => Numbers::Int16(array.values()),
            View::Int32(array) => Numbers::Int32(array.values()),
            View::Int64(array) => Numbers::Int64(array.values()),
            View::UInt8(array) => Numbers::UInt8(array.values()),
            View::UInt16(array) => Numbers::UInt16(array.values()),
            View::UInt32(array) => Numbers::UInt32(array.values()),
            View::UInt64(array, _) => Numbers::UInt64(array.values()),
            View::Float32(array) => Numbers::Float32(array.values()),
            View::Float64(array) => Numbers::Float64(array.values()),
            _ => return None,
        })
    }

    /// The array whose validity bits say which rows have a value, or a key in a dictionary; `None` for a column without values.
    pub(super) fn validity(&self) -> Option<&'a dyn Array> {
        Some(match self {
            View::Null => return None,
            View::Int8(array) => *array,
            View::Int16(array) => *array,
            View::Int32(array) => *array,
            View::Int64(array) => *array,
            View::UInt8(array) => *array,
            View::UInt16(array) => *array,
            View::UInt32(array) => *array,
            View::UInt64(array, _) => *array,
            View::Float32(array) => *array,
            View::Float64(array) => *array,
            View::Boolean(array) => *array,
            View::Date32(array) => *array,
            View::Date64(array) => *array,
            View::Seconds(array) => *array,
            View::Milliseconds(array) => *array,
            View::Microseconds(array) => *array,
            View::Nanoseconds(array) => *array,
            View::Utf8(array) => *array,
            View::LargeUtf8(array) => *array,
            View::ViewedUtf8(array) => *array,
            View::Dictionary(codes) => codes.keys(),
        })
    }

    /// The rows whose cell is not null.
    pub(super) fn present(&self, rows: usize) -> RowMask {
        let Some(valid) = self.validity().map(RowMask::valid) else { return RowMask::none(rows) };
        match self {
            View::Utf8(array) => texts(valid, |row| array.value(row)),
            View::LargeUtf8(array) => texts(valid, |row| array.value(row)),
            View::ViewedUtf8(array) => texts(valid, |row| array.value(row)),
            View::Dictionary(codes) => coded(codes, valid),
            _ => valid,
        }
    }

    /// Every row as the nearest double of [`Cell::number`]; NaN or infinite where it is not a number, anything where it is null.
    pub(super) fn floats<'s>(&'s self, rows: usize, scratch: &'s mut Vec<f64>) -> &'s [f64] {
        macro_rules! widened {
            ($values:expr, $convert:expr) => {
                scratch.extend($values.iter().map($convert))
            };
        }
        scratch.clear();
        match self {
            View::Float64(array) => return array.values(),
            View::Float32(array) => widened!(array.values(), |value| f64::from(*value)),
            View::Int8(array) => widened!(array.values(), |value| f64::from(*value)),
            View::Int16(array) => widened!(array.values(), |value| f64::from(*value)),
            View::Int32(array) => widened!(array.values(), |value| f64::from(*value)),
            View::Int64(array) => widened!(array.values(), |value| *value as f64),
            View::UInt8(array) => widened!(array.values(), |value| f64::from(*value)),
            View::UInt16(array) => widened!(array.values(), |value| f64::from(*value)),
            View::UInt32(array) => widened!(array.values(), |value| f64::from(*value)),
            View::UInt64(array, _) => widened!(array.values(), |value| *value as f64),
            View::Date32(array) => widened!(array.values(), |value| f64::from(*value)),
            View::Null | View::Boolean(_) => scratch.resize(rows, f64::NAN),
            // Entries are read once each, unless there are fewer rows than entries.
            View::Dictionary(codes) if codes.entries() <= rows => {
                let entries: Vec<f64> =
                    (0..codes.entries()).map(|position| float(&codes.entry(position))).collect();
                let entry = |position: &i32| usize::try_from(*position).ok().and_then(|at| entries.get(at));
                widened!(codes.positions(), |position| entry(position).copied().unwrap_or(f64::NAN));
            }
            _ => scratch.extend((0..rows).map(|row| float(&self.cell(row)))),
        }
        scratch
    }
}

/// The nearest double of a cell's number; NaN if it is not a finite number.
fn float(cell: &Cell<'_>) -> f64 {
    cell.number().ok().flatten().map_or(f64::NAN, |number| number.to_f64())
}

/// The rows whose text is not blank.
fn texts<'a>(mut valid: RowMask, text: impl Fn(usize) -> &'a str) -> RowMask {
    for row in 0..valid.rows() {
        if valid.contains(row) && Cell::from_text(text(row)).is_null() {
            valid.remove(row);
        }
    }
    valid
}

/// The rows whose entry is not null. Entries are looked at once each, unless there are fewer rows than entries.
fn coded(codes: &Codes<'_>, mut present: RowMask) -> RowMask {
    let rows = present.rows();
    if codes.entries() > rows {
        return RowMask::from_fn(rows, |row| !codes.cell(row).is_null());
    }
    let nulls: Vec<bool> = (0..codes.entries()).map(|position| codes.entry(position).is_null()).collect();
    if nulls.contains(&true) {
        let is_null = |position: i32| usize::try_from(position).is_ok_and(|at| nulls.get(at) == Some(&true));
        present.subtract(&RowMask::from_fn(rows, |row| is_null(codes.positions()[row])));
    }
    present
}
