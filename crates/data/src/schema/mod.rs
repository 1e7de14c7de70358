//! The public schema: all that preprocessing knows about a table, written down without looking at it.
//!
//! A schema is a TOML file:
//!
//! ```toml
//! unit = "row"                     # who is protected: each row, or unit = { column = "user_id" }
//!
//! [label]                          # what a model predicts; a schema may do without
//! column = "income"
//! positive = ">50K"                # two classes: this value against every other one
//!
//! [columns]                        # the features; columns that are not listed are not read
//! age = { bounds = [17, 90] }
//! workclass = { categories = ["Private", "State-gov", "Never-worked"] }
//! fnlwgt = "ignore"                # the same as not listing it, made explicit
//!
//! # budget = "people.budget"       # above, for the budget that the command charges
//! # draft = true                   # above, while bounds or categories are read off the records: training then warns
//!
//! [spent]                          # only if the schema was learnt privately: what that cost
//! epsilon = 0.1
//! delta = 0
//! neighboring = "add-remove"
//! events = '[{"pure":{"epsilon":0.1}}]'
//! ```
//!
//! `bounds` makes a column numeric and `categories` makes it categorical, so a declaration cannot
//! contradict itself. Instead of `positive` the label may have `categories` (several classes; an undeclared
//! or missing label counts as the one named by `other`, or else as the first) or `bounds` (regression).
//! Categories are compared with [`Cell::label`](crate::Cell::label) and may be written as strings, integers
//! or booleans. A name that has dots or blanks is quoted, as TOML asks.
//!
//! # Guarantee
//! A schema is public: the certificate lists it among the public facts, and nothing
//! computed from it alone costs privacy. That holds only if it was written without the data at hand: from a
//! questionnaire, a code book, the law. Bounds read off the records are not public. A schema that was learnt from the
//! records with differential privacy may be used like a public one, at the cost in its table `[spent]`
//! ([`Schema::spent`]). Everything computed from the same records adds that cost to its own.

mod error;
mod parse;
mod spent;
mod write;

use std::path::Path;

pub use error::{SchemaError, SchemaProblem};
pub use spent::SpentBudget;

use crate::error::{DataError, shown_path};

/// The most bytes that a schema file may have.
const MOST_BYTES: u64 = 16 << 20;

/// What a privacy guarantee protects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrivacyUnit {
    /// Each row by itself.
    Row,
    /// All rows that share a value in a column, such as a user id. A row without one is by
    /// itself.
    Column(String),
}

/// A closed interval with two different ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    low: f64,
    high: f64,
}

impl Bounds {
    /// The interval from `low` to `high`.
    ///
    /// # Errors
    /// If an end or the length is not finite, or `low` is not below `high`.
    pub fn new(low: f64, high: f64) -> Result<Self, SchemaProblem> {
        if !low.is_finite() || !high.is_finite() || !(high - low).is_finite() {
            return Err(SchemaProblem::BoundsNotFinite);
        }
        if low >= high {
            return Err(SchemaProblem::BoundsNotIncreasing { low: low.to_string(), high: high.to_string() });
        }
        Ok(Self { low, high })
    }

    /// The lower end.
    pub fn low(self) -> f64 {
        self.low
    }

    /// The upper end.
    pub fn high(self) -> f64 {
        self.high
    }

    /// The value's position between the ends, from 0 to 1. Values outside are clamped, infinities included;
    /// `None` for NaN.
    pub fn place(self, value: f64) -> Option<f64> {
        if value.is_nan() {
            return None;
        }
        let clamped = value.clamp(self.low, self.high);
        Some(((clamped - self.low) / (self.high - self.low)).clamp(0.0, 1.0))
    }

    /// The value at a place between the ends: the inverse of [`Bounds::place`] inside the interval.
    pub fn at(self, place: f64) -> f64 {
        (self.low + place * (self.high - self.low)).clamp(self.low, self.high)
    }
}

