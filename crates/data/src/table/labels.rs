//! The cells of a column as places in a list of labels.

use std::collections::HashMap;

use super::batch::CellBatch;
use super::codes::{Codes, PerEntry};
use super::columns::Numbers;
use super::mask::RowMask;
use crate::cell::{Cell, date_label, parse_date, parse_timestamp, timestamp_label};

/// The place of every cell of a column in a list of declared labels, compared by [`Cell::label`].
///
/// A column is read batch by batch. Labels of numbers, dates and truth values are parsed once, and the entries of a dictionary are
/// compared once each, so that most columns need no text per row.
///
/// ```
/// use reticent_data::arrow_array::{ArrayRef, Int64Array, RecordBatch};
/// use reticent_data::{DataError, LabelCodes, MemoryTable, Table};
/// use std::sync::Arc;
///
/// let grades: ArrayRef = Arc::new(Int64Array::from(vec![Some(2), None, Some(1), Some(7)]));
/// let batch = RecordBatch::try_from_iter_with_nullable([("grade", grades, true)])?;
/// let table = MemoryTable::new("pupils", batch.schema(), vec![batch])?;
/// let mut places = Vec::new();
/// let mut labels = LabelCodes::new(["1", "2", "3"]);
/// (&table as &dyn Table).scan_batches(&["grade"], &mut |_| {}, &mut |batch| {
///     labels.read(batch, 0, &mut places);
///     Ok::<(), DataError>(())
/// })?;
/// let none = LabelCodes::UNDECLARED;
/// assert_eq!(places, [1, none, 0, none]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LabelCodes {
    places: HashMap<String, u32>,
    integers: Lookup,
    dates: Lookup,
    timestamps: Lookup,
    floats: HashMap<u64, u32>,
    truths: [u32; 2],
    entries: PerEntry<u32>,
}

impl LabelCodes {
    /// The place of a cell that is null or has no declared label.
    pub const UNDECLARED: u32 = u32::MAX;

