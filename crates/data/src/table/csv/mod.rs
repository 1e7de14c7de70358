//! The CSV reader: comma-separated, UTF-8, a header line, one field per column in every row, quotes by the rule of
//! [`quotes`].

mod quotes;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::LargeBinaryBuilder;
use arrow_array::{ArrayRef, LargeBinaryArray, LargeStringArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use csv::{ByteRecord, Error, ErrorKind, Reader, ReaderBuilder};

use super::file::TableFile;
use super::{BATCH_ROWS, BatchReader, ColumnInfo, ColumnKind, Table, distinct};
use crate::error::{DataError, shown};
use quotes::{QuoteError, Quotes};

/// A batch ends early once its text has this many bytes.
const BATCH_BYTES: usize = 1 << 23;

/// A CSV file.
#[derive(Clone, Debug)]
pub(super) struct CsvTable {
    file: TableFile,
    columns: Vec<ColumnInfo>,
}

impl CsvTable {
    /// Reads the header line; a leading byte-order mark is not part of it.
    pub(super) fn open(file: TableFile, opened: File) -> Result<Self, DataError> {
        let columns = read_header(&file.name, &mut reader(opened), &mut ByteRecord::new())?;
        let columns = distinct(&file.name, columns)?;
        Ok(Self { file, columns })
    }
}

impl Table for CsvTable {
    fn name(&self) -> &str {
        &self.file.name
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.file.path)
    }

    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn declares_kinds(&self) -> bool {
        false
    }

    fn size_bytes(&self) -> u64 {
        self.file.size_bytes
    }

    fn batches(&self, columns: &[usize]) -> Result<Box<dyn BatchReader + '_>, DataError> {
        let mut reader = reader(self.file.reopen()?);
        let mut record = ByteRecord::new();
        if read_header(&self.file.name, &mut reader, &mut record)? != self.columns {
            return Err(self.file.changed());
        }
        let field = |column: &usize| Field::new(&self.columns[*column].name, DataType::LargeUtf8, false);
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let columns = columns.to_vec();
        Ok(Box::new(CsvBatches { table: self, reader, record, columns, schema, row: 0, failed: None }))
    }
}

fn reader(opened: File) -> Reader<Quotes<File>> {
    // The reader is flexible: a row of another length is reported here, with its row number.
    ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(1 << 16)
        .from_reader(Quotes::new(opened))
}

fn read_header(
    file: &str,
    reader: &mut Reader<Quotes<File>>,
    record: &mut ByteRecord,
) -> Result<Vec<ColumnInfo>, DataError> {
    if !reader.read_byte_record(record).map_err(|error| failure(file, error))? {
        return Err(DataError::Empty { file: file.to_owned() });
    }
    let not_text = || DataError::HeaderNotText { file: file.to_owned() };
    record
        .iter()
        .map(|field| {
            let name = std::str::from_utf8(field).map_err(|_| not_text())?.trim();
            if name.contains('\0') {
                return Err(not_text());
            }
            Ok(ColumnInfo { name: name.to_owned(), kind: ColumnKind::Text })
        })
        .collect()
}

struct CsvBatches<'a> {
    table: &'a CsvTable,
    reader: Reader<Quotes<File>>,
    record: ByteRecord,
    columns: Vec<usize>,
    schema: SchemaRef,
    /// The last row that was read.
    row: u64,
    /// What ends the pass after the rows before it.
    failed: Option<DataError>,
}

impl CsvBatches<'_> {
    /// Reads the next record; whether there is one.
    fn read(&mut self) -> Result<bool, DataError> {
        let file = &self.table.file.name;
        if !self.reader.read_byte_record(&mut self.record).map_err(|error| failure(file, error))? {
            return Ok(false);
        }
        self.row += 1;
        let (expected, found) = (self.table.columns.len(), self.record.len());
        if found != expected {
            return Err(DataError::Ragged { file: file.clone(), row: self.row, expected, found });
        }
        Ok(true)
    }

    /// The bytes as text, up to the first row that is not UTF-8.
    fn texts(&mut self, columns: Vec<LargeBinaryArray>, rows: usize) -> (Vec<ArrayRef>, usize) {
        let is_text = |array: &LargeBinaryArray, row: usize| std::str::from_utf8(array.value(row)).is_ok();
        let texts: Result<Vec<_>, _> =
            columns.iter().map(|array| LargeStringArray::try_from_binary(array.clone())).collect();
        if let Ok(texts) = texts {
            return (texts.into_iter().map(|array| Arc::new(array) as ArrayRef).collect(), rows);
        }
        let bad = (0..rows)
            .find_map(|row| columns.iter().position(|array| !is_text(array, row)).map(|place| (row, place)));
        // Bytes that are text field by field are text as a whole.
        let (good, place) = bad.unwrap_or((rows, 0));
        if bad.is_some() {
            let row = self.row - (rows - good) as u64 + 1;
            let column = shown(&self.table.columns[self.columns[place]].name);
            self.failed = Some(DataError::NotText { file: self.table.file.name.clone(), column, row });
        }
        let text = |array: &LargeBinaryArray| {
            let values = (0..good).map(|row| std::str::from_utf8(array.value(row)).unwrap_or_default());
            Arc::new(LargeStringArray::from_iter_values(values)) as ArrayRef
        };
        (columns.iter().map(text).collect(), good)
    }
}

impl BatchReader for CsvBatches<'_> {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, DataError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let empty = || LargeBinaryBuilder::with_capacity(BATCH_ROWS, 8 * BATCH_ROWS);
        let mut builders: Vec<LargeBinaryBuilder> = self.columns.iter().map(|_| empty()).collect();
        let (mut rows, mut bytes) = (0, 0);
        while rows < BATCH_ROWS && bytes < BATCH_BYTES {
            match self.read() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) if rows == 0 => return Err(error),
                Err(error) => {
                    // The row that failed is not part of the batch.
                    if matches!(error, DataError::Ragged { .. }) {
                        self.row -= 1;
                    }
                    self.failed = Some(error);
                    break;
                }
            }
            for (builder, column) in builders.iter_mut().zip(&self.columns) {
                let field = &self.record[*column];
                bytes += field.len();
                builder.append_value(field);
            }
            rows += 1;
        }
        if rows == 0 {
            return Ok(None);
        }
        let columns = builders.iter_mut().map(LargeBinaryBuilder::finish).collect();
        let (columns, rows) = self.texts(columns, rows);
        if rows == 0
            && let Some(error) = self.failed.take()
        {
            return Err(error);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)
            .map(Some)
            .map_err(|error| DataError::malformed(&self.table.file.name, "CSV", &error.to_string()))
    }

    fn bytes_read(&self) -> u64 {
        self.reader.position().byte().min(self.table.file.size_bytes)
    }
}

fn failure(file: &str, error: Error) -> DataError {
    let reason = error.to_string();
    match error.into_kind() {
        ErrorKind::Io(error) => match error.get_ref().and_then(|inner| inner.downcast_ref()) {
            Some(QuoteError::Unclosed { line }) => {
                DataError::UnclosedQuote { file: file.to_owned(), line: *line }
            }
            Some(QuoteError::Stray { line }) => DataError::StrayQuote { file: file.to_owned(), line: *line },
            None => DataError::io(file, "read", &error),
        },
        _ => DataError::malformed(file, "CSV", &reason),
    }
}

#[cfg(test)]
mod tests;
