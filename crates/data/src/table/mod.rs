//! A table on disk: its columns, and one streaming pass over the chosen ones.

mod csv;
mod parquet;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ::parquet::arrow::arrow_reader::ArrowReaderMetadata;
use bytes::Bytes;

use crate::cell::Cell;
use crate::error::{DataError, shown, shown_path};

/// What a column holds, as far as the file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Integers.
    Integer,
    /// Floating-point numbers.
    Float,
    /// Text; for CSV every column, whatever its text reads as.
    Text,
    /// Truth values.
    Boolean,
    /// A type that cannot be read, in words, such as `date`.
    Other(String),
}

/// A column's name and kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// The name; for CSV without surrounding blanks.
    pub name: String,
    /// What the column holds.
    pub kind: ColumnKind,
}

/// What one pass over a table saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanStats {
    /// How many rows were visited.
    pub rows: u64,
    /// How many of them were null, per chosen column.
    pub nulls: Vec<u64>,
}

/// A table on disk whose rows are read in streaming passes.
#[derive(Clone, Debug)]
pub struct TableFile {
    path: PathBuf,
    /// The path as messages show it.
    file: String,
    columns: Vec<ColumnInfo>,
    size_bytes: u64,
    format: Format,
}

#[derive(Clone, Debug)]
enum Format {
    Csv,
    Parquet(ArrowReaderMetadata),
    /// Parquet that is part of the program.
    Bundled(ArrowReaderMetadata, &'static [u8]),
}

/// What a pass calls for every row: with the row number from 1 and one cell per chosen column.
pub type Visit<'a, E> = dyn FnMut(u64, &[Cell<'_>]) -> Result<(), E> + 'a;

/// How often a pass reports progress, and the most rows it holds at once.
const BATCH_ROWS: usize = 8192;

impl TableFile {
    /// Opens a `.csv` or `.parquet` file (the extension decides; case does not matter) and reads its schema.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let file = shown_path(path);
        let about = fs::metadata(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => DataError::NotFound { file: file.clone() },
            _ => DataError::io(&file, "read", &error),
        })?;
        if !about.is_file() {
            return Err(DataError::NotAFile { file });
        }
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        if extension != "csv" && extension != "parquet" {
            let extension = if extension.is_empty() { extension } else { shown(&format!(".{extension}")) };
            return Err(DataError::UnknownFormat { file, extension });
        }
        let opened = File::open(path).map_err(|error| DataError::io(&file, "read", &error))?;
        if about.len() == 0 {
            return Err(DataError::Empty { file });
        }
        let (columns, format) = if extension == "csv" {
            (csv::header(&file, opened)?, Format::Csv)
        } else {
            let (columns, metadata) = parquet::schema(&file, &opened)?;
            (columns, Format::Parquet(metadata))
        };
        Self { path: path.to_owned(), file, columns, size_bytes: about.len(), format }.checked()
    }

    /// A Parquet table that is part of the program; `name` is its name in messages.
    pub(crate) fn bundled(name: &str, bytes: &'static [u8]) -> Result<Self, DataError> {
        let (columns, metadata) = parquet::schema(name, &Bytes::from_static(bytes))?;
        let (path, size_bytes) = (PathBuf::from(name), bytes.len() as u64);
        Self { path, file: name.to_owned(), columns, size_bytes, format: Format::Bundled(metadata, bytes) }
            .checked()
    }

    /// The table, if no two columns share a name.
    fn checked(self) -> Result<Self, DataError> {
        let (columns, file) = (&self.columns, &self.file);
        let mut names = BTreeSet::new();
        if let Some(twice) = columns.iter().find(|column| !names.insert(column.name.as_str())) {
            return Err(DataError::DuplicateColumn { column: shown(&twice.name), file: file.clone() });
        }
        Ok(self)
    }

    /// The path the table was opened from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The columns in file order.
    pub fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    /// The column of that name, or an error that lists the names there are and suggests one.
    pub fn column(&self, name: &str) -> Result<&ColumnInfo, DataError> {
        self.position(name).map(|position| &self.columns[position])
    }

    /// Whether the file itself says what its columns hold: Parquet does, CSV does not.
    pub fn declares_kinds(&self) -> bool {
        matches!(self.format, Format::Parquet(_) | Format::Bundled(..))
    }

    /// The size of the file: what the progress of a pass counts up to.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Streams the chosen columns, in the order given, through `visit`.
    ///
    /// `visit` gets the row number from 1 and one cell per chosen column; its error ends the pass.
    /// `on_progress` gets the bytes read so far, now and then, and [`TableFile::size_bytes`] at the end;
    /// for Parquet they are in proportion to the rows read. Choosing no columns counts the rows.
    /// Text must be UTF-8 in the chosen columns only.
    pub fn scan<E: From<DataError>>(
        &self,
        columns: &[&str],
        on_progress: &mut dyn FnMut(u64),
        visit: &mut Visit<'_, E>,
    ) -> Result<ScanStats, E> {
        let mut chosen = Vec::with_capacity(columns.len());
        for name in columns {
            let position = self.position(name)?;
            if let ColumnKind::Other(kind) = &self.columns[position].kind {
                let (file, column, kind) = (self.file.clone(), shown(name), kind.clone());
                return Err(DataError::UnsupportedType { file, column, kind }.into());
            }
            chosen.push(position);
        }
        let mut nulls = vec![0u64; chosen.len()];
        let mut counting = |row: u64, cells: &[Cell<'_>]| {
            for (count, cell) in nulls.iter_mut().zip(cells) {
                *count += u64::from(cell.is_null());
            }
            visit(row, cells)
        };
        let rows = match &self.format {
            Format::Csv => csv::scan(self, self.reopen()?, &chosen, on_progress, &mut counting)?,
            Format::Parquet(metadata) => {
                parquet::scan(self, metadata, self.reopen()?, &chosen, on_progress, &mut counting)?
            }
            Format::Bundled(metadata, bytes) => {
                let bytes = Bytes::from_static(bytes);
                parquet::scan(self, metadata, bytes, &chosen, on_progress, &mut counting)?
            }
        };
        on_progress(self.size_bytes);
        Ok(ScanStats { rows, nulls })
    }

    fn position(&self, name: &str) -> Result<usize, DataError> {
        self.columns.iter().position(|column| column.name == name).ok_or_else(|| {
            let known = self.columns.iter().map(|column| column.name.clone()).collect();
            DataError::unknown_column(&self.file, name, known)
        })
    }

    fn reopen(&self) -> Result<File, DataError> {
        let failed = |error: std::io::Error| DataError::io(&self.file, "read", &error);
        let opened = File::open(&self.path).map_err(failed)?;
        if opened.metadata().map_err(failed)?.len() != self.size_bytes {
            return Err(DataError::Changed { file: self.file.clone() });
        }
        Ok(opened)
    }
}

#[cfg(test)]
mod tests;
