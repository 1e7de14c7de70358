//! What comes out of a release, and what is known of it beforehand.

use super::accuracy::Measure;
use super::asked::Asked;
use super::clamp::Clamped;
use super::mechanism::{Mechanism, MechanismKind};
use reticent_core::{Certificate, Event, Fact, Guarantee, Neighboring};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// A released answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Released {
    /// The question.
    pub query: Asked,
    /// The answer.
    #[serde(flatten)]
    pub found: Found,
    /// The confidence of its interval.
    pub confidence: f64,
    /// Where clamped values were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clamped: Option<Clamped>,
    /// What was spent.
    pub certificate: Certificate,
    /// How the answer was made.
    #[serde(skip)]
    pub mechanism: Mechanism,
    /// The error for which ε was chosen, where that was asked for.
    #[serde(skip)]
    pub target: Option<f64>,
    /// What is to be said against the answer; fields of the request stand between `⟦` and `⟧`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl Released {
    /// The events of the release, in sequence.
    pub fn events(&self) -> &[Event] {
        &self.certificate.events
    }
}

/// The answer proper.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// A number.
    Number {
        /// The noisy value.
        value: f64,
        /// The answer without noise lies in here.
        interval: [f64; 2],
        /// Whether it is known to be whole.
        whole: bool,
    },
    /// A count for each cell.
    Counts {
        /// What the cells are called.
        labels: Vec<String>,
        /// The noisy counts.
        values: Vec<f64>,
        /// The count without noise lies in here, for each cell by itself.
        intervals: Vec<[f64; 2]>,
    },
    /// One of the categories.
    Choice {
        /// Its name.
        label: String,
        /// It has at most so many rows fewer than the most common one.
        shortfall: f64,
    },
}

impl Serialize for Found {
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

/// What a release would be like; no value was read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Preview {
    /// The question.
    pub query: Asked,
    /// Always true.
    pub dry_run: bool,
    /// An error that is exceeded with probability at most 1 − confidence.
    pub error: f64,
    /// What the error is measured in.
    pub error_in: Measure,
    /// The confidence of the error.
    pub confidence: f64,
    /// What would be hidden.
    pub neighboring: Neighboring,
    /// What would be spent.
    #[serde(flatten)]
    pub guarantee: Guarantee,
    /// How the answer would be made.
    pub mechanism: MechanismKind,
    /// What would be taken as public.
    pub public: Vec<Fact>,
    /// What is to be said against the plan; fields of the request stand between `⟦` and `⟧`.
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
