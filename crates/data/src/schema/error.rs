//! What can be wrong with a schema.

use thiserror::Error;

use crate::error::{hint, shown};
use crate::toml::Span;

/// An error in a schema: one line that names the place and says what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}{}: {problem}", place.as_ref().map(|place| place.after_file()).unwrap_or_default())]
pub struct SchemaError {
    /// The schema's name.
    pub file: String,
    /// The place in the file; none for a schema that was not read from text.
    pub place: Option<Box<Span>>,
    /// What is wrong.
    pub problem: SchemaProblem,
}

/// What is wrong with a schema.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SchemaProblem {
    /// The text is not TOML.
    #[error("not valid TOML: {}", shown(reason))]
    Syntax {
        /// What the parser reported.
        reason: String,
    },
    /// A key that means nothing.
    #[error(
        "unknown key \"{}\" in {place}{}: the keys are {}",
        shown(key),
        hint(*suggestion),
        known.join(", ")
    )]
    UnknownKey {
        /// The key.
        key: String,
        /// Where it stands, in words.
        place: String,
        /// The keys that mean something there.
        known: &'static [&'static str],
        /// The closest of them, if one is close.
        suggestion: Option<&'static str>,
    },
    /// A column's name was taken apart at its dots.
    #[error("the column name \"{0}.{1}\" has a dot: put it in quotes", shown(first), shown(second))]
    DottedName {
        /// The part before the dot.
        first: String,
        /// What follows it.
        second: String,
    },
    /// A key that must be there is not.
    #[error("{place} has no {key}: {advice}")]
    MissingKey {
        /// The key.
        key: &'static str,
        /// Where it should be, in words.
        place: String,
        /// What to write.
        advice: &'static str,
    },
    /// A value of the wrong type.
    #[error("{place} is {found}: {advice}")]
    WrongType {
        /// What has the value, in words.
        place: String,
        /// The type it has.
        found: &'static str,
        /// What to write.
        advice: &'static str,
    },
    /// A column or label that is declared as nothing, or as two things at once.
    #[error("{place} needs exactly one of {}", choices.join(", "))]
    NotOneOf {
        /// The column or label, in words.
        place: String,
        /// The keys to choose from.
        choices: &'static [&'static str],
    },
    /// Bounds, or their distance, are NaN or infinite.
    #[error("the bounds are not finite: give two numbers, the lower one first")]
    BoundsNotFinite,
    /// Bounds in the wrong order.
    #[error("the bounds [{low}, {high}] do not increase: give the lower one first")]
    BoundsNotIncreasing {
        /// The first one.
        low: String,
        /// The second one.
        high: String,
    },
    /// No categories.
    #[error("there are no categories: list at least one")]
    NoCategories,
    /// A category that is blank.
    #[error("a category is blank: blank cells are missing and need no category")]
    BlankCategory,
    /// A category that is declared twice.
    #[error("the category \"{}\" is declared twice: remove one", shown(category))]
    DuplicateCategory {
        /// The category.
        category: String,
    },
    /// A label with a single class.
    #[error("the label has one class: list at least two")]
    OneClass,
    /// The class for undeclared labels is not a class.
    #[error("other = \"{}\" is not one of the label's categories: name one of them", shown(other))]
    OtherUndeclared {
        /// What was given.
        other: String,
    },
    /// A class for undeclared labels where no classes are listed.
    #[error(
        "other says which of the label's categories undeclared labels count as: remove it, or list categories"
    )]
    OtherWithoutCategories,
    /// A name that is blank.
    #[error("a column has no name: give it the one it has in the table")]
    BlankName,
    /// A column declared twice.
    #[error("the column \"{}\" is declared twice: remove one", shown(column))]
    DuplicateColumn {
        /// The column.
        column: String,
    },
    /// The label is listed with the features.
    #[error("\"{}\" is the label and may not be a feature as well: remove it from [columns]", shown(column))]
    LabelIsFeature {
        /// The column.
        column: String,
    },
    /// The user id is listed with the features.
    #[error("\"{}\" is the privacy unit and may not be a feature: remove it from [columns]", shown(column))]
    UnitIsFeature {
        /// The column.
        column: String,
    },
    /// The label and the user id are one column.
    #[error("\"{}\" is both the label and the privacy unit: choose another label", shown(column))]
    LabelIsUnit {
        /// The column.
        column: String,
    },
    /// The cost of a schema that no mechanism can have.
    #[error("spent {key} = \"{}\": {advice}", shown(found))]
    SpentOutOfRange {
        /// The key in `[spent]`.
        key: &'static str,
        /// What it was given.
        found: String,
        /// What to write.
        advice: &'static str,
    },
}
