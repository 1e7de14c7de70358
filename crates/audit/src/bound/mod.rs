#![doc = include_str!("proof.md")]
//!
//! # In code
//! [`lower`] takes scores beside the truth, a [`BoundMethod`] and [`BoundSettings`]. What a method asks of the experiment is in
//! [`EpsilonLower::premise`]; no method can check it.

mod family;
mod fdp;
mod guess;
mod independent;
mod logistic;
mod one_run;

pub use family::{AccountedFamily, Family, Tradeoff, TradeoffCurve};
pub use fdp::rejects;
pub use one_run::p_value;

use crate::findings::EpsilonLower;
use crate::{AuditError, Game, Membership};
use reticent_core::{Confidence, Delta};
use reticent_data::keyed_hash;
use std::collections::BTreeMap;

/// How guesses or thresholds are chosen, and so what pays for the choice.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum ThresholdSelection {
    /// By the number of records. One-run methods: below 4 000 records a share that is a function of their number alone, see
    /// [`share_of_guesses`], with three quarters of the error, and guesses chosen on a held-out tenth with the rest; where equal
    /// scores stand in the way of that many guesses, and from 4 000 records on, only the latter. Trade-off curves: always that share. Independent rows: a held-out tenth.
    #[default]
    BySize,
    /// On a share of the records, drawn by keyed hash, whose memberships count for nothing else. Not for trade-off curves.
    HeldOut {
        /// Which share, strictly between 0 and 1.
        share: f64,
    },
    /// Every choice of a list fixed before the data were seen; each gets its part of the error.
    Grid,
    /// One choice declared before the data were seen; it costs nothing. For ideal canaries and ε from 1 to 8 guessing a
    /// twentieth does better than a choice on held-out records.
    Declared {
        /// One-run methods: the share of records that is guessed, one half from each end of the scores. Methods with
        /// independent rows: the false-positive rate, and on the other side the false-negative rate, to aim at.
        share: f64,
    },
}

/// The share of records that is guessed where nothing else decides it: 250 of them, and between a twentieth and three tenths.
/// For ideal canaries and ε from 1 to 4 this comes within a tenth of the best share, from 250 records to 5 000.
pub fn share_of_guesses(records: usize) -> f64 {
    (250.0 / records.max(1) as f64).clamp(0.05, 0.3)
}

/// From how many records on a choice on held-out ones is worth their loss.
const MANY: usize = 4_000;

/// The held-out share where none is asked for.
const HELD_OUT: f64 = 0.1;

/// What a bound is for.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundSettings {
    /// The δ of the guarantee that is tested.
    pub delta: f64,
    /// How sure the bound must be.
    pub confidence: f64,
    /// The key of every split. Choose it before the memberships are known.
    pub key: String,
    /// How guesses or thresholds are chosen.
    pub selection: ThresholdSelection,
    /// One-run methods: the probability with which each record was included, by its own coin flip. Other than ½, the more frequent
    /// side is thinned by keyed hash until the coin is fair.
    pub inclusion: f64,
    /// What one coin decided on: whom the bound is about.
    pub game: Game,
    /// Random bits drawn after the scores were made and the rows put in order. They break ties between equal scores where the number
    /// of guesses is fixed beforehand: without them, guesses among tied records that a cut divides count as wrong. They thin
    /// records whose coin is not fair, and match members of a fixed number with others, of which there is no bound without them.
    pub fresh: Option<u64>,
}

impl BoundSettings {
    /// 95 % confidence, guesses by the number of records, fair coins of single records, and no random bits for ties.
    pub fn new(delta: f64, key: impl Into<String>) -> Self {
        Self {
            delta,
            confidence: Confidence::P95.get(),
            key: key.into(),
            selection: ThresholdSelection::default(),
            inclusion: 0.5,
            game: Game::RECORDS,
            fresh: None,
        }
    }

    /// Checks all settings.
    ///
    /// # Errors
    /// [`AuditError::Invalid`] for a δ outside of [0, 1), a confidence below ½ or not below 1, and shares or inclusion
    /// probabilities that are not strictly between 0 and 1.
    pub fn check(&self) -> Result<(), AuditError> {
        Delta::new(self.delta)?;
        if !(self.confidence >= 0.5 && self.confidence < 1.0) {
            let remedy = "give a number from 0.5 to below 1, e.g. 0.95";
            return Err(AuditError::setting("confidence", self.confidence, remedy));
        }
        let share = match self.selection {
            ThresholdSelection::HeldOut { share } if !(share > 0.0 && share < 1.0) => Some(share),
            ThresholdSelection::Declared { share } if !(share > 0.0 && share <= 1.0) => Some(share),
            _ => None,
        };
        if let Some(share) = share {
            return Err(AuditError::setting("share", share, "give a share between 0 and 1, e.g. 0.1"));
        }
        if !(self.inclusion > 0.0 && self.inclusion < 1.0) {
            let remedy = "give the probability with which each record was included, e.g. 0.5";
            return Err(AuditError::setting("inclusion", self.inclusion, remedy));
        }
        Ok(())
    }

    fn alpha(&self) -> f64 {
        1.0 - self.confidence
    }
}

/// How a lower bound on ε follows.
#[derive(Debug, Clone, Copy)]
pub enum BoundMethod<'a> {
    /// One training run, every record put in or not by its own coin; nothing else is assumed.
    OneRun,
    /// The same experiment, by trade-off curves: of (ε, δ) itself, or of a declared family.
    FDp(Tradeoff<'a>),
    /// Every row stands for its own, independent run.
    ClopperPearson,
    /// Independent rows of a mechanism that is declared to be Gaussian.
    Gaussian,
}

