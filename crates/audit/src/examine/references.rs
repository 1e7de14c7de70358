//! Whether reference models tell who is a member of the target: scores made with them would then look at the coins.

use crate::baseline::coin_pairs;
use crate::rank::{fractional_ranks, mann_whitney};
use crate::signal::each_row;
use crate::{Draw, Outputs, Reference, SCORE, Signals, Study};
use reticent_core::special::normal_tail_quantile;
use reticent_data::keyed_hash;
use std::collections::BTreeMap;

/// How unlikely by chance what is called telling must be, over all references together.
const LEVEL: f64 = 1e-6;
/// How many standard deviations apart the numbers of references of members and non-members may be: one in a million.
const TELLING: f64 = 4.9;
/// Fewer units than this may be split alike twice by chance.
const FEWEST: usize = 8;
/// A model whose outputs are nearer to the target's than this share of the usual distance between models is the target.
const COPY: f64 = 0.02;
/// The most records that outputs are compared on, and the most pairs of references.
const COMPARED: usize = 2000;
const PAIRS: usize = 30;

/// Why scores made with the references tell who is a member; none when nothing speaks for it.
///
/// Every mask is compared with the target's membership by Fisher's exact test, user by user where there are users, as are the
/// numbers of references that units are in; and the outputs of every reference with the target's. Where coins are declared, which
/// make membership independent of all that references say, their own scores are compared with it too.
pub(super) fn telling(study: &Study) -> Option<String> {
    let references = &study.parts().references;
    if references.is_empty() {
        return None;
    }
    let units = units(study);
    let why = references
        .iter()
        .find_map(|reference| mask(study, &units, reference))
        .or_else(|| counts(study, &units))
        .or_else(|| copy(study))
        .or_else(|| foreseen(study, &units))?;
    Some(format!(
        "{why}, so scores made with the references tell who is a member: give references that were trained on records drawn \
         without regard to the target"
    ))
}

/// Records that share a coin: those of a user, or each by itself.
fn units(study: &Study) -> Vec<Vec<usize>> {
    match &study.parts().users {
        None => (0..study.len()).map(|record| vec![record]).collect(),
        Some(users) => {
            let mut own: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
            users.iter().enumerate().for_each(|(record, user)| own.entry(user).or_default().push(record));
            own.into_values().collect()
        }
    }
}

fn share(flags: &[bool], unit: &[usize]) -> f64 {
    unit.iter().filter(|record| flags[**record]).count() as f64 / unit.len() as f64
}

/// What one mask tells.
fn mask(study: &Study, units: &[Vec<usize>], reference: &Reference) -> Option<String> {
    let (members, name) = (&study.parts().members, &reference.name);
    let alike = reference.inside.iter().zip(members).filter(|(a, b)| a == b).count();
    if units.len() >= FEWEST && (alike == 0 || alike == members.len()) {
        let whom = if alike == 0 {
            "exactly the records that the target was not"
        } else {
            "exactly the target's members"
        };
        return Some(format!("{name} was trained on {whom}"));
    }
    // Both, only the reference, only the target, neither.
    let mut table = [0_u64; 4];
    for unit in units {
        let (inside, member) = (share(&reference.inside, unit) > 0.5, share(members, unit) > 0.5);
        table[usize::from(!inside) * 2 + usize::from(!member)] += 1;
    }
    let level = LEVEL / study.parts().references.len() as f64;
    (by_chance(table) < level).then(|| {
        let [both, only, target, neither] = table;
        format!(
            "{name} was trained on {both} of the target's {} members and on {only} of {} others, which is too close to be chance",
            both + target,
            only + neither
        )
    })
}

/// The chance that two independent splits of given sizes agree, or disagree, at least so far: Fisher's exact test, two-sided.
fn by_chance([both, only, target, neither]: [u64; 4]) -> f64 {
    let (inside, members, all) = (both + only, both + target, both + only + target + neither);
    let ln = |n: u64| libm::lgamma(n as f64 + 1.0);
    let choose = |n: u64, k: u64| ln(n) - ln(k) - ln(n - k);
    let mass =
        |x: u64| libm::exp(choose(members, x) + choose(all - members, inside - x) - choose(all, inside));
    let (least, most) = ((inside + members).saturating_sub(all), inside.min(members));
    let tail = |range: &mut dyn Iterator<Item = u64>| range.map(mass).sum::<f64>();
    2.0 * tail(&mut (least..=both)).min(tail(&mut (both..=most)))
}

