//! What can go wrong with data, one line each.

mod code;
mod text;

use reticent_files::FileError;
use thiserror::Error;

use crate::schema::SchemaError;
pub(crate) use reticent_files::{shown, shown_path};
pub use text::closest;
pub(crate) use text::hint;
use text::listed;

/// An error about data: its message is one line that says what to do.
///
/// Row numbers count data rows from 1; the header line of a CSV file is not a row.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DataError {
    /// The path names nothing.
    #[error("{file}: no such file")]
    NotFound {
        /// The path as given.
        file: String,
    },
    /// The path names a folder or a device.
    #[error(
        "{file}: not a regular file: give a .csv, .tsv, .parquet or .arrow file, or pipe it into standard input (-)"
    )]
    NotAFile {
        /// The path as given.
        file: String,
    },
    /// The file name's extension is not that of a table format.
    #[error(
        "{file}: unknown table format \"{extension}\": give a .csv, .tsv, .parquet or .arrow file, or name its format"
    )]
    UnknownFormat {
        /// The path as given.
        file: String,
        /// The extension with its dot; empty when there is none.
        extension: String,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file has no bytes, or a CSV file has no header line.
    #[error("{file}: the file is empty: a table needs at least a header with column names")]
    Empty {
        /// The path as given.
        file: String,
    },
    /// The file's bytes are not those of its format.
    #[error(
        "{file}: not a readable {format} file ({reason}): check that it is complete and has the right extension"
    )]
    Malformed {
        /// The path as given.
        file: String,
        /// The format's name, such as `CSV` or `Parquet`.
        format: &'static str,
        /// What the reader reported.
        reason: String,
    },
    /// The file was replaced or altered between opening and reading it.
    #[error("{file}: the file changed while it was being read: run again once nothing writes to it")]
    Changed {
        /// The path as given.
        file: String,
    },
    /// Two columns share a name.
    #[error("{file}: two columns are named \"{column}\": rename one of them")]
    DuplicateColumn {
        /// The path as given.
        file: String,
        /// The name.
        column: String,
    },
    /// The table has no column of that name.
    #[error("column \"{column}\" is not in {file}: it has {}{}", listed(known, "no columns"), hint(suggestion.as_deref()))]
    UnknownColumn {
        /// The path as given.
        file: String,
        /// The name asked for.
        column: String,
        /// The table's columns.
        known: Vec<String>,
        /// The table's column with the closest name, if one is close.
        suggestion: Option<String>,
    },
    /// The record batches of a table in memory have different columns.
    #[error("{table}: its record batches have different columns: give batches of one schema")]
    MixedBatches {
        /// The table's name.
        table: String,
    },
    /// The last quote of a CSV file opens a field that is never closed.
    #[error(
        "{file}: line {line}: a field starts with a quote that is never closed: close it, or write the field as \"\"\"…\" if the quote belongs to it"
    )]
    UnclosedQuote {
        /// The path as given.
        file: String,
        /// The line of the quote, from 1.
        line: u64,
    },
    /// A quoted CSV field goes on after its closing quote.
    #[error(
        "{file}: line {line}: text follows the closing quote of a field: write a quote inside a quoted field twice, as in \"5\"\" pipe\""
    )]
    StrayQuote {
        /// The path as given.
        file: String,
        /// The line of the closing quote, from 1.
        line: u64,
    },
    /// A CSV row has more or fewer fields than the header.
    #[error(
        "{file}: row {row} does not fit the header (fields: {found} instead of {expected}): fix or quote that line"
    )]
    Ragged {
        /// The path as given.
        file: String,
        /// The row.
        row: u64,
        /// Fields in the header.
        expected: usize,
        /// Fields in the row.
        found: usize,
    },
    /// A CSV header is not text.
    #[error(
        "{file}: the header line is not UTF-8 text: give the encoding of the file (windows-1252, latin1, utf-16), or save it as UTF-8"
    )]
    HeaderNotText {
        /// The path as given.
        file: String,
    },
    /// A CSV field is not UTF-8.
    #[error(
        "{file}: column \"{column}\", row {row} is not UTF-8 text: give the encoding of the file (windows-1252, latin1), or save it as UTF-8"
    )]
    NotText {
        /// The path as given.
        file: String,
        /// The column.
        column: String,
        /// The row.
        row: u64,
    },
    /// A CSV file is UTF-16, and that is not its declared encoding.
    #[error("{file}: the file is UTF-16 text: give its encoding (utf-16), or save it as UTF-8")]
    Utf16 {
        /// The path as given.
        file: String,
    },
    /// A header line has as many of one separator as of another.
    #[error("{file}: the header line has as many {signs}: give the separator")]
    AmbiguousSeparator {
        /// The path as given.
        file: String,
        /// The separators in words, joined by `and`.
        signs: String,
    },
    /// An option of how files are read has no meaning.
    #[error("{option} \"{value}\": {remedy}")]
    ReadingOption {
        /// The field of [`Reading`](crate::Reading).
        option: &'static str,
        /// The value as given, shortened.
        value: String,
        /// What to give.
        remedy: &'static str,
    },
    /// No file matches a glob.
    #[error("{pattern}: no file matches: check the path")]
    NoMatch {
        /// The pattern as given.
        pattern: String,
    },
    /// A folder has no table files.
    #[error(
        "{folder}: the folder has no .parquet files: give a file, a folder of Parquet files, or a glob such as \"{folder}/*.csv\""
    )]
    NoTables {
        /// The path as given.
        folder: String,
    },
    /// A column is in the names of folders.
    #[error(
        "{folder}: its files are in folders such as \"{part}\", and columns in the names of folders are not read: write the column into the files, and give a glob"
    )]
    Partitioned {
        /// The path as given.
        folder: String,
        /// One of the folders.
        part: String,
    },
    /// Files that are read as one table have different columns.
    #[error("{file}: column \"{column}\" {problem}: files that are read as one table need the same columns")]
    DifferentColumns {
        /// The file that differs from the first one.
        file: String,
        /// The column.
        column: String,
        /// How it differs, for the middle of a sentence.
        problem: String,
    },
    /// Two of the files that are to be read as one table are the same.
    #[error(
        "{file}: this file is among the files of the table twice, as {other} too: a row that is read twice is protected half as well: name each file once"
    )]
    SameFile {
        /// The path by which it comes first.
        other: String,
        /// The path by which it comes again.
        file: String,
    },
    /// Standard input is a terminal.
    #[error("standard input is a terminal: pipe a table into the command, or give a file")]
    Terminal,
    /// A value that is asked for counts as missing in the file.
    #[error(
        "\"{value}\" counts as missing in {file}, so column \"{column}\" never has it: give the texts that count as missing without it (--missing '' for none)"
    )]
    MissingMarker {
        /// The table.
        file: String,
        /// The column.
        column: String,
        /// The value.
        value: String,
    },
    /// A Parquet column has a type that is neither number, text nor boolean.
    #[error(
        "column \"{column}\" of {file} holds {kind} values, which are not supported: convert it to numbers or text"
    )]
    UnsupportedType {
        /// The path as given.
        file: String,
        /// The column.
        column: String,
        /// The type in words, such as `date`.
        kind: String,
    },
    /// A Parquet column is compressed with a codec that is not built in.
    #[error(
        "column \"{column}\" of {file} is compressed with {codec}: write the file with zstd, snappy or no compression"
    )]
    UnsupportedCompression {
        /// The path as given.
        file: String,
        /// The column.
        column: String,
        /// The codec's name.
        codec: String,
    },
    /// A cell that must be a number is not one.
    #[error(
        "column \"{column}\", row {row}: \"{value}\" is not a number: fix the cell or choose a numeric column"
    )]
    NotANumber {
        /// The column.
        column: String,
        /// The row.
        row: u64,
        /// The cell's text, shortened.
        value: String,
    },
    /// A number is NaN or infinite.
    #[error(
        "column \"{column}\", row {row}: the number is not finite (NaN or infinite): replace it or leave the cell empty"
    )]
    NotFinite {
        /// The column.
        column: String,
        /// The row.
        row: u64,
    },
    /// A filter cannot be read, or does not fit the table.
    #[error("filter \"{filter}\": {problem}")]
    Filter {
        /// The filter as given.
        filter: String,
        /// What is wrong with it, and what to write.
        problem: String,
    },
    /// A derived column cannot be read, or does not fit the table.
    #[error("derived column \"{derivation}\": {problem}")]
    Derivation {
        /// The derivation as given.
        derivation: String,
        /// What is wrong with it, and what to write.
        problem: String,
    },
    /// Output is CSV, and the name given says something else.
    #[error("{file}: the output is written as CSV: give a name that ends in .csv")]
    OutputNotCsv {
        /// The path as given.
        file: String,
    },
    /// A row to be written has more or fewer fields than the header.
    #[error(
        "{file}: row {row} of the output does not fit the header (fields: {found} instead of {expected}): give one per column"
    )]
    OutputRow {
        /// The path as given.
        file: String,
        /// The row.
        row: u64,
        /// Fields in the header.
        expected: usize,
        /// Fields in the row.
        found: usize,
    },
    /// The path names a folder or a device where an array or an image file is needed.
    #[error("{file}: not a regular file")]
    NotRegular {
        /// The path as given.
        file: String,
    },
    /// The file is sound, but holds something that is not read.
    #[error("{file}: {found} cannot be read: {advice}")]
    Unsupported {
        /// The path as given.
        file: String,
        /// What it holds, for the start of a sentence.
        found: String,
        /// What to do.
        advice: &'static str,
    },
    /// The file declares more bytes than are read into memory.
    #[error("{file}: it unpacks to {bytes} bytes, and the most is {most}: split it")]
    TooLarge {
        /// The path as given.
        file: String,
        /// What it declares.
        bytes: u64,
        /// The limit.
        most: u64,
    },
    /// The archive has no array of that name.
    #[error("array \"{name}\" is not in {file}: it has {}{}", listed(known, "nothing"), hint(suggestion.as_deref()))]
    UnknownArray {
        /// The path as given.
        file: String,
        /// The name asked for.
        name: String,
        /// The archive's arrays.
        known: Vec<String>,
        /// The array with the closest name, if one is close.
        suggestion: Option<String>,
    },
    /// There are more or fewer labels than images.
    #[error("{folder}: there are {images} images and {labels} labels: fetch the files again")]
    UnequalParts {
        /// The folder as given.
        folder: String,
        /// How many images.
        images: usize,
        /// How many labels.
        labels: usize,
    },
    /// The folder holds no image set that is known.
    #[error("{folder}: no images found: expected files such as {expected}")]
    NoImages {
        /// The folder as given.
        folder: String,
        /// A file that would be read.
        expected: &'static str,
    },
    /// No data folder is set.
    #[error("dataset \"{name}\": no data folder is set: give --data-dir or set RETICENT_DATA")]
    NoDataFolder {
        /// The dataset asked for.
        name: String,
    },
    /// The data folder has no such dataset.
    #[error("dataset \"{name}\" is not in {folder}: it has {}{}", listed(known, "nothing"), hint(suggestion.as_deref()))]
    UnknownDataset {
        /// The dataset asked for.
        name: String,
        /// The folder that was searched.
        folder: String,
        /// The folders in it.
        known: Vec<String>,
        /// The dataset with the closest name, if one is close.
        suggestion: Option<String>,
    },
    /// A schema is wrong.
    #[error(transparent)]
    Schema(Box<SchemaError>),
    /// A file is not a valid vocabulary.
    #[error("{file}: invalid vocabulary: {reason}")]
    Vocabulary {
        /// The path as given.
        file: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A file has no valid word vectors.
    #[error("{file}: invalid word vectors: {reason}")]
    Vectors {
        /// The path as given.
        file: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A schema declares no column that a model could use.
    #[error("the schema has no feature: declare bounds or categories for at least one column")]
    NoFeatures,
    /// A schema's features do not fit 32 bits.
    #[error("the schema has {features} features, and the most is {most}: declare fewer categories")]
    TooManyFeatures {
        /// How many it declares.
        features: usize,
        /// The limit.
        most: usize,
    },
    /// A column with bounds holds truth values.
    #[error(
        "column \"{column}\" of {file} is true or false and the schema gives it bounds: declare categories = [\"false\", \"true\"]"
    )]
    NotNumeric {
        /// The path as given.
        file: String,
        /// The column.
        column: String,
    },
    /// The share of test rows is not between 0 and 1.
    #[error("a test share of {share} is not between 0 and 1")]
    TestShare {
        /// The number as given.
        share: String,
    },
    /// The parts of a feature matrix do not fit together.
    #[error("the feature matrix is not well formed: {problem}")]
    InvalidMatrix {
        /// What is wrong, for the end of a sentence.
        problem: &'static str,
    },
}

