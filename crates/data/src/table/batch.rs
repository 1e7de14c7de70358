//! A batch of rows, read cell by cell.

use arrow_array::RecordBatch;

use super::view::View;
use crate::cell::Cell;
use crate::error::DataError;

/// Some consecutive rows of a pass: the chosen columns, in the order asked for.
pub struct CellBatch<'a> {
    first_row: u64,
    rows: usize,
    columns: Vec<View<'a>>,
}

impl<'a> CellBatch<'a> {
    /// A view of the columns of `batch` at these places.
    pub(super) fn new(
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
}
