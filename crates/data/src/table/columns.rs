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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::{Int8Type, Int32Type};
    use arrow_array::*;
    use proptest::prelude::*;

    use crate::Cell;
    use crate::table::{CellBatch, LabelCodes};

    const TEXTS: [&str; 12] = [
        "a",
        " a",
        "",
        " ",
        "\u{3000}",
        "1",
        " 2.5 ",
        "-0",
        "nan",
        "1e400",
        "18446744073709551615",
        "2024-03-01",
    ];

    const LABELS: [&str; 14] = [
        "a",
        "1",
        "2.5",
        "0",
        "-1",
        "NaN",
        "inf",
        "true",
        "false",
        "9223372036854775807",
        "18446744073709551615",
        "2024-03-01",
        "1970-01-01T00:00:01.5",
        "01",
    ];

    /// Columns of every type with cells, from the same rows.
    fn columns(rows: &[(Option<u8>, i64, f64)]) -> Vec<ArrayRef> {
        macro_rules! column {
            ($array:ty, $value:expr) => {{
                let value = $value;
                let cell = |row: &(Option<u8>, i64, f64)| row.0.map(|place| value(place, row.1, row.2));
                Arc::new(rows.iter().map(cell).collect::<$array>()) as ArrayRef
            }};
        }
        let text = |place: u8, _, _| TEXTS[usize::from(place) % TEXTS.len()];
        let values: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some(" "), Some("1")]));
        let keys = rows.iter().map(|row| row.0.map(|place| i32::from(place % 4))).collect::<Int32Array>();
        vec![
            column!(Float64Array, |_, _, float| float),
            column!(Float32Array, |_, _, float| float as f32),
            column!(Int64Array, |_, integer, _| integer),
            column!(Int64Array, |place: u8, _, _| i64::from(place % 3) - 1),
            column!(Int32Array, |_, integer, _| integer as i32),
            column!(Int16Array, |_, integer, _| integer as i16),
            column!(Int8Array, |_, integer, _| integer as i8),
            column!(UInt64Array, |_, integer, _| integer as u64),
            column!(UInt32Array, |_, integer, _| integer as u32),
            column!(UInt16Array, |_, integer, _| integer as u16),
            column!(UInt8Array, |_, integer, _| integer as u8),
            column!(BooleanArray, |place: u8, _, _| place.is_multiple_of(2)),
            column!(StringArray, text),
            column!(LargeStringArray, text),
            column!(StringViewArray, text),
            column!(DictionaryArray<Int32Type>, text),
            column!(DictionaryArray<Int8Type>, text),
            Arc::new(DictionaryArray::new(keys, values)),
            column!(Date32Array, |place: u8, integer, _| if place.is_multiple_of(2) {
                19_783
            } else {
                integer as i32
            }),
            column!(Date64Array, |_, integer, _| integer),
            column!(TimestampSecondArray, |_, integer, _| integer),
            column!(TimestampMillisecondArray, |place: u8, integer, _| if place.is_multiple_of(2) {
                1500
            } else {
                integer
            }),
            column!(TimestampMicrosecondArray, |_, integer, _| integer),
            column!(TimestampNanosecondArray, |_, integer, _| integer),
            Arc::new(NullArray::new(rows.len())),
        ]
    }

    fn check(array: &ArrayRef) {
        let name = array.data_type().to_string();
        let batch = RecordBatch::try_from_iter_with_nullable([("x", Arc::clone(array), true)]).unwrap();
        let batch = CellBatch::new("t", &batch, &[0], 1).unwrap();
        let (present, mut scratch) = (batch.present(0), vec![7.0]);
        let floats = batch.floats(0, &mut scratch);
        let (mut labels, mut places) = (LabelCodes::new(LABELS), vec![5]);
        labels.read(&batch, 0, &mut places);
        assert_eq!(
            (floats.len(), places.len(), present.rows()),
            (batch.rows(), batch.rows() + 1, batch.rows())
        );
        for row in 0..batch.rows() {
            let cell = batch.cell(row, 0);
            assert_eq!(present.contains(row), !cell.is_null(), "{name} {cell:?}");
            let number = cell.number().ok().flatten().map(|number| number.to_f64().to_bits());
            let float = Some(floats[row]).filter(|float| float.is_finite() && present.contains(row));
            assert_eq!(float.map(f64::to_bits), number, "{name} {cell:?}");
            let label = cell.label();
            let place = LABELS.iter().position(|known| label.as_deref() == Some(*known));
            assert_eq!(labels.position(&cell), place, "{name} {cell:?}");
            assert_eq!(
                usize::try_from(places[row + 1]).ok().filter(|at| *at < LABELS.len()),
                place,
                "{name} {cell:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn columns_and_cells_agree(
            rows in proptest::collection::vec((any::<Option<u8>>(), any::<i64>(), any::<f64>()), 1..150),
            near in proptest::collection::vec((any::<Option<u8>>(), -3i64..3, -2.0f64..3.0), 1..150),
            start in 0usize..150,
        ) {
            for array in columns(&rows).into_iter().chain(columns(&near)) {
                check(&array);
                let start = start % array.len();
                check(&array.slice(start, array.len() - start));
            }
        }
    }

    #[test]
    fn an_entry_of_a_dictionary_is_read_once_while_batches_share_it() {
        let words: DictionaryArray<Int32Type> = vec!["a", "b", "a", "c"].into_iter().collect();
        let words: ArrayRef = Arc::new(words);
        let mut calls = 0;
        let mut entries = crate::PerEntry::default();
        for (start, length) in [(0, 2), (2, 2), (1, 3)] {
            let part = words.slice(start, length);
            let batch = RecordBatch::try_from_iter([("x", part)]).unwrap();
            let batch = CellBatch::new("t", &batch, &[0], 1).unwrap();
            let codes = batch.codes(0).unwrap();
            let lengths = entries.of(codes, |entry: Cell<'_>| {
                calls += 1;
                entry.label().map_or(0, |label| label.len())
            });
            assert_eq!(lengths, [1, 1, 1]);
            assert_eq!(codes.entry(7), Cell::Null);
        }
        assert_eq!(calls, 3);
    }
}
