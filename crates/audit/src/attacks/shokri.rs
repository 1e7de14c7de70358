//! A classifier that learnt from shadow models what outputs on members look like, applied to the target.
//!
//! The references are the shadow models. It sees the largest log-probabilities in order and the true class's logit; classes
//! with enough rows have a classifier of their own, the others share one.
//!
//! # Reference
//! Shokri, Stronati, Song, Shmatikov, *Membership inference attacks against machine learning models*, 2017.

use super::{Attack, AttackScores, AttackSettings, CannotRun, ReferenceNeed, Requirements, evidence};
use crate::boost::{Boost, BoostLoss, BoostSettings};
use crate::rows::chosen;
use crate::signal::each_row;
use crate::{AuditError, Features, OUTPUTS, Outputs, Signal, Study};

/// How many of the largest log-probabilities are looked at.
const LARGEST: usize = 10;
/// The most rows to learn from; whole references are left out beyond them.
const MOST_ROWS: usize = 100_000;
/// The fewest rows of either kind for a class to have its own classifier.
const ENOUGH: usize = 250;

/// A classifier trained on shadow models.
pub const SHOKRI: &dyn Attack = &Shokri;

#[derive(Debug)]
struct Shokri;

impl Attack for Shokri {
    fn name(&self) -> &'static str {
        "shokri"
    }

    fn about(&self) -> &'static str {
        "a classifier trained on shadow models to recognize outputs on members"
    }

    fn needs(&self) -> &'static str {
        "outputs of references"
    }

    fn requirements(&self) -> Requirements {
        Requirements { signals: &[OUTPUTS], references: ReferenceNeed::Any }
    }

    fn knowledge(&self, study: &Study) -> String {
        let models = evidence::models(study);
        format!("the record, and {models} trained on data like the target's, with it and without it")
    }

    fn check(&self, study: &Study) -> Result<(), CannotRun> {
        let flags = study.parts().references.iter().flat_map(|r| r.inside.iter());
        let (mut inside, mut outside) = (false, false);
        flags.for_each(|flag| if *flag { inside = true } else { outside = true });
        if inside && outside { Ok(()) } else { Err(CannotRun::OneKindOfReference) }
    }

    fn score(&self, study: &Study, settings: &AttackSettings) -> Result<AttackScores, AuditError> {
        let (target, labels) = evidence::target_outputs(study)?;
        let (mut columns, mut shadows) = (0, 0);
        let (mut rows, mut truth, mut classes) = (Vec::new(), Vec::new(), Vec::new());
        let (mut seen_inside, mut seen_outside) = (false, false);
        for reference in &study.parts().references {
            let Some(outputs) = &reference.outputs else { continue };
            if truth.len() >= MOST_ROWS && seen_inside && seen_outside {
                break;
            }
            let seen = features(outputs, labels)?;
            columns = seen.columns;
            rows.extend(seen.values);
            truth.extend(reference.inside.iter().map(|inside| f64::from(u8::from(*inside))));
            classes.extend(labels.iter().copied());
            seen_inside |= reference.inside.contains(&true);
            seen_outside |= reference.inside.contains(&false);
            shadows += 1;
        }
        let boost = BoostSettings {
            key: format!("{}: shokri", settings.key),
            leaf: 20,
            rounds: 60,
            ..BoostSettings::default()
        };
        let learnt = Features { columns, values: rows };
        let asked = features(target, labels)?;
        let mut scores = vec![0.0; study.len()];
        let (mut own_classifier, mut rest) = (0, Vec::new());
        for class in 0..target.classes() as u32 {
            let records: Vec<usize> = (0..study.len()).filter(|record| labels[*record] == class).collect();
            let places: Vec<usize> = (0..truth.len()).filter(|place| classes[*place] == class).collect();
            let own: Vec<f64> = places.iter().map(|place| truth[*place]).collect();
            let inside = own.iter().filter(|t| **t == 1.0).count();
            if inside < ENOUGH || own.len() - inside < ENOUGH {
                rest.extend(records);
                continue;
            }
            own_classifier += 1;
            let model = Boost::fit(&chosen(&learnt, &places), &own, BoostLoss::Logistic, &boost)?;
            for (record, score) in records.iter().zip(model.predict(&chosen(&asked, &records))?) {
                scores[*record] = score;
            }
        }
        if !rest.is_empty() {
            let model = Boost::fit(&learnt, &truth, BoostLoss::Logistic, &boost)?;
            for (record, score) in rest.iter().zip(model.predict(&chosen(&asked, &rest))?) {
                scores[*record] = score;
            }
        }
        Ok(AttackScores::new(
            scores,
            [
                ("shadow models", shadows.to_string()),
                ("classes with their own classifier", own_classifier.to_string()),
                ("classifier", format!("{} boosted trees of depth {}", boost.rounds, boost.depth)),
            ],
        ))
    }
}

/// What the classifier sees of every record.
fn features(outputs: &Outputs, labels: &[u32]) -> Result<Features, AuditError> {
    let logits = Signal::Logit.compute(outputs, labels)?;
    let largest = outputs.classes().min(LARGEST);
    let columns = largest + 1;
    let mut values = Vec::with_capacity(columns * labels.len());
    let mut sorted = Vec::with_capacity(outputs.classes());
    each_row(outputs, labels, 1.0, |record, row| {
        sorted.clear();
        sorted.extend_from_slice(row);
        sorted.sort_unstable_by(|a, b| b.total_cmp(a));
        values.extend(sorted[..largest].iter().map(|v| *v as f32));
        values.push(logits[record] as f32);
    });
    Ok(Features { columns, values })
}
