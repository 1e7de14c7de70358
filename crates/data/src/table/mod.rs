//! Tables: their columns, and one streaming pass over the chosen ones, in batches of Arrow columns.

mod batch;
mod codes;
mod columns;
mod csv;
mod encoding;
mod file;
mod ipc;
mod labels;
mod mask;
mod memory;
mod parquet;
mod pass;
mod paths;
mod reading;
mod spool;
mod union;
mod unpack;
mod view;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema};
use bytes::Bytes;

use crate::cell::Cell;
use crate::error::{DataError, shown, shown_path};
use crate::filter::{Derivation, derive};
pub use batch::CellBatch;
pub use codes::{Codes, PerEntry};
pub use columns::Numbers;
use file::TableFile;
pub use labels::LabelCodes;
pub use mask::RowMask;
pub use memory::MemoryTable;
pub use pass::BatchSummary;
pub use paths::{is_same_file, is_table_file, is_table_folder};
pub use reading::{Format, Quoting, Reading};
use union::UnionTable;

/// The type of a column, as far as the table declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Integers.
    Integer,
    /// Floating-point numbers.
    Float,
    /// Text. Every column of a CSV file is text, even if all of it reads as numbers.
    Text,
    /// Truth values.
    Boolean,
    /// Days of the calendar.
    Date,
    /// Points in time, to the microsecond. A time zone only says how they are shown: what is stored counts from 1970 in UTC.
    Timestamp,
    /// A type that cannot be read, described in words, such as `list`.
    Other(String),
}

impl fmt::Display for ColumnKind {
    /// The kind in one word, such as `integer`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            ColumnKind::Integer => "integer",
            ColumnKind::Float => "float",
            ColumnKind::Text => "text",
            ColumnKind::Boolean => "boolean",
            ColumnKind::Date => "date",
            ColumnKind::Timestamp => "timestamp",
            ColumnKind::Other(kind) => kind,
        })
    }
}

/// A column's name and type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// The name; for CSV without surrounding blanks.
    pub name: String,
    /// The type.
    pub kind: ColumnKind,
}

/// What one pass over a table counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanStats {
    /// The number of rows.
    pub rows: u64,
    /// The number of nulls in each chosen column.
    pub nulls: Vec<u64>,
}

/// Called for every row of a pass, with the row number from 1 and one cell per chosen column.
pub type Visit<'a, E> = dyn FnMut(u64, &[Cell<'_>]) -> Result<(), E> + 'a;

/// Called for every batch of a pass.
pub type VisitBatch<'a, E> = dyn FnMut(&CellBatch<'_>) -> Result<(), E> + 'a;

/// The most rows of one batch.
const BATCH_ROWS: usize = 8192;

/// A table whose rows are read in batches of Arrow columns.
///
/// Encoders, filters, splits and queries take any `&dyn Table`. [`open_table`] opens a file and [`MemoryTable`] holds record
/// batches; any other source implements this trait. Rows come in a fixed order, and every pass yields the same ones.
///
/// [`scan`](#method.scan) and [`scan_batches`](#method.scan_batches) read a table; implementers provide
/// [`batches`](Table::batches).
pub trait Table: fmt::Debug + Send + Sync {
    /// The table's name in messages; for a file its path.
    fn name(&self) -> &str;

    /// The path that it was opened by, which may be a glob or a folder; `None` for a table in memory.
    fn path(&self) -> Option<&Path> {
        None
    }

    /// The files that it is read from; none for a table in memory.
    fn files(&self) -> Vec<PathBuf> {
        self.path().map(Path::to_path_buf).into_iter().collect()
    }

    /// The columns, in the table's order. No two share a name.
    fn columns(&self) -> &[ColumnInfo];

    /// Whether the table declares the types of its columns. CSV does not: all its columns are text.
    fn declares_kinds(&self) -> bool {
        true
    }

