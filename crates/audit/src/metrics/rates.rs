use super::spread::{Tally, effective};
use super::{Blocks, MetricSettings};
use crate::findings::{Estimate, RateAt};
use crate::interval;

/// How many false positives must be expected before a rate is told.
const EXPECTED: f64 = 10.0;

/// The flagged records at a false-positive rate: all blocks above, and of one that it cuts the share that keeps to the rate.
struct Flagged {
    members: f64,
    non_members: f64,
    /// How many blocks are flagged, that which is cut among them.
    blocks: usize,
    /// Whether the false positives are all that are allowed.
    is_full: bool,
}

/// The true-positive rate of an attacker who flags the highest scores and, of those that tie across the false-positive rate, a
/// random share: the straight segment of the curve.
pub(super) fn at(blocks: &Blocks<'_>, fpr: f64, settings: &MetricSettings) -> RateAt {
    let none = |reason: String| RateAt {
        fpr,
        tpr: None,
        false_positives: None,
        true_positives: None,
        ppv: None,
        reason: Some(reason),
    };
    // Products such as 1000 · 0.01 may fall short of an integer by a rounding.
    let allowed = blocks.non_members as f64 * fpr * (1.0 + 4.0 * f64::EPSILON);
    if allowed < EXPECTED {
        let needed = (EXPECTED / fpr * (1.0 - 4.0 * f64::EPSILON)).ceil();
        return none(format!(
            "{} non-members are too few: at a false-positive rate of {fpr} fewer than {EXPECTED} of them are expected to \
             be flagged; give at least {needed}",
            blocks.non_members
        ));
    }
    let flagged = flagged(blocks, allowed);
    let scale = Scale::new(blocks, flagged.blocks, 1.0 - settings.confidence);
    let tpr = reach(blocks, &flagged, fpr, settings.confidence, &scale);
    let ppv = settings
        .prior
        .and_then(|prior| precision(blocks, &flagged, allowed.floor(), prior, settings.confidence, &scale));
    let reason = (settings.prior.is_some() && ppv.is_none())
        .then(|| "no precision: nobody is flagged at this threshold".to_owned());
    let (fp, tp) = (flagged.non_members.round() as u64, flagged.members.round() as u64);
    RateAt { fpr, tpr: Some(tpr), false_positives: Some(fp), true_positives: Some(tp), ppv, reason }
}

fn flagged(blocks: &Blocks<'_>, allowed: f64) -> Flagged {
    let (mut tp, mut fp) = (0.0, 0.0);
    for (place, (members, non_members)) in blocks.counts.iter().enumerate() {
        let (own, others) = (*members as f64, *non_members as f64);
        if fp + others > allowed {
            // Non-members alone are better left out wholly.
            let share = if *members == 0 { 0.0 } else { (allowed - fp) / others };
            return Flagged {
                members: tp + share * own,
                non_members: fp + share * others,
                blocks: place + 1,
                is_full: share > 0.0 || fp == allowed.floor(),
            };
        }
        tp += own;
        fp += others;
    }
    Flagged { members: tp, non_members: fp, blocks: blocks.counts.len(), is_full: fp == allowed.floor() }
}

/// What share of the records would be as much evidence if records of one user were independent: 1 without users.
struct Scale {
    members: f64,
    non_members: f64,
}

impl Scale {
    fn new(blocks: &Blocks<'_>, flagged: usize, alpha: f64) -> Self {
        Self {
            members: scale(blocks, flagged, true, alpha),
            non_members: scale(blocks, flagged, false, alpha),
        }
    }
}

fn scale(blocks: &Blocks<'_>, flagged: usize, member: bool, alpha: f64) -> f64 {
    let Some((users, places)) = blocks.by_user() else { return blocks.evidence };
    let records = users.iter().zip(places).zip(blocks.membership.members());
    let records = records.filter(|(_, own)| **own == member).map(|(record, _)| record);
    let flags: Vec<(u32, bool)> = records.map(|(user, place)| (*user, (*place as usize) < flagged)).collect();
    effective_share(&flags, alpha) * blocks.evidence
}

/// The effective number of records over their number, for the share of those that are flagged; at most 1.
pub(crate) fn effective_share(flags: &[(u32, bool)], alpha: f64) -> f64 {
    let all = flags.len() as f64;
    let share = flags.iter().filter(|(_, flag)| *flag).count() as f64 / all;
    let mut sums = vec![(0.0, 0.0); flags.iter().map(|(user, _)| *user as usize + 1).max().unwrap_or(0)];
    for (user, flag) in flags {
        let own = &mut sums[*user as usize];
        own.0 += 1.0;
        own.1 += f64::from(u8::from(*flag)) - share;
    }
    let mut tally = Tally::default();
    sums.iter().filter(|(size, _)| *size > 0.0).for_each(|(size, sum)| tally.add(1, *size, *sum));
    let worst = share * (1.0 - share);
    let trials = if worst > 0.0 { effective(worst, tally.spread(worst), alpha) } else { tally.fewest() };
    (trials / all).min(1.0)
}

