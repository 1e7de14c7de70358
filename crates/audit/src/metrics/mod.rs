//! How well scores tell members from non-members, every number with an interval that says how far it can be trusted.
//!
//! | number | interval |
//! |---|---|
//! | area under the curve | DeLong's variance, normal on the logit scale (asymptotic); without variance, a distribution-free one |
//! | advantage, balanced accuracy | bands around both distribution functions, valid although the best threshold was chosen |
//! | true-positive rate at a false-positive rate | Clopper–Pearson, at a threshold that non-members alone decide |
//! | precision at a declared prior | Clopper–Pearson for both rates at once |
//!
//! Intervals treat members, and non-members, as independent draws of a population.

mod area;
mod curve;
mod histogram;
mod rates;

use crate::findings::{Estimate, Performance};
use crate::{AuditError, Membership, Unit, interval};
use reticent_core::Confidence;

/// What [`measure`] should say.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricSettings {
    /// The confidence of every interval by itself.
    pub confidence: f64,
    /// The false-positive rates at which true-positive rates are wanted.
    pub rates: Vec<f64>,
    /// The share of members among the records an attacker would try, declared; none for no precision.
    pub prior: Option<f64>,
}

impl Default for MetricSettings {
    fn default() -> Self {
        Self { confidence: Confidence::P95.get(), rates: vec![1e-1, 1e-2, 1e-3, 1e-4], prior: None }
    }
}

impl MetricSettings {
    /// Checks all settings.
    ///
    /// # Errors
    /// [`AuditError::Invalid`] for a confidence, a rate or a prior that is not strictly between 0 and 1.
    pub fn check(&self) -> Result<(), AuditError> {
        Confidence::new(self.confidence)?;
        let inside = |field: &'static str, value: f64| {
            if value > 0.0 && value < 1.0 {
                return Ok(());
            }
            Err(AuditError::invalid(field, value, "give a number strictly between 0 and 1, e.g. 0.01"))
        };
        self.rates.iter().try_for_each(|rate| inside("fpr", *rate))?;
        self.prior.iter().try_for_each(|prior| inside("prior", *prior))
    }
}

/// Scores, the highest first, gathered into blocks of equal scores.
pub(crate) struct Blocks {
    /// Members and non-members of every block.
    counts: Vec<(u64, u64)>,
    members: u64,
    non_members: u64,
}

impl Blocks {
    pub(crate) fn new(membership: &Membership) -> Self {
        let mut records: Vec<(f64, bool)> =
            membership.scores().iter().copied().zip(membership.members().iter().copied()).collect();
        records.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        // Both zeros are one score.
        let blocks = records.chunk_by(|a, b| a.0 == b.0);
        let counts = blocks
            .map(|block| {
                let members = block.iter().filter(|record| record.1).count() as u64;
                (members, block.len() as u64 - members)
            })
            .collect();
        let (members, non_members) = (membership.member_count(), membership.non_member_count());
        Self { counts, members: members as u64, non_members: non_members as u64 }
    }
}

/// All numbers about one attack.
///
/// # Guarantee
/// The intervals of the rates, the advantage and the balanced accuracy cover the truth with the stated confidence, each by
/// itself, for independent records; those of the area do so for many records.
///
/// # Reference
/// DeLong, DeLong, Clarke-Pearson (1988); Clopper, Pearson (1934); Massart (1990).
///
/// # Errors
/// As [`MetricSettings::check`].
pub fn measure(membership: &Membership, settings: &MetricSettings) -> Result<Performance, AuditError> {
    settings.check()?;
    let blocks = Blocks::new(membership);
    let advantage = advantage(&blocks, settings.confidence);
    let half = |x: f64| 0.5 + 0.5 * x;
    Ok(Performance {
        unit: Unit::Record,
        members: blocks.members,
        non_members: blocks.non_members,
        auc: area::area(&blocks, settings.confidence),
        balanced_accuracy: Estimate {
            value: half(advantage.value),
            lower: half(advantage.lower),
            upper: half(advantage.upper),
            confidence: settings.confidence,
        },
        advantage,
        rates: settings.rates.iter().map(|fpr| rates::at(&blocks, *fpr, settings)).collect(),
        prior: settings.prior,
        roc: curve::corners(&blocks),
        histogram: histogram::histogram(membership),
    })
}

/// The largest gap between the two distribution functions. Both are known to within their bands, which hold with half of
/// the error each; the largest gap of the truth is then within the sum of the bands, whichever threshold attains it.
fn advantage(blocks: &Blocks, confidence: f64) -> Estimate {
    let (mut tp, mut fp, mut best) = (0, 0, 0.0_f64);
    for (members, non_members) in &blocks.counts {
        tp += members;
        fp += non_members;
        best = best.max(tp as f64 / blocks.members as f64 - fp as f64 / blocks.non_members as f64);
    }
    let alpha = (1.0 - confidence) / 2.0;
    let slack = interval::band(blocks.members, alpha) + interval::band(blocks.non_members, alpha);
    Estimate { value: best, lower: (best - slack).max(0.0), upper: (best + slack).min(1.0), confidence }
}

#[cfg(test)]
mod tests;
