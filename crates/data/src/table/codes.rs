//! A dictionary-encoded column: a position in the dictionary for every row.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{AnyDictionaryArray, Array, ArrayRef};

use super::view::View;
use crate::cell::Cell;

/// The rows of a dictionary-encoded column as positions in its dictionary, whose entries can be looked at once each
/// ([`PerEntry`]).
///
/// Parquet files are read in this way where every page of a text column is dictionary-encoded.
pub struct Codes<'a> {
    positions: Cow<'a, [i32]>,
    keys: &'a dyn Array,
    dictionary: &'a ArrayRef,
    entries: Box<View<'a>>,
}

impl<'a> Codes<'a> {
    /// The codes of an array whose dictionary is not empty; `None` if its values have no cells.
    pub(super) fn new(array: &'a dyn AnyDictionaryArray) -> Option<Self> {
        let (keys, dictionary) = (array.keys(), array.values());
        let positions = match keys.as_primitive_opt::<Int32Type>() {
            Some(keys) => Cow::Borrowed(&keys.values()[..]),
            None => {
                let positions = array.normalized_keys().into_iter().map(i32::try_from);
                Cow::Owned(positions.collect::<Result<_, _>>().ok()?)
            }
        };
        let entries = Box::new(View::new(dictionary.as_ref())?);
        Some(Self { positions, keys, dictionary, entries })
    }

    /// The position of every row's entry. That of a row without a key is any number: see [`has_key`](Self::has_key).
    pub fn positions(&self) -> &[i32] {
        &self.positions
    }

    /// Whether a row has a key. Its entry may still be null.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn has_key(&self, row: usize) -> bool {
        self.keys.is_valid(row)
    }

    /// The number of entries of the dictionary, at least 1.
    pub fn entries(&self) -> usize {
        self.dictionary.len()
    }

    /// An entry of the dictionary; null if it has no such entry.
    pub fn entry(&self, position: usize) -> Cell<'_> {
        if position < self.entries() { self.entries.cell(position) } else { Cell::Null }
    }

    /// The cell of a row.
    pub(super) fn cell(&self, row: usize) -> Cell<'_> {
        match usize::try_from(self.positions[row]) {
            Ok(position) if self.has_key(row) => self.entry(position),
            _ => Cell::Null,
        }
    }

    pub(super) fn keys(&self) -> &'a dyn Array {
        self.keys
    }
}

/// What was computed from each entry of a dictionary, kept as long as batches share the dictionary.
///
/// ```
/// use reticent_data::{CellBatch, PerEntry};
///
/// /// Adds up the lengths of the labels in the first column of a pass, of which it is asked batch by batch.
/// fn add(total: &mut u64, lengths: &mut PerEntry<u64>, batch: &CellBatch<'_>) {
///     if let Some(codes) = batch.codes(0) {
///         let lengths = lengths.of(codes, |entry| entry.label().map_or(0, |label| label.len() as u64));
///         for row in batch.present(0).iter() {
///             *total += lengths[codes.positions()[row] as usize];
///         }
///     }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct PerEntry<T> {
    /// Held, so that no other dictionary can take its place in memory.
    dictionary: Option<ArrayRef>,
    values: Vec<T>,
}

impl<T> Default for PerEntry<T> {
    fn default() -> Self {
        Self { dictionary: None, values: Vec::new() }
    }
}

impl<T> PerEntry<T> {
    /// A value for every entry of the dictionary of `codes`: `compute` is called only if the dictionary is not that of the call before.
    pub fn of(&mut self, codes: &Codes<'_>, compute: impl FnMut(Cell<'_>) -> T) -> &[T] {
        let place = |array: &ArrayRef| Arc::as_ptr(array).cast::<()>();
        if self.dictionary.as_ref().map(place) != Some(place(codes.dictionary)) {
            self.values = (0..codes.entries()).map(|position| codes.entry(position)).map(compute).collect();
            self.dictionary = Some(Arc::clone(codes.dictionary));
        }
        &self.values
    }
}
