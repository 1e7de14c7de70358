//! The CSV reader: comma-separated, UTF-8, a header line, one field per column in every row, quotes by the rule of
//! [`quotes`].

mod quotes;

use std::fs::File;

use csv::{ByteRecord, Error, ErrorKind, Reader, ReaderBuilder};

use super::{BATCH_ROWS, ColumnInfo, ColumnKind, TableFile, Visit};
use crate::cell::Cell;
use crate::error::{DataError, shown};
use quotes::{QuoteError, Quotes};

fn reader(opened: File) -> Reader<Quotes<File>> {
    // The reader is flexible so that a ragged row is reported here, with its row number.
    ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(1 << 16)
        .from_reader(Quotes::new(opened))
}

/// Reads the header line; a leading byte-order mark is no part of it.
pub(super) fn header(file: &str, opened: File) -> Result<Vec<ColumnInfo>, DataError> {
    let mut record = ByteRecord::new();
    read_header(file, &mut reader(opened), &mut record)
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

/// Visits every row; returns their number.
pub(super) fn scan<E: From<DataError>>(
    table: &TableFile,
    opened: File,
    chosen: &[usize],
    on_progress: &mut dyn FnMut(u64),
    visit: &mut Visit<'_, E>,
) -> Result<u64, E> {
    let file = &table.file;
    let mut reader = reader(opened);
    let mut record = ByteRecord::new();
    if read_header(file, &mut reader, &mut record)? != table.columns {
        return Err(DataError::Changed { file: file.clone() }.into());
    }
    let mut spare = Vec::with_capacity(chosen.len());
    let mut row = 0;
    while reader.read_byte_record(&mut record).map_err(|error| failure(file, error))? {
        row += 1;
        let (expected, found) = (table.columns.len(), record.len());
        if found != expected {
            return Err(DataError::Ragged { file: file.clone(), row, expected, found }.into());
        }
        let mut cells = emptied(spare);
        for &column in chosen {
            let text = std::str::from_utf8(&record[column]).map_err(|_| {
                let column = shown(&table.columns[column].name);
                DataError::NotText { file: file.clone(), column, row }
            })?;
            cells.push(Cell::from_text(text));
        }
        visit(row, &cells)?;
        spare = emptied(cells);
        if row.is_multiple_of(BATCH_ROWS as u64) {
            on_progress(reader.position().byte().min(table.size_bytes));
        }
    }
    Ok(row)
}

/// The vector's allocation, free to hold cells that borrow from another record.
fn emptied<'b>(mut cells: Vec<Cell<'_>>) -> Vec<Cell<'b>> {
    cells.clear();
    cells.into_iter().map(|_| Cell::Null).collect()
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
