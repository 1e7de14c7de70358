//! The Arrow IPC reader: the file format and the stream format, batch by batch.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, SchemaRef};

use super::file::TableFile;
use super::parquet::guarded;
use super::{BatchReader, ColumnInfo, Reading, Table, columns_of};
use crate::error::DataError;

/// How the file format begins; a stream begins otherwise.
const MAGIC: &[u8] = b"ARROW1";

const FORMAT: &str = "Arrow";

/// An Arrow IPC file.
#[derive(Clone, Debug)]
pub(super) struct IpcTable {
    file: TableFile,
    schema: SchemaRef,
    columns: Vec<ColumnInfo>,
}

impl IpcTable {
    /// Reads the schema.
    pub(super) fn open(file: TableFile, opened: File) -> Result<Self, DataError> {
        let schema = Batches::open(&file, opened, None)?.schema();
        let columns = columns_of(&file.name, &schema)?;
        Ok(Self { file, schema, columns })
    }
}

impl Table for IpcTable {
    fn name(&self) -> &str {
        &self.file.name
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.file.path)
    }

    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn reading(&self) -> Reading {
        self.file.reading.clone()
    }

    fn size_bytes(&self) -> u64 {
        self.file.size_bytes
    }

    fn batches(&self, columns: &[usize]) -> Result<Box<dyn BatchReader + '_>, DataError> {
        // The length of a batch is checked against its columns: one is read even if none is asked for.
        let count_only = columns.is_empty() && !self.columns.is_empty();
        let projection = if count_only { vec![0] } else { columns.to_vec() };
        let opened = self.file.reopen()?;
        let expected = self.schema.project(&projection);
        let batches = Batches::open(&self.file, opened, Some(projection))?;
        if expected.is_ok_and(|expected| expected != *batches.schema()) {
            return Err(self.file.changed());
        }
        Ok(Box::new(IpcBatches { file: &self.file, batches, count_only }))
    }
}

/// A reader of either format.
enum Batches {
    File(Box<FileReader<BufReader<Counted>>>),
    Stream(Box<StreamReader<BufReader<Counted>>>),
}

impl Batches {
    fn open(file: &TableFile, mut opened: File, projection: Option<Vec<usize>>) -> Result<Self, DataError> {
        let failed = |error: std::io::Error| DataError::io(&file.name, "read", &error);
        let mut start = Vec::new();
        (&mut opened).take(MAGIC.len() as u64).read_to_end(&mut start).map_err(failed)?;
        opened.seek(SeekFrom::Start(0)).map_err(failed)?;
        let reader = BufReader::with_capacity(1 << 16, Counted { inner: opened, bytes: 0 });
        guarded(&file.name, FORMAT, || {
            Ok::<_, ArrowError>(if start == MAGIC {
                Self::File(Box::new(FileReader::try_new(reader, projection)?))
            } else {
                Self::Stream(Box::new(StreamReader::try_new(reader, projection)?))
            })
        })
    }

    /// The schema of the chosen columns.
    fn schema(&self) -> SchemaRef {
        match self {
            Self::File(reader) => reader.schema(),
            Self::Stream(reader) => reader.schema(),
        }
    }

    fn next(&mut self) -> Option<Result<RecordBatch, ArrowError>> {
        match self {
            Self::File(reader) => reader.next(),
            Self::Stream(reader) => reader.next(),
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Self::File(reader) => reader.get_ref().get_ref().bytes,
            Self::Stream(reader) => reader.get_ref().get_ref().bytes,
        }
    }
}

struct IpcBatches<'a> {
    file: &'a TableFile,
    batches: Batches,
    /// Whether the one column that is read is left out of the batches.
    count_only: bool,
}

impl BatchReader for IpcBatches<'_> {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, DataError> {
        let next = guarded(&self.file.name, FORMAT, || self.batches.next().transpose())?;
        match next {
            Some(batch) if self.count_only => {
                guarded(&self.file.name, FORMAT, || batch.project(&[]).map(Some))
            }
            next => Ok(next),
        }
    }

    fn bytes_read(&self) -> u64 {
        self.batches.bytes().min(self.file.size_bytes)
    }
}

/// A file that counts the bytes read from it.
struct Counted {
    inner: File,
    bytes: u64,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.bytes += count as u64;
        Ok(count)
    }
}

impl Seek for Counted {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.inner.seek(to)
    }
}

#[cfg(test)]
mod tests;
