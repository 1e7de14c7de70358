//! The expression language: filters that select rows, and columns derived from others.
//!
//! ```text
//! filter     = any
//! any        = all { "or" all }
//! all        = negation { "and" negation }
//! negation   = [ "not" ] ( condition | "(" any ")" )
//! condition  = sum ( "=" | "!=" ) ( value | sum )
//!            | sum ( "<" | "<=" | ">" | ">=" ) sum
//!            | sum [ "not" ] "in" "(" value { "," value } ")"
//!            | sum [ "not" ] "between" sum "and" sum
//!            | sum "is" [ "not" ] "missing"
//! sum        = product { ( "+" | "-" ) product }
//! product    = signed { ( "*" | "/" ) signed }
//! signed     = [ "-" ] ( column | number | date | function "(" sum { "," sum } ")" | "(" sum ")" )
//! derivation = column "=" sum "in" LOW "," HIGH
//! ```
//! Words are in any case; `<>` means `!=`, and `null` means `missing`. A column may be written without quotes if it has no sign
//! other than a hyphen inside a word; any column may be written in backquotes. A value may be written without quotes up to the next
//! `and` or `or`; any value may be written in single or double quotes, a quote inside it doubled. A quoted text by itself on the
//! left is a column. Arithmetic on the right of `=` begins with a parenthesis, a backquote or a function.
//!
//! **Two readings.** A filter of comparisons with constants, joined by `and`, may also be meant plainly: all that stands before a
//! sign is a column, all that stands after it a value (`price (EUR) > 3`). [`Predicate::check`] takes the reading whose columns the
//! table has, and refuses the filter if both are possible.
//!
//! **Three values.** A comparison with a missing value is unknown, as in SQL; `not` of unknown is unknown, and a row counts only if
//! the filter is true. [`Predicate::matches`] says when a comparison is unknown.
//!
//! **No cell is an error.** All that can be refused is refused by the text, the names of columns and their declared types.

mod check;
mod derive;
mod evaluate;
mod lexer;
mod mask;
mod parser;
mod plain;
mod tree;

use std::collections::BTreeSet;
use std::fmt;

use crate::cell::Cell;
use crate::error::{DataError, shown};
use crate::table::Table;
use check::{Checker, kinds};
pub use derive::{Derivation, derive};
use evaluate::{Truth, truth};
use tree::{Condition, Expression, Literal, condition_text};

/// How a filter is written, at the end of messages.
const GRAMMAR: &str = "write comparisons such as age>=18, sex='Male' or carrier in (AA, UA), joined by and, or, not; quote a value that has such words or signs";

/// A condition on the columns of a row.
///
/// ```
/// use reticent_data::{Cell, Predicate};
///
/// let filter = Predicate::parse("age between 18 and 65 and not (sex = Male or hours/7 > 8)")?;
/// assert_eq!(filter.columns(), ["age", "sex", "hours"]);
/// assert!(filter.matches(&[Cell::Integer(40), Cell::Text("Female"), Cell::Integer(38)]));
/// // Nothing is known of the hours of this person, so nothing is known of the condition.
/// assert!(!filter.matches(&[Cell::Integer(40), Cell::Text("Female"), Cell::Null]));
/// # Ok::<(), reticent_data::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Predicate {
    text: String,
    /// The distinct columns, in order of first mention.
    columns: Vec<String>,
    condition: Condition,
    /// The values without quotes that are not numbers.
    bare: Vec<String>,
    /// The plain reading, where it is another.
    other: Option<Other>,
}

/// The plain reading beside that of the grammar.
#[derive(Clone, Debug, PartialEq)]
enum Other {
    /// The grammar reads the filter too.
    Plain(Vec<String>, Condition),
    /// The predicate is the plain reading; the grammar refuses the filter for this reason.
    Refused(String),
}

impl Predicate {
    /// Reads a filter such as `sex=Male and age>=18`; the module's page has the grammar.
    ///
    /// # Errors
    /// If the text is not a filter.
    pub fn parse(text: &str) -> Result<Self, DataError> {
        let own = text.trim().to_owned();
        match (parser::parse_filter(text), plain::parse(text)) {
            (Ok(read), plain) => {
                let plain = plain.filter(|plain| (&plain.0, &plain.1) != (&read.columns, &read.condition));
                let other = plain.map(|(columns, condition)| Other::Plain(columns, condition));
                Ok(Self {
                    text: own,
                    columns: read.columns,
                    condition: read.condition,
                    bare: read.bare,
                    other,
                })
            }
            (Err(problem), Some((columns, condition))) => Ok(Self {
                text: own,
                columns,
                condition,
                bare: Vec::new(),
                other: Some(Other::Refused(problem)),
            }),
            (Err(problem), None) => Err(refused(text, &format!("{problem}: {GRAMMAR}"))),
        }
    }

