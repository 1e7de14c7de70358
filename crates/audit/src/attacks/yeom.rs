//! A threshold on one signal of the target alone: for all records, or made comparable class by class.
//!
//! # Reference
//! Yeom, Giacomelli, Fredrikson, Jha, *Privacy risk in machine learning: analyzing the connection to overfitting*, 2018.

use super::{AttackScores, evidence};
use crate::rank::fractional_ranks;
use crate::{AuditError, Signal, Study};
use std::collections::BTreeMap;

/// Classes with fewer signals of references than this are measured against all classes.
const ENOUGH: usize = 20;

pub(super) fn can_run(study: &Study) -> Result<(), String> {
    evidence::target_outputs(study).map(|_| ())
}

pub(super) fn run(study: &Study, signal: Signal) -> Result<AttackScores, AuditError> {
    let (outputs, labels) = evidence::target_outputs(study).map_err(AuditError::not_measurable)?;
    let scores = signal.compute(outputs, labels)?;
    Ok(AttackScores { scores, settings: BTreeMap::from([("signal".to_owned(), signal.name().to_owned())]) })
}

/// Scores within the class. With references: the distance from the median of what references trained without a record say
/// about its class, in units of their interquartile range. Without: the rank among the target's signals of the class.
pub(super) fn run_per_class(study: &Study, signal: Signal) -> Result<AttackScores, AuditError> {
    let (outputs, labels) = evidence::target_outputs(study).map_err(AuditError::not_measurable)?;
    let own = signal.compute(outputs, labels)?;
    let mut settings = BTreeMap::from([("signal".to_owned(), signal.name().to_owned())]);
    let mut pools: Vec<Vec<f64>> = vec![Vec::new(); outputs.classes()];
    for reference in &study.parts().references {
        let Some(outputs) = &reference.outputs else { continue };
        let signals = signal.compute(outputs, labels)?;
        for (record, value) in signals.into_iter().enumerate() {
            if !reference.inside[record] {
                pools[labels[record] as usize].push(value);
            }
        }
    }
    let mut everyone: Vec<f64> = pools.iter().flatten().copied().collect();
    if everyone.len() < ENOUGH {
        let how = "ranks within the class of the target's own signals".to_owned();
        settings.insert("calibration".to_owned(), how);
        return Ok(AttackScores { scores: class_ranks(&own, labels, outputs.classes()), settings });
    }
    let all = Quartiles::of(&mut everyone, 1.0);
    let quartiles: Vec<Quartiles> = pools
        .iter_mut()
        .map(|pool| if pool.len() < ENOUGH { all } else { Quartiles::of(pool, all.range) })
        .collect();
    let bare = pools.iter().filter(|pool| pool.len() < ENOUGH).count();
    let how = "median and quartiles of the class over references trained without the record".to_owned();
    settings.insert("calibration".to_owned(), how);
    settings.insert("classes measured against all".to_owned(), bare.to_string());
    let scores = own.iter().zip(labels).map(|(value, label)| {
        let class = quartiles[*label as usize];
        (value - class.median) / class.range
    });
    Ok(AttackScores { scores: scores.collect(), settings })
}

#[derive(Clone, Copy)]
struct Quartiles {
    median: f64,
    range: f64,
}

impl Quartiles {
    /// Of at least one value; the range of values that are nearly all the same is the one given.
    fn of(values: &mut [f64], otherwise: f64) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let at = |quarter: usize| values[quarter * (values.len() - 1) / 4];
        let range = at(3) - at(1);
        Self { median: at(2), range: if range > 0.0 { range } else { otherwise } }
    }
}

fn class_ranks(own: &[f64], labels: &[u32], classes: usize) -> Vec<f64> {
    let mut scores = vec![0.0; own.len()];
    for class in 0..classes {
        let records: Vec<usize> = (0..own.len()).filter(|r| labels[*r] as usize == class).collect();
        let values: Vec<f64> = records.iter().map(|r| own[*r]).collect();
        for (record, rank) in records.into_iter().zip(fractional_ranks(&values)) {
            scores[record] = rank;
        }
    }
    scores
}
