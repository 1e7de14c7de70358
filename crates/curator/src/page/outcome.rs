//! The outcome of a page, and its preview.

use reticent_core::{Certificate, Event, Fact, Guarantee, Neighboring};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::path::PathBuf;

/// A released page: a row for each group and question, and for each cell of a question that has several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageOutcome {
    /// The columns whose values name a group; none where the page is about all rows together.
    pub group_columns: Vec<String>,
    /// The questions, in the order of the request.
    pub questions: Vec<AnsweredQuestion>,
    /// The answers: by group, then by question, then by cell.
    pub rows: Vec<PageRow>,
    /// The confidence of each interval by itself.
    pub confidence: f64,
    /// What was released, and for which questions.
    pub parts: Vec<ReleasedPart>,
    /// The certificate.
    pub certificate: Certificate,
    /// Caveats; fields of the request are named between `⟦` and `⟧`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// One figure of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageRow {
    /// The values that name the group.
    pub group: Vec<String>,
    /// The name of the question.
    pub question: String,
    /// The cell, quantile or coefficient, where a question has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<String>,
    /// The estimate; none where the released numbers determine none, such as the mean of no rows.
    pub estimate: Option<f64>,
    /// The interval of the value without noise, of clamped and bounded rows; an end that nothing bounds is `null`.
    #[serde(with = "ends")]
    pub interval: [f64; 2],
    /// The unit of the estimate.
    pub unit: PageUnit,
}

/// What a figure of a page counts or measures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageUnit {
    /// Rows.
    Rows,
    /// People, or whatever the privacy unit is.
    People,
    /// The unit of the column.
    Column,
    /// The squared unit of the column, or the product of those of two columns.
    Squared,
    /// The unit of the second column for one of the first.
    PerUnit,
    /// A fraction of rows.
    Share,
    /// A number without a unit, such as a correlation.
    Number,
    /// Declared values.
    Values,
    /// Rows between the rank of an answer and the one asked for.
    Ranks,
}

impl PageUnit {
    /// Whether a figure of this unit is a whole number without noise.
    pub fn is_whole(&self) -> bool {
        matches!(self, Self::Rows | Self::People)
    }
}

/// A question of a released page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnsweredQuestion {
    /// Its name, which no other question of the page has.
    pub name: String,
    /// The statistic, such as `mean`.
    pub kind: String,
    /// The columns asked about.
    pub columns: Vec<String>,
    /// The parts that it was answered from, by their place among the released parts.
    pub parts: Vec<usize>,
    /// The bounds that values were clamped to, for each column that has some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clamped: Vec<ClampedColumn>,
}

/// A column whose values were clamped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClampedColumn {
    /// The column.
    pub column: String,
    /// The bounds.
    pub bounds: [f64; 2],
    /// Whether the total of a person was clamped, and not each value.
    #[serde(default, skip_serializing_if = "is_false")]
    pub person: bool,
}

/// One release of a page, which one question or several are answered from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleasedPart {
    /// What it is, such as `moments of age`.
    pub about: String,
    /// The names of the questions that share it.
    pub questions: Vec<String>,
    /// Its weight in the split of the budget: the largest of theirs; none where the budget is split by error.
    pub weight: Option<f64>,
    /// The question that the weight or the wanted error is taken from.
    pub weight_from: String,
    /// `laplace` or `gaussian`; `selection` for groups that were found in the data.
    pub mechanism: String,
    /// Why this mechanism and form, from public numbers.
    pub why: String,
    /// Its numbers for each group.
    pub width: usize,
    /// The largest l1 distance that one privacy unit makes: in rows, for sums in the unit of the column.
    pub l1: f64,
    /// The largest l2 distance, likewise.
    pub l2: f64,
    /// The error of one of its numbers at the page's confidence, likewise.
    pub error: f64,
    /// What it cost.
    pub event: Event,
}

/// What a page would be like: its errors and its cost. Nothing private was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PagePreview {
    /// Marks a preview.
    pub dry_run: bool,
    /// The questions with their expected errors.
    pub questions: Vec<ExpectedQuestion>,
    /// What would be released.
    pub parts: Vec<ReleasedPart>,
    /// The number of groups, where they are public.
    pub groups: Option<usize>,
    /// The public file that the groups were read from, if they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys_file: Option<PathBuf>,
    /// The confidence of the errors.
    pub confidence: f64,
    /// Who would be protected.
    pub unit: String,
    /// The neighboring relation.
    pub neighboring: Neighboring,
    /// What the page would cost.
    #[serde(flatten)]
    pub guarantee: Guarantee,
    /// How that follows.
    pub accountant: String,
    /// What is taken as public.
    pub public: Vec<Fact>,
    /// Caveats.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The expected error of one question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedQuestion {
    /// Its name.
    pub name: String,
    /// The error at the page's confidence, whatever the data are; none where it depends on more than their number.
    pub error: Option<f64>,
    /// The number of rows of a group for which it holds, where the error depends on it.
    pub size: Option<u64>,
    /// The unit of the error.
    pub unit: PageUnit,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Ends of an interval; an infinite one is `null`.
mod ends {
    use super::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(ends: &[f64; 2], serializer: S) -> Result<S::Ok, S::Error> {
        ends.map(|end| end.is_finite().then_some(end)).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[f64; 2], D::Error> {
        let [low, high] = <[Option<f64>; 2]>::deserialize(deserializer)?;
        Ok([low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY)])
    }
}
