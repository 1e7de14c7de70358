//! Attacks by somebody who sees a training while it goes on: models of several rounds, or their answers to interference.
//!
//! # Reference
//! Nasr, Shokri, Houmansadr, *Comprehensive privacy analysis of deep learning: passive and active white-box inference attacks*, 2019.

use super::{Attack, AttackScores, AttackSettings, Candidacy, ReferenceNeed, Requirements, Threshold};
use crate::boost::{Boost, BoostLoss, BoostSettings};
use crate::disclosure::ObservedRounds;
use crate::findings::Estimate;
use crate::metrics::{MetricSettings, measure};
use crate::rows::chosen;
use crate::{AuditError, Features, Membership, Study, interval};
use reticent_data::keyed_hash;

/// The name of the signal with the mean log-probability of the true class over the observed models.
pub const SNAPSHOT_LIKELIHOOD: &str = "snapshot-likelihood";

/// The name of the signal with the mean norm of the gradient over the observed models, negated.
pub const SNAPSHOT_GRADIENT_NORM: &str = "snapshot-gradient-norm";

/// The name of the signal with everything that is seen of a record at every observed model: features for an attack that learns.
pub const SNAPSHOT_FEATURES: &str = "snapshot-features";

/// The name of the signal with the log-probability of the true class after training that follows an attacker's raise of the loss.
pub const ASCENT_LIKELIHOOD: &str = "ascent-likelihood";

/// A threshold on the loss over all observed models.
pub const SNAPSHOT_LOSS: &dyn Attack = &Threshold {
    name: "snapshot-loss",
    about: "a threshold on the mean loss over the models of the observed rounds",
    needs: "models of several rounds",
    signals: &[SNAPSHOT_LIKELIHOOD],
    knowledge: "the record and its true class",
    candidacy: Some(Candidacy { rank: 40, plays: false, by_evidence: Some(0) }),
};

/// A threshold on the gradient norm over all observed models.
pub const SNAPSHOT_GRADIENTS: &dyn Attack = &Threshold {
    name: "snapshot-gradient",
    about: "a threshold on the mean norm of the gradient over the models of the observed rounds",
    needs: "models of several rounds",
    signals: &[SNAPSHOT_GRADIENT_NORM],
    knowledge: "the record and its true class",
    candidacy: None,
};

/// A threshold on the loss after training that undoes what an active attacker did.
pub const ASCENT: &dyn Attack = &Threshold {
    name: "gradient-ascent",
    about: "the attacker raises the loss of the record between rounds; only somebody who trains on it brings it down again",
    needs: "a federation that the attacker takes part in",
    signals: &[ASCENT_LIKELIHOOD],
    knowledge: "the record and its true class; it departs from the protocol",
    candidacy: Some(Candidacy { rank: 30, plays: false, by_evidence: Some(0) }),
};

/// A classifier of what is seen of a record over all observed models, which learns from records whose membership is known.
pub const SNAPSHOT_LEARNED: &dyn Attack = &Learned;

#[derive(Debug)]
struct Learned;

impl Attack for Learned {
    fn name(&self) -> &'static str {
        "snapshot-learned"
    }

    fn about(&self) -> &'static str {
        "a classifier of losses and gradient norms over the observed rounds, trained on half of the records and judged by the others"
    }

    fn needs(&self) -> &'static str {
        "models of several rounds"
    }

    fn requirements(&self) -> Requirements {
        Requirements { signals: &[SNAPSHOT_FEATURES], references: ReferenceNeed::None }
    }

    fn knowledge(&self, _study: &Study) -> String {
        "the record and its true class, and who of half of the audited records was in the training data"
            .to_owned()
    }

    fn sees_members(&self) -> bool {
        true
    }

    fn score(&self, study: &Study, settings: &AttackSettings) -> Result<AttackScores, AuditError> {
        let Some(signal) = study.signal(SNAPSHOT_FEATURES) else {
            return Err(AuditError::not_measurable("no models of several rounds"));
        };
        let members = &study.parts().members;
        let (known, judged) = known_half(&study.parts().ids, members, &settings.key);
        let values = signal.target().iter().map(|value| *value as f32).collect();
        let features = Features { columns: signal.width(), values };
        let truth: Vec<f64> = known.iter().map(|record| f64::from(u8::from(members[*record]))).collect();
        let boost = BoostSettings {
            key: format!("{}: snapshots", settings.key),
            rounds: 80,
            leaf: 8,
            ..BoostSettings::default()
        };
        let model = Boost::fit(&chosen(&features, &known), &truth, BoostLoss::Logistic, &boost)?;
        let found = AttackScores::new(
            model.predict(&features)?,
            [
                ("records it learned from", known.len().to_string()),
                ("classifier", format!("{} boosted trees of depth {}", boost.rounds, boost.depth)),
            ],
        );
        Ok(AttackScores { judged: Some(judged), ..found })
    }
}

