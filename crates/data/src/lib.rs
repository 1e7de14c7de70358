//! Data in: tables, images and arrays, and the public schema by which rows become numbers.
//!
//! **Tables.** [`open_table`] reads the columns of a CSV, Parquet or Arrow IPC file, [`open_table_with`] those of several files or of
//! another dialect by a [`Reading`], and [`MemoryTable`] holds record batches.
//! Either is a [`Table`]: a pass streams the chosen columns in batches of Arrow columns, so a table of any size needs memory for
//! one batch. All formats yield the same [`Cell`]s: blank text is null, [`Cell::number`] reads integers exactly and rejects
//! what is not finite, [`Cell::label`] is the text by which categories are matched. [`Predicate`] selects rows (`sex=Male and
//! age>=18`). [`rewrite_column`] copies a table to CSV with one column replaced; [`write_csv_atomic`] writes rows. Files are
//! written under a temporary name and renamed, so a reader never sees half a file.
//!
//! **From rows to numbers.** A [`Schema`] is what is known of a table without looking at it. An
//! [`Encoder`] turns rows into a sparse [`FeatureMatrix`] of norm at most 1 by the schema alone, so
//! preprocessing leaks nothing. A [`Split`] assigns rows to training or testing by a keyed hash.
//!
//! **Text.** [`text`] turns a column of texts into positions in a public vocabulary.
//!
//! **Images and arrays.** [`Images`] reads MNIST-style idx files and CIFAR-10; [`read_npy`],
//! [`NpzFile`] and [`read_idx`] read arrays. [`bundled`] is a dataset in the program
//! itself; [`find_dataset`] finds those that are not.
//!
//! Every [`DataError`] prints as one line that names the file, column or row and says what to do.
//!
//! ```no_run
//! use reticent_data::{DataError, open_table};
//!
//! let table = open_table("people.csv".as_ref())?;
//! let mut total = 0.0;
//! table.scan(&["age"], &mut |_bytes| {}, &mut |row, cells| {
//!     if let Some(age) = cells[0].number_at("age", row)? {
//!         total += age.to_f64();
//!     }
//!     Ok::<(), DataError>(())
//! })?;
//! # Ok::<(), DataError>(())
//! ```
//!
//! ```no_run
//! use reticent_data::{DataError, Encoder, Schema, Split, open_table};
//!
//! let schema = Schema::read("schema.toml".as_ref())?;
//! let encoder = Encoder::new(&schema)?;
//! let table = open_table("people.parquet".as_ref())?;
//! let split = Split::new("2024", 0.2)?;
//! let (sides, _private_tally) = encoder.encode_split(&table, &split, &mut |_bytes| {})?;
//! assert_eq!(sides.train.dimension(), encoder.dimension());
//! # Ok::<(), DataError>(())
//! ```

mod array;
pub mod bundled;
mod cell;
mod dataset;
pub mod encode;
mod error;
pub mod filter;
mod image;
mod output;
pub mod schema;
mod source;
mod split;
mod table;
pub mod text;
pub mod toml;

pub use arrow_array;
pub use arrow_schema;

pub use array::{Array, MOST_DIMENSIONS, NpzFile, Values, read_idx, read_npy};
pub use cell::{Cell, Number, NumberError, date_label, parse_date, parse_timestamp, timestamp_label};
pub use dataset::{DATA_FOLDER, find_dataset};
pub use encode::{Encoder, FeatureMatrix};
pub use error::{DataError, closest};
pub use filter::{Derivation, Predicate, derive};
pub use image::{DatasetPart, Images};
pub use output::{rewrite_column, write_csv_atomic, write_csv_private, write_parquet_atomic};
pub use schema::{Schema, SchemaError};
pub use split::{KeyedHash, Split, SplitSide, keyed_hash};
pub use table::{
    BatchReader, BatchSummary, CellBatch, Codes, ColumnInfo, ColumnKind, Format, LabelCodes, MemoryTable,
    Numbers, PerEntry, Quoting, Reading, RowMask, ScanStats, Table, Visit, VisitBatch, is_same_file,
    is_table_file, is_table_folder, open_table, open_table_with, with_derived, with_literal,
};

#[cfg(test)]
mod fixture;
