//! Bounds for rows that are independent of each other: one run per row, or canaries that are declared so.

use super::family::gaussian_epsilon;
use super::guess::hash;
use super::logistic::{Logistic, normal_scores};
use super::{BoundSettings, ThresholdSelection, finding, largest_rejected};
use crate::findings::EpsilonLower;
use crate::{AuditError, Membership, interval};
use reticent_core::rounding::{div_down, ln_down, sub_down};
use reticent_core::special::{normal_cdf, normal_tail, normal_tail_quantile};

/// Errors of one threshold, and how many rows of each kind they were counted on.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Errors {
    false_positives: u64,
    false_negatives: u64,
    members: u64,
    non_members: u64,
}

impl Errors {
    /// Limits for both rates that hold together but for probability `alpha`.
    fn rates_up(&self, alpha: f64) -> (f64, f64) {
        let fpr = interval::upper(self.false_positives, self.non_members, alpha / 2.0);
        (fpr, interval::upper(self.false_negatives, self.members, alpha / 2.0))
    }

    fn counts(&self) -> [(&'static str, u64); 4] {
        [
            ("members", self.members),
            ("non_members", self.non_members),
            ("false_positives", self.false_positives),
            ("false_negatives", self.false_negatives),
        ]
    }
}

/// Rows by kind.
#[derive(Default)]
struct Rows {
    members: Vec<f64>,
    non_members: Vec<f64>,
}

impl Rows {
    fn push(&mut self, score: f64, member: bool) {
        if member { &mut self.members } else { &mut self.non_members }.push(score);
    }

    /// The errors when scores at or above the threshold are flagged.
    fn errors(&self, threshold: f64) -> Errors {
        Errors {
            false_positives: self.non_members.iter().filter(|score| **score >= threshold).count() as u64,
            false_negatives: self.members.iter().filter(|score| **score < threshold).count() as u64,
            members: self.members.len() as u64,
            non_members: self.non_members.len() as u64,
        }
    }