impl From<SchemaError> for DataError {
    fn from(error: SchemaError) -> Self {
        DataError::Schema(Box::new(error))
    }
}

impl DataError {
    pub(crate) fn unknown_column(file: &str, column: &str, known: Vec<String>) -> Self {
        let suggestion = closest(column, &known).map(str::to_owned);
        DataError::UnknownColumn { file: file.to_owned(), column: shown(column), known, suggestion }
    }

    pub(crate) fn unknown_array(file: &str, name: &str, known: Vec<String>) -> Self {
        let suggestion = closest(name, &known).map(str::to_owned);
        DataError::UnknownArray { file: file.to_owned(), name: shown(name), known, suggestion }
    }

    pub(crate) fn unknown_dataset(folder: String, name: &str, known: Vec<String>) -> Self {
        let suggestion = closest(name, &known).map(str::to_owned);
        DataError::UnknownDataset { folder, name: shown(name), known, suggestion }
    }

    pub(crate) fn io(file: &str, action: &'static str, error: &std::io::Error) -> Self {
        FileError::io(file.as_ref(), action, error).into()
    }

    pub(crate) fn malformed(file: &str, format: &'static str, reason: &str) -> Self {
        DataError::Malformed { file: file.to_owned(), format, reason: shown(reason) }
    }
}

#[cfg(test)]
mod tests;