    /// Labels by their places in the list; of equal ones the last place counts.
    pub fn new<'s>(labels: impl IntoIterator<Item = &'s str>) -> Self {
        let places: HashMap<String, u32> =
            (0..Self::UNDECLARED).zip(labels).map(|(place, label)| (label.to_owned(), place)).collect();
        // A typed cell has a label if and only if the label is the text of its value.
        let of = |read: &dyn Fn(&str) -> Option<i64>, text: &dyn Fn(i64) -> String| {
            let parsed = places.iter().filter_map(|(label, place)| Some((read(label)?, label, *place)));
            let parsed = parsed.filter(|(value, label, _)| text(*value) == **label);
            Lookup::new(parsed.map(|(value, _, place)| (value, place)).collect())
        };
        let integers = of(&|label| label.parse().ok(), &|value| value.to_string());
        let day = |value| i32::try_from(value).unwrap_or_default();
        let dates = of(&|label| parse_date(label).map(i64::from), &|value| date_label(day(value)));
        let timestamps = of(&parse_timestamp, &timestamp_label);
        let float = |(label, place): (&String, &u32)| {
            let value: f64 = label.parse().ok()?;
            (Cell::Float(value).label().as_deref() == Some(label)).then_some((float_key(value), *place))
        };
        let floats = places.iter().filter_map(float).collect();
        let truths = ["false", "true"].map(|label| places.get(label).copied().unwrap_or(Self::UNDECLARED));
        Self { places, integers, dates, timestamps, floats, truths, entries: PerEntry::default() }
    }

    /// The place of a cell's label, or [`UNDECLARED`](Self::UNDECLARED).
    pub fn place(&self, cell: &Cell<'_>) -> u32 {
        match *cell {
            Cell::Null => Self::UNDECLARED,
            Cell::Integer(integer) => self.integers.get(integer),
            Cell::Float(float) => self.floats.get(&float_key(float)).copied().unwrap_or(Self::UNDECLARED),
            Cell::Text(text) => self.places.get(text.trim()).copied().unwrap_or(Self::UNDECLARED),
            Cell::Boolean(truth) => self.truths[usize::from(truth)],
            Cell::Date(days) => self.dates.get(i64::from(days)),
            Cell::Timestamp(at) => self.timestamps.get(at),
        }
    }

    /// The place of a cell's label; `None` for a missing or undeclared value.
    pub fn position(&self, cell: &Cell<'_>) -> Option<usize> {
        let place = self.place(cell);
        (place != Self::UNDECLARED).then_some(place as usize)
    }

    /// Appends the place of every row of a column of the batch, by the column's place among the chosen ones.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn read(&mut self, batch: &CellBatch<'_>, column: usize, places: &mut Vec<u32>) {
        let start = places.len();
        macro_rules! integers {
            ($values:expr) => {
                places.extend($values.iter().map(|value| self.integers.get(i64::from(*value))))
            };
        }
        match batch.numbers(column) {
            Some(Numbers::Int8(values)) => integers!(values),
            Some(Numbers::Int16(values)) => integers!(values),
            Some(Numbers::Int32(values)) => integers!(values),
            Some(Numbers::Int64(values)) => integers!(values),
            Some(Numbers::UInt8(values)) => integers!(values),
            Some(Numbers::UInt16(values)) => integers!(values),
            Some(Numbers::UInt32(values)) => integers!(values),
            _ => match batch.codes(column) {
                Some(codes) => self.read_codes(codes, places),
                None => {
                    places.extend((0..batch.rows()).map(|row| self.place(&batch.cell(row, column))));
                    return;
                }
            },
        }
        if let Some(keys) = batch.view(column).validity() {
            let mut missing = RowMask::valid(keys);
            missing.invert();
            missing.iter().for_each(|row| places[start + row] = Self::UNDECLARED);
        }
    }

    /// Appends the places of entries; a row without a key gets any place.
    fn read_codes(&mut self, codes: &Codes<'_>, places: &mut Vec<u32>) {
        // Taken out while the labels are looked up.
        let mut entries = std::mem::take(&mut self.entries);
        let known = entries.of(codes, |entry| self.place(&entry));
        let place = |position: &i32| usize::try_from(*position).ok().and_then(|at| known.get(at).copied());
        places.extend(codes.positions().iter().map(|position| place(position).unwrap_or(Self::UNDECLARED)));
        self.entries = entries;
    }
}

/// What a float is found by: floats have the same label if and only if they have the same key.
fn float_key(float: f64) -> u64 {
    // Adding zero turns -0 into 0.
    if float.is_nan() { f64::NAN.to_bits() } else { (float + 0.0).to_bits() }
}

/// The widest range of integers that is looked up in a table.
const WIDEST: i64 = 1 << 12;

/// Places by integers.
#[derive(Clone, Debug)]
enum Lookup {
    /// By the distance from the first.
    Table(i64, Vec<u32>),
    Map(HashMap<i64, u32>),
}

impl Lookup {
    fn new(places: HashMap<i64, u32>) -> Self {
        let ends = places.keys().min().zip(places.keys().max());
        let width = ends.and_then(|(first, last)| last.checked_sub(*first)).filter(|width| *width < WIDEST);
        match (ends, width) {
            (Some((first, _)), Some(width)) => {
                let mut table = vec![LabelCodes::UNDECLARED; width as usize + 1];
                places.iter().for_each(|(value, place)| table[(value - first) as usize] = *place);
                Self::Table(*first, table)
            }
            _ => Self::Map(places),
        }
    }

    fn get(&self, value: i64) -> u32 {
        let place = match self {
            Self::Table(first, table) => {
                // A distance that wraps is beyond the table.
                usize::try_from(value.wrapping_sub(*first) as u64).ok().and_then(|at| table.get(at))
            }
            Self::Map(places) => places.get(&value),
        };
        place.copied().unwrap_or(LabelCodes::UNDECLARED)
    }
}
