//! How well scores tell members from non-members, every number with an interval that says how far it can be trusted.
//!
//! | number | interval |
//! |---|---|
//! | area under the curve | Clopper–Pearson for an effective number of trials, from DeLong's variance |
//! | advantage, balanced accuracy | bands around both distribution functions, valid although the best threshold was chosen |
//! | true-positive rate at a false-positive rate | Clopper–Pearson, at a threshold that non-members alone decide |
//! | precision at a declared prior | Clopper–Pearson for both rates at once |
//!
//! Intervals treat members, and non-members, as independent draws of a population; with [`Membership::with_users`], users
//! with all their records.
#![doc = include_str!("proof.md")]

mod area;
mod curve;
mod histogram;
mod rates;
mod spread;

pub(crate) use curve::FEWEST;
pub(crate) use rates::effective_share;
pub(crate) use spread::Tally;

use crate::findings::{Estimate, Performance, RateAt};
use crate::{AuditError, AuditUnit, Membership, interval};
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
            Err(AuditError::setting(field, value, "give a number strictly between 0 and 1, e.g. 0.01"))
        };
        self.rates.iter().try_for_each(|rate| inside("fpr", *rate))?;
        self.prior.iter().try_for_each(|prior| inside("prior", *prior))
    }
}

/// Scores, the highest first, gathered into blocks of equal scores.
pub(crate) struct Blocks<'a> {
    membership: &'a Membership,
    /// Members and non-members of every block.
    counts: Vec<(u64, u64)>,
    /// The block of every record, where records have users.
    places: Vec<u32>,
    members: u64,
    non_members: u64,
    /// The share of the records that would be as much evidence if their scores were independent.
    evidence: f64,
}

impl<'a> Blocks<'a> {
    pub(crate) fn new(membership: &'a Membership, evidence: f64) -> Self {
        let scores = membership.scores();
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_unstable_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        let mut counts = Vec::new();
        let mut places = vec![0; if membership.users().is_some() { scores.len() } else { 0 }];
        // Both zeros are one score.
        for block in order.chunk_by(|a, b| scores[*a] == scores[*b]) {
            let members = block.iter().filter(|record| membership.members()[**record]).count() as u64;
            if !places.is_empty() {
                block.iter().for_each(|record| places[*record] = counts.len() as u32);
            }
            counts.push((members, block.len() as u64 - members));
        }
        let (members, non_members) = (membership.member_count(), membership.non_member_count());
        Self {
            membership,
            counts,
            places,
            members: members as u64,
            non_members: non_members as u64,
            evidence,
        }
    }

    /// The user and the block of every record; none when records are independent.
    fn by_user(&self) -> Option<(&[u32], &[u32])> {
        self.membership.users().map(|users| (users, self.places.as_slice()))
    }

    /// How far the distribution function of one kind of records may be from what was seen, but for probability `alpha`.
    ///
    /// The first records of all users are independent draws, so are the second ones, and so on: each lot has its band, at an
    /// equal part of the error, and their mean is one for all.
    fn band(&self, member: bool, alpha: f64) -> f64 {
        let Some((users, _)) = self.by_user() else {
            let records = if member { self.members } else { self.non_members };
            return interval::band((records as f64 * self.evidence).floor().max(1.0) as u64, alpha);
        };
        let mut sizes = vec![0_usize; users.iter().max().map_or(0, |most| *most as usize + 1)];
        let own = users.iter().zip(self.membership.members()).filter(|(_, own)| **own == member);
        own.for_each(|(user, _)| sizes[*user as usize] += 1);
        let most = sizes.iter().max().copied().unwrap_or(0);
        let mut lots = vec![0_u64; most];
        sizes.iter().filter(|size| **size > 0).for_each(|size| lots[*size - 1] += 1);
        let (mut users, mut sum, mut records) = (0, 0.0, 0);
        for lot in lots.iter().rev() {
            users += lot;
            let independent = (users as f64 * self.evidence).floor().max(1.0) as u64;
            sum += users as f64 * interval::band(independent, alpha / most as f64);
            records += users;
        }
        (sum / records.max(1) as f64).min(1.0)
    }
}

/// All numbers about one attack. The curve and the histogram are coarse: a step or a bin is a sum over at least 10 members and 10
/// non-members, but for the steps to the ends, so that a record's place among the scores does not tell whether it was a member.
/// That is no guarantee of differential privacy.
///
/// # Guarantee
/// The intervals of the rates, the advantage and the balanced accuracy cover the truth with the stated confidence, each by
/// itself, for independent records without ties; with ties or users, and for the area, coverage was measured (in [`self`]).
///
/// # Reference
/// DeLong, DeLong, Clarke-Pearson (1988); Obuchowski (1997); Korn, Graubard (1998); Clopper, Pearson (1934); Massart (1990).
///
/// # Errors
/// As [`MetricSettings::check`].
pub fn measure(membership: &Membership, settings: &MetricSettings) -> Result<Performance, AuditError> {
    measure_dependent(membership, settings, 1.0)
}

/// [`measure`] for scores that depend on each other, so that only a share of the records is independent evidence.
pub(crate) fn measure_dependent(
    membership: &Membership,
    settings: &MetricSettings,
    evidence: f64,
) -> Result<Performance, AuditError> {
    settings.check()?;
    let blocks = Blocks::new(membership, evidence);
    let advantage = advantage(&blocks, settings.confidence);
    let half = |x: f64| 0.5 + 0.5 * x;
    let rates: Vec<RateAt> = settings.rates.iter().map(|fpr| rates::at(&blocks, *fpr, settings)).collect();
    let mut cuts = curve::Cuts::new(&blocks, &rates);
    let histogram = histogram::histogram(membership, &mut cuts);
    Ok(Performance {
        unit: AuditUnit::Record,
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
        rates,
        prior: settings.prior,
        roc: cuts.curve(&blocks),
        histogram,
    })
}

/// The largest gap between the two distribution functions. Both are known to within their bands, which hold with half of
/// the error each; the largest gap of the truth is then within the sum of the bands, whichever threshold attains it.
fn advantage(blocks: &Blocks<'_>, confidence: f64) -> Estimate {
    let (mut tp, mut fp, mut best) = (0, 0, 0.0_f64);
    for (members, non_members) in &blocks.counts {
        tp += members;
        fp += non_members;
        best = best.max(tp as f64 / blocks.members as f64 - fp as f64 / blocks.non_members as f64);
    }
    let alpha = (1.0 - confidence) / 2.0;
    let slack = blocks.band(true, alpha) + blocks.band(false, alpha);
    Estimate { value: best, lower: (best - slack).max(0.0), upper: (best + slack).min(1.0), confidence }
}

#[cfg(test)]
mod tests;