    /// The predicate for a table: its columns are there, their declared types fit, and its text has one meaning. No value is read.
    ///
    /// # Errors
    /// If a column is unknown (the message suggests one) or cannot be read; if declared types do not fit, such as text and a number
    /// compared by `<`; if the text has two meanings: a name that is a column and could be arithmetic, or a value without quotes
    /// that is the name of a column. The message says how to write either.
    pub fn check(&self, table: &dyn Table) -> Result<Self, DataError> {
        let known: BTreeSet<&str> = table.columns().iter().map(|column| column.name.as_str()).collect();
        let has = |columns: &[String]| columns.iter().all(|column| known.contains(column.as_str()));
        let mut settled = self.clone();
        match settled.other.take() {
            None => {}
            Some(Other::Refused(problem)) if !has(&self.columns) => {
                return Err(refused(&self.text, &format!("{problem}: {GRAMMAR}")));
            }
            Some(Other::Refused(_)) => {}
            Some(Other::Plain(columns, condition)) => {
                // A column that only the plain reading names; other differences concern values, where the grammar decides.
                let own = columns.iter().find(|column| !self.columns.contains(column));
                if let Some(own) = own.filter(|_| has(&columns)) {
                    if has(&self.columns) {
                        let (name, reading) = (shown(own), shown(&self.canonical()));
                        let problem = format!(
                            "\"{name}\" is a column, and its parts could be meant too: write `{name}` for the column, or {reading} otherwise"
                        );
                        return Err(refused(&self.text, &problem));
                    }
                    (settled.columns, settled.condition, settled.bare) = (columns, condition, Vec::new());
                }
            }
        }
        for value in &settled.bare {
            let is_name = known.contains(value.as_str());
            let is_computed = || {
                parser::parse_expression(value).is_ok_and(|(columns, _)| !columns.is_empty() && has(&columns))
            };
            if is_name || is_computed() {
                let (value, quoted) = (shown(value), shown(&value.replace('\'', "''")));
                let column = if is_name { format!("`{value}`") } else { format!("({value})") };
                let problem = format!(
                    "\"{value}\" is a value here, and the table has columns of that name: write '{quoted}' for the value, or {column} for what the columns hold"
                );
                return Err(refused(&self.text, &problem));
            }
        }
        settled.condition.visit_leaves(&mut |leaf| settled.check_markers(table, leaf))?;
        let kinds = kinds(table, &settled.columns)?;
        let checker = Checker { columns: &settled.columns, kinds: &kinds };
        checker.condition(&settled.condition).map_err(|problem| refused(&self.text, &problem))?;
        Ok(settled)
    }

    /// Whether a column is compared with a text that counts as missing, which it never has.
    fn check_markers(&self, table: &dyn Table, leaf: &Condition) -> Result<(), DataError> {
        let (column, literals) = match leaf {
            Condition::Compare {
                left: Expression::Column(column),
                right: Expression::Literal(literal),
                ..
            } => (*column, std::slice::from_ref(literal)),
            Condition::Among { operand: Expression::Column(column), values } => {
                (*column, &values.literals[..])
            }
            _ => return Ok(()),
        };
        let is_marker = |literal: &&Literal| table.missing().contains(&literal.text);
        match literals.iter().find(is_marker) {
            None => Ok(()),
            Some(marker) => {
                let (marker, column) = (shown(&marker.text), shown(&self.columns[column]));
                let problem = format!(
                    "\"{marker}\" counts as missing in {}: write `{column}` is missing, or give the texts that count as missing without it (--missing)",
                    table.name()
                );
                Err(refused(&self.text, &problem))
            }
        }
    }

    /// The columns the filter looks at, each once, in order of first mention.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The same filter with all columns in backquotes, all constants in quotes and all parts in parentheses: filters that differ
    /// in blanks, quotes or needless parentheses have one such text. It is read as the same filter.
    pub fn canonical(&self) -> String {
        condition_text(&self.condition, &self.columns)
    }

    /// Whether the filter is true for the row whose cells are given in the order of [`Predicate::columns`].
    ///
    /// A comparison takes both sides as numbers if both are, exactly; else as points in time, if both are dates, timestamps or
    /// ISO 8601 text; else `=` and `!=` compare labels ([`Cell::label`]) and order comparisons are unknown. With a null or blank
    /// cell, and with arithmetic that has no finite result, every comparison is unknown, `!=` included. `not` of unknown is
    /// unknown, `and` is unknown if no part is false and one is unknown, `or` if no part is true and one is unknown. Unknown is
    /// not true. `is missing` holds for null and blank cells, floats that are NaN, and arithmetic without a finite result; it is
    /// never unknown. Arithmetic is in double precision; a cell that is neither a number nor a date is missing for it. No cell is
    /// an error.
    ///
    /// # Panics
    /// If there are fewer cells than columns.
    pub fn matches(&self, cells: &[Cell<'_>]) -> bool {
        truth(&self.condition, cells) == Truth::True
    }
}

fn refused(filter: &str, problem: &str) -> DataError {
    DataError::Filter { filter: shown(filter), problem: problem.to_owned() }
}

impl fmt::Display for Predicate {
    /// The filter as it was given.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests;