    /// The texts that count as missing in its columns of text, besides blank.
    fn missing(&self) -> &[String] {
        &[]
    }

    /// How its files are read: the dialect of their text. Further files and derived columns are not part of it.
    fn reading(&self) -> Reading {
        Reading::default()
    }

    /// The same table with one column read literally, by its position: the texts that count as [missing](Table::missing) elsewhere
    /// are values in it, and only blank is missing. `None` if it is read so in any case.
    fn literal(&self, _column: usize) -> Option<Arc<dyn Table>> {
        None
    }

    /// Whether a column is read [literally](Table::literal).
    fn is_literal(&self, _column: usize) -> bool {
        false
    }

    /// How those of its columns are computed that are derived from others.
    fn derivations(&self) -> &[Derivation] {
        &[]
    }

    /// The size that the progress of a pass counts up to, in bytes.
    fn size_bytes(&self) -> u64;

    /// The number of rows, if the table states it before it is read. Under add-remove it is private like the rows.
    fn stated_rows(&self) -> Option<u64> {
        None
    }

    /// Begins a pass over the columns at the given positions, which are distinct and in rising order. The batches have exactly
    /// those columns, in that order; without columns they still have a number of rows.
    ///
    /// # Errors
    /// If the table cannot be read, or has changed since it was opened.
    fn batches(&self, columns: &[usize]) -> Result<Box<dyn BatchReader + '_>, DataError>;

    /// The number of parts that threads may read at the same time, such as the row groups of a Parquet file.
    fn parts(&self) -> usize {
        1
    }

    /// Begins a pass over one part, by its number from 0; otherwise as [`batches`](Table::batches). The parts in order are the table.
    ///
    /// # Errors
    /// As [`batches`](Table::batches).
    fn part(&self, columns: &[usize], _part: usize) -> Result<Box<dyn BatchReader + '_>, DataError> {
        self.batches(columns)
    }

    /// The position of a column.
    ///
    /// # Errors
    /// An error that lists the columns there are and suggests one.
    fn position(&self, name: &str) -> Result<usize, DataError> {
        self.columns().iter().position(|column| column.name == name).ok_or_else(|| {
            let known = self.columns().iter().map(|column| column.name.clone()).collect();
            DataError::unknown_column(self.name(), name, known)
        })
    }

    /// The column of that name.
    ///
    /// # Errors
    /// As [`Table::position`].
    fn column(&self, name: &str) -> Result<&ColumnInfo, DataError> {
        self.position(name).map(|position| &self.columns()[position])
    }
}

/// The batches of one pass over a table.
pub trait BatchReader: Send {
    /// The next batch; `None` after the last one.
    ///
    /// # Errors
    /// If the table cannot be read. Every row before the error has then been part of a batch.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, DataError>;

    /// The bytes read so far, at most [`Table::size_bytes`].
    fn bytes_read(&self) -> u64;

    /// The number of rows of the table before those that are read: 0 unless this is a pass over a [part](Table::part).
    fn rows_before(&self) -> u64 {
        0
    }
}

