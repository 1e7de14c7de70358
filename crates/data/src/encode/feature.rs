//! The features that a column becomes.

use std::fmt;

use crate::cell::Cell;
use crate::schema::{Bounds, Categories, FeatureKind, LabelKind};

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

/// How a value conforms to its declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conformance {
    Inside,
    /// Clamped, or not among the categories.
    Outside,
    Missing,
}

/// The features that a column becomes; none if it is ignored.
pub(super) fn features(column: &str, kind: &FeatureKind) -> Vec<Feature> {
    let mut parts = match kind {
        FeatureKind::Ignored => return Vec::new(),
        FeatureKind::Numeric(_) => vec![FeaturePart::Value],
        FeatureKind::Categorical(categories) => {
            let labels = categories.labels().iter().cloned().map(FeaturePart::Category);
            labels.chain([FeaturePart::Other]).collect()
        }
    };
    parts.push(FeaturePart::Missing);
    parts.into_iter().map(|part| Feature { column: column.to_owned(), part }).collect()
}

/// The one feature of a column that is not 0, counted from its first one, with its value from 0 to 1.
pub(super) fn coordinate(kind: &FeatureKind, cell: &Cell<'_>) -> (usize, f64, Conformance) {
    match kind {
        FeatureKind::Ignored => (0, 0.0, Conformance::Missing),
        FeatureKind::Numeric(bounds) => match place(*bounds, cell) {
            Some((place, met)) => (0, place, met),
            None => (1, 1.0, Conformance::Missing),
        },
        FeatureKind::Categorical(categories) => {
            let (position, met) = position(categories, cell);
            let others = categories.labels().len();
            (position.unwrap_or(if met == Conformance::Missing { others + 1 } else { others }), 1.0, met)
        }
    }
}

/// A label as a number, as the [`FeatureMatrix`](super::FeatureMatrix) describes it.
pub(super) fn label(target: &LabelKind, cell: &Cell<'_>) -> (f64, Conformance) {
    match target {
        LabelKind::Binary { positive } => match cell.label() {
            Some(label) if label == positive.trim() => (1.0, Conformance::Inside),
            Some(_) => (-1.0, Conformance::Inside),
            None => (-1.0, Conformance::Missing),
        },
        LabelKind::Classes { categories, other } => {
            let (position, met) = position(categories, cell);
            (position.unwrap_or(*other) as f64, met)
        }
        LabelKind::Number(bounds) => match place(*bounds, cell) {
            Some((place, met)) => (2.0 * place - 1.0, met),
            None => (0.0, Conformance::Missing),
        },
    }
}

/// Where a number lies between its bounds; `None` if the cell is not a number.
fn place(bounds: Bounds, cell: &Cell<'_>) -> Option<(f64, Conformance)> {
    let value = match *cell {
        Cell::Null | Cell::Boolean(_) => return None,
        Cell::Integer(integer) => integer as f64,
        Cell::Float(float) => float,
        Cell::Text(text) => text.trim().parse().ok()?,
        Cell::Date(_) | Cell::Timestamp(_) => cell.number().ok()??.to_f64(),
    };
    let met = if value < bounds.low() || value > bounds.high() {
        Conformance::Outside
    } else {
        Conformance::Inside
    };
    Some((bounds.place(value)?, met))
}

fn position(categories: &Categories, cell: &Cell<'_>) -> (Option<usize>, Conformance) {
    let Some(label) = cell.label() else { return (None, Conformance::Missing) };
    let position = categories.position(&label);
    (position, if position.is_some() { Conformance::Inside } else { Conformance::Outside })
}
