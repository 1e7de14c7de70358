//! Reference values for accountants, read from `testdata/accounting/vectors.json`.
//!
//! The file is made by the script beside it from formulas alone. A case asks one [`Question`] and says what the
//! truth is; what an accountant may add to it is for the test that asks to state.

use reticent_core::{Event, EventLog, Neighboring};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use thiserror::Error;

const FILE: &str = include_str!("../../../testdata/accounting/vectors.json");

/// Why the reference values could not be read.
#[derive(Debug, Error)]
pub enum VectorError {
    /// The file is not what it should be.
    #[error("the reference values are not readable: {0}")]
    File(serde_json::Error),
    /// One case is not.
    #[error("case {id}: {why}")]
    Case {
        /// The case, or its place in the file where it has no name.
        id: String,
        /// What is wrong with it.
        why: String,
    },
}

/// One question with its answer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The kind and a number.
    pub id: String,
    /// What the case is an example of.
    pub kind: String,
    /// What is asked.
    pub question: Question,
    /// What is true.
    pub expect: Expect,
}

/// What is true.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expect {
    /// The answer itself, to the last digit of a double.
    Exact(Decimal),
    /// The answer is not known: no valid claim is below the first, and a theorem gives the second.
    Between(Decimal, Decimal),
    /// An ε and a δ.
    Claim(Decimal, Decimal),
}

/// A number that the file writes with more digits than a double holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decimal(f64);

impl Decimal {
    /// The nearest double.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Self(value)),
            _ => Err(D::Error::custom(format!("`{text}` is not a decimal number"))),
        }
    }
}

/// The direction of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// From the data set with the record to the one without.
    Remove,
    /// The other way round.
    Add,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Question {
    /// ε at δ.
    Epsilon {
        /// The events.
        log: EventLog,
        /// δ.
        delta: f64,
        /// The method, by its name on the command line.
        accountant: String,
    },
    /// δ at ε.
    Delta {
        /// The events.
        log: EventLog,
        /// ε.
        epsilon: f64,
    },
    /// δ at ε in one direction.
    OneWay {
        /// The events.
        log: EventLog,
        /// ε.
        epsilon: f64,
        /// The direction.
        direction: Way,
    },
    /// D_α of the events.
    Rdp {
        /// The events.
        log: EventLog,
        /// α.
        order: f64,
    },
    /// D₁ of one event.
    KullbackLeibler {
        /// The event.
        event: Event,
    },
    /// The least noise for Poisson-sampled Gaussian steps within a budget.
    NoiseMultiplier {
        /// Sampling rate.
        rate: f64,
        /// Number of steps.
        steps: u64,
        /// The budget's ε.
        epsilon: f64,
        /// The budget's δ.
        delta: f64,
    },
    /// The most Poisson-sampled Gaussian steps within a budget.
    Steps {
        /// Sampling rate.
        rate: f64,
        /// σ.
        noise_multiplier: f64,
        /// The budget's ε.
        epsilon: f64,
        /// The budget's δ.
        delta: f64,
    },
    /// ε of the optimal composition of (ε, δ) claims at a total δ.
    Optimal {
        /// The claims.
        claims: Vec<(f64, f64)>,
        /// Total δ.
        delta: f64,
    },
    /// Parallel composition of (ε, δ) claims.
    Parallel {
        /// The claims.
        claims: Vec<(f64, f64)>,
        /// The relation.
        neighboring: Neighboring,
    },
    /// What an (ε, δ) claim says about a group.
    Group {
        /// The claim.
        claim: (f64, f64),
        /// How many.
        size: u64,
    },
    /// ε at δ for a group whose records change together.
    GroupEpsilon {
        /// The events.
        log: EventLog,
        /// How many.
        size: u64,
        /// δ.
        delta: f64,
    },
    /// ε at δ from one Rényi divergence.
    Conversion {
        /// α.
        order: f64,
        /// D_α.
        divergence: f64,
        /// δ.
        delta: f64,
    },
    /// The range of a probability on neighbouring data, from one Rényi divergence.
    Outcome {
        /// α.
        order: f64,
        /// D_α.
        divergence: f64,
        /// The probability.
        probability: f64,
    },
    /// The strong-composition curve of the moments accountant's paper.
    StrongComposition {
        /// Sampling rate.
        rate: f64,
        /// σ.
        noise_multiplier: f64,
        /// Number of steps.
        steps: u64,
        /// δ.
        delta: f64,
    },
    /// The least false-negative rate at a false-positive rate.
    TradeOff {
        /// The events.
        log: EventLog,
        /// The false-positive rate.
        fpr: f64,
    },
}

/// All cases of the file.
///
/// # Errors
/// [`VectorError`] naming the first case that is not understood or comes twice.
pub fn cases() -> Result<Vec<Case>, VectorError> {
    parse(FILE)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "made_by")]
    _made_by: String,
    cases: Vec<Value>,
}

fn parse(text: &str) -> Result<Vec<Case>, VectorError> {
    let file: File = serde_json::from_str(text).map_err(VectorError::File)?;
    let mut cases: Vec<Case> = Vec::with_capacity(file.cases.len());
    for (place, value) in file.cases.into_iter().enumerate() {
        let id = value["id"].as_str().map_or_else(|| format!("number {}", place + 1), str::to_owned);
        let case: Case = match serde_json::from_value(value) {
            Ok(case) => case,
            Err(error) => return Err(VectorError::Case { id, why: error.to_string() }),
        };
        if cases.iter().any(|known| known.id == case.id) {
            return Err(VectorError::Case { id, why: "it comes twice".into() });
        }
        cases.push(case);
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(cases: &str) -> String {
        format!(r#"{{"made_by": "a test", "cases": [{cases}]}}"#)
    }

    const GOOD: &str = r#"{"id": "rdp-1", "kind": "rdp", "question":
        {"conversion": {"order": 2.0, "divergence": 0.5, "delta": 1e-5}},
        "expect": {"exact": "1.2345678901234567890123"}}"#;

    #[test]
    fn cases_are_read_with_their_types() {
        let cases = parse(&file(GOOD)).unwrap();
        assert_eq!(cases[0].id, "rdp-1");
        assert_eq!(cases[0].question, Question::Conversion { order: 2.0, divergence: 0.5, delta: 1e-5 });
        let Expect::Exact(value) = cases[0].expect else { panic!("{:?}", cases[0]) };
        assert_eq!(value.get(), 1.234_567_890_123_456_8);
    }

    #[test]
    fn errors_name_the_case() {
        for (from, to, reason) in [
            ("\"order\": 2.0, ", "", "missing field `order`"),
            ("\"delta\"", "\"dleta\"", "unknown field `dleta`"),
            ("1.2345678901234567890123", "1.2.3", "`1.2.3` is not a decimal number"),
            ("conversion", "conversation", "unknown variant `conversation`"),
        ] {
            let message = parse(&file(&GOOD.replace(from, to))).unwrap_err().to_string();
            assert!(message.contains("case rdp-1") && message.contains(reason), "{message}");
        }
        let nameless = parse(&file(&GOOD.replace("\"id\": \"rdp-1\",", ""))).unwrap_err().to_string();
        assert!(nameless.contains("case number 1") && nameless.contains("id"), "{nameless}");
        let twice = parse(&file(&format!("{GOOD}, {GOOD}"))).unwrap_err().to_string();
        assert!(twice.contains("case rdp-1") && twice.contains("twice"), "{twice}");
        assert!(parse("{}").unwrap_err().to_string().contains("not readable"));
    }
}