impl dyn Table + '_ {
    /// Streams the chosen columns through `visit`, batch by batch: columns in the order given, any of them repeatedly.
    /// Returns the number of rows. Choosing no columns counts the rows.
    ///
    /// `on_progress` gets the bytes read so far, now and then, and [`Table::size_bytes`] at the end.
    ///
    /// # Errors
    /// If a column is unknown or cannot be read, or what `visit` returns, which ends the pass.
    pub fn scan_batches<E: From<DataError>>(
        &self,
        columns: &[&str],
        on_progress: &mut dyn FnMut(u64),
        visit: &mut VisitBatch<'_, E>,
    ) -> Result<u64, E> {
        let (projection, places) = self.projection(columns)?;
        let mut reader = self.batches(&projection)?;
        let mut rows = 0;
        while let Some(batch) = reader.next_batch()? {
            for start in (0..batch.num_rows()).step_by(BATCH_ROWS) {
                let length = BATCH_ROWS.min(batch.num_rows() - start);
                let part = batch.slice(start, length);
                visit(&CellBatch::new(self.name(), &part, &places, rows + 1)?)?;
                rows += length as u64;
            }
            // The end of the table is reported once, below.
            if reader.bytes_read() < self.size_bytes() {
                on_progress(reader.bytes_read());
            }
        }
        on_progress(self.size_bytes());
        Ok(rows)
    }

    /// Streams the chosen columns through `visit`, row by row; otherwise as [`scan_batches`](#method.scan_batches).
    ///
    /// Text must be UTF-8 in the chosen columns only.
    ///
    /// # Errors
    /// As [`scan_batches`](#method.scan_batches).
    pub fn scan<E: From<DataError>>(
        &self,
        columns: &[&str],
        on_progress: &mut dyn FnMut(u64),
        visit: &mut Visit<'_, E>,
    ) -> Result<ScanStats, E> {
        let mut nulls = vec![0u64; columns.len()];
        let rows = self.scan_batches(columns, on_progress, &mut |batch| {
            let mut cells = Vec::with_capacity(nulls.len());
            for row in 0..batch.rows() {
                cells.clear();
                for (column, count) in nulls.iter_mut().enumerate() {
                    let cell = batch.cell(row, column);
                    *count += u64::from(cell.is_null());
                    cells.push(cell);
                }
                visit(batch.first_row() + row as u64, &cells)?;
            }
            Ok::<(), E>(())
        })?;
        Ok(ScanStats { rows, nulls })
    }

    /// Checks that a column can have these values: that none of them counts as missing.
    ///
    /// # Errors
    /// [`DataError::MissingMarker`] for the first that does.
    pub fn check_values(&self, column: &str, values: &[String]) -> Result<(), DataError> {
        let is_literal = self.position(column).is_ok_and(|position| self.is_literal(position));
        let is_marker = |value: &&String| self.missing().iter().any(|marker| marker == value.trim());
        let marker = values.iter().filter(|_| !is_literal).find(is_marker);
        match marker {
            None => Ok(()),
            Some(value) => {
                let (file, column, value) = (self.name().to_owned(), shown(column), shown(value.trim()));
                Err(DataError::MissingMarker { file, column, value })
            }
        }
    }

    /// The distinct positions of the chosen columns in rising order, and the place of each chosen column among them.
    fn projection(&self, columns: &[&str]) -> Result<(Vec<usize>, Vec<usize>), DataError> {
        let chosen = columns.iter().map(|name| self.readable(name)).collect::<Result<Vec<_>, _>>()?;
        let mut projection = chosen.clone();
        projection.sort_unstable();
        projection.dedup();
        // Every chosen column is in the projection.
        let places = chosen.iter().map(|at| projection.partition_point(|own| own < at)).collect();
        Ok((projection, places))
    }

    /// The position of a column whose type can be read.
    fn readable(&self, name: &str) -> Result<usize, DataError> {
        let position = self.position(name)?;
        match &self.columns()[position].kind {
            ColumnKind::Other(kind) => {
                let (file, column, kind) = (self.name().to_owned(), shown(name), kind.clone());
                Err(DataError::UnsupportedType { file, column, kind })
            }
            _ => Ok(position),
        }
    }
}