/// Half of the members and half of the non-members, by a keyed hash, and the others; both in increasing order.
pub fn known_half(ids: &[String], members: &[bool], key: &str) -> (Vec<usize>, Vec<usize>) {
    let (mut known, mut judged) = (Vec::new(), Vec::new());
    for side in [true, false] {
        let mut own: Vec<usize> = (0..members.len()).filter(|record| members[*record] == side).collect();
        own.sort_by_cached_key(|record| {
            (keyed_hash(&format!("{key}: known"), ids[*record].as_bytes()), *record)
        });
        let rest = own.split_off(own.len() / 2);
        known.extend(own);
        judged.extend(rest);
    }
    known.sort_unstable();
    judged.sort_unstable();
    (known, judged)
}

/// What the learned attack makes of a study whose signals are those of these rounds.
///
/// # Guarantee
/// The interval of the accuracy is that of Clopper and Pearson. Members and non-members may be told with different probabilities: the
/// number of right answers is then spread less around its mean than a binomial one.
///
/// # Reference
/// Hoeffding, *On the distribution of the number of successes in independent trials* (1956).
///
/// # Errors
/// As [`Attack::score`]; [`AuditError::NotMeasurable`] for fewer than two judged records of either side.
pub fn observed(
    study: &Study,
    rounds: &[u64],
    settings: &AttackSettings,
    confidence: f64,
) -> Result<ObservedRounds, AuditError> {
    let ran = SNAPSHOT_LEARNED.run(study, settings)?;
    let judged = ran.judged.unwrap_or_else(|| (0..study.len()).collect());
    let members = &study.parts().members;
    let right = judged.iter().filter(|record| (ran.scores[**record] > 0.0) == members[**record]).count();
    let (right, count) = (right as u64, judged.len() as u64);
    let (lower, upper) = interval::two_sided(right, count, 1.0 - confidence);
    let membership = Membership::new(
        judged.iter().map(|record| ran.scores[*record]).collect(),
        judged.iter().map(|record| members[*record]).collect(),
    )?;
    let metrics = MetricSettings { confidence, ..MetricSettings::default() };
    Ok(ObservedRounds {
        rounds: rounds.to_vec(),
        attack: SNAPSHOT_LEARNED.name().to_owned(),
        records: count,
        accuracy: Estimate { value: right as f64 / count.max(1) as f64, lower, upper, confidence },
        auc: measure(&membership, &metrics)?.auc,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SignalSource, SignalValues, Signals, StudyParts};

    /// Features that are larger for members by so much, of 400 records.
    fn study(shift: f64) -> Study {
        let value = |record: usize, column: usize| {
            let bits = keyed_hash("noise", format!("{record} {column}").as_bytes());
            bits as f64 / u64::MAX as f64 + if record.is_multiple_of(2) { shift } else { 0.0 }
        };
        let values = (0..400).flat_map(|record| (0..6).map(move |column| value(record, column))).collect();
        let features = SignalValues::rows(SignalSource::Snapshots, 6, values).unwrap();
        Study::new(StudyParts {
            members: (0..400).map(|record: usize| record.is_multiple_of(2)).collect(),
            signals: Signals::none().with(SNAPSHOT_FEATURES, features),
            ..StudyParts::default()
        })
        .unwrap()
    }

    #[test]
    fn a_learned_attack_is_judged_by_records_it_has_not_seen() {
        let settings = AttackSettings::default();
        let leaking = observed(&study(0.6), &[1, 2], &settings, 0.95).unwrap();
        assert!(leaking.accuracy.lower > 0.8 && leaking.records == 200, "{leaking:?}");
        let tight = observed(&study(0.0), &[1, 2], &settings, 0.999).unwrap();
        assert!(tight.accuracy.lower < 0.5 && tight.accuracy.upper > 0.5, "{tight:?}");
        let (known, judged) = known_half(&study(0.0).parts().ids, &study(0.0).parts().members, "k");
        assert!(known.iter().all(|record| !judged.contains(record)) && known.len() == 200);
        assert!(known.iter().filter(|record| record.is_multiple_of(2)).count() == 100);
    }

    /// What it has learned from is told far better: judged by it, an attack that finds nothing would look strong.
    #[test]
    fn judging_by_the_known_half_would_show_a_leak_where_there_is_none() {
        let study = study(0.0);
        let ran = SNAPSHOT_LEARNED.run(&study, &AttackSettings::default()).unwrap();
        let judged = ran.judged.unwrap();
        let known = (0..400).filter(|record| !judged.contains(record));
        let right = known.filter(|record| (ran.scores[*record] > 0.0) == record.is_multiple_of(2)).count();
        assert!(right > 140, "{right} of 200");
    }
}
