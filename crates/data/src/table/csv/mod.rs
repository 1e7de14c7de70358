//! The CSV reader: a header line, one field per column in every row, quotes by the rule of [`records`]. Only the header line
//! decides how a file is read, and only the syntax of a file is ever refused: a field can be any text.

mod column;
mod header;
mod records;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::file::TableFile;
use super::reading::{Dialect, Reading};
use super::unpack::Text;
use super::{BATCH_ROWS, BatchReader, ColumnInfo, Table, distinct};
use crate::error::{DataError, shown};
use column::{Column, Finished, decimal_point};
use header::failure;
use records::{Broken, Records};

/// A batch ends early once its text has this many bytes.
const BATCH_BYTES: usize = 1 << 23;

/// A CSV file.
#[derive(Clone, Debug)]
pub(super) struct CsvTable {
    file: TableFile,
    columns: Vec<ColumnInfo>,
    dialect: Dialect,
    separator: u8,
    /// Columns in which only blank is missing.
    literal: Vec<usize>,
}

impl CsvTable {
    /// Reads the header line; a leading byte-order mark is not part of it.
    pub(super) fn open(file: TableFile, opened: File, dialect: Dialect) -> Result<Self, DataError> {
        let separator = header::separator(&file.name, text(&file, opened, &dialect)?, &dialect)?;
        let opened = file.reopen()?;
        let mut table = Self { file, columns: Vec::new(), dialect, separator, literal: Vec::new() };
        let columns = header::columns(&table.file.name, &mut table.records(opened)?)?;
        table.columns = distinct(&table.file.name, columns)?;
        Ok(table)
    }

    fn records(&self, opened: File) -> Result<Records<Text>, DataError> {
        let text = text(&self.file, opened, &self.dialect)?;
        Records::new(text, self.separator, self.dialect.quoting)
            .map_err(|broken| failure(&self.file.name, broken))
    }
}

fn text(file: &TableFile, opened: File, dialect: &Dialect) -> Result<Text, DataError> {
    Text::open(opened, dialect.encoding).map_err(|error| failure(&file.name, Broken::Io(error)))
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

    fn missing(&self) -> &[String] {
        self.dialect.missing.texts()
    }

    fn reading(&self) -> Reading {
        self.file.reading.clone()
    }

    fn literal(&self, column: usize) -> Option<Arc<dyn Table>> {
        let is_so = self.is_literal(column) || self.dialect.missing.texts().is_empty();
        (!is_so).then(|| {
            let literal = self.literal.iter().copied().chain([column]).collect();
            Arc::new(Self { literal, ..self.clone() }) as Arc<dyn Table>
        })
    }

    fn is_literal(&self, column: usize) -> bool {
        self.literal.contains(&column)
    }

    fn size_bytes(&self) -> u64 {
        self.file.size_bytes
    }

    fn batches(&self, columns: &[usize]) -> Result<Box<dyn BatchReader + '_>, DataError> {
        let mut records = self.records(self.file.reopen()?)?;
        if header::columns(&self.file.name, &mut records)? != self.columns {
            return Err(self.file.changed());
        }
        let field = |column: &usize| Field::new(&self.columns[*column].name, DataType::LargeUtf8, true);
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let building = columns.iter().map(|_| Column::with_capacity(8 * BATCH_ROWS)).collect();
        let columns = columns.to_vec();
        let literal = columns.iter().map(|column| self.literal.contains(column)).collect();
        let (row, failed) = (0, None);
        Ok(Box::new(CsvBatches { table: self, records, columns, literal, building, schema, row, failed }))
    }
}

struct CsvBatches<'a> {
    table: &'a CsvTable,
    records: Records<Text>,
    columns: Vec<usize>,
    /// Whether only blank is missing, by column.
    literal: Vec<bool>,
    schema: SchemaRef,
    /// The columns of the next batch.
    building: Vec<Column>,
    /// The rows of the batches so far.
    row: u64,
    /// What ends the pass after the rows before it.
    failed: Option<DataError>,
}

impl CsvBatches<'_> {
    /// Reads the next record; whether there is one. `row` is its number.
    fn read(&mut self, row: u64) -> Result<bool, DataError> {
        let file = &self.table.file.name;
        if !self.records.advance().map_err(|broken| failure(file, broken))? {
            return Ok(false);
        }
        let (expected, found) = (self.table.columns.len(), self.records.len());
        if found != expected {
            return Err(DataError::Ragged { file: file.clone(), row, expected, found });
        }
        Ok(true)
    }

    /// Reads up to a batch; the number of its rows.
    fn collect(&mut self) -> usize {
        let table = self.table;
        let dialect = &table.dialect;
        let mut text = Vec::new();
        let (mut rows, mut bytes) = (0, 0);
        while rows < BATCH_ROWS && bytes < BATCH_BYTES {
            match self.read(self.row + rows as u64 + 1) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            }
            for ((column, place), literal) in self.building.iter_mut().zip(&self.columns).zip(&self.literal) {
                let (mut field, escaped) = self.records.field(*place);
                if escaped {
                    text.clear();
                    self.records.unescape(field, &mut text);
                    field = &text;
                }
                bytes += field.len();
                let is_missing =
                    if *literal { field.trim_ascii().is_empty() } else { dialect.missing.hold(field) };
                if is_missing {
                    column.push_null();
                } else if dialect.decimal_comma
                    && let Some(number) = decimal_point(field)
                {
                    column.push(&number);
                } else {
                    column.push(field);
                }
            }
            rows += 1;
        }
        rows
    }

    /// The columns as text, up to the first row that is not UTF-8; with them, the number of rows.
    fn texts(&mut self, columns: &[Finished], rows: usize) -> Result<(Vec<ArrayRef>, usize), DataError> {
        let texts: Option<Vec<_>> = columns.iter().map(|column| column.text(rows)).collect();
        if let Some(texts) = texts {
            return Ok((texts, rows));
        }
        let file = &self.table.file.name;
        let broken = || DataError::malformed(file, "CSV", "its columns do not fit together");
        let first_bad = columns
            .iter()
            .enumerate()
            .filter_map(|(place, column)| Some((column.first_not_text()?, place)))
            .min();
        let (good, place) = first_bad.ok_or_else(broken)?;
        let column = shown(&self.table.columns[self.columns[place]].name);
        let texts: Option<Vec<_>> = columns.iter().map(|column| column.text(good)).collect();
        let texts = texts.ok_or_else(broken)?;
        let row = self.row + good as u64 + 1;
        self.failed = Some(DataError::NotText { file: file.clone(), column, row });
        Ok((texts, good))
    }
}

impl BatchReader for CsvBatches<'_> {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, DataError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let rows = self.collect();
        let finished: Vec<Finished> = self.building.iter_mut().map(Column::take).collect();
        let (columns, rows) = self.texts(&finished, rows)?;
        if rows == 0 {
            return self.failed.take().map_or(Ok(None), Err);
        }
        self.row += rows as u64;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)
            .map(Some)
            .map_err(|error| DataError::malformed(&self.table.file.name, "CSV", &error.to_string()))
    }

    fn bytes_read(&self) -> u64 {
        let source = self.records.source();
        let read = if source.plain { self.records.position() } else { source.taken() };
        read.min(self.table.file.size_bytes)
    }
}

#[cfg(test)]
mod tests;