impl<T: Table + ?Sized> Table for Arc<T> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn path(&self) -> Option<&Path> {
        (**self).path()
    }

    fn columns(&self) -> &[ColumnInfo] {
        (**self).columns()
    }

    fn files(&self) -> Vec<PathBuf> {
        (**self).files()
    }

    fn missing(&self) -> &[String] {
        (**self).missing()
    }

    fn reading(&self) -> Reading {
        (**self).reading()
    }

    fn literal(&self, column: usize) -> Option<Arc<dyn Table>> {
        (**self).literal(column)
    }

    fn is_literal(&self, column: usize) -> bool {
        (**self).is_literal(column)
    }

    fn derivations(&self) -> &[Derivation] {
        (**self).derivations()
    }

    fn declares_kinds(&self) -> bool {
        (**self).declares_kinds()
    }

    fn size_bytes(&self) -> u64 {
        (**self).size_bytes()
    }

    fn stated_rows(&self) -> Option<u64> {
        (**self).stated_rows()
    }

    fn batches(&self, columns: &[usize]) -> Result<Box<dyn BatchReader + '_>, DataError> {
        (**self).batches(columns)
    }

    fn parts(&self) -> usize {
        (**self).parts()
    }

    fn part(&self, columns: &[usize], part: usize) -> Result<Box<dyn BatchReader + '_>, DataError> {
        (**self).part(columns, part)
    }
}

/// Opens a table and reads its columns. The path names a file, a folder of Parquet files, a glob such as `visits/*.csv`, or
/// standard input (`-`).
///
/// The ending of a file's name decides the format, in any case: `.csv` and `.tsv`, also compressed (`.csv.gz`, `.tsv.zst`),
/// `.parquet`, or Arrow IPC as `.arrow`, `.feather`, `.ipc` (file format) or `.arrows` (stream). Compression and both Arrow formats
/// are recognised by their first bytes.
///
/// ```no_run
/// let table = reticent_data::open_table("people.parquet".as_ref())?;
/// for column in table.columns() {
///     println!("{}: {}", column.name, column.kind);
/// }
/// # Ok::<(), reticent_data::DataError>(())
/// ```
///
/// # Errors
/// If the path is not a table file, or its columns cannot be read.
pub fn open_table(path: &Path) -> Result<Arc<dyn Table>, DataError> {
    open_table_with(path, &Reading::default())
}

/// [`open_table`] with options: further files, the dialect of CSV text, derived columns.
///
/// ```no_run
/// use reticent_data::{Reading, open_table_with};
///
/// let reading = Reading { separator: Some(';'), decimal_comma: true, ..Reading::default() };
/// let table = open_table_with("visits/*.csv".as_ref(), &reading)?;
/// # Ok::<(), reticent_data::DataError>(())
/// ```
///
/// # Errors
/// As [`open_table`]; if a file is named twice, also through links; if the files do not have the same columns; if an option has no
/// meaning.
pub fn open_table_with(path: &Path, reading: &Reading) -> Result<Arc<dyn Table>, DataError> {
    let mut files = Vec::new();
    for path in std::iter::once(path).chain(reading.also.iter().map(PathBuf::as_path)) {
        files.extend(paths::files(path, reading)?);
    }
    paths::distinct_files(&files)?;
    let mut tables = files.iter().map(|file| open_file(file, reading)).collect::<Result<Vec<_>, _>>()?;
    let table = match tables.pop() {
        Some(only) if tables.is_empty() => only,
        last => {
            tables.extend(last);
            Arc::new(UnionTable::new(path, shown_path(path), tables)?)
        }
    };
    with_derived(table, reading)
}

/// The table with the columns that `reading` derives, as far as it does not have them already; the other options are about files.
///
/// # Errors
/// If a derivation cannot be read, or names a column that is not there.
pub fn with_derived(table: Arc<dyn Table>, reading: &Reading) -> Result<Arc<dyn Table>, DataError> {
    let mut derivations = Vec::new();
    for text in &reading.derive {
        let derivation = Derivation::parse(text)?;
        let is_there = |own: &Derivation| own.canonical() == derivation.canonical();
        if !table.derivations().iter().any(is_there) {
            derivations.push(derivation);
        }
    }
    derive(table, &derivations)
}

/// The table with one column read literally: a text such as `NA` is a value in it, even if it counts as missing elsewhere. Columns that
/// name people are read so, because a person may have any name.
///
/// # Errors
/// If there is no such column.
pub fn with_literal(table: Arc<dyn Table>, column: &str) -> Result<Arc<dyn Table>, DataError> {
    let position = table.position(column)?;
    Ok(table.literal(position).unwrap_or(table))
}

