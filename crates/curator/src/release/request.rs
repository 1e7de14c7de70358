//! What can be asked of a table, as plain data.

use crate::refusal::Refusal;
use reticent_core::Neighboring;
use reticent_noise::{mechanism, query};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::str::FromStr;

/// A question about the rows of a table, and what its answer may cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// The table: a `.csv` file with a header line, or a `.parquet` file.
    pub file: PathBuf,
    /// What is asked.
    pub question: Question,
    /// The ε to spend; left out where an error is wanted instead.
    #[serde(default)]
    pub epsilon: Option<f64>,
    /// The δ of the claim, for Gaussian noise.
    #[serde(default)]
    pub delta: Option<f64>,
    /// The noise of additive answers: Laplace, or Gaussian where a δ is given, unless chosen here.
    #[serde(default)]
    pub mechanism: Option<Noise>,
    /// What is hidden: that a row is there at all, or what it holds.
    #[serde(default = "add_remove")]
    pub neighboring: Neighboring,
    /// Confidence of intervals.
    #[serde(default = "ninety_five")]
    pub confidence: f64,
    /// Only rows that satisfy these conditions, such as `sex=Male and age>=18`.
    #[serde(default)]
    pub filter: Option<String>,
}

impl Release {
    /// The question at this ε: under add-remove, with 95 % intervals, about all rows.
    pub fn new(file: impl Into<PathBuf>, question: Question, epsilon: f64) -> Self {
        Self {
            file: file.into(),
            question,
            epsilon: Some(epsilon),
            delta: None,
            mechanism: None,
            neighboring: add_remove(),
            confidence: ninety_five(),
            filter: None,
        }
    }
}

/// What is asked of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Question {
    /// How many rows there are.
    Count {
        /// Only rows that have a value in this column.
        #[serde(default)]
        column: Option<String>,
        /// Spend the least ε that keeps the error within this, instead of one that is given.
        #[serde(default)]
        error: Option<f64>,
    },
    /// The sum of a column whose values are clamped to public bounds.
    Sum {
        /// The column.
        column: String,
        /// Public bounds, the lower one first.
        bounds: [f64; 2],
        /// The column holds whole numbers; a Parquet file says so itself.
        #[serde(default)]
        integers: bool,
        /// Spend 5 % of ε on a count of the values that are outside of the bounds or not numbers.
        #[serde(default, alias = "count-clamped")]
        count_clamped: bool,
        /// A public schema of the table, to be warned where the bounds leave out values that it allows.
        #[serde(default)]
        schema: Option<PathBuf>,
        /// Spend the least ε that keeps the error within this, instead of one that is given.
        #[serde(default)]
        error: Option<f64>,
    },
    /// The mean of a column whose values are clamped to public bounds.
    Mean {
        /// The column.
        column: String,
        /// Public bounds, the lower one first.
        bounds: [f64; 2],
        /// The column holds whole numbers; a Parquet file says so itself.
        #[serde(default)]
        integers: bool,
        /// Spend 5 % of ε on a count of the values that are outside of the bounds or not numbers.
        #[serde(default, alias = "count-clamped")]
        count_clamped: bool,
        /// A public schema of the table, to be warned where the bounds leave out values that it allows.
        #[serde(default)]
        schema: Option<PathBuf>,
    },
    /// How many rows fall into each declared category or bin.
    Histogram {
        /// The column.
        column: String,
        /// Public categories; or `bins`.
        #[serde(default)]
        categories: Option<Vec<String>>,
        /// Public edges of bins, rising: 0, 10, 20 give [0, 10) and [10, 20].
        #[serde(default)]
        bins: Option<Vec<f64>>,
    },
    /// A quantile of a column whose values are clamped to public bounds.
    Quantile {
        /// The column.
        column: String,
        /// Public bounds, the lower one first.
        bounds: [f64; 2],
        /// The column holds whole numbers; a Parquet file says so itself.
        #[serde(default)]
        integers: bool,
        /// Spend 5 % of ε on a count of the values that are outside of the bounds or not numbers.
        #[serde(default, alias = "count-clamped")]
        count_clamped: bool,
        /// A public schema of the table, to be warned where the bounds leave out values that it allows.
        #[serde(default)]
        schema: Option<PathBuf>,
        /// Which quantile, from 0.001 to 0.999.
        #[serde(default = "median")]
        quantile: f64,
        /// How many candidates at most, evenly spaced between the bounds.
        #[serde(default = "thousand")]
        candidates: u64,
    },
    /// The most common of the declared categories.
    Mode {
        /// The column.
        column: String,
        /// Public categories.
        categories: Vec<String>,
        /// The rule of choice.
        #[serde(default)]
        rule: Rule,
    },
    /// The share of rows that have a given value.
    Proportion {
        /// The column.
        column: String,
        /// The value asked about.
        value: String,
    },
}