/// Members are in more or fewer references than non-members.
fn counts(study: &Study, units: &[Vec<usize>]) -> Option<String> {
    let parts = study.parts();
    // Number, sum and squares of either side.
    let mut sides = [(0.0, 0.0, 0.0); 2];
    for unit in units {
        let count: f64 = parts.references.iter().map(|reference| share(&reference.inside, unit)).sum();
        let side = &mut sides[usize::from(share(&parts.members, unit) > 0.5)];
        *side = (side.0 + 1.0, side.1 + count, side.2 + count * count);
    }
    let [(n, sum, squares), (m, sum_in, squares_in)] = sides;
    let (mean, mean_in) = (sum / n, sum_in / m);
    let pooled = ((squares + squares_in) - (sum + sum_in) * (sum + sum_in) / (n + m)) / (n + m - 1.0);
    let gap = (mean_in - mean).abs();
    let is_telling = gap > 1e-9 && gap > TELLING * (pooled * (1.0 / n + 1.0 / m)).max(0.0).sqrt();
    is_telling.then(|| {
        format!("members are in {mean_in:.2} reference models on average and non-members in {mean:.2}")
    })
}

/// Who is a member is foreseen by what references alone say of records: by one of them, or by their mean.
fn foreseen(study: &Study, units: &[Vec<usize>]) -> Option<String> {
    let parts = study.parts();
    if matches!(parts.draw, Draw::Undeclared | Draw::Runs(_)) {
        return None;
    }
    let usual = parts.references.iter().map(|r| (r.name.as_str(), own_scores(study, r)));
    let mut all: Vec<(&str, Vec<f64>)> = usual.collect();
    let mut mean = vec![0.0; study.len()];
    for (_, scores) in &all {
        // By rank, since references may score on scales of their own.
        fractional_ranks(scores).iter().zip(&mut mean).for_each(|(rank, mean)| *mean += rank);
    }
    // Every other signal that an attack may use is looked at too, value by value.
    for reference in &parts.references {
        let others = reference.signals.iter().filter(|(name, _)| *name != SCORE);
        let columns = others.flat_map(|(_, values)| (0..values.width()).map(|at| values.column(at)));
        all.extend(columns.map(|column| (reference.name.as_str(), column)));
    }
    let least = normal_tail_quantile(LEVEL / 2.0 / (all.len() + 1) as f64);
    let pairs = coin_pairs(study);
    let is_telling = |scores: &[f64]| {
        let apart = match &pairs {
            Some(pairs) => within_pairs(pairs, scores, &parts.members),
            None => between_units(units, scores, &parts.members),
        };
        apart.is_some_and(|deviations| deviations.abs() > least)
    };
    let everyone = ("the mean of the reference models", mean);
    let (name, _) = all.iter().chain([&everyone]).find(|(_, scores)| is_telling(scores))?;
    Some(format!(
        "the scores of {name} alone distinguish the target's members, which is impossible if members were drawn by coin flips"
    ))
}

/// A score of every record by one reference: its own, or the probability of the label.
fn own_scores(study: &Study, reference: &Reference) -> Vec<f64> {
    match (&reference.outputs, reference.signals.score()) {
        (_, Some(scores)) => scores.to_vec(),
        (Some(outputs), None) => {
            let labels = study.parts().labels.as_deref();
            let mut scores = vec![0.0; outputs.len()];
            each_row(outputs, labels.unwrap_or(&vec![0; outputs.len()]), 1.0, |record, row| {
                scores[record] = match labels {
                    Some(labels) => row[labels[record] as usize],
                    None => row.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                };
            });
            scores
        }
        (None, None) => vec![0.0; study.len()],
    }
}

/// How far the ranks of the members' units are apart from those of the others.
fn between_units(units: &[Vec<usize>], scores: &[f64], members: &[bool]) -> Option<f64> {
    let mean = |unit: &Vec<usize>| unit.iter().map(|r| scores[*r]).sum::<f64>() / unit.len() as f64;
    let means: Vec<f64> = units.iter().map(mean).collect();
    let inside: Vec<bool> = units.iter().map(|unit| share(members, unit) > 0.5).collect();
    mann_whitney(&means, &inside)
}

/// By how many standard deviations of fair coins the member of a pair is the higher one too often.
fn within_pairs(pairs: &[(&str, [usize; 2])], scores: &[f64], members: &[bool]) -> Option<f64> {
    let ahead = |[a, b]: [usize; 2]| (scores[a] - scores[b]) * if members[a] { 1.0 } else { -1.0 };
    let count = |sign: f64| pairs.iter().filter(|(_, rows)| sign * ahead(*rows) > 0.0).count() as f64;
    let (right, wrong) = (count(1.0), count(-1.0));
    (right + wrong > 0.0).then(|| (right - wrong) / (right + wrong).sqrt())
}

