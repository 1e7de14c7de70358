//! Model inversion: what a typical record of a class looks like, from a model alone.
//!
//! Minimized is the loss of a record as of the class, with a penalty on total variation (Fredrikson, Jha, Ristenpart, *Model inversion attacks
//! that exploit confidence information and basic countermeasures*, 2015). A class counts as recognized when what is found differs from the
//! mean of all records in the direction of that class's mean more than of any other's. It is no record of anybody, unless a class is a person.

use super::gradients::read;
use super::informed::compared;
use super::inversion::{Inversion, InversionSettings};
use super::space::RecordSpace;
use super::{Reconstructed, Reconstruction, threat};
use crate::AttackError;
use crate::learner::Halt;
use crate::population::classes_of;
use reticent_audit::attacks::AttackKind;
use reticent_audit::disclosure::Disclosure;
use reticent_audit::findings::Threat;
use reticent_train::inspect::Inspector;
use reticent_train::{Description, Examples, Resources};
use std::collections::BTreeMap;

/// Looks for a typical record of every class of the records.
///
/// # Errors
/// [`AttackError::Invalid`] for records that are not numbers or images with classes; [`AttackError::Train`] for a network that does not fit;
/// [`AttackError::Interrupted`] when `halt` says so.
pub fn typical_records(
    description: &Description,
    weights: &[f32],
    records: &Examples,
    settings: &InversionSettings,
    confidence: f64,
    halt: Halt<'_>,
) -> Result<Reconstruction, AttackError> {
    let space = RecordSpace::of(records)?;
    let (labels, rows, size) = (classes_of(records)?, read(records, &space), space.size());
    let mut sums: BTreeMap<u32, (f32, Vec<f32>)> = BTreeMap::new();
    for (label, row) in labels.iter().zip(rows.chunks_exact(size)) {
        let (count, sum) = sums.entry(*label).or_insert_with(|| (0.0, vec![0.0; size]));
        *count += 1.0;
        sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    let classes: Vec<u32> = sums.keys().copied().collect();
    let means: Vec<f32> =
        sums.values().flat_map(|(count, sum)| sum.iter().map(move |sum| sum / count)).collect();
    let mut inspector = Inspector::new(description, Resources::SINGLE)?;
    let found =
        Inversion { inspector: &mut inspector, weights, space: &space }.typical(&classes, settings, halt)?;
    let away = |records: &[f32]| -> Vec<Vec<f64>> {
        let from = |record: &[f32]| record.iter().zip(space.mean()).map(|(a, b)| f64::from(a - b)).collect();
        records.chunks_exact(size).map(from).collect()
    };
    let (own, seen) = (away(&means), away(&found));
    let is_recognized = |class: &usize| {
        let likeness = |other: &usize| cosine(&seen[*class], &own[*other]);
        (0..own.len()).max_by(|a, b| likeness(a).total_cmp(&likeness(b))) == Some(*class)
    };
    let recognized = (0..own.len()).filter(is_recognized).count() as u64;
    let condition = format!("{} classes, one record each", classes.len());
    let what = "share of classes whose mean record is likest to what was found; the baseline is guessing";
    let measures = vec![compared(what, &condition, [recognized, 1], classes.len() as u64, confidence)];
    let Threat { access, knowledge, .. } =
        threat("all weights of the model", "range and mean of all training records");
    let disclosure = Disclosure {
        name: "model-inversion".to_owned(),
        kind: AttackKind::ModelInversion,
        about: "searches for the record that the model takes for a class most surely".to_owned(),
        settings: BTreeMap::from([("steps".to_owned(), settings.steps.to_string())]),
        threat: Threat { access, knowledge, goal: AttackKind::ModelInversion.goal().to_owned() },
        records: classes.len() as u64,
        measures,
        bound: None,
        warnings: vec!["a mean record of a class is nobody's record, unless a class is a person".to_owned()],
    };
    let shown = vec![Reconstructed::new(&condition, &space, means, found)];
    Ok(Reconstruction { disclosure, shown })
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt().max(f64::MIN_POSITIVE)
}
