//! The request of a release, as plain data.

use crate::refusal::Refusal;
use reticent_core::Neighboring;
use reticent_data::Reading;
use reticent_noise::{mechanism, query};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::str::FromStr;

/// A statistic of a table and its privacy budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// The table: a CSV, Parquet or Arrow file, a folder of Parquet files, a glob, or `-` for standard input.
    pub file: PathBuf,
    /// How its files are read: further files, the dialect of CSV text, derived columns. A table that is given beside the request is
    /// taken as it is.
    #[serde(default, skip_serializing_if = "Reading::is_default")]
    pub reading: Reading,
    /// The statistic.
    pub question: ReleaseQuestion,
    /// The privacy budget ε; left out if a target error is given instead.
    #[serde(default)]
    pub epsilon: Option<f64>,
    /// The δ, for Gaussian noise.
    #[serde(default)]
    pub delta: Option<f64>,
    /// The noise mechanism; by default Laplace, or Gaussian if a δ is given.
    #[serde(default)]
    pub mechanism: Option<NoiseChoice>,
    /// The neighboring relation: add-remove hides whether a row is in the data, replace-one hides what it contains.
    #[serde(default = "add_remove")]
    pub neighboring: Neighboring,
    /// The confidence level of intervals.
    #[serde(default = "ninety_five")]
    pub confidence: f64,
    /// Only rows that satisfy these conditions, such as `sex=Male and age>=18`.
    #[serde(default)]
    pub filter: Option<String>,
    /// The number of threads that read the table; all processors if none is given.
    #[serde(default)]
    pub threads: Option<u64>,
}

impl Release {
    /// The statistic of all rows at this ε, under add-remove, with 95 % intervals.
    pub fn new(file: impl Into<PathBuf>, question: ReleaseQuestion, epsilon: f64) -> Self {
        Self {
            file: file.into(),
            reading: Reading::default(),
            question,
            epsilon: Some(epsilon),
            delta: None,
            mechanism: None,
            neighboring: add_remove(),
            confidence: ninety_five(),
            filter: None,
            threads: None,
        }
    }
}

/// The statistic of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ReleaseQuestion {
    /// The number of rows.
    Count {
        /// Only rows that have a value in this column.
        #[serde(default)]
        column: Option<String>,
        /// The target error, instead of ε: the smallest ε that reaches it is spent.
        #[serde(default)]
        error: Option<f64>,
    },
    /// The sum of a column whose values are clamped to public bounds.
    Sum {
        /// The column.
        column: String,
        /// Public bounds, the lower one first.
        bounds: [f64; 2],
        /// Whether the column holds integers; Parquet files declare this themselves.
        #[serde(default)]
        integers: bool,
        /// Whether 5 % of ε is spent on a count of values that are outside the bounds or not numbers.
        #[serde(default, alias = "count-clamped")]
        count_clamped: bool,
        /// A public schema of the table, for a warning if the bounds exclude values that it allows.
        #[serde(default)]
        schema: Option<PathBuf>,
        /// The target error, instead of ε: the smallest ε that reaches it is spent.
        #[serde(default)]
        error: Option<f64>,
    },
    /// The mean of a column whose values are clamped to public bounds.
    Mean {
        /// The column.
        column: String,
        /// Public bounds, the lower one first.
        bounds: [f64; 2],
        /// Whether the column holds integers; Parquet files declare this themselves.
        #[serde(default)]
        integers: bool,
        /// Whether 5 % of ε is spent on a count of values that are outside the bounds or not numbers.
        #[serde(default, alias = "count-clamped")]
        count_clamped: bool,
        /// A public schema of the table, for a warning if the bounds exclude values that it allows.
        #[serde(default)]
        schema: Option<PathBuf>,
    },
    /// The number of rows in each declared category or bin.
    Histogram {
        /// The column.
        column: String,
        /// Public categories; or `bins`.
        #[serde(default)]
        categories: Option<Vec<String>>,
        /// Public bin edges, increasing: 0, 10, 20 give [0, 10) and [10, 20].
        #[serde(default)]
        bins: Option<Vec<f64>>,
    },
    /// A quantile of a column whose values are clamped to public bounds.
    Quantile {
        /// The column.
        column: String,
        /// Public bounds, the lower one first.
        bounds: [f64; 2],
        /// Whether the column holds integers; Parquet files declare this themselves.
        #[serde(default)]
        integers: bool,
        /// Whether 5 % of ε is spent on a count of values that are outside the bounds or not numbers.
        #[serde(default, alias = "count-clamped")]
        count_clamped: bool,
        /// A public schema of the table, for a warning if the bounds exclude values that it allows.
        #[serde(default)]
        schema: Option<PathBuf>,
        /// Which quantile, from 0.001 to 0.999.
        #[serde(default = "median")]
        quantile: f64,
        /// The maximum number of candidates, evenly spaced between the bounds.
        #[serde(default = "thousand")]
        candidates: u64,
    },
    /// The most common of the declared categories.
    Mode {
        /// The column.
        column: String,
        /// Public categories.
        categories: Vec<String>,
        /// The selection mechanism.
        #[serde(default)]
        rule: SelectionMechanism,
    },
    /// The proportion of rows with a given value.
    Proportion {
        /// The column.
        column: String,
        /// The value.
        value: String,
    },
}

/// The noise mechanism of an additive answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseChoice {
    /// Discrete Laplace noise: no δ.
    Laplace,
    /// Gaussian noise: needs a δ.
    Gaussian,
    /// Discrete Gaussian noise: needs a δ.
    DiscreteGaussian,
}

impl From<NoiseChoice> for query::NoiseKind {
    fn from(noise: NoiseChoice) -> Self {
        match noise {
            NoiseChoice::Laplace => Self::Laplace,
            NoiseChoice::Gaussian => Self::Gaussian,
            NoiseChoice::DiscreteGaussian => Self::DiscreteGaussian,
        }
    }
}

impl FromStr for NoiseChoice {
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

/// A mechanism of private selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SelectionMechanism {
    /// The exponential mechanism.
    Exponential,
    /// Permute-and-flip: never worse than the exponential mechanism.
    #[default]
    PermuteAndFlip,
    /// The largest of noisy counts.
    ReportNoisyMax,
}

impl From<SelectionMechanism> for mechanism::SelectionRule {
    fn from(rule: SelectionMechanism) -> Self {
        match rule {
            SelectionMechanism::Exponential => Self::Exponential,
            SelectionMechanism::PermuteAndFlip => Self::PermuteAndFlip,
            SelectionMechanism::ReportNoisyMax => Self::ReportNoisyMax,
        }
    }
}

impl FromStr for SelectionMechanism {
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
        let ReleaseQuestion::Quantile { quantile, candidates, .. } = &request.question else {
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
            assert_eq!(serde_json::to_value(name.parse::<NoiseChoice>().unwrap()).unwrap(), name);
        }
        for name in ["exponential", "permute-and-flip", "report-noisy-max"] {
            assert_eq!(serde_json::to_value(name.parse::<SelectionMechanism>().unwrap()).unwrap(), name);
        }
        assert_eq!("x".parse::<SelectionMechanism>().unwrap_err().field(), Some("mechanism"));
    }
}