    fn is_empty(&self) -> bool {
        self.members.is_empty() || self.non_members.is_empty()
    }
}

/// The held-out rows and the others.
fn split(membership: &Membership, share: f64, key: &str) -> Result<(Rows, Rows), AuditError> {
    let below = (share * u64::MAX as f64) as u64;
    let (mut pilot, mut rest) = (Rows::default(), Rows::default());
    for (place, (score, member)) in membership.scores().iter().zip(membership.members()).enumerate() {
        let held_out = hash(key, "order", place) < below;
        if held_out { &mut pilot } else { &mut rest }.push(*score, *member);
    }
    if pilot.is_empty() || rest.is_empty() {
        return Err(AuditError::not_measurable(format!(
            "a held-out share of {share} of {} rows leaves members or non-members on one side only: give more rows or \
             another share",
            membership.len()
        )));
    }
    Ok((pilot, rest))
}

/// The threshold of the pilot's scores that promises most on `rest`.
fn threshold(pilot: &Rows, rest: &Rows, promise: impl Fn(f64, f64) -> f64, alpha: f64) -> f64 {
    let mut candidates: Vec<f64> = pilot.members.iter().chain(&pilot.non_members).copied().collect();
    candidates.sort_unstable_by(f64::total_cmp);
    candidates.dedup();
    let stride = candidates.len().div_ceil(400);
    let mut best = (f64::NEG_INFINITY, f64::INFINITY);
    // A standard deviation above what the pilot saw, since the best of many looks better than it is; then roughly the upper
    // limit that such a rate will have.
    let guess = |count: u64, seen: u64, trials: usize| {
        let seen = seen as f64 + 2.0;
        let rate = (count as f64 + 1.0) / seen;
        let rate = (rate + (rate * (1.0 - rate) / seen).sqrt()).min(1.0);
        let (n, z) = (trials as f64, normal_tail_quantile(alpha / 2.0));
        let centre = rate + z * z / (2.0 * n);
        (centre + z * (rate * (1.0 - rate) / n + z * z / (4.0 * n * n)).sqrt()) / (1.0 + z * z / n)
    };
    for candidate in candidates.into_iter().step_by(stride) {
        let errors = pilot.errors(candidate);
        let fpr = guess(errors.false_positives, errors.non_members, rest.non_members.len());
        let fnr = guess(errors.false_negatives, errors.members, rest.members.len());
        let promised = promise(fpr, fnr);
        if promised > best.0 {
            best = (promised, candidate);
        }
    }
    best.1
}

/// Errors at every threshold that is tried, and what pays for the choice.
fn tried(
    membership: &Membership,
    settings: &BoundSettings,
    promise: impl Fn(f64, f64) -> f64,
) -> Result<(Vec<Errors>, String), AuditError> {
    let shares = match settings.selection {
        ThresholdSelection::HeldOut { share } => {
            let (pilot, rest) = split(membership, share, &settings.key)?;
            let chosen = threshold(&pilot, &rest, promise, settings.alpha());
            let rows = pilot.members.len() + pilot.non_members.len();
            let note = format!("threshold chosen on {rows} held-out rows (share {share})");
            return Ok((vec![rest.errors(chosen)], note));
        }
        ThresholdSelection::Declared { share } => vec![share],
        ThresholdSelection::BySize | ThresholdSelection::Grid => {
            let fewest = membership.member_count().min(membership.non_member_count()) as f64;
            let mut shares = vec![0.5];
            while shares[shares.len() - 1] * fewest >= 8.0 {
                shares.push(shares[shares.len() - 1] / 2.0);
            }
            shares
        }
    };
    let mut rows = Rows::default();
    for (score, member) in membership.scores().iter().zip(membership.members()) {
        rows.push(*score, *member);
    }
    rows.members.sort_unstable_by(f64::total_cmp);
    rows.non_members.sort_unstable_by(f64::total_cmp);
    let errors: Vec<Errors> = shares.iter().flat_map(|share| at_order(&rows, *share)).collect();
    let note = format!(
        "{} thresholds at ranks fixed in advance, one kind of rows sets a threshold and the other is counted there; the \
         error shared equally",
        errors.len()
    );
    Ok((errors, note))
}

/// Thresholds just above a fixed rank of the non-members, and just at one of the members. The side that sets the threshold is
/// counted by its rank, whatever is tied with it.
fn at_order(rows: &Rows, share: f64) -> [Errors; 2] {
    let (n1, n0) = (rows.members.len(), rows.non_members.len());
    let rank = |n: usize| ((share * n as f64) as usize).min(n - 1);
    let (k0, k1) = (rank(n0), rank(n1));
    let (above, from) = (rows.non_members[n0 - 1 - k0], rows.members[k1]);
    let (members, non_members) = (n1 as u64, n0 as u64);
    let missed = rows.members.iter().filter(|score| **score <= above).count() as u64;
    let flagged = rows.non_members.iter().filter(|score| **score >= from).count() as u64;
    [
        Errors { false_positives: k0 as u64, false_negatives: missed, members, non_members },
        Errors { false_positives: flagged, false_negatives: k1 as u64, members, non_members },
    ]
}

fn premise(alike: &str) -> String {
    format!(
        "rows are independent of each other{alike}: one run per row, or canaries that are declared not to influence each \
         other; whether a row is a member was fixed before its run"
    )
}

/// Added to the premise where each rate is bounded by itself.
const ALIKE: &str = ", and rows of one kind are draws of one law";

/// Added to the premise of a Gaussian bound.
const GAUSSIAN: &str = "; the mechanism is Gaussian: its trade-off curve is that of some μ";

/// The ε of both directions at limits of both rates, rounded down.
fn epsilon_at((fpr, fnr): (f64, f64), delta: f64) -> f64 {
    let one_way = |miss: f64, alarm: f64| {
        let top = sub_down(sub_down(1.0, delta), miss);
        if top <= 0.0 { 0.0 } else { ln_down(div_down(top, alarm)) }
    };
    one_way(fnr, fpr).max(one_way(fpr, fnr)).max(0.0)
}

/// The μ at limits of both rates, rounded down.
fn mu_at((fpr, fnr): (f64, f64)) -> f64 {
    let mu = normal_tail_quantile(fpr) + normal_tail_quantile(fnr);
    if mu.is_finite() { (mu - 1e-10).max(0.0) } else { 0.0 }
}

/// The best of all thresholds.
fn best(errors: &[Errors], alpha: f64, value: impl Fn((f64, f64)) -> f64) -> (f64, Errors) {
    let each = alpha / errors.len() as f64;
    let mut best = (f64::NEG_INFINITY, errors[0]);
    for errors in errors {
        let found = value(errors.rates_up(each));
        if found > best.0 {
            best = (found, *errors);
        }
    }
    best
}

pub(super) fn clopper_pearson(
    membership: &Membership,
    settings: &BoundSettings,
) -> Result<EpsilonLower, AuditError> {
    let value = |rates| epsilon_at(rates, settings.delta);
    let (errors, correction) = tried(membership, settings, |fpr, fnr| value((fpr, fnr)))?;
    let (value, errors) = best(&errors, settings.alpha(), value);
    Ok(finding(settings, value, "clopper-pearson", correction, premise(ALIKE), &errors.counts()))
}

pub(super) fn gaussian(
    membership: &Membership,
    settings: &BoundSettings,
) -> Result<EpsilonLower, AuditError> {
    gaussian_epsilon(0.0, settings.delta)?;
    let (n1, n0) = (membership.member_count() as f64, membership.non_member_count() as f64);
    if let ThresholdSelection::HeldOut { share } = settings.selection
        && n1.max(n0) <= 1.5 * n1.min(n0)
    {
        let (pilot, rest) = split(membership, share, &settings.key)?;
        let errors = rest.errors(middle(&pilot));
        let mu = largest_rejected(64.0, |mu| Ok(accuracy_p_value(mu, &errors) < settings.alpha()))?;
        let rows = pilot.members.len() + pilot.non_members.len();
        let correction = format!(
            "threshold chosen on {rows} held-out rows (share {share}); both kinds of errors tested together"
        );
        let value = gaussian_epsilon(mu, settings.delta)?;
        return Ok(finding(
            settings,
            value,
            "gaussian",
            correction,
            premise("") + GAUSSIAN,
            &errors.counts(),
        ));
    }
    let (errors, correction) = tried(membership, settings, |fpr, fnr| mu_at((fpr, fnr)))?;
    let (mu, errors) = best(&errors, settings.alpha(), mu_at);
    let value = gaussian_epsilon(mu, settings.delta)?;
    Ok(finding(settings, value, "gaussian", correction, premise(ALIKE) + GAUSSIAN, &errors.counts()))
}

/// The score of the pilot from which on members are likelier than not.
fn middle(pilot: &Rows) -> f64 {
    let scores: Vec<f64> = pilot.members.iter().chain(&pilot.non_members).copied().collect();
    let z = normal_scores(&scores);
    let pairs: Vec<(f64, bool)> =
        z.iter().enumerate().map(|(place, z)| (*z, place < pilot.members.len())).collect();
    let fit = Logistic::fit(&pairs);
    let likely = scores.iter().zip(&z).filter(|(_, z)| fit.log_odds(**z) > 0.0);
    likely.map(|(score, _)| *score).fold(f64::INFINITY, f64::min)
}

/// The chance, at most, of so few errors in all under μ.
///
/// The mean number of right decisions is at most the largest of n₁·Φ(μ + t) + n₀·Φ(−t), which is at t = −μ/2 − ln(n₀/n₁)/μ
/// for scores of false-positive rate Φ(t). Beyond its mean by one, a sum of independent indicators has no larger upper tail than
/// the binomial law with the same mean.
fn accuracy_p_value(mu: f64, errors: &Errors) -> f64 {
    let (n1, n0) = (errors.members as f64, errors.non_members as f64);
    let all = errors.members + errors.non_members;
    let correct = all - errors.false_positives - errors.false_negatives;
    let mean = if mu > 0.0 {
        let t = -0.5 * mu - libm::log(n0 / n1) / mu;
        n1 * normal_cdf(t + mu) + n0 * normal_tail(t)
    } else {
        n1.max(n0)
    };
    let mean = mean.max(n1.max(n0)) * (1.0 + 1e-13);
    if (correct as f64) < mean + 1.0 {
        return 1.0;
    }
    interval::upper_tail(correct, all, mean / all as f64)
}
