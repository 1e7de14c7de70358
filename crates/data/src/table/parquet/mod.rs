//! The Parquet reader: the chosen columns only, batch by batch.

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
use super::{BATCH_ROWS, BatchReader, ColumnInfo, Table, columns_of, share};
use crate::error::{DataError, shown};

const FORMAT: &str = "Parquet";

/// A Parquet file.
#[derive(Clone, Debug)]
pub(super) struct ParquetTable {
    name: String,
    columns: Vec<ColumnInfo>,
    size_bytes: u64,
    metadata: ArrowReaderMetadata,
    source: Source,
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
        let (columns, metadata) = footer(&file.name, opened)?;
        let (name, size_bytes) = (file.name.clone(), file.size_bytes);
        Ok(Self { name, columns, size_bytes, metadata, source: Source::File(file) })
    }

    pub(super) fn bundled(name: &str, bytes: Bytes) -> Result<Self, DataError> {
        let (columns, metadata) = footer(name, &bytes)?;
        let size_bytes = bytes.len() as u64;
        Ok(Self { name: name.to_owned(), columns, size_bytes, metadata, source: Source::Bundled(bytes) })
    }

    fn declared_rows(&self) -> u64 {
        u64::try_from(self.metadata.metadata().file_metadata().num_rows()).unwrap_or(0)
    }
}

fn footer(
    name: &str,
    opened: &impl ChunkReader,
) -> Result<(Vec<ColumnInfo>, ArrowReaderMetadata), DataError> {
    let metadata = guarded(name, FORMAT, || ArrowReaderMetadata::load(opened, ArrowReaderOptions::new()))?;
    Ok((columns_of(name, metadata.schema())?, metadata))
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

    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn stated_rows(&self) -> Option<u64> {
        Some(self.declared_rows())
    }

    fn batches(&self, columns: &[usize]) -> Result<Box<dyn BatchReader + '_>, DataError> {
        check_chunks(self, columns)?;
        let reader = match &self.source {
            Source::File(file) => {
                let opened = file.reopen()?;
                guarded(&self.name, FORMAT, || reader(&self.metadata, opened, columns))?
            }
            Source::Bundled(bytes) => {
                guarded(&self.name, FORMAT, || reader(&self.metadata, bytes.clone(), columns))?
            }
        };
        Ok(Box::new(ParquetBatches { table: self, reader, rows: 0 }))
    }
}

struct ParquetBatches<'a> {
    table: &'a ParquetTable,
    reader: ParquetRecordBatchReader,
    rows: u64,
}

impl BatchReader for ParquetBatches<'_> {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, DataError> {
        let next = guarded(&self.table.name, FORMAT, || self.reader.next().transpose())?;
        let declared = self.table.declared_rows();
        match &next {
            Some(batch) => self.rows += batch.num_rows() as u64,
            None if self.rows != declared => {
                let reason = format!("it declares {declared} rows and has {}", self.rows);
                return Err(DataError::malformed(&self.table.name, FORMAT, &reason));
            }
            None => {}
        }
        Ok(next)
    }

    fn bytes_read(&self) -> u64 {
        share(self.table.size_bytes, self.rows, self.table.declared_rows())
    }
}

fn reader(
    metadata: &ArrowReaderMetadata,
    opened: impl ChunkReader + 'static,
    chosen: &[usize],
) -> parquet::errors::Result<ParquetRecordBatchReader> {
    let projection = ProjectionMask::roots(metadata.parquet_schema(), chosen.iter().copied());
    ParquetRecordBatchReaderBuilder::new_with_metadata(opened, metadata.clone())
        .with_projection(projection)
        .with_batch_size(BATCH_ROWS)
        .build()
}

/// Checks what the footer says about the chosen columns' bytes before they are read.
fn check_chunks(table: &ParquetTable, chosen: &[usize]) -> Result<(), DataError> {
    let metadata = &table.metadata;
    let leaves = metadata.parquet_schema();
    for group in metadata.metadata().row_groups() {
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