/// Opens one file.
fn open_file(path: &Path, reading: &Reading) -> Result<Arc<dyn Table>, DataError> {
    let (file, opened, format) = TableFile::open(path, reading)?;
    Ok(match format {
        Format::Csv | Format::Tsv => {
            let mut dialect = reading.dialect()?;
            if format == Format::Tsv {
                dialect.separator = dialect.separator.or(Some(b'\t'));
            }
            Arc::new(csv::CsvTable::open(file, opened, dialect)?)
        }
        Format::Parquet => Arc::new(parquet::ParquetTable::open(file, &opened)?),
        Format::Arrow => Arc::new(ipc::IpcTable::open(file, opened)?),
    })
}

/// A Parquet table that is compiled into the program; `name` is its name in messages.
pub(crate) fn bundled_parquet(name: &str, bytes: &'static [u8]) -> Result<Arc<dyn Table>, DataError> {
    Ok(Arc::new(parquet::ParquetTable::bundled(name, Bytes::from_static(bytes))?))
}

/// The columns, if no two share a name.
fn distinct(name: &str, columns: Vec<ColumnInfo>) -> Result<Vec<ColumnInfo>, DataError> {
    let mut names = BTreeSet::new();
    if let Some(twice) = columns.iter().find(|column| !names.insert(column.name.as_str())) {
        return Err(DataError::DuplicateColumn { column: shown(&twice.name), file: name.to_owned() });
    }
    Ok(columns)
}

/// The columns of an Arrow schema, if no two share a name.
fn columns_of(name: &str, schema: &Schema) -> Result<Vec<ColumnInfo>, DataError> {
    let column = |field: &Arc<arrow_schema::Field>| ColumnInfo {
        name: field.name().clone(),
        kind: kind(field.data_type()),
    };
    distinct(name, schema.fields().iter().map(column).collect())
}

/// How much of a table of `size` bytes has been read after `rows` of `all` rows.
fn share(size: u64, rows: u64, all: u64) -> u64 {
    let share = u128::from(size) * u128::from(rows) / u128::from(all.max(1));
    u64::try_from(share).unwrap_or(u64::MAX).min(size)
}

fn kind(data_type: &DataType) -> ColumnKind {
    use DataType::*;
    let other = |name: &str| ColumnKind::Other(name.to_owned());
    match data_type {
        Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 => ColumnKind::Integer,
        Float32 | Float64 => ColumnKind::Float,
        // A column of the null type has no values: any kind describes it.
        Utf8 | LargeUtf8 | Utf8View | Null => ColumnKind::Text,
        Boolean => ColumnKind::Boolean,
        Dictionary(_, values) => kind(values),
        Date32 | Date64 => ColumnKind::Date,
        Timestamp(..) => ColumnKind::Timestamp,
        Time32(_) | Time64(_) => other("time"),
        Duration(_) | Interval(_) => other("duration"),
        Binary | LargeBinary | BinaryView | FixedSizeBinary(_) => other("binary"),
        List(_) | LargeList(_) | ListView(_) | LargeListView(_) | FixedSizeList(..) => other("list"),
        Struct(_) => other("struct"),
        Map(..) => other("map"),
        Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..) => other("decimal"),
        Float16 => other("16-bit float"),
        _ => ColumnKind::Other(shown(&data_type.to_string())),
    }
}

/// The text of a file that is no table, unpacked if it is compressed.
pub(crate) fn text_reader(path: &std::path::Path) -> Result<impl std::io::Read, DataError> {
    let (file, _) = crate::source::open(path, "word vectors")?;
    unpack::Text::open(file, encoding::Encoding::Utf8)
        .map_err(|error| DataError::io(&crate::error::shown_path(path), "read", &error))
}

#[cfg(test)]
mod tests;
