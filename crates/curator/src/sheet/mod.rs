//! A released page as something to read or to load: tables with titles, a page of HTML, CSV, Parquet, Arrow.
//!
//! | file | what it makes |
//! |---|---|
//! | `tables` | one table a question, in words |
//! | `html` | those tables with charts and the cost, as one page that loads nothing |
//! | `records` | one row a figure, as Arrow, CSV and Parquet |
//!
//! Everything here is made from an outcome that was paid for: it draws nothing, reads nothing and spends nothing.

mod html;
mod records;
mod tables;

pub use html::{html, sheet};
pub use records::{records, write_csv, write_parquet};
pub use tables::{clamping_in_words, parts_in_words, tables};

#[cfg(test)]
mod tests;
