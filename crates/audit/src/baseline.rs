//! How well members are told from non-members without any model: what a difference between the two samples alone explains.

use crate::boost::{Boost, BoostLoss, BoostSettings};
use crate::findings::Performance;
use crate::metrics::{MetricSettings, measure_dependent};
use crate::rows::{chosen, with_groups};
use crate::{AuditError, Draw, Features, Membership, Study};
use reticent_data::keyed_hash;
use std::collections::BTreeMap;

/// Into how many parts the records are cut.
const FOLDS: usize = 5;

/// The share of the records that is independent evidence about the baseline's scores. Classifiers of different parts learn from
/// each other's records: with k parts the variance of a mean over parts is taken as 1/k + 1/(k − 1) of that of one, in the
/// place of 1/k.
///
/// # Reference
/// Nadeau, Bengio, *Inference for the generalization error*, 2003.
pub const EVIDENCE: f64 = (FOLDS - 1) as f64 / (2 * FOLDS - 1) as f64;

/// How well the baseline's scores tell members apart, with intervals that know of the parts.
///
/// # Errors
/// As [`measure`](crate::metrics::measure).
pub fn measure(membership: &Membership, settings: &MetricSettings) -> Result<Performance, AuditError> {
    measure_dependent(membership, settings, EVIDENCE)
}

/// The scores of a classifier that sees no model.
#[derive(Debug, Clone, PartialEq)]
pub struct BaselineScores {
    /// One per record, larger for members; from a classifier that was not shown the record.
    pub scores: Vec<f64>,
    /// What it was.
    pub about: String,
    /// Columns that are mostly different texts: it sees their order, length, words and numbers, and nothing else of them.
    pub free_text: Vec<String>,
}

/// A boosted classifier on the features, the groups and the label, or on the label alone, fitted on four fifths of the records and
/// asked about the last, five times over. Fifths are made by a keyed hash, of whole users where there are users, else with as many
/// members in each.
///
/// Where the draw is declared to be one of pairs, fifths are of whole pairs, and what is asked is which record of a pair is the
/// member, from both records and their difference; the two scores of a pair are each other's opposite.
///
/// An attack that does no better than this has shown that the samples differ, not that the model leaks.
///
/// # Reference
/// Das, Zhang, Tramèr, *Blind baselines beat membership inference attacks for foundation models*, 2024.
///
/// # Errors
/// [`AuditError::NotMeasurable`] without features and labels, and with too few members, non-members or users to cut.
pub fn baseline(study: &Study, key: &str) -> Result<BaselineScores, AuditError> {
    let parts = study.parts();
    let mut known = Vec::new();
    if parts.features.as_ref().is_some_and(|features| features.columns > 0) {
        known.push("features");
    }
    if !parts.groups.is_empty() {
        known.push("groups");
    }
    if parts.labels.is_some() {
        known.push("label");
    }
    let about = match &known[..] {
        [] => {
            let reason = "there are neither features nor labels nor groups of the records: give columns `feature_…` or `label`";
            return Err(AuditError::not_measurable(reason));
        }
        ["label"] => "the label alone, for want of features".to_owned(),
        known => known.join(" and "),
    };
    let key = format!("{key}: baseline");
    let (features, of_groups) = with_groups(study);
    let free_text = parts.free_text.iter().cloned().chain(of_groups).collect();
    let boost = BoostSettings { key, ..BoostSettings::default() };
    if let Some(pairs) = coin_pairs(study) {
        let scores = within_pairs(&features, &pairs, &parts.members, &boost)?;
        let about = format!(
            "{} boosted trees on {about} of both records of a pair, each pair judged by trees that had not seen it",
            boost.rounds
        );
        return Ok(BaselineScores { scores, about, free_text });
    }
    let folds = folds(study, &boost.key);
    let mut scores = vec![0.0; study.len()];
    for fold in 0..FOLDS {
        let (asked, learnt): (Vec<usize>, Vec<usize>) = (0..study.len()).partition(|r| folds[*r] == fold);
        if asked.is_empty() {
            continue;
        }
        let truth: Vec<f64> = learnt.iter().map(|r| f64::from(u8::from(parts.members[*r]))).collect();
        let inside = truth.iter().filter(|t| **t == 1.0).count();
        if inside < FOLDS || truth.len() - inside < FOLDS {
            return Err(AuditError::not_measurable(format!(
                "a part to learn from has {inside} members and {} non-members, and at least {FOLDS} of each are needed: \
                 give more records",
                truth.len() - inside
            )));
        }
        let model = Boost::fit(&chosen(&features, &learnt), &truth, BoostLoss::Logistic, &boost)?;
        for (record, score) in asked.iter().zip(model.predict(&chosen(&features, &asked))?) {
            // The share of members differs a little from part to part, which is no knowledge about a record.
            scores[*record] = score - model.base();
        }
    }
    let about = format!(
        "{} boosted trees on {about}, each record scored by trees that had not seen it",
        boost.rounds
    );
    Ok(BaselineScores { scores, about, free_text })
}