/// Distinct labels in a declared order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Categories {
    labels: Vec<String>,
    /// Positions in `labels`, in the order of the labels' text.
    sorted: Vec<usize>,
}

impl Categories {
    /// The categories with these labels; blanks around a label do not count.
    ///
    /// # Errors
    /// If there is none, or one is blank or given twice.
    pub fn new(labels: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Self, SchemaProblem> {
        let labels = labels.into_iter().map(|label| label.as_ref().trim().to_owned()).collect();
        Self::checked(labels).map_err(|(_, problem)| problem)
    }

    /// The categories, or what is wrong and with which label.
    fn checked(labels: Vec<String>) -> Result<Self, (usize, SchemaProblem)> {
        if labels.is_empty() {
            return Err((0, SchemaProblem::NoCategories));
        }
        if let Some(blank) = labels.iter().position(String::is_empty) {
            return Err((blank, SchemaProblem::BlankCategory));
        }
        let mut sorted: Vec<usize> = (0..labels.len()).collect();
        sorted.sort_by(|&a, &b| labels[a].cmp(&labels[b]));
        let twice = sorted.windows(2).filter(|pair| labels[pair[0]] == labels[pair[1]]);
        if let Some(twice) = twice.map(|pair| pair[1]).min() {
            return Err((twice, SchemaProblem::DuplicateCategory { category: labels[twice].clone() }));
        }
        Ok(Self { labels, sorted })
    }

    /// The labels in the order they were declared in; at least one.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// The position of a label.
    pub fn position(&self, label: &str) -> Option<usize> {
        let found = self.sorted.binary_search_by(|&at| self.labels[at].as_str().cmp(label));
        found.ok().and_then(|at| self.sorted.get(at).copied())
    }
}

/// What a label column is read as.
#[derive(Clone, Debug, PartialEq)]
pub enum LabelKind {
    /// Two classes: the one label is positive; every other one, and none, is negative.
    Binary {
        /// The positive label.
        positive: String,
    },
    /// Several classes.
    Classes {
        /// The classes; at least two.
        categories: Categories,
        /// The position of the class that undeclared and missing labels count as.
        other: usize,
    },
    /// A number; a missing one counts as the middle of the bounds.
    Number(Bounds),
}

/// The column that a model predicts.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Its name.
    pub column: String,
    /// How it is read.
    pub target: LabelKind,
}

/// How a column becomes features.
#[derive(Clone, Debug, PartialEq)]
pub enum FeatureKind {
    /// A number between bounds.
    Numeric(Bounds),
    /// One of several labels.
    Categorical(Categories),
    /// Not at all.
    Ignored,
}

/// A declared column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name in the table.
    pub name: String,
    /// How it becomes features.
    pub kind: FeatureKind,
}

/// A public schema; the module's page says what it means and how it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    unit: PrivacyUnit,
    label: Option<Label>,
    columns: Vec<Column>,
    spent: Option<SpentBudget>,
    draft: bool,
    budget: Option<String>,
}

/// The part of a schema that a problem is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Unit,
    Label,
    Column(usize),
}

impl Schema {
    /// A schema from its parts.
    ///
    /// # Errors
    /// If a column is declared twice, has no name, or is the label or the unit as well; if the label
    /// and the unit are one column; if a label has fewer than two classes or an undeclared one for the
    /// others.
    pub fn new(unit: PrivacyUnit, label: Option<Label>, columns: Vec<Column>) -> Result<Self, SchemaError> {
        let schema = Self { unit, label, columns, spent: None, draft: false, budget: None };
        match schema.fault() {
            None => Ok(schema),
            Some((_, problem)) => Err(SchemaError { file: "schema".to_owned(), place: None, problem }),
        }
    }

    /// The same schema, learnt from the data at this cost.
    pub fn with_spent(self, spent: SpentBudget) -> Self {
        Self { spent: Some(spent), ..self }
    }

