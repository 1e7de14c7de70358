//! CSV and Parquet files out, written atomically.

mod parquet;

pub use parquet::write_parquet_atomic;

use std::path::Path;

use reticent_files::{AtomicFile, Readers, shown_path};

use crate::cell::Cell;
use crate::error::DataError;
use crate::table::{ScanStats, Table};

/// Writes a CSV file with a header line; returns the number of rows.
///
/// The file appears under its name only when complete, replacing a regular file of that name. After an error
/// nothing is left behind, and a file that was there is unchanged.
///
/// # Errors
/// If the file cannot be written, or a row has more or fewer fields than the header.
pub fn write_csv_atomic<R>(
    path: &Path,
    header: &[&str],
    rows: impl IntoIterator<Item = R>,
) -> Result<u64, DataError>
where
    R: IntoIterator,
    R::Item: AsRef<[u8]>,
{
    write_csv(path, header, rows, Readers::Default)
}

/// As [`write_csv_atomic`], for a file that only its owner may read, from the first byte on.
///
/// # Errors
/// As [`write_csv_atomic`].
pub fn write_csv_private<R>(
    path: &Path,
    header: &[&str],
    rows: impl IntoIterator<Item = R>,
) -> Result<u64, DataError>
where
    R: IntoIterator,
    R::Item: AsRef<[u8]>,
{
    write_csv(path, header, rows, Readers::Owner)
}

fn write_csv<R>(
    path: &Path,
    header: &[&str],
    rows: impl IntoIterator<Item = R>,
    readers: Readers,
) -> Result<u64, DataError>
where
    R: IntoIterator,
    R::Item: AsRef<[u8]>,
{
    let mut output = AtomicCsv::create(path, header, readers)?;
    for row in rows {
        output.write(row)?;
    }
    output.commit()
}

/// Copies a table to a CSV file with one column replaced.
///
/// `replace` gets the row number from 1 and the column's cell, and returns the new field. The other columns are copied; blank
/// text becomes empty. `output` may be the path of the input. It is written as by [`write_csv_atomic`], and its name must end
/// in `.csv`.
///
/// # Errors
/// If the table cannot be read or the file cannot be written, or what `replace` returns.
pub fn rewrite_column<E: From<DataError>>(
    input: &dyn Table,
    column: &str,
    output: &Path,
    on_progress: &mut dyn FnMut(u64),
    replace: &mut dyn FnMut(u64, Cell<'_>) -> Result<String, E>,
) -> Result<ScanStats, E> {
    if !output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
        return Err(DataError::OutputNotCsv { file: shown_path(output) }.into());
    }
    input.column(column)?;
    let names: Vec<&str> = input.columns().iter().map(|column| column.name.as_str()).collect();
    let mut written = AtomicCsv::create(output, &names, Readers::Default)?;
    let mut visit = |row: u64, cells: &[Cell<'_>]| -> Result<(), E> {
        for (&name, cell) in names.iter().zip(cells) {
            if name == column {
                written.field(replace(row, *cell)?)?;
            } else {
                written.field(cell.csv_text().as_bytes())?;
            }
        }
        Ok(written.end_row()?)
    };
    let stats = input.scan(&names, on_progress, &mut visit)?;
    written.commit()?;
    Ok(stats)
}

/// A CSV file being written. It gets its name when it is committed; dropped before that, it is removed.
struct AtomicCsv {
    writer: csv::Writer<AtomicFile>,
    file: String,
    rows: u64,
}

impl AtomicCsv {
    fn create(target: &Path, header: &[&str], readers: Readers) -> Result<Self, DataError> {
        let file = AtomicFile::create(target, readers)?;
        let writer = csv::WriterBuilder::new().buffer_capacity(1 << 16).from_writer(file);
        let mut output = Self { writer, file: shown_path(target), rows: 0 };
        output.check(|writer| writer.write_record(header))?;
        Ok(output)
    }

    fn write(&mut self, row: impl IntoIterator<Item: AsRef<[u8]>>) -> Result<(), DataError> {
        for field in row {
            self.field(field)?;
        }
        self.end_row()
    }

    fn field(&mut self, field: impl AsRef<[u8]>) -> Result<(), DataError> {
        self.check(|writer| writer.write_field(field))
    }

    fn end_row(&mut self) -> Result<(), DataError> {
        self.rows += 1;
        self.check(|writer| writer.write_record(None::<&[u8]>))
    }

    /// Flushes, and gives the file its name; returns the number of rows.
    fn commit(self) -> Result<u64, DataError> {
        let Self { writer, file, rows } = self;
        let written = writer.into_inner().map_err(|error| DataError::io(&file, "write", error.error()))?;
        written.commit()?;
        Ok(rows)
    }

    fn check(
        &mut self,
        act: impl FnOnce(&mut csv::Writer<AtomicFile>) -> csv::Result<()>,
    ) -> Result<(), DataError> {
        act(&mut self.writer).map_err(|error| {
            let (file, reason) = (self.file.clone(), error.to_string());
            match error.into_kind() {
                csv::ErrorKind::Io(error) => DataError::io(&file, "write", &error),
                csv::ErrorKind::UnequalLengths { expected_len, len, .. } => DataError::OutputRow {
                    file,
                    row: self.rows,
                    expected: usize::try_from(expected_len).unwrap_or(usize::MAX),
                    found: usize::try_from(len).unwrap_or(usize::MAX),
                },
                _ => DataError::io(&file, "write", &std::io::Error::other(reason)),
            }
        })
    }
}

#[cfg(test)]
mod tests;
