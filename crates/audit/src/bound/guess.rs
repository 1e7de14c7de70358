//! Guesses for the one-run game: which records are guessed, as what, and how many guesses are right.

use super::logistic::{Logistic, normal_scores, quick_quantile};
use super::{BoundSettings, HELD_OUT, MANY, ThresholdSelection, share_of_guesses};
use crate::{AuditError, Membership, interval};
use reticent_data::keyed_hash;

/// Guesses made by one rule, and how they turned out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Guesses {
    /// How many records were guessed members.
    pub(super) inside: u64,
    /// How many were guessed non-members.
    pub(super) outside: u64,
    /// How many guesses were right.
    pub(super) correct: u64,
    /// The part of the error that the rule gets.
    pub(super) weight: f64,
}

impl Guesses {
    pub(super) fn made(&self) -> u64 {
        self.inside + self.outside
    }
}

/// All rules that are tried; the parts of the error that they get add up to all of it.
pub(super) struct Rounds {
    /// One entry per rule.
    pub(super) tried: Vec<Guesses>,
    /// How many records were randomised.
    pub(super) randomised: u64,
    /// How many of them could be guessed: those that were neither thinned away nor held out.
    pub(super) open: u64,
    /// Whether the number of guesses hangs on the scores.
    pub(super) is_adaptive: bool,
    /// What pays for the choice.
    pub(super) correction: String,
}

/// What a number of guesses with an expected share of right ones promises: the lower end of Wilson's interval for that share.
/// A fifth of the error, since expected shares are optimistic where few guesses look best.
fn promise(share: f64, guesses: u64, alpha: f64) -> f64 {
    let (n, z) = (guesses as f64, quick_quantile(alpha / 5.0));
    let centre = share + z * z / (2.0 * n);
    (centre - z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt()) / (1.0 + z * z / n)
}

/// What guesses chosen on held-out records get of the error beside a number of guesses that is fixed by that of the records: a
/// leak of a few records is found by the former, one that all share by the latter.
const CHOSEN_PART: f64 = 0.25;

/// A record that may be guessed.
struct Record {
    score: f64,
    member: bool,
    hash: u64,
}

/// A hash as a number in [0, 1).
fn unit(hash: u64) -> f64 {
    (hash >> 11) as f64 / (1_u64 << 53) as f64
}

/// A hash of the number of a row, which knows nothing of its score or its membership.
pub(super) fn hash(key: &str, purpose: &str, row: usize) -> u64 {
    let mut bytes = purpose.as_bytes().to_vec();
    bytes.extend((row as u64).to_le_bytes());
    keyed_hash(key, &bytes)
}