/// The rows of every pair of a declared draw of pairs, by name; none for other draws, and where pairs are not two records of which one
/// is a member.
pub(crate) fn coin_pairs(study: &Study) -> Option<Vec<(&str, [usize; 2])>> {
    let parts = study.parts();
    let (Draw::Pairs, Some(names)) = (parts.draw, &parts.pairs) else { return None };
    let mut rows: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    names.iter().enumerate().for_each(|(row, pair)| rows.entry(pair).or_default().push(row));
    let pair = |(name, rows)| match <[usize; 2]>::try_from(rows) {
        Ok(rows) if parts.members[rows[0]] != parts.members[rows[1]] => Some((name, rows)),
        _ => None,
    };
    rows.into_iter().map(pair).collect()
}

/// How much more the record of a pair looks like its member than the other one does; trees see a pair both ways round, so nothing
/// hangs on which record comes first.
fn within_pairs(
    features: &Features,
    pairs: &[(&str, [usize; 2])],
    members: &[bool],
    boost: &BoostSettings,
) -> Result<Vec<f64>, AuditError> {
    let columns = features.columns;
    let row = |record: usize| &features.values[record * columns..(record + 1) * columns];
    let ways = |pairs: &[&[usize; 2]]| {
        let both = pairs.iter().flat_map(|[a, b]| [(*a, *b), (*b, *a)]);
        let values = both.flat_map(|(a, b)| {
            let differences = row(a).iter().zip(row(b)).map(|(x, y)| (x - y).clamp(f32::MIN, f32::MAX));
            differences.chain(row(a).iter().copied()).chain(row(b).iter().copied()).collect::<Vec<f32>>()
        });
        Features { columns: 3 * columns, values: values.collect() }
    };
    let mut order: Vec<&(&str, [usize; 2])> = pairs.iter().collect();
    order.sort_by_cached_key(|(name, _)| (keyed_hash(&boost.key, name.as_bytes()), *name));
    let mut scores = vec![0.0; members.len()];
    for fold in 0..FOLDS {
        let part = |is_asked: bool| -> Vec<&[usize; 2]> {
            let own = order.iter().enumerate().filter(|(place, _)| (place % FOLDS == fold) == is_asked);
            own.map(|(_, (_, rows))| rows).collect()
        };
        let (asked, learnt) = (part(true), part(false));
        if learnt.len() < FOLDS {
            let reason =
                format!("{} pairs are too few to learn from and to ask about: give more", order.len());
            return Err(AuditError::not_measurable(reason));
        }
        let truth: Vec<f64> =
            learnt.iter().flat_map(|rows| rows.map(|record| f64::from(u8::from(members[record])))).collect();
        let model = Boost::fit(&ways(&learnt), &truth, BoostLoss::Logistic, boost)?;
        let said = model.predict(&ways(&asked))?;
        for ([a, b], said) in asked.into_iter().zip(said.chunks_exact(2)) {
            let ahead = 0.5 * (said[0] - said[1]);
            (scores[*a], scores[*b]) = (ahead, -ahead);
        }
    }
    Ok(scores)
}

