//! What a page of statistics is made of.

use crate::{digits, words};

/// A page of private statistics.
#[derive(Debug, Clone, PartialEq)]
pub struct Sheet {
    /// What it is about.
    pub title: String,
    /// The line below the title.
    pub subtitle: String,
    /// What the page cost and how, as names and texts.
    pub facts: Vec<(String, String)>,
    /// What must not be overlooked.
    pub warnings: Vec<String>,
    /// The confidence of every interval by itself.
    pub confidence: f64,
    /// The answers, one table a question.
    pub tables: Vec<SheetTable>,
}

/// The answers to one question.
#[derive(Debug, Clone, PartialEq)]
pub struct SheetTable {
    /// The question: `mean of arr_delay by carrier`.
    pub title: String,
    /// What limits the answers, such as the bounds that values are clamped to.
    pub notes: Vec<String>,
    /// What the figures count or measure, for the axis.
    pub axis: String,
    /// Whether the figures are drawn as bars from 0.
    pub bars: bool,
    /// What the first cells of a row name, such as columns of groups.
    pub names: Vec<String>,
    /// The answers.
    pub rows: Vec<SheetRow>,
}

/// One answer.
#[derive(Debug, Clone, PartialEq)]
pub struct SheetRow {
    /// The group, the cell or the quantile: a text for each of the table's names.
    pub names: Vec<String>,
    /// The figure.
    pub value: SheetValue,
}

/// A figure of a page.
#[derive(Debug, Clone, PartialEq)]
pub enum SheetValue {
    /// A number with its interval.
    Number {
        /// The number.
        value: f64,
        /// Where the number without noise lies.
        interval: [f64; 2],
        /// Whether it is known to be whole.
        whole: bool,
    },
    /// An answer in words.
    Words(String),
    /// Nothing, and why.
    Missing(String),
}

impl SheetValue {
    /// The figure and its interval as they are shown, the ends rounded outwards.
    pub fn shown(&self) -> [String; 2] {
        match self {
            Self::Number { value, interval, .. } if interval.iter().any(|end| !end.is_finite()) => {
                let [low, high] = interval.map(words::number);
                [words::number(*value), format!("{low} to {high}")]
            }
            Self::Number { value, interval, whole } => {
                let [value, low, high] = digits::with_interval(*value, *interval, *whole);
                [value, format!("{low} to {high}")]
            }
            Self::Words(words) => [words.clone(), String::new()],
            Self::Missing(why) => [format!("– ({why})"), String::new()],
        }
    }
}
