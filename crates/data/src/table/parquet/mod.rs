//! The Parquet reader: the chosen columns only, row group by row group, batch by batch.

mod dictionary;

use std::fs::File;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use arrow_array::RecordBatch;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::file::reader::ChunkReader;

use super::file::TableFile;
use super::{BATCH_ROWS, BatchReader, ColumnInfo, Reading, Table, columns_of, share};
use crate::error::{DataError, shown};

const FORMAT: &str = "Parquet";

/// A part has at least so many rows, unless it is the last one: a reader for every few rows would take its time.
const PART_ROWS: u64 = 1 << 16;

/// A Parquet file.
#[derive(Clone, Debug)]
pub(super) struct ParquetTable {
    name: String,
    columns: Vec<ColumnInfo>,
    size_bytes: u64,
    metadata: ArrowReaderMetadata,
    parts: Vec<Groups>,
    source: Source,
}

/// Some consecutive row groups.
#[derive(Clone, Debug, Default)]
struct Groups {
    range: Range<usize>,
    rows_before: u64,
    rows: u64,
}

#[derive(Clone, Debug)]
enum Source {
    File(TableFile),
    /// Compiled into the program.
    Bundled(Bytes),
}

impl ParquetTable {
    /// Reads the footer.
    pub(super) fn open(file: TableFile, opened: &impl ChunkReader) -> Result<Self, DataError> {
        let (name, size_bytes) = (file.name.clone(), file.size_bytes);
        Self::new(name, size_bytes, opened, Source::File(file))
    }

    pub(super) fn bundled(name: &str, bytes: Bytes) -> Result<Self, DataError> {
        Self::new(name.to_owned(), bytes.len() as u64, &bytes.clone(), Source::Bundled(bytes))
    }

    fn new(
        name: String,
        size_bytes: u64,
        opened: &impl ChunkReader,
        source: Source,
    ) -> Result<Self, DataError> {
        let metadata = guarded(&name, FORMAT, || {
            ArrowReaderMetadata::load(opened, ArrowReaderOptions::new()).map(dictionary::kept)
        })?;
        let columns = columns_of(&name, metadata.schema())?;
        let parts = parts(&metadata);
        Ok(Self { name, columns, size_bytes, metadata, parts, source })
    }

    /// The rows that the file declares.
    fn declared_rows(&self) -> u64 {
        u64::try_from(self.metadata.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    /// A pass over some row groups.
    fn groups(&self, columns: &[usize], groups: Groups) -> Result<Box<dyn BatchReader + '_>, DataError> {
        check_chunks(self, columns, groups.range.clone())?;
        let found = self.parts.last().map_or(0, |part| part.rows_before.saturating_add(part.rows));
        if found != self.declared_rows() {
            return Err(self.other_rows(self.declared_rows(), found));
        }
        keep_freed_pages();
        let source = match &self.source {
            Source::File(file) => Opened::File(file.reopen()?),
            Source::Bundled(bytes) => Opened::Bundled(bytes.clone()),
        };
        let batches =
            ParquetBatches { table: self, columns: columns.to_vec(), source, groups, reader: None, rows: 0 };
        Ok(Box::new(batches))
    }

    fn other_rows(&self, declared: u64, found: u64) -> DataError {
        DataError::malformed(&self.name, FORMAT, &format!("it declares {declared} rows and has {found}"))
    }
}

/// Has the allocator of glibc keep the memory of pages that were read, for the next ones.
///
/// By default it returns freed blocks of a megabyte to the system and gets them back cleared, page fault by page fault, which
/// takes longer than reading and decompressing them. When it frees a block that it mapped by itself, it takes blocks up to that size
/// for usual ones and keeps them. So one such block is requested and freed; nothing is ever written to it.
fn keep_freed_pages() {
    const USUAL: usize = 16 << 20;
    drop(std::hint::black_box(Vec::<u8>::with_capacity(USUAL)));
}

/// Divides the row groups into parts.
fn parts(metadata: &ArrowReaderMetadata) -> Vec<Groups> {
    let mut parts: Vec<Groups> = Vec::new();
    for (index, group) in metadata.metadata().row_groups().iter().enumerate() {
        let rows = u64::try_from(group.num_rows()).unwrap_or(0);
        match parts.last_mut() {
            Some(part) if part.rows < PART_ROWS => {
                part.range.end = index + 1;
                part.rows = part.rows.saturating_add(rows);
            }
            last => {
                let rows_before = last.map_or(0, |part| part.rows_before.saturating_add(part.rows));
                parts.push(Groups { range: index..index + 1, rows_before, rows });
            }
        }
    }
    parts
}

impl Table for ParquetTable {
    fn name(&self) -> &str {
        &self.name
    }

    fn path(&self) -> Option<&Path> {
        match &self.source {
            Source::File(file) => Some(&file.path),
            Source::Bundled(_) => None,
        }
    }

    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn reading(&self) -> Reading {
        match &self.source {
            Source::File(file) => file.reading.clone(),
            Source::Bundled(_) => Reading::default(),
        }
    }

    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn stated_rows(&self) -> Option<u64> {
        Some(self.declared_rows())
    }