/// The guesses of every rule. Choices see scores, hashes of row numbers and the memberships of held-out records only.
pub(super) fn play(membership: &Membership, settings: &BoundSettings) -> Result<Rounds, AuditError> {
    let randomised = membership.len() as u64;
    let (records, thinned) = fair(membership, settings)?;
    let too_few = || {
        AuditError::not_measurable(format!(
            "{} records are too few to choose guesses and test them: audit more",
            records.len()
        ))
    };
    if records.len() < 2 {
        return Err(too_few());
    }
    let (tried, open, correction) = match settings.selection {
        ThresholdSelection::HeldOut { share } => {
            let (guesses, open, correction) =
                held_out(&records, share, settings.alpha()).ok_or_else(too_few)?;
            (vec![guesses], open, correction)
        }
        ThresholdSelection::BySize => {
            // The number of records does not hang on the scores; whether its share can be guessed does.
            let share = share_of_guesses(membership.len());
            let count = ((share * records.len() as f64).round() as usize).clamp(1, records.len());
            let order = by_score(&records);
            if membership.len() < MANY && !is_torn(&records, &order, count) {
                let fixed = Guesses { weight: 1.0 - CHOSEN_PART, ..both_ends(&records, &order, count) };
                let (chosen, _, how) =
                    held_out(&records, HELD_OUT, CHOSEN_PART * settings.alpha()).ok_or_else(too_few)?;
                let correction = format!(
                    "{count} guesses, a number fixed by that of the records, with {} of the error, and {how}, with {CHOSEN_PART}",
                    1.0 - CHOSEN_PART
                );
                (vec![fixed, Guesses { weight: CHOSEN_PART, ..chosen }], records.len(), correction)
            } else {
                let (guesses, open, correction) =
                    held_out(&records, HELD_OUT, settings.alpha()).ok_or_else(too_few)?;
                (vec![guesses], open, correction)
            }
        }
        ThresholdSelection::Grid => {
            let mut count = records.len();
            let mut tried = vec![];
            let order = by_score(&records);
            while count >= 8 || tried.is_empty() {
                tried.push(both_ends(&records, &order, count));
                count /= 2;
            }
            let weight = 1.0 / tried.len() as f64;
            tried.iter_mut().for_each(|guesses| guesses.weight = weight);
            let correction = format!("{} fixed numbers of guesses, the error shared equally", tried.len());
            (tried, records.len(), correction)
        }
        ThresholdSelection::Declared { share } => {
            let count = ((share * records.len() as f64).round() as usize).clamp(1, records.len());
            let correction = format!("{count} guesses; their share was given ({share})");
            (vec![both_ends(&records, &by_score(&records), count)], records.len(), correction)
        }
    };
    let is_adaptive =
        matches!(settings.selection, ThresholdSelection::HeldOut { .. } | ThresholdSelection::BySize);
    Ok(Rounds { tried, randomised, open: open as u64, is_adaptive, correction: correction + &thinned })
}

/// Guesses chosen on held-out records, how many records were open to them, and words about it; none when no record is left.
fn held_out(records: &[Record], share: f64, alpha: f64) -> Option<(Guesses, usize, String)> {
    let below = (share * u64::MAX as f64) as u64;
    let (pilot, open): (Vec<usize>, Vec<usize>) =
        (0..records.len()).partition(|place| records[*place].hash < below);
    if open.is_empty() {
        return None;
    }
    let guesses = chosen(records, &pilot, &open, alpha);
    let correction = format!(
        "guesses chosen on {} held-out records (share {share}), tested on the other {}",
        pilot.len(),
        open.len()
    );
    Some((guesses, open.len(), correction))
}

/// The records after thinning: given who is left, each is a member by a fair coin of its own.
fn fair(membership: &Membership, settings: &BoundSettings) -> Result<(Vec<Record>, String), AuditError> {
    let p = settings.inclusion;
    let (members, all) = (membership.member_count() as u64, membership.len() as u64);
    let (low, high) = interval::two_sided(members, all, 1e-6);
    if p < low || p > high {
        return Err(AuditError::not_measurable(format!(
            "{members} of {all} records are members, which contradicts that each was included with probability {p}: audit \
             records that were each included by an independent coin flip, and declare its `inclusion` probability"
        )));
    }
    let (keep_member, keep_other) = if p > 0.5 { ((1.0 - p) / p, 1.0) } else { (1.0, p / (1.0 - p)) };
    let mut records = Vec::with_capacity(membership.len());
    let fresh = settings.fresh.map(|bits| format!(", thinned by {bits:016x}")).unwrap_or_default();
    let thinning = format!("{}{fresh}", settings.key);
    for (place, (score, member)) in membership.scores().iter().zip(membership.members()).enumerate() {
        let keep = if *member { keep_member } else { keep_other };
        if keep < 1.0 && unit(hash(&thinning, "thin", place)) >= keep {
            continue;
        }
        records.push(Record { score: *score, member: *member, hash: hash(&settings.key, "order", place) });
    }
    let note = if records.len() < membership.len() {
        let side = if p > 0.5 { "members" } else { "non-members" };
        let by = if settings.fresh.is_some() { "fresh random bits" } else { "keyed hash" };
        format!("; {side} thinned by {by} to a fair coin, {} of {all} records left", records.len())
    } else {
        String::new()
    };
    Ok((records, note))
}