/// The part of every record.
fn folds(study: &Study, key: &str) -> Vec<usize> {
    let parts = study.parts();
    if let Some(users) = &parts.users {
        let mut order: BTreeMap<&str, usize> = users.iter().map(|user| (user.as_str(), 0)).collect();
        let mut names: Vec<&str> = order.keys().copied().collect();
        names.sort_by_cached_key(|user| (keyed_hash(key, user.as_bytes()), *user));
        for (place, user) in names.into_iter().enumerate() {
            order.insert(user, place % FOLDS);
        }
        return users.iter().map(|user| order[user.as_str()]).collect();
    }
    let mut order: Vec<usize> = (0..study.len()).collect();
    order.sort_by_cached_key(|record| (keyed_hash(key, parts.ids[*record].as_bytes()), *record));
    let mut next = [0, 0];
    let mut folds = vec![0; study.len()];
    for record in order {
        let place = &mut next[usize::from(parts.members[record])];
        folds[record] = *place % FOLDS;
        *place += 1;
    }
    folds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::auc;
    use crate::{Features, Signals, StudyParts};

    fn uniform(key: &str, place: usize) -> f64 {
        (keyed_hash(key, &(place as u64).to_le_bytes()) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn parts(records: usize, shift: f64) -> StudyParts {
        let members: Vec<bool> = (0..records).map(|r| uniform("m", r) < 0.5).collect();
        let value = |place: usize| {
            let more = if members[place / 4] && place.is_multiple_of(4) { shift } else { 0.0 };
            (uniform("x", place) + more) as f32
        };
        let values = (0..4 * records).map(value).collect();
        StudyParts {
            signals: Signals::of_scores(vec![0.0; records]),
            features: Some(Features { columns: 4, values }),
            members,
            ..StudyParts::default()
        }
    }

    fn area(parts: StudyParts) -> f64 {
        let study = Study::new(parts).unwrap();
        auc(&baseline(&study, "key").unwrap().scores, &study.parts().members).unwrap()
    }

    #[test]
    fn a_shift_is_found_and_none_is_not() {
        assert!(area(parts(2000, 0.5)) > 0.85);
        let none = area(parts(2000, 0.0));
        assert!((none - 0.5).abs() < 0.05, "{none}");
    }

    #[test]
    fn copies_of_a_user_do_not_leak_across_parts() {
        let mut copies = parts(2000, 0.0);
        // Ten records per user, alike in everything.
        copies.users = Some((0..2000).map(|r| (r / 10).to_string()).collect());
        copies.members = (0..2000).map(|r| uniform("u", r / 10) < 0.5).collect();
        copies.features =
            Some(Features { columns: 1, values: (0..2000).map(|r| uniform("x", r / 10) as f32).collect() });
        let apart = area(copies.clone());
        copies.users = None;
        let leaked = area(copies);
        assert!(apart < 0.65 && leaked > 0.7, "{apart} {leaked}");
    }

    #[test]
    fn labels_alone_serve() {
        let mut only = parts(1000, 0.0);
        only.features = None;
        only.labels = Some(only.members.iter().map(|m| u32::from(*m)).collect());
        let study = Study::new(only.clone()).unwrap();
        assert!(baseline(&study, "key").unwrap().about.contains("label alone"));
        assert!(area(only) > 0.95);
    }

    #[test]
    fn nothing_to_look_at_is_said() {
        let mut bare = parts(100, 0.0);
        bare.features = None;
        let refusal =
            |parts: StudyParts| baseline(&Study::new(parts).unwrap(), "key").unwrap_err().to_string();
        assert!(refusal(bare).contains("neither features nor labels"));
        assert!(refusal(parts(3, 0.0)).contains("not measurable"));
        let mut all = parts(50, 0.0);
        all.members = vec![true; 50];
        assert!(refusal(all).contains("0 non-members"));
    }
}
