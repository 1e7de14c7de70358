//! Data in: tables, images and arrays, and the public schema by which rows become numbers.
//!
//! **Tables.** [`TableFile::open`] reads only the schema of a CSV or Parquet file. [`TableFile::scan`]
//! then streams the chosen columns row by row through a callback, so a pass over a file of any size
//! needs memory for one batch. Both formats yield the same [`Cell`]s: blank text is null,
//! [`Cell::number`] reads integers exactly and refuses what is not finite, [`Cell::label`] is the text
//! by which categories are matched. [`Predicate`] chooses rows (`sex=Male and age>=18`).
//! [`rewrite_column`] copies a table to CSV with one column replaced; [`write_csv_atomic`] writes rows
//! of the caller's, [`write_atomic`] any bytes. All write to a temporary name and rename, so that a
//! reader never sees half a file.
//!
//! **From rows to numbers.** A [`Schema`] is what is known of a table without looking at it. An
//! [`Encoder`] turns rows into a sparse [`Design`] of norm at most 1 by the schema alone, so that
//! preprocessing leaks nothing. A [`Split`] tells train from test by a keyed hash.
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
//! use reticent_data::{DataError, TableFile};
//!
//! let table = TableFile::open("people.csv".as_ref())?;
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
//! use reticent_data::{DataError, Encoder, Schema, Split, TableFile};
//!
//! let schema = Schema::read("schema.toml".as_ref())?;
//! let encoder = Encoder::new(&schema)?;
//! let table = TableFile::open("people.parquet".as_ref())?;
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

pub use array::{Array, MOST_DIMENSIONS, NpzFile, Values, read_idx, read_npy};
pub use cell::{Cell, Number, NumberError};
pub use dataset::{DATA_FOLDER, find_dataset};
pub use encode::{Design, Encoder};
pub use error::{DataError, closest};
pub use filter::Predicate;
pub use image::{Images, Part};
pub use output::{
    Lock, append_line, check_regular, make_private, rewrite_column, sweep, sync_folder, temporary_of,
    write_atomic, write_csv_atomic, write_csv_private, write_private,
};
pub use schema::{Schema, SchemaError};
pub use split::{Side, Split, keyed_hash};
pub use table::{ColumnInfo, ColumnKind, ScanStats, TableFile, Visit};

#[cfg(test)]
mod fixture;
