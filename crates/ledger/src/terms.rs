//! What is settled when a budget is created, and what may be added to it.

use crate::Moment;
use reticent_core::{Guarantee, InvalidValue, Neighboring};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A limit for everything that is ever learnt about some people, and what it rests on. All of it is public.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetTerms {
    /// The population: whose data these are.
    pub name: String,
    /// What everything charged is held to together.
    pub limit: Guarantee,
    /// The neighboring relation of the limit and of every charge.
    pub neighboring: Neighboring,
    /// The privacy unit in words, such as `row`.
    pub unit: String,
    /// The column that names the privacy unit; none where it is a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit_column: Option<String>,
    /// The key of the order in which contributions are kept when they are bounded, so that reruns agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// After this nothing is charged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Moment>,
    /// The data, in the order in which they were added.
    #[serde(default)]
    pub data: Vec<DataName>,
}

impl BudgetTerms {
    /// Terms without an expiry, a key and data.
    pub fn new(
        name: impl Into<String>,
        limit: Guarantee,
        neighboring: Neighboring,
        unit: impl Into<String>,
    ) -> Self {
        let (name, unit) = (name.into(), unit.into());
        Self {
            name,
            limit,
            neighboring,
            unit,
            unit_column: None,
            key: None,
            valid_until: None,
            data: Vec::new(),
        }
    }

    /// Whether a budget can be created with them.
    ///
    /// # Errors
    /// [`InvalidValue`] naming the field: an empty name or unit, an ε of 0.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        named("name", &self.name)?;
        named("unit", &self.unit)?;
        limited(self.limit)?;
        self.data.iter().try_for_each(DataName::validate)
    }
}

/// Data of the population, by a name. Nothing here is computed from private values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataName {
    /// The path as given: a file, a folder or a pattern.
    pub path: String,
    /// The digest of what is public about them, such as the names of their columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// How the files are read, in public words that only who charges the budget understands; none for the usual way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<String>,
}

impl DataName {
    /// Data by a path.
    pub fn new(path: impl Into<String>) -> Self {
        Self { path: path.into(), digest: None, reading: None }
    }

    /// Whether it names anything.
    ///
    /// # Errors
    /// [`InvalidValue`] for an empty path.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        named("data", &self.path)
    }
}

/// Which limit of a budget is meant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetScope {
    /// The limit of the whole budget.
    Total,
    /// The sub-budget of an analyst.
    Analyst(String),
    /// The sub-budget of a purpose.
    Purpose(String),
}

impl fmt::Display for BudgetScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Total => f.write_str("the budget"),
            Self::Analyst(name) => write!(f, "the sub-budget of analyst \"{name}\""),
            Self::Purpose(name) => write!(f, "the sub-budget of purpose \"{name}\""),
        }
    }
}

/// A limit for one analyst or one purpose, which holds at the same time as the limit of the budget.
///
/// It counts what is charged from its creation on. As soon as an analyst has a sub-budget, every charge names an analyst who has
/// one; the same holds for purposes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubBudget {
    /// Whose limit it is; never [`BudgetScope::Total`].
    pub scope: BudgetScope,
    /// The limit, under the neighboring relation of the budget.
    pub limit: Guarantee,
    /// After this nothing is charged to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Moment>,
}

impl SubBudget {
    /// Whether it can be added to a budget.
    ///
    /// # Errors
    /// [`InvalidValue`] naming the field: no analyst or purpose, an empty name, an ε of 0.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        match &self.scope {
            BudgetScope::Total => {
                let remedy = "a sub-budget is for an analyst or a purpose: name one";
                return Err(InvalidValue::new("scope", "total", remedy));
            }
            BudgetScope::Analyst(name) => named("analyst", name)?,
            BudgetScope::Purpose(name) => named("purpose", name)?,
        }
        limited(self.limit)
    }
}

pub(crate) fn named(field: &'static str, value: &str) -> Result<(), InvalidValue> {
    match value.trim().is_empty() {
        true => Err(InvalidValue::new(field, "\"\"", "give a name")),
        false => Ok(()),
    }
}

fn limited(limit: Guarantee) -> Result<(), InvalidValue> {
    match limit.epsilon.get() > 0.0 {
        true => Ok(()),
        false => Err(InvalidValue::new("epsilon", limit.epsilon, "give an epsilon above 0")),
    }
}
