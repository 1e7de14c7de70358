//! Row filters: conditions on columns, joined by `and`.
//!
//! ```text
//! filter    = condition { " and " condition }        the word in any case
//! condition = column ( = | != | < | <= | > | >= ) value
//! ```
//! A column or value may be in single or double quotes, which it needs if it has ` and `, surrounding
//! blanks or (a column) one of `= ! < >`. `<`, `<=`, `>` and `>=` take a number.

use std::cmp::Ordering;
use std::fmt;

use crate::cell::{Cell, Number};
use crate::error::{DataError, shown};

mod parse;

/// A conjunction of conditions on the columns of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicate {
    text: String,
    /// The distinct columns, in order of first mention.
    columns: Vec<String>,
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug, PartialEq)]
struct Condition {
    /// Position in the predicate's columns.
    column: usize,
    operator: Operator,
    value: String,
    /// The value as a number, if it is one; always there for an order comparison.
    number: Option<Number>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Operator {
    /// Whether an order comparison holds; equality is decided by the condition.
    fn holds(self, ordering: Ordering) -> bool {
        match self {
            Operator::Equal => ordering.is_eq(),
            Operator::NotEqual => ordering.is_ne(),
            Operator::Less => ordering.is_lt(),
            Operator::LessOrEqual => ordering.is_le(),
            Operator::Greater => ordering.is_gt(),
            Operator::GreaterOrEqual => ordering.is_ge(),
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Operator::Equal => "=",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
        }
    }

    fn is_order(self) -> bool {
        !matches!(self, Operator::Equal | Operator::NotEqual)
    }
}

impl Predicate {
    /// Reads a filter such as `sex=Male and age>=18`; the module's page has the grammar.
    pub fn parse(text: &str) -> Result<Self, DataError> {
        let mut predicate =
            Predicate { text: text.trim().to_owned(), columns: Vec::new(), conditions: Vec::new() };
        let refuse = |problem: String| DataError::Filter { filter: shown(text), problem };
        for raw in parse::conditions(text).map_err(refuse)? {
            let number = Number::parse(&raw.value).ok();
            if raw.operator.is_order() && number.is_none() {
                let (sign, value) = (raw.operator.sign(), shown(&raw.value));
                return Err(refuse(format!("\"{sign}\" compares with a number, and \"{value}\" is not one")));
            }
            let known = predicate.columns.iter().position(|column| *column == raw.column);
            let column = known.unwrap_or_else(|| {
                predicate.columns.push(raw.column);
                predicate.columns.len() - 1
            });
            predicate.conditions.push(Condition { column, operator: raw.operator, value: raw.value, number });
        }
        Ok(predicate)
    }

    /// The columns the filter looks at, each once, in order of first mention.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Whether every condition holds for the row whose cells are given in the order of
    /// [`Predicate::columns`].
    ///
    /// A null fulfils no condition, `!=` included. `=` and `!=` compare exactly as numbers if both
    /// sides are numbers, else as labels ([`Cell::label`]). A cell that is not a finite number fulfils no
    /// order comparison. No cell is an error.
    ///
    /// # Panics
    /// If there are fewer cells than columns.
    pub fn matches(&self, cells: &[Cell<'_>]) -> bool {
        self.conditions.iter().all(|condition| condition.matches(&cells[condition.column]))
    }
}

impl fmt::Display for Predicate {
    /// The filter as it was given.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl Condition {
    fn matches(&self, cell: &Cell<'_>) -> bool {
        let Some(label) = cell.label() else { return false };
        // A cell that is not a number is compared as a label.
        let read = cell.number().unwrap_or(None);
        let ordering = read.zip(self.number).and_then(|(cell, value)| cell.compare(value));
        match (ordering, self.operator) {
            (Some(ordering), operator) => operator.holds(ordering),
            (None, Operator::Equal) => label == self.value.as_str(),
            (None, Operator::NotEqual) => label != self.value.as_str(),
            (None, _) => false,
        }
    }
}

#[cfg(test)]
mod tests;