/// A lower bound on ε at δ.
///
/// # Guarantee
/// If the premise stated in the result is true, the mechanism is not (ε, δ)-differentially private for any ε below the
/// returned value, with the stated confidence over the randomness of memberships and mechanism. 0 says nothing.
///
/// # Reference
/// Steinke, Nasr, Jagielski, *Privacy auditing with one (1) training run* (2023); Mahloujifar, Melis, Chaudhuri, *Auditing
/// f-differential privacy in one run* (2024); Clopper, Pearson (1934); Dong, Roth, Su (2022). The proofs are in [`self`].
///
/// # Errors
/// As [`BoundSettings::check`]; [`AuditError::Invalid`] for δ = 0 with a Gaussian family;
/// [`AuditError::NotMeasurable`] when too few records are left after a split or a thinning, or when the number of members
/// contradicts the declared inclusion probability; what a declared family refuses.
pub fn lower(
    membership: &Membership,
    method: BoundMethod<'_>,
    settings: &BoundSettings,
) -> Result<EpsilonLower, AuditError> {
    settings.check()?;
    let selection = match (settings.selection, method) {
        (ThresholdSelection::BySize, BoundMethod::FDp(_)) => {
            ThresholdSelection::Declared { share: share_of_guesses(membership.len()) }
        }
        (ThresholdSelection::BySize, BoundMethod::ClopperPearson | BoundMethod::Gaussian) => {
            ThresholdSelection::HeldOut { share: HELD_OUT }
        }
        (selection, _) => selection,
    };
    let settings = &BoundSettings { key: mixed(&settings.key, membership), selection, ..settings.clone() };
    let untied = untied(membership, settings)?;
    let playing = untied.as_ref().unwrap_or(membership);
    let mut found = match method {
        BoundMethod::OneRun => one_run::lower(playing, settings),
        BoundMethod::FDp(family) => fdp::lower(playing, family, settings),
        BoundMethod::ClopperPearson => independent::clopper_pearson(playing, settings),
        BoundMethod::Gaussian => independent::gaussian(playing, settings),
    }?;
    if untied.is_some() {
        found.correction += "; equal scores put in a random order";
    }
    Ok(found)
}

/// The ranks of the scores, equal ones in the order of fresh random bits; none where no score occurs twice, where there are no
/// bits, and where a held-out choice can go around ties.
fn untied(membership: &Membership, settings: &BoundSettings) -> Result<Option<Membership>, AuditError> {
    let Some(fresh) = settings.fresh else { return Ok(None) };
    if !matches!(settings.selection, ThresholdSelection::Declared { .. } | ThresholdSelection::Grid) {
        return Ok(None);
    }
    let key = format!("{}, ties {fresh:016x}", settings.key);
    // Adding 0 makes both zeros one.
    let score = |row: usize| membership.scores()[row] + 0.0;
    let mut order: Vec<(usize, u64)> =
        (0..membership.len()).map(|row| (row, guess::hash(&key, "tie", row))).collect();
    order.sort_unstable_by(|a, b| score(a.0).total_cmp(&score(b.0)).then(a.1.cmp(&b.1)));
    if order.windows(2).all(|pair| score(pair[0].0) != score(pair[1].0)) {
        return Ok(None);
    }
    let mut ranks = vec![0.0; membership.len()];
    order.iter().enumerate().for_each(|(rank, (row, _))| ranks[*row] = rank as f64);
    Membership::new(ranks, membership.members().to_vec()).map(Some)
}

/// The key of all splits: the caller's with the scores in rising order, so that the numbers of rows are hashed anew for every
/// output of the mechanism, and an order of rows that tells who is a member does not meet the same split twice.
fn mixed(key: &str, membership: &Membership) -> String {
    let mut scores = membership.scores().to_vec();
    scores.sort_unstable_by(f64::total_cmp);
    let bytes: Vec<u8> = scores.iter().flat_map(|score| score.to_le_bytes()).collect();
    format!("{key}, scores {:016x}", keyed_hash(key, &bytes))
}

/// A finding from its parts.
fn finding(
    settings: &BoundSettings,
    value: f64,
    method: &str,
    correction: String,
    mut premise: String,
    counts: &[(&str, u64)],
) -> EpsilonLower {
    if let ThresholdSelection::Declared { .. } = settings.selection {
        premise.push_str("; the share of guesses was fixed before any score was seen");
    }
    let Game { unit, unit_records, neighboring, .. } = settings.game;
    EpsilonLower {
        value: if value > 0.0 { value } else { 0.0 },
        delta: settings.delta,
        confidence: settings.confidence,
        method: method.to_owned(),
        correction,
        premise,
        unit,
        unit_records,
        neighboring,
        counts: counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect::<BTreeMap<_, _>>(),
    }
}

/// The largest parameter that is rejected, given that rejection is monotone; 0 when none is. At most `most`.
fn largest_rejected(
    most: f64,
    mut rejected: impl FnMut(f64) -> Result<bool, AuditError>,
) -> Result<f64, AuditError> {
    if !rejected(0.0)? {
        return Ok(0.0);
    }
    let (mut low, mut high) = (0.0, 1.0_f64.min(most));
    while high < most && rejected(high)? {
        low = high;
        high = (2.0 * high).min(most);
    }
    // 2⁻²⁶ of the value is far below what sampling tells; the end that was rejected is returned.
    while high - low > 1.5e-8 * high.max(1e-3) {
        let middle = 0.5 * (low + high);
        if rejected(middle)? {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests;
