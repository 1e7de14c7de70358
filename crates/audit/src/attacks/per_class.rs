//! A threshold on one signal of the target, made comparable class by class.
//!
//! With references, the score is the distance from the median of what references trained without a record say about its
//! class, in units of their interquartile range. Without, it is the rank among the target's signals of the class.
//!
//! # Reference
//! Yeom, Giacomelli, Fredrikson, Jha, *Privacy risk in machine learning: analyzing the connection to overfitting*, 2018.

use super::{Attack, AttackScores, AttackSettings, ReferenceNeed, Requirements, evidence};
use crate::rank::fractional_ranks;
use crate::{AuditError, Study};

/// Classes with fewer signals of references than this are measured against all classes.
const ENOUGH: usize = 20;

/// A threshold on the logit of the true class, class by class.
pub const YEOM_PER_CLASS: &dyn Attack = &PerClass;

#[derive(Debug)]
struct PerClass;

const REQUIRED: Requirements = Requirements { signals: &["logit"], references: ReferenceNeed::None };

impl Attack for PerClass {
    fn name(&self) -> &'static str {
        "yeom-per-class"
    }

    fn about(&self) -> &'static str {
        "a threshold on the target's confidence, calibrated within each class"
    }

    fn needs(&self) -> &'static str {
        "outputs and labels"
    }

    fn requirements(&self) -> Requirements {
        REQUIRED
    }

    fn knowledge(&self, study: &Study) -> String {
        if study.parts().references.is_empty() {
            return "the record, its true class, and other records of the class".to_owned();
        }
        let models = evidence::models(study);
        format!("the record, its true class, and {models} trained on data like the target's")
    }

    fn score(&self, study: &Study, _settings: &AttackSettings) -> Result<AttackScores, AuditError> {
        let (outputs, labels) = evidence::target_outputs(study)?;
        let (own, name, _) = evidence::target_signal(study, REQUIRED)?;
        let mut pools: Vec<Vec<f64>> = vec![Vec::new(); outputs.classes()];
        for (place, reference) in study.parts().references.iter().enumerate() {
            let Some(values) = study.signal(name).and_then(|signal| signal.reference(place)) else {
                continue;
            };
            for (record, value) in values.iter().enumerate() {
                if !reference.inside[record] {
                    pools[labels[record] as usize].push(*value);
                }
            }
        }
        let mut everyone: Vec<f64> = pools.iter().flatten().copied().collect();
        if everyone.len() < ENOUGH {
            let how = "ranks within the class of the target's own signals".to_owned();
            let scores = class_ranks(own, labels, outputs.classes());
            return Ok(AttackScores::new(scores, [("signal", name.to_owned()), ("calibration", how)]));
        }
        let all = Quartiles::of(&mut everyone, 1.0);
        let quartiles: Vec<Quartiles> = pools
            .iter_mut()
            .map(|pool| if pool.len() < ENOUGH { all } else { Quartiles::of(pool, all.range) })
            .collect();
        let bare = pools.iter().filter(|pool| pool.len() < ENOUGH).count();
        let how = "median and quartiles of the class over references trained without the record".to_owned();
        let scores = own.iter().zip(labels).map(|(value, label)| {
            let class = quartiles[*label as usize];
            (value - class.median) / class.range
        });
        Ok(AttackScores::new(
            scores.collect(),
            [
                ("signal", name.to_owned()),
                ("calibration", how),
                ("classes measured against all", bare.to_string()),
            ],
        ))
    }
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