    fn batches(&self, columns: &[usize]) -> Result<Box<dyn BatchReader + '_>, DataError> {
        let all = self.metadata.metadata().num_row_groups();
        self.groups(columns, Groups { range: 0..all, rows_before: 0, rows: self.declared_rows() })
    }

    fn parts(&self) -> usize {
        self.parts.len()
    }

    fn part(&self, columns: &[usize], part: usize) -> Result<Box<dyn BatchReader + '_>, DataError> {
        self.groups(columns, self.parts.get(part).cloned().unwrap_or_default())
    }
}

/// The bytes of a pass.
enum Opened {
    /// Read at one place at a time.
    File(File),
    Bundled(Bytes),
}

/// A pass, row group by row group: within one, the batches of a column share a dictionary.
struct ParquetBatches<'a> {
    table: &'a ParquetTable,
    columns: Vec<usize>,
    source: Opened,
    /// What is left to be read; the first group has a reader already if there is one.
    groups: Groups,
    reader: Option<(ParquetRecordBatchReader, u64)>,
    rows: u64,
}

impl ParquetBatches<'_> {
    /// The reader of a row group.
    fn open(&self, group: usize) -> Result<ParquetRecordBatchReader, DataError> {
        let metadata = &self.table.metadata;
        guarded(&self.table.name, FORMAT, || match &self.source {
            Opened::File(file) => reader(metadata, file.try_clone()?, &self.columns, group),
            Opened::Bundled(bytes) => reader(metadata, bytes.clone(), &self.columns, group),
        })
    }

    fn declared_rows(&self, group: usize) -> u64 {
        u64::try_from(self.table.metadata.metadata().row_group(group).num_rows()).unwrap_or(0)
    }
}

impl BatchReader for ParquetBatches<'_> {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, DataError> {
        while let Some(group) = self.groups.range.clone().next() {
            let (mut reader, found) = match self.reader.take() {
                Some(begun) => begun,
                None => (self.open(group)?, 0),
            };
            if let Some(batch) = guarded(&self.table.name, FORMAT, || reader.next().transpose())? {
                let rows = batch.num_rows() as u64;
                self.rows += rows;
                self.reader = Some((reader, found + rows));
                return Ok(Some(batch));
            }
            let declared = self.declared_rows(group);
            if found != declared {
                return Err(self.table.other_rows(declared, found));
            }
            self.groups.range.start += 1;
        }
        Ok(None)
    }

    fn bytes_read(&self) -> u64 {
        share(self.table.size_bytes, self.rows, self.table.declared_rows())
    }

    fn rows_before(&self) -> u64 {
        self.groups.rows_before
    }
}

fn reader(
    metadata: &ArrowReaderMetadata,
    opened: impl ChunkReader + 'static,
    chosen: &[usize],
    group: usize,
) -> parquet::errors::Result<ParquetRecordBatchReader> {
    let projection = ProjectionMask::roots(metadata.parquet_schema(), chosen.iter().copied());
    ParquetRecordBatchReaderBuilder::new_with_metadata(opened, metadata.clone())
        .with_projection(projection)
        .with_row_groups(vec![group])
        .with_batch_size(BATCH_ROWS)
        .build()
}

/// Checks what the footer says about the chosen columns' bytes in some row groups before they are read.
fn check_chunks(table: &ParquetTable, chosen: &[usize], groups: Range<usize>) -> Result<(), DataError> {
    let metadata = &table.metadata;
    let leaves = metadata.parquet_schema();
    for group in metadata.metadata().row_groups().get(groups).unwrap_or_default() {
        for (leaf, chunk) in group.columns().iter().enumerate().take(leaves.num_columns()) {
            let column = leaves.get_column_root_idx(leaf);
            if !chosen.contains(&column) {
                continue;
            }
            let offsets = [chunk.data_page_offset(), chunk.dictionary_page_offset().unwrap_or(0)];
            if chunk.compressed_size() < 0 || offsets.into_iter().any(|offset| offset < 0) {
                return Err(DataError::malformed(&table.name, FORMAT, "a column lies before the file"));
            }
            let readable = matches!(
                chunk.compression(),
                Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::ZSTD(_)
            );
            if !readable {
                let codec = format!("{:?}", chunk.compression());
                let codec = codec.split('(').next().unwrap_or_default().to_lowercase();
                let column = shown(&table.columns[column].name);
                return Err(DataError::UnsupportedCompression { file: table.name.clone(), column, codec });
            }
        }
    }
    Ok(())
}

/// Runs a call into the reader of a format: its errors, and its panics on bytes it did not foresee, become ours.
pub(super) fn guarded<T, P: std::fmt::Display>(
    name: &str,
    format: &'static str,
    call: impl FnOnce() -> Result<T, P>,
) -> Result<T, DataError> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(DataError::malformed(name, format, &error.to_string())),
        Err(_) => Err(DataError::malformed(name, format, "its contents contradict each other")),
    }
}

#[cfg(test)]
mod tests;
