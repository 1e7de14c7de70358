//! Files for tests, and what a pass over them sees.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use tempfile::TempDir;

use crate::{Cell, DataError, ScanStats, Table, open_table};

/// A folder that goes away with the test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn parquet(&self, name: &str, columns: Vec<(&str, ArrayRef)>) -> PathBuf {
        self.file(name, parquet_bytes(columns, Compression::SNAPPY))
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The error's message with the folder left out of file names.
    pub(crate) fn message(&self, error: DataError) -> String {
        let message = error.to_string().replace(&format!("{}/", self.0.path().display()), "");
        assert!(!message.contains('\n'), "{message}");
        message
    }

    pub(crate) fn open_error(&self, path: &Path) -> String {
        self.message(open_table(path).unwrap_err())
    }

    /// What opening and scanning the columns fails with.
    pub(crate) fn scan_error(&self, path: &Path, columns: &[&str]) -> String {
        self.message(rows_of(path, columns).unwrap_err())
    }
}

pub(crate) fn parquet_bytes(columns: Vec<(&str, ArrayRef)>, compression: Compression) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    );
    let batch = batch.unwrap();
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

pub(crate) fn array(array: impl arrow_array::Array + 'static) -> ArrayRef {
    Arc::new(array)
}

/// A cell that owns its text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kept {
    Null,
    Integer(i64),
    Float(f64),
    Text(String),
    Boolean(bool),
    Date(i32),
    Timestamp(i64),
}

impl From<&Cell<'_>> for Kept {
    fn from(cell: &Cell<'_>) -> Self {
        match *cell {
            Cell::Null => Kept::Null,
            Cell::Integer(integer) => Kept::Integer(integer),
            Cell::Float(float) => Kept::Float(float),
            Cell::Text(text) => Kept::Text(text.to_owned()),
            Cell::Boolean(truth) => Kept::Boolean(truth),
            Cell::Date(days) => Kept::Date(days),
            Cell::Timestamp(at) => Kept::Timestamp(at),
        }
    }
}

pub(crate) fn text(text: &str) -> Kept {
    Kept::Text(text.to_owned())
}

/// Opens the file and keeps the cells of the columns; checks the row numbers and the progress.
pub(crate) fn rows_of(path: &Path, columns: &[&str]) -> Result<(Vec<Vec<Kept>>, ScanStats), DataError> {
    read_rows(&open_table(path)?, columns)
}

/// As [`rows_of`], for an open table.
pub(crate) fn read_rows(
    table: &Arc<dyn Table>,
    columns: &[&str],
) -> Result<(Vec<Vec<Kept>>, ScanStats), DataError> {
    let mut rows = Vec::new();
    let mut progress = 0;
    let stats = table.scan::<DataError>(
        columns,
        &mut |bytes| {
            assert!(bytes >= progress && bytes <= table.size_bytes());
            progress = bytes;
        },
        &mut |row, cells| {
            assert_eq!(cells.len(), columns.len());
            rows.push(cells.iter().map(Kept::from).collect());
            assert_eq!(row, rows.len() as u64);
            Ok(())
        },
    )?;
    assert_eq!(progress, table.size_bytes());
    assert_eq!(stats.rows, rows.len() as u64);
    Ok((rows, stats))
}
