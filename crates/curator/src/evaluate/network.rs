//! A stored network on labelled data.

use super::Evaluated;
use crate::predict::{likeliest, unusable};
use crate::refusal::Refusal;
use crate::train::{Source, Stored};
use crate::watch::Watch;
use reticent_core::Code;
use reticent_data::schema::LabelKind;
use reticent_erm::{class_metrics, value_metrics};
use reticent_train::Targets;

pub(super) fn evaluate(mut stored: Stored, source: &Source, watch: &dyn Watch) -> Result<Evaluated, Refusal> {
    let (scores, examples) = stored.scores(source, true, watch)?;
    if examples.is_empty() {
        return Err(Refusal::new(Code::NoRows, format!("{} has no rows: give data", source.name())));
    }
    let rows = examples.len();
    let mut evaluated = match (examples.targets(), stored.reader.target()) {
        (Targets::Numbers(truth), Some(LabelKind::Number(bounds))) => {
            let values =
                |values: &[f32]| -> Vec<f64> { values.iter().map(|value| f64::from(*value)).collect() };
            Evaluated::values(&value_metrics(&values(&scores), &values(truth))?, bounds, rows)
        }
        (Targets::Classes(truth), _) => {
            let classes = stored.reader.classes.len();
            let truth: Vec<i64> = truth.iter().map(|class| i64::from(*class)).collect();
            // No class: wrong, whatever the truth is.
            let said = |scores: &[f32]| likeliest(scores).map_or(-1, |(class, _)| class as i64);
            let said: Vec<i64> = scores.chunks_exact(classes.max(1)).map(said).collect();
            let known: Vec<i64> = (0..classes as i64).collect();
            Evaluated::classes(&class_metrics(&truth, &said, &known)?, &stored.reader.classes, rows)
        }
        _ => return Err(Refusal::new(Code::Broken, "the model's label is not a number: train again")),
    };
    evaluated.warnings.extend(unusable(&scores, stored.reader.outputs(), "which are counted as wrong"));
    Ok(evaluated)
}
