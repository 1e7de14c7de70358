//! The gap between a model's accuracy on its training records and on others, beside the simplest attack.

use crate::{AuditError, Reference, Signal};
use serde::{Deserialize, Serialize};

/// One model: its accuracy on both sides, and an attack by its loss alone.
///
/// The attack calls a record a member when its loss is at most the mean loss of the training records.
///
/// # Reference
/// Yeom et al., *Privacy risk in machine learning: analyzing the connection to overfitting* (2018).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Overfitting {
    /// The model.
    pub name: String,
    /// Share of right classes among the records it was trained on.
    pub train_accuracy: f64,
    /// The same among the others.
    pub test_accuracy: f64,
    /// Training accuracy less test accuracy.
    pub gap: f64,
    /// The attack's threshold.
    pub mean_train_loss: f64,
    /// Share of members that are called so, less the share of non-members that are.
    pub advantage: f64,
    /// Share of right calls when members and non-members are equally many: (1 + advantage)/2.
    pub attack_accuracy: f64,
}

/// A row for every model.
///
/// # Errors
/// [`AuditError::Invalid`] for a model without outputs, with other records than the labels, or with no record on one
/// of the sides.
pub fn overfitting(models: &[Reference], labels: &[u32]) -> Result<Vec<Overfitting>, AuditError> {
    models.iter().map(|model| row(model, labels)).collect()
}

fn row(model: &Reference, labels: &[u32]) -> Result<Overfitting, AuditError> {
    let Some(outputs) = &model.outputs else {
        return Err(AuditError::invalid("outputs", &model.name, "give the outputs of every model"));
    };
    if model.inside.len() != labels.len() {
        let remedy = format!("give all {} records", labels.len());
        return Err(AuditError::invalid("reference", model.inside.len(), remedy));
    }
    let losses: Vec<f64> = Signal::Loss.compute(outputs, labels)?.into_iter().map(|log| -log).collect();
    // Per side: records, right classes, losses.
    let mut sides = [(0.0, 0.0, 0.0); 2];
    for (record, inside) in model.inside.iter().enumerate() {
        let side = &mut sides[usize::from(*inside)];
        side.0 += 1.0;
        side.1 += f64::from(u8::from(is_right(outputs.record(record), labels[record])));
        side.2 += losses[record];
    }
    let [others, own] = sides;
    if own.0 == 0.0 || others.0 == 0.0 {
        let remedy = "train on some of the records and leave some out";
        return Err(AuditError::invalid("reference", &model.name, remedy));
    }
    let threshold = own.2 / own.0;
    let called = |side: bool| {
        let of_side = losses.iter().zip(&model.inside).filter(|(_, inside)| **inside == side);
        of_side.filter(|(loss, _)| **loss <= threshold).count() as f64
    };
    let advantage = called(true) / own.0 - called(false) / others.0;
    let (train_accuracy, test_accuracy) = (own.1 / own.0, others.1 / others.0);
    Ok(Overfitting {
        name: model.name.clone(),
        train_accuracy,
        test_accuracy,
        gap: train_accuracy - test_accuracy,
        mean_train_loss: threshold,
        advantage,
        attack_accuracy: (1.0 + advantage) / 2.0,
    })
}

fn is_right(scores: &[f32], label: u32) -> bool {
    let Some(own) = scores.get(label as usize) else { return false };
    scores.iter().enumerate().all(|(class, score)| class == label as usize || score < own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Outputs, OutputsKind, Signals};

    fn model(kind: OutputsKind, values: Vec<f32>, inside: Vec<bool>) -> Reference {
        let outputs = Some(Outputs::new(kind, 2, values).unwrap());
        Reference { name: "m".into(), outputs, signals: Signals::none(), inside }
    }

    #[test]
    fn the_gap_and_the_attack_are_counted() {
        // Losses 0.105, 0.693, 0.223, 2.303: the members' mean is 0.399, so one member and one other are called.
        let values = vec![0.9, 0.1, 0.5, 0.5, 0.8, 0.2, 0.1, 0.9];
        let probabilities = model(OutputsKind::Probabilities, values.clone(), vec![true, true, false, false]);
        let logits = values.iter().map(|p| p.ln()).collect();
        let logits = model(OutputsKind::Logits, logits, vec![true, true, false, false]);
        for model in [probabilities, logits] {
            let rows = overfitting(&[model], &[0, 0, 0, 0]).unwrap();
            assert_eq!((rows[0].train_accuracy, rows[0].test_accuracy, rows[0].gap), (0.5, 0.5, 0.0));
            assert!((rows[0].mean_train_loss - (-(0.9f64.ln()) - 0.5f64.ln()) / 2.0).abs() < 1e-6);
            assert_eq!((rows[0].advantage, rows[0].attack_accuracy), (0.0, 0.5));
        }
        let apart = model(OutputsKind::Logits, vec![9.0, 0.0, 0.0, 9.0], vec![true, false]);
        let rows = overfitting(&[apart], &[0, 0]).unwrap();
        assert_eq!((rows[0].gap, rows[0].advantage, rows[0].attack_accuracy), (1.0, 1.0, 1.0));
    }

    #[test]
    fn a_loss_is_finite_and_one_side_is_refused() {
        let sure = model(OutputsKind::Probabilities, vec![0.0, 1.0, 1.0, 0.0], vec![true, false]);
        let rows = overfitting(std::slice::from_ref(&sure), &[0, 0]).unwrap();
        assert!(rows[0].mean_train_loss.is_finite());
        assert!(overfitting(&[Reference { inside: vec![true, true], ..sure.clone() }], &[0, 0]).is_err());
        assert!(overfitting(std::slice::from_ref(&sure), &[0, 2]).is_err());
        assert!(overfitting(&[sure], &[0]).is_err());
    }
}
