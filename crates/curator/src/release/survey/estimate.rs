//! Population proportions, estimated from randomized answers.

use super::super::lists::names;
use super::super::request::ninety_five;
use super::LEAST_EPSILON;
use crate::quantity;
use crate::refusal::Refusal;
use crate::scan::{Size, scan};
use crate::session::Session;
use crate::{Planned, Request};
use reticent_core::{Code, Confidence, Probability};
use reticent_data::{LabelCodes, Reading, Table, open_table_with};
use reticent_noise::mechanism::RandomizedResponse;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

pub use reticent_noise::mechanism::ShareEstimate as Share;

/// The proportions of all categories, estimated from a randomized column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EstimateShares {
    /// The table of randomized answers.
    pub file: PathBuf,
    /// How its files are read: further files, the dialect of CSV text, derived columns.
    #[serde(default, skip_serializing_if = "Reading::is_default")]
    pub reading: Reading,
    /// The column of answers.
    pub column: String,
    /// The possible answers, at least two.
    pub categories: Vec<String>,
    /// The ε of the randomization; or `keep_probability`.
    #[serde(default)]
    pub epsilon: Option<f64>,
    /// The probability that an answer was kept.
    #[serde(default, alias = "keep-probability")]
    pub keep_probability: Option<f64>,
    /// The confidence level of intervals.
    #[serde(default = "ninety_five")]
    pub confidence: f64,
}

impl EstimateShares {
    /// The proportions of a column that was randomized at this ε, with 95 % intervals.
    pub fn new(file: impl Into<PathBuf>, column: &str, categories: Vec<String>, epsilon: f64) -> Self {
        Self {
            file: file.into(),
            reading: Reading::default(),
            column: column.to_owned(),
            categories,
            epsilon: Some(epsilon),
            keep_probability: None,
            confidence: ninety_five(),
        }
    }
}

/// A checked estimate; only the table is unread.
#[derive(Debug, Clone)]
pub struct PlannedEstimate {
    table: Arc<dyn Table>,
    column: String,
    categories: Vec<String>,
    confidence: Confidence,
    response: RandomizedResponse,
}

/// Estimated proportions.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimated {
    /// The column.
    pub column: String,
    /// The possible answers.
    pub categories: Vec<String>,
    /// The proportion of each.
    pub shares: Vec<Share>,
    /// The confidence of their intervals.
    pub confidence: f64,
    /// How many answers there are.
    pub rows: u64,
    /// The probability that an answer was kept.
    pub keep_probability: f64,
}

impl Serialize for Estimated {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pick = |part: fn(&Share) -> f64| self.shares.iter().map(part).collect::<Vec<_>>();
        json!({
            "query": {"kind": "estimate", "column": self.column, "categories": self.categories},
            "value": pick(|share| share.value),
            "standard_error": pick(|share| share.standard_error),
            "interval": self.shares.iter().map(|share| share.interval).collect::<Vec<_>>(),
            "confidence": self.confidence,
            "rows": self.rows,
            "keep_probability": self.keep_probability,
        })
        .serialize(serializer)
    }
}

impl Request for EstimateShares {
    type Planned = PlannedEstimate;

    fn check(&self) -> Result<PlannedEstimate, Refusal> {
        let categories = names("categories", &self.categories, 2)?;
        let (count, confidence) = (categories.len() as u64, quantity::confidence(self.confidence)?);
        let response = match (self.epsilon, self.keep_probability) {
            (Some(_), Some(keep)) => {
                let remedy = "give either ⟦epsilon⟧ or ⟦keep_probability⟧";
                return Err(Refusal::conflict("keep_probability", keep, remedy));
            }
            (Some(epsilon), None) => {
                let spent = quantity::epsilon(epsilon, LEAST_EPSILON)?;
                RandomizedResponse::new(spent, count).map_err(|_| {
                    let remedy =
                        "with this epsilon, no answer would have been randomized: give the epsilon of the randomization";
                    Refusal::value("epsilon", epsilon, remedy).coded(Code::Useless)
                })?
            }
            (None, Some(keep)) => {
                let keep = Probability::new(quantity::finite("keep_probability", keep)?)?;
                RandomizedResponse::with_keep_probability(keep, count)?
            }
            (None, None) => {
                let remedy = "give the epsilon of the randomization, or its ⟦keep_probability⟧";
                return Err(Refusal::missing("epsilon", remedy));
            }
        };
        let table = open_table_with(&self.file, &self.reading)?;
        table.check_values(&self.column, &categories).map_err(Refusal::data("categories"))?;
        table.column(&self.column).map_err(Refusal::data("column"))?;
        Ok(PlannedEstimate { table, column: self.column.clone(), categories, confidence, response })
    }
}

impl Planned for PlannedEstimate {
    type Outcome = Estimated;

    /// Nothing is drawn and nothing is charged: the answers were randomized and released already. A session that keeps a ledger
    /// refuses, because such a table cannot be distinguished from one of true answers.
    fn run(self, session: &mut Session) -> Result<Estimated, Refusal> {
        session.unprotected("an estimate from a table")?;
        let Self { table, column, categories, confidence, response } = self;
        let labels = LabelCodes::new(categories.iter().map(String::as_str));
        let mut reported = vec![0u64; categories.len()];
        let rows = scan(&table, &[column.as_str()], Size::Public, session.watch(), &mut |row, cells| {
            let index = labels.position(&cells[0]).ok_or_else(|| undeclared(&column, row))?;
            reported[index] += 1;
            Ok(())
        })?;
        let shares = response.estimate_histogram(&reported, confidence)?;
        let (confidence, keep_probability) = (confidence.get(), response.keep_probability());
        Ok(Estimated { column, categories, shares, confidence, rows, keep_probability })
    }
}

/// A table of randomized answers that holds something else. It is released already: nothing in it is private.
fn undeclared(column: &str, row: u64) -> Refusal {
    let place = format!("column \"{column}\", row {row}");
    let remedy = "declare every value, or fix the row";
    Refusal::about(Code::Row, "categories", format!("{place} has a missing or undeclared value: {remedy}"))
}
