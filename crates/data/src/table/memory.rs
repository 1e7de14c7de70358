//! A table in memory.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};

use super::{BATCH_ROWS, BatchReader, ColumnInfo, Table, columns_of, share};
use crate::error::{DataError, shown};

/// Record batches as a table.
///
/// ```
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch};
/// use reticent_data::{DataError, MemoryTable, Table};
/// use std::sync::Arc;
///
/// let ages: ArrayRef = Arc::new(Int64Array::from(vec![Some(30), None, Some(57)]));
/// let batch = RecordBatch::try_from_iter_with_nullable([("age", ages, true)])?;
/// let table = MemoryTable::new("people", batch.schema(), vec![batch])?;
/// let table: &dyn Table = &table;
/// let stats = table.scan(&["age"], &mut |_| {}, &mut |_, _| Ok::<(), DataError>(()))?;
/// assert_eq!((stats.rows, stats.nulls), (3, vec![1]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct MemoryTable {
    name: String,
    columns: Vec<ColumnInfo>,
    batches: Vec<RecordBatch>,
    rows: u64,
    size_bytes: u64,
}

impl MemoryTable {
    /// A table of these batches; `name` is its name in messages.
    ///
    /// # Errors
    /// If two columns share a name, or a batch has other columns than the schema.
    pub fn new(name: &str, schema: SchemaRef, batches: Vec<RecordBatch>) -> Result<Self, DataError> {
        let name = shown(name);
        let columns = columns_of(&name, &schema)?;
        if batches.iter().any(|batch| !same_columns(&schema, batch.schema_ref())) {
            return Err(DataError::MixedBatches { table: name });
        }
        let rows = batches.iter().map(|batch| batch.num_rows() as u64).sum();
        let size_bytes = batches.iter().map(|batch| batch.get_array_memory_size() as u64).sum();
        Ok(Self { name, columns, batches, rows, size_bytes })
    }
}

/// Whether two schemas have the same names and types, in the same order.
fn same_columns(one: &Schema, other: &Schema) -> bool {
    let columns = |schema: &Schema| -> Vec<_> {
        schema.fields().iter().map(|field| (field.name().clone(), field.data_type().clone())).collect()
    };
    columns(one) == columns(other)
}

impl Table for MemoryTable {
    fn name(&self) -> &str {
        &self.name
    }

    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn stated_rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn batches(&self, columns: &[usize]) -> Result<Box<dyn BatchReader + '_>, DataError> {
        Ok(Box::new(MemoryBatches { table: self, columns: columns.to_vec(), next: 0, start: 0, rows: 0 }))
    }
}

impl From<MemoryTable> for Arc<dyn Table> {
    fn from(table: MemoryTable) -> Self {
        Arc::new(table)
    }
}

/// The most rows that are handed out at once.
const MOST_ROWS: usize = 8 * BATCH_ROWS;

struct MemoryBatches<'a> {
    table: &'a MemoryTable,
    columns: Vec<usize>,
    next: usize,
    /// The first row of the next batch that has not been read.
    start: usize,
    rows: u64,
}

impl BatchReader for MemoryBatches<'_> {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, DataError> {
        let Some(batch) = self.table.batches.get(self.next) else { return Ok(None) };
        // A long batch is divided, so that threads can share it.
        let part = batch.slice(self.start, MOST_ROWS.min(batch.num_rows() - self.start));
        self.start += part.num_rows();
        if self.start == batch.num_rows() {
            (self.next, self.start) = (self.next + 1, 0);
        }
        self.rows += part.num_rows() as u64;
        let projected = part.project(&self.columns);
        projected
            .map(Some)
            .map_err(|error| DataError::malformed(&self.table.name, "table", &error.to_string()))
    }

    fn bytes_read(&self) -> u64 {
        share(self.table.size_bytes, self.rows, self.table.rows)
    }
}
