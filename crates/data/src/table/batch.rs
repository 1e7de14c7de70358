//! A batch of rows, read cell by cell or column by column.

use arrow_array::RecordBatch;

use super::codes::Codes;
use super::columns::Numbers;
use super::mask::RowMask;
use super::view::View;
use crate::cell::Cell;
use crate::error::DataError;

/// Some consecutive rows of a pass: the chosen columns, in the order asked for.
///
/// [`cell`](Self::cell) reads any of them. Reading a column as a whole is faster and yields the same values: [`floats`](Self::floats)
/// with [`present`](Self::present) for statistics of numbers, [`LabelCodes`](super::LabelCodes) for declared categories,
/// [`codes`](Self::codes) where a dictionary is to be looked at entry by entry. A column is named by its place among the chosen
/// ones.
pub struct CellBatch<'a> {
    first_row: u64,
    rows: usize,
    columns: Vec<View<'a>>,
}

impl<'a> CellBatch<'a> {
    /// A view of the columns of `batch` at these places.
    pub(crate) fn new(
        table: &str,
        batch: &'a RecordBatch,
        places: &[usize],
        first_row: u64,
    ) -> Result<Self, DataError> {
        let view = |place: &usize| batch.columns().get(*place).and_then(|array| View::new(array.as_ref()));
        let columns = places.iter().map(view).collect::<Option<Vec<_>>>().ok_or_else(|| {
            DataError::malformed(table, "table", "a column does not have its declared type")
        })?;
        Ok(Self { first_row, rows: batch.num_rows(), columns })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of the first row in the table, from 1.
    pub fn first_row(&self) -> u64 {
        self.first_row
    }

    /// The cell of a row of the batch, from 0, in a column by its place among the chosen ones.
    ///
    /// # Panics
    /// If there is no such row or column.
    pub fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        self.columns[column].cell(row)
    }

    /// The rows of a column whose cell is not null.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn present(&self, column: usize) -> RowMask {
        self.columns[column].present(self.rows)
    }

    /// Every row of a column as the nearest double of [`Cell::number`]: NaN or infinite where the cell is not a number, anything where
    /// it is not [`present`](Self::present). `scratch` is a buffer to be reused.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn floats<'s>(&'s self, column: usize, scratch: &'s mut Vec<f64>) -> &'s [f64] {
        self.columns[column].floats(self.rows, scratch)
    }

    /// The values of a column as they are stored; `None` unless it is a column of integers or floating-point numbers.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn numbers(&self, column: usize) -> Option<Numbers<'a>> {
        self.columns[column].numbers()
    }

    /// The positions of a dictionary-encoded column; `None` for any other.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn codes(&self, column: usize) -> Option<&Codes<'a>> {
        match &self.columns[column] {
            View::Dictionary(codes) => Some(codes),
            _ => None,
        }
    }

    pub(super) fn view(&self, column: usize) -> &View<'a> {
        &self.columns[column]
    }
}
