//! Tables in: CSV and Parquet files read in one streaming pass, row filters, and atomic CSV output.
//!
//! [`TableFile::open`] reads only the schema. [`TableFile::scan`] then streams the chosen columns row by
//! row through a callback, so a pass over a file of any size needs memory for one batch. Both formats
//! yield the same [`Cell`]s: blank text is null, [`Cell::number`] reads integers exactly and refuses
//! what is not finite, [`Cell::label`] is the text by which categories are matched.
//!
//! [`Predicate`] chooses rows (`sex=Male and age>=18`). [`rewrite_column`] copies a table to CSV with
//! one column replaced; [`write_csv_atomic`] writes rows of the caller's. Both write to a temporary
//! name and rename, so that a reader never sees half a file.
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

mod cell;
mod error;
pub mod filter;
mod output;
mod table;

pub use cell::{Cell, Number, NumberError};
pub use error::DataError;
pub use filter::Predicate;
pub use output::{rewrite_column, write_csv_atomic};
pub use table::{ColumnInfo, ColumnKind, ScanStats, TableFile, Visit};

#[cfg(test)]
mod fixture;