/// The noise of additive answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// Discrete Laplace noise: no δ.
    Laplace,
    /// Gaussian noise: needs a δ.
    Gaussian,
    /// Discrete Gaussian noise: needs a δ.
    DiscreteGaussian,
}

impl From<Noise> for query::Noise {
    fn from(noise: Noise) -> Self {
        match noise {
            Noise::Laplace => Self::Laplace,
            Noise::Gaussian => Self::Gaussian,
            Noise::DiscreteGaussian => Self::DiscreteGaussian,
        }
    }
}

impl FromStr for Noise {
    type Err = Refusal;

    fn from_str(name: &str) -> Result<Self, Refusal> {
        match name {
            "laplace" => Ok(Self::Laplace),
            "gaussian" => Ok(Self::Gaussian),
            "discrete-gaussian" => Ok(Self::DiscreteGaussian),
            _ => {
                let known = "unknown: give laplace, gaussian or discrete-gaussian";
                Err(Refusal::unknown("mechanism", name, known))
            }
        }
    }
}

/// The rule of a private choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The exponential mechanism.
    Exponential,
    /// Permute-and-flip: never worse than the exponential mechanism.
    #[default]
    PermuteAndFlip,
    /// The largest of noisy counts.
    ReportNoisyMax,
}

impl From<Rule> for mechanism::Rule {
    fn from(rule: Rule) -> Self {
        match rule {
            Rule::Exponential => Self::Exponential,
            Rule::PermuteAndFlip => Self::PermuteAndFlip,
            Rule::ReportNoisyMax => Self::ReportNoisyMax,
        }
    }
}

impl FromStr for Rule {
    type Err = Refusal;

    fn from_str(name: &str) -> Result<Self, Refusal> {
        match name {
            "exponential" => Ok(Self::Exponential),
            "permute-and-flip" => Ok(Self::PermuteAndFlip),
            "report-noisy-max" => Ok(Self::ReportNoisyMax),
            _ => {
                let known = "unknown: give exponential, permute-and-flip or report-noisy-max";
                Err(Refusal::unknown("mechanism", name, known))
            }
        }
    }
}

fn add_remove() -> Neighboring {
    Neighboring::AddRemove
}

pub(super) fn ninety_five() -> f64 {
    0.95
}

fn median() -> f64 {
    0.5
}

fn thousand() -> u64 {
    1001
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_plain_data_with_defaults() {
        let text = r#"{"file": "t.csv", "epsilon": 1.0, "question": {"kind": "quantile", "column": "age", "bounds": [0.0, 120.0]}}"#;
        let request: Release = serde_json::from_str(text).unwrap();
        let Question::Quantile { quantile, candidates, .. } = &request.question else {
            panic!("{request:?}")
        };
        assert_eq!((*quantile, *candidates, request.confidence), (0.5, 1001, 0.95));
        assert_eq!(request.neighboring, Neighboring::AddRemove);
        let again = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<Release>(&again).unwrap(), request);
        for typo in [text.replace("epsilon", "epsilom"), text.replace("bounds", "bound")] {
            assert!(serde_json::from_str::<Release>(&typo).is_err(), "{typo}");
        }
        let odd = text.replace("\"bounds\"", "\"odd\": 1, \"bounds\"");
        assert!(serde_json::from_str::<Release>(&odd).is_err());
    }

    #[test]
    fn names_are_those_of_the_data() {
        for name in ["laplace", "gaussian", "discrete-gaussian"] {
            assert_eq!(serde_json::to_value(name.parse::<Noise>().unwrap()).unwrap(), name);
        }
        for name in ["exponential", "permute-and-flip", "report-noisy-max"] {
            assert_eq!(serde_json::to_value(name.parse::<Rule>().unwrap()).unwrap(), name);
        }
        assert_eq!("x".parse::<Rule>().unwrap_err().field(), Some("mechanism"));
    }
}
