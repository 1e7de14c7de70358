//! Columns computed from others, with declared bounds.

mod table;

use std::fmt;
use std::sync::Arc;

use super::check::{Checker, kinds};
use super::parser::parse_expression;
use super::tree::{Expression, expression_text};
use crate::error::{DataError, shown};
use crate::table::{ColumnInfo, ColumnKind, Table};
use table::{DerivedColumn, DerivedTable};

/// How a derivation is written, at the end of messages.
const EXAMPLE: &str = "write it as 'bmi = weight / (height*height) in 10,60'";

/// A column computed from others, row by row, such as `bmi = weight / (height*height) in 10,60`.
///
/// The expression is that of filters ([`crate::filter`] has the grammar). The declared bounds are public: values outside are
/// clamped to them, so one row changes a sum of the column by at most the larger bound. A value that is missing, not finite, or
/// not a number is missing. No cell is an error.
#[derive(Clone, Debug, PartialEq)]
pub struct Derivation {
    text: String,
    name: String,
    /// The columns that it is computed from, in order of first mention.
    columns: Vec<String>,
    expression: Expression,
    bounds: [f64; 2],
}

impl Derivation {
    /// Reads a derivation: a name, `=`, an expression, `in`, and the bounds.
    ///
    /// # Errors
    /// If the text is not a derivation.
    pub fn parse(text: &str) -> Result<Self, DataError> {
        Self::read(text).map_err(|problem| refused(text, &format!("{problem}: {EXAMPLE}")))
    }

    fn read(text: &str) -> Result<Self, String> {
        let (name, rest) = name_of(text)?;
        let (expression, bounds) = split_at_in(rest).ok_or(
            "the bounds are missing: declare public ones at the end, as in 10,60; values outside are clamped",
        )?;
        let bounds = bounds_of(bounds)?;
        if expression.trim().is_empty() {
            return Err(format!("an expression is missing after \"{} =\"", shown(&name)));
        }
        let (columns, expression) = parse_expression(expression)?;
        if columns.is_empty() {
            return Err("the expression names no column".to_owned());
        }
        Ok(Self { text: text.trim().to_owned(), name, columns, expression, bounds })
    }

    /// The name of the new column.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The columns that it is computed from, each once, in order of first mention.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The declared bounds, the lower one first.
    pub fn bounds(&self) -> [f64; 2] {
        self.bounds
    }

    #[cfg(test)]
    pub(super) fn expression_and_bounds(&self) -> (&Expression, [f64; 2]) {
        (&self.expression, self.bounds)
    }

    /// The same derivation in one way of writing, which is read as the same one.
    pub fn canonical(&self) -> String {
        let [low, high] = self.bounds;
        let (name, expression) =
            (self.name.replace('`', "``"), expression_text(&self.expression, &self.columns));
        format!("`{name}` = {expression} in {low:?},{high:?}")
    }
}

