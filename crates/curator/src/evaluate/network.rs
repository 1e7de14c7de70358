//! A stored network on labelled data.

use super::{Evaluated, Scores, TextScores};
use crate::predict::{likeliest, unusable};
use crate::refusal::Refusal;
use crate::train::{Source, Stored};
use crate::watch::Watch;
use reticent_core::Code;
use reticent_data::schema::LabelKind;
use reticent_erm::{class_metrics, value_metrics};
use reticent_train::{Targets, TrainError, Weights};

pub(super) fn evaluate(mut stored: Stored, source: &Source, watch: &dyn Watch) -> Result<Evaluated, Refusal> {
    if stored.reader.is_language() {
        return language(stored, source, watch);
    }
    let (scores, examples) = stored.scores(source, true, watch)?;
    let examples = examples.raw();
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

/// A language model on texts.
fn language(mut stored: Stored, source: &Source, watch: &dyn Watch) -> Result<Evaluated, Refusal> {
    let loaded = stored.reader.read(source, false, watch)?;
    let rows = loaded.rows.as_deref().and_then(<[u32]>::last).map_or(0, |last| *last as usize + 1);
    if rows == 0 {
        return Err(Refusal::new(Code::NoRows, format!("{} has no rows: give data", source.name())));
    }
    let named = |error: TrainError| Refusal::from(error).within(&source.name());
    let found =
        reticent_train::evaluate(&mut *stored.network, Weights::Current, &loaded.examples).map_err(named)?;
    let (Some(tokens), Some(perplexity), Some(accuracy)) = (found.tokens, found.perplexity(), found.accuracy)
    else {
        return Err(Refusal::internal("texts without scored tokens"));
    };
    let warnings = match found.loss.is_finite() {
        true => Vec::new(),
        false => vec!["the network's scores are not finite: its training may have diverged".to_owned()],
    };
    let scores = Scores::Texts(TextScores { accuracy, loss: found.loss, perplexity, rows, tokens });
    Ok(Evaluated { scores, warnings })
}
