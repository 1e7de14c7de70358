//! An answer as a budget keeps it: everything that the outcome has, so that it comes back as it was given.

use super::clamp::Clamped;
use super::mechanism::{MechanismKind, MechanismSummary};
use super::outcome::{ReleasedAnswer, ReleasedValue};
use super::settled::SettledQuestion;
use reticent_core::Certificate;
use serde::{Deserialize, Serialize};

/// The fields of a [`ReleasedAnswer`], those included that its JSON leaves out.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeptAnswer {
    query: SettledQuestion,
    found: KeptValue,
    confidence: f64,
    clamped: Option<(f64, [f64; 2])>,
    certificate: Certificate,
    mechanism: MechanismKind,
    noise_multiplier: Option<f64>,
    counts_clamped: bool,
    target: Option<f64>,
    warnings: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum KeptValue {
    Number { value: f64, interval: [f64; 2], whole: bool },
    Counts { labels: Vec<String>, values: Vec<f64>, intervals: Vec<[f64; 2]> },
    Choice { label: String, shortfall: f64 },
}

impl From<&ReleasedAnswer> for KeptAnswer {
    fn from(answer: &ReleasedAnswer) -> Self {
        let found = match answer.found.clone() {
            ReleasedValue::Number { value, interval, whole } => KeptValue::Number { value, interval, whole },
            ReleasedValue::Counts { labels, values, intervals } => {
                KeptValue::Counts { labels, values, intervals }
            }
            ReleasedValue::Choice { label, shortfall } => KeptValue::Choice { label, shortfall },
        };
        Self {
            query: answer.query.clone(),
            found,
            confidence: answer.confidence,
            clamped: answer.clamped.as_ref().map(|clamped| (clamped.value, clamped.interval)),
            certificate: answer.certificate.clone(),
            mechanism: answer.mechanism.kind,
            noise_multiplier: answer.mechanism.noise_multiplier,
            counts_clamped: answer.mechanism.counts_clamped,
            target: answer.target,
            warnings: answer.warnings.clone(),
        }
    }
}

impl From<KeptAnswer> for ReleasedAnswer {
    fn from(kept: KeptAnswer) -> Self {
        let found = match kept.found {
            KeptValue::Number { value, interval, whole } => ReleasedValue::Number { value, interval, whole },
            KeptValue::Counts { labels, values, intervals } => {
                ReleasedValue::Counts { labels, values, intervals }
            }
            KeptValue::Choice { label, shortfall } => ReleasedValue::Choice { label, shortfall },
        };
        Self {
            query: kept.query,
            found,
            confidence: kept.confidence,
            clamped: kept.clamped.map(|(value, interval)| Clamped { value, interval }),
            certificate: kept.certificate,
            mechanism: MechanismSummary {
                kind: kept.mechanism,
                noise_multiplier: kept.noise_multiplier,
                counts_clamped: kept.counts_clamped,
            },
            target: kept.target,
            warnings: kept.warnings,
        }
    }
}
