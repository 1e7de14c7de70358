//! Is the target's signal on a record above the quantile that non-members like it have?
//!
//! A regression of that quantile on the features and the label is fitted to non-members. No reference model is needed. The
//! non-members are cut into two halves by a keyed hash; each half's regression is used for the other half, and for half of
//! the members, so that no record's own signal is in the quantile it is compared with.
//!
//! # Reference
//! Bertran et al., *Scalable membership inference attacks via quantile regression*, 2023.

use super::{AttackScores, AttackSettings, evidence};
use crate::boost::{Boost, BoostSettings, Loss};
use crate::rows::{chosen, with_labels};
use crate::{AuditError, Signal, Study};
use reticent_data::keyed_hash;
use std::collections::BTreeMap;

/// The fewest non-members in a half.
const ENOUGH: usize = 50;

pub(super) fn can_run(study: &Study) -> Result<(), String> {
    let parts = study.parts();
    if evidence::target_outputs(study).is_err() && parts.scores.is_none() {
        return Err("it needs the target's outputs and labels, or a score".to_owned());
    }
    if parts.features.as_ref().is_none_or(|features| features.columns == 0) {
        return Err("it needs features of the records: give columns `feature_…`".to_owned());
    }
    let outside = parts.members.iter().filter(|member| !**member).count();
    if outside < 2 * ENOUGH {
        return Err(format!(
            "it needs at least {} non-members to learn from, and there are {outside}",
            2 * ENOUGH
        ));
    }
    Ok(())
}

pub(super) fn run(study: &Study, settings: &AttackSettings) -> Result<AttackScores, AuditError> {
    can_run(study).map_err(AuditError::not_measurable)?;
    let parts = study.parts();
    let (own, what) = match evidence::target_outputs(study) {
        Ok((outputs, labels)) => (Signal::Hinge.compute(outputs, labels)?, Signal::Hinge.name()),
        Err(_) => (parts.scores.clone().unwrap_or_default(), "given score"),
    };
    evidence::finite(study, what, &own)?;
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
        let loss = Loss::Pinball(settings.quantile_level);
        let model = Boost::fit(&chosen(&features, &learnt), &targets, loss, &boost)?;
        for (record, quantile) in asked.iter().zip(model.predict(&chosen(&features, &asked))?) {
            scores[*record] = own[*record] - quantile;
        }
    }
    let settings = BTreeMap::from([
        ("signal".to_owned(), what.to_owned()),
        ("level".to_owned(), settings.quantile_level.to_string()),
        ("learnt from".to_owned(), "the other half of the non-members".to_owned()),
        ("regression".to_owned(), format!("{} boosted trees of depth {}", boost.rounds, boost.depth)),
    ]);
    Ok(AttackScores { scores, settings })
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
