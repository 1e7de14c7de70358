//! The features that a column becomes.

use std::fmt;

use crate::cell::Cell;
use crate::schema::{Bounds, Categories, Kind, Target};

/// One coordinate of an encoded row. Its text is `age`, `sex=Male`, `sex:other` or `sex:missing`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// The column it comes from.
    pub column: String,
    /// What it says about that column.
    pub part: FeaturePart,
}

/// What a feature says about its column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeaturePart {
    /// Where its number lies between the bounds, from 0 to 1.
    Value,
    /// Whether it has this category.
    Category(String),
    /// Whether it has a category that is not declared.
    Other,
    /// Whether it has no value that can be used.
    Missing,
}

impl fmt::Display for Feature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = &self.column;
        match &self.part {
            FeaturePart::Value => formatter.write_str(column),
            FeaturePart::Category(label) => write!(formatter, "{column}={label}"),
            FeaturePart::Other => write!(formatter, "{column}:other"),
            FeaturePart::Missing => write!(formatter, "{column}:missing"),
        }
    }
}

/// How a value met its declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    Inside,
    /// Clamped, or not among the categories.
    Outside,
    Missing,
}

/// The features that a column becomes; none if it is ignored.
pub(super) fn features(column: &str, kind: &Kind) -> Vec<Feature> {
    let mut parts = match kind {
        Kind::Ignored => return Vec::new(),
        Kind::Numeric(_) => vec![FeaturePart::Value],
        Kind::Categorical(categories) => {
            let labels = categories.labels().iter().cloned().map(FeaturePart::Category);
            labels.chain([FeaturePart::Other]).collect()
        }
    };
    parts.push(FeaturePart::Missing);
    parts.into_iter().map(|part| Feature { column: column.to_owned(), part }).collect()
}

/// The one feature of a column that is not 0, counted from its first one, with its value from 0 to 1.
pub(super) fn coordinate(kind: &Kind, cell: &Cell<'_>) -> (usize, f64, Met) {
    match kind {
        Kind::Ignored => (0, 0.0, Met::Missing),
        Kind::Numeric(bounds) => match place(*bounds, cell) {
            Some((place, met)) => (0, place, met),
            None => (1, 1.0, Met::Missing),
        },
        Kind::Categorical(categories) => {
            let (position, met) = position(categories, cell);
            let others = categories.labels().len();
            (position.unwrap_or(if met == Met::Missing { others + 1 } else { others }), 1.0, met)
        }
    }
}

/// A label as a number, as the [`Design`](super::Design) describes it.
pub(super) fn label(target: &Target, cell: &Cell<'_>) -> (f64, Met) {
    match target {
        Target::Binary { positive } => match cell.label() {
            Some(label) if label == positive.trim() => (1.0, Met::Inside),
            Some(_) => (-1.0, Met::Inside),
            None => (-1.0, Met::Missing),
        },
        Target::Classes { categories, other } => {
            let (position, met) = position(categories, cell);
            (position.unwrap_or(*other) as f64, met)
        }
        Target::Number(bounds) => match place(*bounds, cell) {
            Some((place, met)) => (2.0 * place - 1.0, met),
            None => (0.0, Met::Missing),
        },
    }
}

/// Where a number lies between its bounds; `None` if the cell is no number.
fn place(bounds: Bounds, cell: &Cell<'_>) -> Option<(f64, Met)> {
    let value = match *cell {
        Cell::Null | Cell::Boolean(_) => return None,
        Cell::Integer(integer) => integer as f64,
        Cell::Float(float) => float,
        Cell::Text(text) => text.trim().parse().ok()?,
    };
    let met = if value < bounds.low() || value > bounds.high() { Met::Outside } else { Met::Inside };
    Some((bounds.place(value)?, met))
}

fn position(categories: &Categories, cell: &Cell<'_>) -> (Option<usize>, Met) {
    let Some(label) = cell.label() else { return (None, Met::Missing) };
    let position = categories.position(&label);
    (position, if position.is_some() { Met::Inside } else { Met::Outside })
}