/// The true-positive rate at a false-positive rate, with an interval for the rate that the law of the scores has, not only for
/// that of one threshold.
///
/// The chance of a new non-member above the k-th highest of n is a Beta(k, n − k + 1) variable, ties broken at random. So a
/// rank k with which it is below `fpr` but for a quarter of the error gives a threshold that is strict enough, and one with
/// which it is above gives one that is lax enough; each gets a Clopper–Pearson limit of the members beyond it, at another
/// quarter. Of the members that tie with a threshold the mean number is counted, rounded to the outside.
fn reach(blocks: &Blocks<'_>, flagged: &Flagged, fpr: f64, confidence: f64, scale: &Scale) -> Estimate {
    let (n, quarter) = (blocks.non_members, (1.0 - confidence) / 4.0);
    let trials = n as f64 * scale.non_members;
    // Pr(Beta(k, n - k + 1) > fpr) is that of fewer than k of n at the rate `fpr`: 1 less the upper tail.
    let tail = |k: u64| interval::effective_tail(k as f64 * scale.non_members, trials, fpr);
    let strict = first_rank(n, |k| 1.0 - tail(k) > quarter) - 1;
    let lax = first_rank(n, |k| tail(k) <= quarter);
    let members = blocks.members as f64 * scale.members;
    let lower = match strict {
        0 => 0.0,
        k => interval::effective_lower(above(blocks, k).floor() * scale.members, members, quarter),
    };
    let upper = match lax {
        k if k > n => 1.0,
        k => interval::effective_upper(above(blocks, k).ceil() * scale.members, members, quarter),
    };
    let value = flagged.members / blocks.members as f64;
    Estimate { value, lower: lower.min(value), upper: upper.max(value), confidence }
}

/// How many members lie above the k-th highest non-member, in the mean over random orders of equal scores.
fn above(blocks: &Blocks<'_>, k: u64) -> f64 {
    let (mut inside, mut before) = (0.0, 0);
    for (members, non_members) in &blocks.counts {
        if before + non_members >= k {
            // The j-th of so many non-members has j shares of the members above it, out of one more than there are of them.
            let j = (k - before) as f64;
            return inside + *members as f64 * j / (*non_members as f64 + 1.0);
        }
        inside += *members as f64;
        before += non_members;
    }
    inside
}

/// The first rank from 1 to n with a property that all later ones have too; n + 1 if none has it.
fn first_rank(n: u64, has: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, n + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if has(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// The share of members among the flagged when a share `prior` of all records are members.
///
/// Both rates are bounded with half of the error each. The threshold is just above the (a + 1)-th highest non-member, a the
/// number allowed, so the chance that a new non-member exceeds it is at most a Beta(a + 1, n − a) variable, with equality for
/// scores without ties: the upper Clopper–Pearson limit of a is a limit for it, and so is the lower one unless ties keep
/// flagged non-members below a.
fn precision(
    blocks: &Blocks<'_>,
    flagged: &Flagged,
    allowed: f64,
    prior: f64,
    confidence: f64,
    scale: &Scale,
) -> Option<Estimate> {
    if flagged.members + flagged.non_members <= 0.0 {
        return None;
    }
    let side = (1.0 - confidence) / 4.0;
    let (n1, n0) = (blocks.members as f64, blocks.non_members as f64);
    let (own, other) = (scale.members, scale.non_members);
    let tpr_low = interval::effective_lower(flagged.members.floor() * own, n1 * own, side);
    let tpr_high = interval::effective_upper(flagged.members.ceil() * own, n1 * own, side);
    let fpr_low =
        if flagged.is_full { interval::effective_lower(allowed * other, n0 * other, side) } else { 0.0 };
    let fpr_high = interval::effective_upper(allowed * other, n0 * other, side);
    let share = |tpr: f64, fpr: f64| {
        let flagged = prior * tpr + (1.0 - prior) * fpr;
        if flagged > 0.0 { prior * tpr / flagged } else { 0.0 }
    };
    let value = share(flagged.members / n1, flagged.non_members / n0);
    Some(Estimate {
        value,
        lower: (share(tpr_low, fpr_high) * (1.0 - 8.0 * f64::EPSILON)).min(value),
        upper: (share(tpr_high, fpr_low) * (1.0 + 8.0 * f64::EPSILON)).min(1.0).max(value),
        confidence,
    })
}