impl fmt::Display for Derivation {
    /// The derivation as it was given.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

fn refused(derivation: &str, problem: &str) -> DataError {
    DataError::Derivation { derivation: shown(derivation), problem: problem.to_owned() }
}

/// The name before the first `=`, and what follows the sign.
fn name_of(text: &str) -> Result<(String, &str), String> {
    let mut cursor = super::lexer::Cursor::new(text);
    cursor.skip_blanks();
    if let Some(name) = cursor.quoted(&['`', '\'', '"'])? {
        cursor.skip_blanks();
        if name.trim().is_empty() {
            return Err("the name of the new column is missing".to_owned());
        }
        return match cursor.eat("=") {
            true => Ok((name.trim().to_owned(), cursor.rest())),
            false => Err(format!("there is no = after \"{}\"", shown(&name))),
        };
    }
    let (name, rest) = text.split_once('=').ok_or("there is no =")?;
    match name.trim() {
        "" => Err("the name of the new column is missing".to_owned()),
        name => Ok((name.to_owned(), rest)),
    }
}

/// What stands before and after the last word `in`.
fn split_at_in(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let is_word = |at: usize| {
        let ends_before =
            at > 0 && (bytes[at - 1].is_ascii_whitespace() || b")`'\"".contains(&bytes[at - 1]));
        let begins_after = bytes.get(at + 2).is_some_and(u8::is_ascii_whitespace);
        bytes[at..at + 2].eq_ignore_ascii_case(b"in") && ends_before && begins_after
    };
    let at = (0..bytes.len().saturating_sub(1)).rev().find(|at| is_word(*at))?;
    Some((&text[..at], &text[at + 2..]))
}

/// Two finite numbers with a comma between, the lower one first.
fn bounds_of(text: &str) -> Result<[f64; 2], String> {
    let refuse = |problem: &str| format!("the bounds \"{}\" {problem}", shown(text.trim()));
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let pair = text.split_once(',').and_then(|(low, high)| number(low).zip(number(high)));
    let (low, high) = pair.ok_or_else(|| refuse("are not two numbers with a comma between"))?;
    if low >= high {
        return Err(refuse("do not have the lower one first"));
    }
    if !(high - low).is_finite() {
        return Err(refuse("are too far apart: their difference overflows"));
    }
    Ok([low, high])
}

/// The table with these columns after its own. Each may use those before it. Only the columns that a pass asks for, and those that
/// they are computed from, are read.
///
/// ```
/// use arrow_array::{ArrayRef, Float64Array, RecordBatch};
/// use reticent_data::{DataError, Derivation, MemoryTable, Table, derive};
/// use std::sync::Arc;
///
/// let column = |values: Vec<f64>| -> ArrayRef { Arc::new(Float64Array::from(values)) };
/// let batch = RecordBatch::try_from_iter([
///     ("weight", column(vec![80.0, 60.0, 500.0])),
///     ("height", column(vec![2.0, 0.0, 1.0])),
/// ])?;
/// let table: Arc<dyn Table> = Arc::new(MemoryTable::new("people", batch.schema(), vec![batch])?);
/// let table = derive(table, &[Derivation::parse("bmi = weight / (height*height) in 10,60")?])?;
/// let mut seen = Vec::new();
/// table.scan(&["bmi"], &mut |_| {}, &mut |_, cells| {
///     seen.push(cells[0].label().map(|label| label.into_owned()));
///     Ok::<(), DataError>(())
/// })?;
/// // The second has no finite value; the third is clamped.
/// assert_eq!(seen, [Some("20".to_owned()), None, Some("60".to_owned())]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the table has a column of a new name, does not have a column that is used, or declares a type that does not fit.
pub fn derive(table: Arc<dyn Table>, derivations: &[Derivation]) -> Result<Arc<dyn Table>, DataError> {
    if derivations.is_empty() {
        return Ok(table);
    }
    let mut derived = DerivedTable::new(table);
    for derivation in derivations {
        if derived.columns().iter().any(|column| column.name == derivation.name) {
            let name = shown(&derivation.name);
            let problem =
                format!("the table has a column \"{name}\" already: give the new column another name");
            return Err(refused(&derivation.text, &problem));
        }
        let kinds = kinds(&derived, &derivation.columns)?;
        let checker = Checker { columns: &derivation.columns, kinds: &kinds };
        let kind =
            checker.kind(&derivation.expression).map_err(|problem| refused(&derivation.text, &problem))?;
        if !kind.is_number() {
            let problem = "a derived column is a number: use a difference of dates (in days), or year(...), month(...), day(...)";
            return Err(refused(&derivation.text, problem));
        }
        let inputs =
            derivation.columns.iter().map(|name| derived.position(name)).collect::<Result<_, _>>()?;
        let column = ColumnInfo { name: derivation.name.clone(), kind: ColumnKind::Float };
        let expression = derivation.expression.clone();
        derived.add(column, DerivedColumn { inputs, expression, bounds: derivation.bounds });
    }
    Ok(Arc::new(derived))
}

#[cfg(test)]
mod tests;
