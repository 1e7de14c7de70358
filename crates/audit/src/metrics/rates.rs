use super::{Blocks, MetricSettings};
use crate::findings::{Estimate, RateAt};
use crate::interval;

/// How many false positives must be expected before a rate is told.
const EXPECTED: f64 = 10.0;

/// The true-positive rate at the least strict threshold that flags at most a share `fpr` of the non-members. A block of
/// equal scores is flagged wholly or not at all.
pub(super) fn at(blocks: &Blocks, fpr: f64, settings: &MetricSettings) -> RateAt {
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
    let allowed = allowed.floor() as u64;
    let (mut tp, mut fp) = (0, 0);
    for (members, non_members) in &blocks.counts {
        if fp + non_members > allowed {
            break;
        }
        tp += members;
        fp += non_members;
    }
    let tpr = reach(blocks, tp, fpr, settings.confidence);
    let ppv =
        settings.prior.and_then(|prior| precision(blocks, (tp, fp), allowed, prior, settings.confidence));
    let reason = (settings.prior.is_some() && ppv.is_none())
        .then(|| "no precision: nobody is flagged at this threshold".to_owned());
    RateAt { fpr, tpr: Some(tpr), false_positives: Some(fp), true_positives: Some(tp), ppv, reason }
}

/// The true-positive rate at a false-positive rate, with an interval for the rate that the law of the scores has, not only for
/// that of one threshold.
///
/// The chance of a new non-member above the k-th highest of n is at most a Beta(k, n − k + 1) variable, and that of one at
/// or above it at least such a variable. So a rank k with which it is below `fpr` but for a quarter of the error gives a threshold
/// that is strict enough, and one with which it is above gives one that is lax enough; each gets a Clopper–Pearson limit
/// of the members beyond it, at another quarter.
fn reach(blocks: &Blocks, tp: u64, fpr: f64, confidence: f64) -> Estimate {
    let (n, quarter) = (blocks.non_members, (1.0 - confidence) / 4.0);
    // Pr(Beta(k, n - k + 1) > fpr) is that of fewer than k of n at the rate `fpr`: 1 less the upper tail.
    let strict = first_rank(n, |k| 1.0 - interval::upper_tail(k, n, fpr) > quarter) - 1;
    let lax = first_rank(n, |k| interval::upper_tail(k, n, fpr) <= quarter);
    let members = |flagged: &dyn Fn(u64, u64) -> bool| {
        let (mut inside, mut above) = (0, 0);
        for (members, non_members) in &blocks.counts {
            if !flagged(above, *non_members) {
                break;
            }
            inside += members;
            above += non_members;
        }
        inside
    };
    // Strictly above the k-th: blocks that end before it. At or above it: blocks that begin before it is reached.
    let lower = match strict {
        0 => 0.0,
        k => interval::lower(members(&|above, own| above + own < k), blocks.members, quarter),
    };
    let upper = match lax {
        k if k > n => 1.0,
        k => interval::upper(members(&|above, _| above < k), blocks.members, quarter),
    };
    let value = tp as f64 / blocks.members as f64;
    Estimate { value, lower: lower.min(value), upper: upper.max(value), confidence }
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
    blocks: &Blocks,
    (tp, fp): (u64, u64),
    allowed: u64,
    prior: f64,
    confidence: f64,
) -> Option<Estimate> {
    if tp + fp == 0 {
        return None;
    }
    let alpha = (1.0 - confidence) / 2.0;
    let (tpr_low, tpr_high) = interval::two_sided(tp, blocks.members, alpha);
    let fpr_low = if fp == allowed { interval::lower(fp, blocks.non_members, alpha / 2.0) } else { 0.0 };
    let fpr_high = interval::upper(allowed, blocks.non_members, alpha / 2.0);
    let share = |tpr: f64, fpr: f64| {
        let flagged = prior * tpr + (1.0 - prior) * fpr;
        if flagged > 0.0 { prior * tpr / flagged } else { 0.0 }
    };
    Some(Estimate {
        value: share(tp as f64 / blocks.members as f64, fp as f64 / blocks.non_members as f64),
        lower: share(tpr_low, fpr_high) * (1.0 - 8.0 * f64::EPSILON),
        upper: (share(tpr_high, fpr_low) * (1.0 + 8.0 * f64::EPSILON)).min(1.0),
        confidence,
    })
}
