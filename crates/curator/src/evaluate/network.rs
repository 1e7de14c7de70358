//! A stored network on labelled data.

use super::Evaluated;
use crate::predict::{likeliest, unusable};
use crate::refusal::Refusal;
use crate::train::{Source, Stored};
use crate::watch::Watch;
use reticent_core::Code;
use reticent_data::schema::Target;
use reticent_erm::{class_scores, value_scores};
use reticent_train::Targets;

pub(super) fn evaluate(mut stored: Stored, source: &Source, watch: &dyn Watch) -> Result<Evaluated, Refusal> {
    let (scores, examples) = stored.scores(source, true, watch)?;
    if examples.is_empty() {
        return Err(Refusal::new(Code::NoRows, format!("{} has no rows: give data", source.name())));
    }
    let rows = examples.len();
    let mut evaluated = match (examples.targets(), stored.reader.target()) {
        (Targets::Numbers(truth), Some(Target::Number(bounds))) => {
            let values =
                |values: &[f32]| -> Vec<f64> { values.iter().map(|value| f64::from(*value)).collect() };
            Evaluated::values(&value_scores(&values(&scores), &values(truth))?, bounds, rows)
        }
        (Targets::Classes(truth), _) => {
            let classes = stored.reader.classes.len();
            let truth: Vec<i64> = truth.iter().map(|class| i64::from(*class)).collect();
            // No class: wrong, whatever the truth is.
            let said = |scores: &[f32]| likeliest(scores).map_or(-1, |(class, _)| class as i64);
            let said: Vec<i64> = scores.chunks_exact(classes.max(1)).map(said).collect();
            let known: Vec<i64> = (0..classes as i64).collect();
            Evaluated::classes(&class_scores(&truth, &said, &known)?, &stored.reader.classes, rows)
        }
        _ => return Err(Refusal::new(Code::Broken, "the model's label is no number: train it again")),
    };
    evaluated.warnings.extend(unusable(&scores, stored.reader.outputs(), "which count as wrong"));
    Ok(evaluated)
}
