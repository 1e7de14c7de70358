//! Is the target's signal on a record above the quantile that non-members like it have?
//!
//! A regression of that quantile on the features and the label is fitted to non-members. No reference model is needed. The
//! non-members are cut into two halves by a keyed hash; each half's regression is used for the other half, and for half of
//! the members, so that no record's own signal is in the quantile it is compared with.
//!
//! # Reference
//! Bertran et al., *Scalable membership inference attacks via quantile regression*, 2023.

use super::{Attack, AttackScores, AttackSettings, CannotRun, ReferenceNeed, Requirements, evidence};
use crate::boost::{Boost, BoostLoss, BoostSettings};
use crate::rows::{chosen, with_labels};
use crate::{AuditError, SCORE, Study};
use reticent_data::keyed_hash;

/// The fewest non-members in a half.
const ENOUGH: usize = 50;

/// The distance from a quantile of the signals of non-members with similar features.
pub const QUANTILE_REGRESSION: &dyn Attack = &Quantile;

#[derive(Debug)]
struct Quantile;

impl Attack for Quantile {
    fn name(&self) -> &'static str {
        "quantile-regression"
    }

    fn about(&self) -> &'static str {
        "how far the target's confidence exceeds a quantile of non-members with similar features"
    }

    fn needs(&self) -> &'static str {
        "outputs and labels or a score, and features"
    }

    fn requirements(&self) -> Requirements {
        Requirements { signals: &["hinge", SCORE], references: ReferenceNeed::None }
    }

    fn knowledge(&self, _study: &Study) -> String {
        "the record, and records that are known not to be in the training data".to_owned()
    }

    fn sees_members(&self) -> bool {
        true
    }

    fn check(&self, study: &Study) -> Result<(), CannotRun> {
        let parts = study.parts();
        if parts.features.as_ref().is_none_or(|features| features.columns == 0) {
            return Err(CannotRun::NoFeatures);
        }
        let (needed, found) = (2 * ENOUGH, parts.members.iter().filter(|member| !**member).count());
        if found < needed { Err(CannotRun::TooFewNonMembers { needed, found }) } else { Ok(()) }
    }

    fn score(&self, study: &Study, settings: &AttackSettings) -> Result<AttackScores, AuditError> {
        let parts = study.parts();
        let (own, _, what) = evidence::target_signal(study, self.requirements())?;
        evidence::finite(study, what, own)?;
        let key = format!("{}: quantile", settings.key);
        let features = with_labels(study);
        let halves = halves(study, &key);
        let boost = BoostSettings { key, leaf: 20, ..BoostSettings::default() };
        let mut scores = vec![0.0; study.len()];
        for half in [false, true] {
            let is_learnt = |r: &usize| halves[*r] != half && !parts.members[*r];
            let learnt: Vec<usize> = (0..study.len()).filter(is_learnt).collect();
            let asked: Vec<usize> = (0..study.len()).filter(|r| halves[*r] == half).collect();
            let targets: Vec<f64> = learnt.iter().map(|record| own[*record]).collect();
            let loss = BoostLoss::Pinball(settings.quantile_level);
            let model = Boost::fit(&chosen(&features, &learnt), &targets, loss, &boost)?;
            for (record, quantile) in asked.iter().zip(model.predict(&chosen(&features, &asked))?) {
                scores[*record] = own[*record] - quantile;
            }
        }
        Ok(AttackScores::new(
            scores,
            [
                ("signal", what.to_owned()),
                ("level", settings.quantile_level.to_string()),
                ("learnt from", "the other half of the non-members".to_owned()),
                ("regression", format!("{} boosted trees of depth {}", boost.rounds, boost.depth)),
            ],
        ))
    }
}

/// Two halves of the members and of the non-members, which differ in size by at most one.
fn halves(study: &Study, key: &str) -> Vec<bool> {
    let ids = &study.parts().ids;
    let mut order: Vec<usize> = (0..study.len()).collect();
    order.sort_by_cached_key(|record| (keyed_hash(key, ids[*record].as_bytes()), *record));
    let mut halves = vec![false; study.len()];
    let mut next = [false, false];
    for record in order {
        let side = &mut next[usize::from(study.parts().members[record])];
        halves[record] = *side;
        *side = !*side;
    }
    halves
}