    /// The same schema, marked as read off the records: `draft = true`.
    pub fn as_draft(self) -> Self {
        Self { draft: true, ..self }
    }

    /// The same schema with each row as the unit.
    pub(crate) fn by_row(self) -> Self {
        Self { unit: PrivacyUnit::Row, ..self }
    }

    /// Reads a schema; `file` is its name in messages.
    ///
    /// # Errors
    /// A [`SchemaError`] that names the line.
    pub fn parse(text: &str, file: &str) -> Result<Self, SchemaError> {
        parse::schema(text, file)
    }

    /// Reads a schema file.
    ///
    /// # Errors
    /// If the file cannot be read, or as [`Schema::parse`].
    pub fn read(path: &Path) -> Result<Self, DataError> {
        let file = shown_path(path);
        let text = crate::source::text(path, "schema", MOST_BYTES)?;
        Ok(Self::parse(&text, &file)?)
    }

    /// The schema as TOML, which reads back as the same schema.
    pub fn to_toml(&self) -> String {
        write::toml(self)
    }

    /// What is protected.
    pub fn unit(&self) -> &PrivacyUnit {
        &self.unit
    }

    /// What is predicted.
    pub fn label(&self) -> Option<&Label> {
        self.label.as_ref()
    }

    /// Whether the schema declares that it was read off the records. Nothing computed with such a schema is private.
    pub fn is_draft(&self) -> bool {
        self.draft
    }

    /// The file of the budget that everything computed from the table is charged to, as it is written: a path from the folder of
    /// the schema.
    pub fn budget(&self) -> Option<&str> {
        self.budget.as_deref()
    }

    /// The declared columns in order, ignored ones included.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// What learning the schema from the data has cost; none for a schema that was written without them.
    pub fn spent(&self) -> Option<&SpentBudget> {
        self.spent.as_ref()
    }

    /// The first contradiction.
    fn fault(&self) -> Option<(Part, SchemaProblem)> {
        let label = self.label.as_ref();
        let label_column = label.map(|label| label.column.as_str());
        let unit_column = match &self.unit {
            PrivacyUnit::Row => None,
            PrivacyUnit::Column(column) => Some(column.as_str()),
        };
        for (part, name) in [(Part::Unit, unit_column), (Part::Label, label_column)] {
            if name.is_some_and(|name| name.trim().is_empty()) {
                return Some((part, SchemaProblem::BlankName));
            }
        }
        if let Some(column) = label_column.filter(|_| label_column == unit_column) {
            return Some((Part::Label, SchemaProblem::LabelIsUnit { column: column.to_owned() }));
        }
        if let Some(problem) = label.and_then(Label::fault) {
            return Some((Part::Label, problem));
        }
        let mut seen = std::collections::BTreeSet::new();
        self.columns.iter().enumerate().find_map(|(at, column)| {
            let name = column.name.as_str();
            let owned = || column.name.clone();
            let problem = if name.trim().is_empty() {
                SchemaProblem::BlankName
            } else if !seen.insert(name) {
                SchemaProblem::DuplicateColumn { column: owned() }
            } else if label_column == Some(name) {
                SchemaProblem::LabelIsFeature { column: owned() }
            } else if unit_column == Some(name) {
                SchemaProblem::UnitIsFeature { column: owned() }
            } else {
                return None;
            };
            Some((Part::Column(at), problem))
        })
    }
}

impl Label {
    fn fault(&self) -> Option<SchemaProblem> {
        match &self.target {
            LabelKind::Binary { positive } if positive.trim().is_empty() => {
                Some(SchemaProblem::BlankCategory)
            }
            LabelKind::Classes { categories, .. } if categories.labels.len() < 2 => {
                Some(SchemaProblem::OneClass)
            }
            LabelKind::Classes { categories, other } if *other >= categories.labels.len() => {
                Some(SchemaProblem::OtherUndeclared { other: other.to_string() })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