/// Places from the highest score to the lowest; equal scores in the order of their hashes, never in that of the rows, which
/// may tell who is a member.
fn by_score(records: &[Record]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..records.len()).collect();
    order.sort_unstable_by(|a, b| {
        let (a, b) = (&records[*a], &records[*b]);
        // Adding 0 makes both zeros one.
        (b.score + 0.0).total_cmp(&(a.score + 0.0)).then(a.hash.cmp(&b.hash))
    });
    order
}

/// The score that a cut before this place goes through.
fn torn(records: &[Record], order: &[usize], cut: usize) -> Option<f64> {
    let score = |place: usize| records[order[place]].score + 0.0;
    (cut > 0 && cut < order.len() && score(cut - 1) == score(cut)).then(|| score(cut))
}

/// Whether one half of so many guesses from each end would divide records of equal score.
fn is_torn(records: &[Record], order: &[usize], count: usize) -> bool {
    let inside = count.div_ceil(2);
    [inside, order.len() - (count - inside)].iter().any(|cut| torn(records, order, *cut).is_some())
}

/// One half of the guesses from each end. Where a cut goes through records of equal score, those within it are counted as
/// wrong guesses: which of them are taken would hang on the order of the rows, which may tell who is a member.
fn both_ends(records: &[Record], order: &[usize], count: usize) -> Guesses {
    let inside = count.div_ceil(2);
    let outside = count - inside;
    let (first, last) = (torn(records, order, inside), torn(records, order, order.len() - outside));
    let counts =
        |place: &&usize, torn: Option<f64>| torn.is_none_or(|torn| records[**place].score + 0.0 != torn);
    let right =
        order[..inside].iter().filter(|place| records[**place].member && counts(place, first)).count();
    let also_right = order[order.len() - outside..]
        .iter()
        .filter(|place| !records[**place].member && counts(place, last))
        .count();
    Guesses {
        inside: inside as u64,
        outside: outside as u64,
        correct: (right + also_right) as u64,
        weight: 1.0,
    }
}

/// The guesses a fit to the pilot makes on the open records: the most confident ones, as many as promise most. Records that
/// are equally sure, those of equal score among them, are guessed all or not at all.
fn chosen(records: &[Record], pilot: &[usize], open: &[usize], alpha: f64) -> Guesses {
    let scores: Vec<f64> = records.iter().map(|record| record.score).collect();
    let z = normal_scores(&scores);
    let pairs: Vec<(f64, bool)> = pilot.iter().map(|place| (z[*place], records[*place].member)).collect();
    let fit = Logistic::fit(&pairs);
    let mut guesses: Vec<(f64, usize)> = open.iter().map(|place| (fit.log_odds(z[*place]), *place)).collect();
    guesses.sort_unstable_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let (mut best, mut most) = (f64::NEG_INFINITY, guesses.len());
    let (mut sum, mut next) = (0.0, 4.0_f64.min(guesses.len() as f64));
    for (place, (log_odds, _)) in guesses.iter().enumerate() {
        sum += Logistic::chance(*log_odds);
        let count = place + 1;
        let is_last = guesses.get(count).is_none_or(|(next, _)| next.abs() != log_odds.abs());
        if is_last && (count as f64 >= next || count == guesses.len()) {
            let promised = promise(sum / count as f64, count as u64, alpha);
            if promised > best {
                (best, most) = (promised, count);
            }
            next = next.max(count as f64) * 1.12;
        }
    }
    let mut made = Guesses { inside: 0, outside: 0, correct: 0, weight: 1.0 };
    for (log_odds, place) in &guesses[..most] {
        let inside = *log_odds > 0.0;
        *(if inside { &mut made.inside } else { &mut made.outside }) += 1;
        made.correct += u64::from(records[*place].member == inside);
    }
    made
}