/// A reference that says what the target says, to within a small part of what models usually differ by.
fn copy(study: &Study) -> Option<String> {
    let parts = study.parts();
    let step = study.len().div_ceil(COMPARED).max(1);
    let records: Vec<usize> = (0..study.len()).step_by(step).collect();
    let target = said(parts.target.as_ref(), &parts.signals, &records);
    let models: Vec<(&Reference, Vec<Vec<f64>>)> = parts
        .references
        .iter()
        .map(|reference| (reference, said(reference.outputs.as_ref(), &reference.signals, &records)))
        .collect();
    let mut usual: Vec<f64> = (0..models.len())
        .flat_map(|first| (first + 1..models.len()).map(move |second| (first, second)))
        .take(PAIRS)
        .filter_map(|(first, second)| distance(&models[first].1, &models[second].1))
        .collect();
    usual.sort_unstable_by(f64::total_cmp);
    // With one reference, only outputs that are equal and otherwise hardly ever repeated are told.
    let usual = match usual.get(usual.len() / 2) {
        Some(usual) => *usual,
        None if is_varied(&target) => f64::MIN_POSITIVE,
        None => return None,
    };
    let is_copy = |said: &[Vec<f64>]| distance(&target, said).is_some_and(|near| near < COPY * usual);
    let (found, _) = models.iter().find(|(_, said)| is_copy(said))?;
    Some(format!("{} gives the same outputs as the target", found.name))
}

/// What a model said about some records: probabilities, or else its score or its first signal.
fn said(outputs: Option<&Outputs>, signals: &Signals, records: &[usize]) -> Vec<Vec<f64>> {
    let first = || signals.iter().next().map(|(_, values)| values);
    match (outputs, signals.get(SCORE).or_else(first)) {
        (Some(outputs), _) => {
            let mut all = Vec::with_capacity(records.len());
            // Where nothing is at stake but equality, any label does.
            each_row(outputs, &vec![0; outputs.len()], 1.0, |record, row| {
                if records.binary_search(&record).is_ok() {
                    all.push(row.iter().map(|log| libm::exp(*log)).collect());
                }
            });
            all
        }
        (None, Some(signal)) => {
            let some = signal.some(records);
            some.values().chunks_exact(some.width()).map(<[f64]>::to_vec).collect()
        }
        (None, None) => Vec::new(),
    }
}

/// The median over records of the largest difference.
fn distance(a: &[Vec<f64>], b: &[Vec<f64>]) -> Option<f64> {
    let far = |(a, b): (&Vec<f64>, &Vec<f64>)| {
        (a.len() == b.len()).then(|| a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max))
    };
    let mut all: Vec<f64> = a.iter().zip(b).map(far).collect::<Option<_>>()?;
    all.sort_unstable_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}

/// Whether more than half of the values are different ones.
fn is_varied(said: &[Vec<f64>]) -> bool {
    let bits = |values: &Vec<f64>| -> Vec<u8> { values.iter().flat_map(|v| v.to_le_bytes()).collect() };
    let different: std::collections::BTreeSet<u64> =
        said.iter().map(|values| keyed_hash("outputs", &bits(values))).collect();
    2 * different.len() > said.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_of_two_splits_is_fishers() {
        // scipy.stats.fisher_exact sums what is no likelier; a symmetric table has the same value.
        assert!((by_chance([8, 2, 2, 8]) - 0.023_014_133).abs() < 1e-8, "{}", by_chance([8, 2, 2, 8]));
        assert!((by_chance([10, 0, 0, 10]) - 2.0 / 184_756.0).abs() < 1e-12);
        assert!(by_chance([5, 5, 5, 5]) >= 1.0);
        assert!(by_chance([1, 19, 19, 9961]) > 0.01, "rare splits meet by chance");
    }

    #[test]
    fn members_ahead_in_all_pairs_are_as_far_as_coins_say() {
        let scores: Vec<f64> = (0..8).map(f64::from).collect();
        let members: Vec<bool> = (0..8).map(|record| record >= 4).collect();
        let pairs = [("a", [0, 4]), ("b", [5, 1]), ("c", [2, 6]), ("d", [3, 7])];
        assert_eq!(within_pairs(&pairs, &scores, &members), Some(2.0));
    }
}
