//! The outcome of a release, and its preview.

use super::accuracy::Measure;
use super::clamp::Clamped;
use super::mechanism::{MechanismKind, MechanismSummary};
use super::settled::SettledQuestion;
use reticent_core::{Certificate, Event, Fact, Guarantee, Neighboring};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// A released answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReleasedAnswer {
    /// The question.
    pub query: SettledQuestion,
    /// The answer.
    #[serde(flatten)]
    pub found: ReleasedValue,
    /// The confidence of its interval.
    pub confidence: f64,
    /// The noisy count of clamped values, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clamped: Option<Clamped>,
    /// The certificate.
    pub certificate: Certificate,
    /// The mechanism.
    #[serde(skip)]
    pub mechanism: MechanismSummary,
    /// The target error for which ε was chosen, if any.
    #[serde(skip)]
    pub target: Option<f64>,
    /// Caveats about the answer; fields of the request are named between `⟦` and `⟧`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl ReleasedAnswer {
    /// The events of the release, in sequence.
    pub fn events(&self) -> &[Event] {
        &self.certificate.events
    }
}

/// The released value.
#[derive(Debug, Clone, PartialEq)]
pub enum ReleasedValue {
    /// A number.
    Number {
        /// The noisy value.
        value: f64,
        /// The confidence interval of the answer without noise.
        interval: [f64; 2],
        /// Whether it is known to be an integer.
        whole: bool,
    },
    /// A count for each cell.
    Counts {
        /// The names of the cells.
        labels: Vec<String>,
        /// The noisy counts.
        values: Vec<f64>,
        /// The confidence interval of each count without noise, for each cell by itself.
        intervals: Vec<[f64; 2]>,
    },
    /// One of the categories.
    Choice {
        /// Its name.
        label: String,
        /// The number of rows by which it may fall short of the most common category.
        shortfall: f64,
    },
}

impl Serialize for ReleasedValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (value, interval, shortfall) = match self {
            Self::Number { value, interval, whole } => (exact(*value, *whole), pair(interval, *whole), None),
            Self::Counts { values, intervals, .. } => (
                values.iter().map(|value| exact(*value, true)).collect(),
                intervals.iter().map(|interval| pair(interval, true)).collect(),
                None,
            ),
            Self::Choice { label, shortfall } => (json!(label), Value::Null, Some(*shortfall)),
        };
        let mut fields = serializer.serialize_struct("Found", 2 + usize::from(shortfall.is_some()))?;
        fields.serialize_field("value", &value)?;
        fields.serialize_field("interval", &interval)?;
        if let Some(shortfall) = shortfall {
            fields.serialize_field("shortfall", &shortfall)?;
        }
        fields.end()
    }
}

/// The preview of a release; no value was read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Preview {
    /// The question.
    pub query: SettledQuestion,
    /// Always true.
    pub dry_run: bool,
    /// An error that is exceeded with probability at most 1 − confidence.
    pub error: f64,
    /// The unit of the error.
    pub error_in: Measure,
    /// The confidence of the error.
    pub confidence: f64,
    /// The neighboring relation.
    pub neighboring: Neighboring,
    /// The privacy cost.
    #[serde(flatten)]
    pub guarantee: Guarantee,
    /// The mechanism.
    pub mechanism: MechanismKind,
    /// The public facts.
    pub public: Vec<Fact>,
    /// Caveats about the plan; fields of the request are named between `⟦` and `⟧`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A number for JSON; whole ones without decimals.
fn exact(value: f64, whole: bool) -> Value {
    if whole && value.abs() < (1u64 << 53) as f64 { json!(value as i64) } else { json!(value) }
}

fn pair(interval: &[f64; 2], whole: bool) -> Value {
    interval.iter().map(|end| exact(*end, whole)).collect()
}

/// A whole number as JSON.
pub(super) fn whole<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    exact(*value, true).serialize(serializer)
}

/// An interval of whole numbers as JSON.
pub(super) fn whole_pair<S: Serializer>(interval: &[f64; 2], serializer: S) -> Result<S::Ok, S::Error> {
    pair(interval, true).serialize(serializer)
}
