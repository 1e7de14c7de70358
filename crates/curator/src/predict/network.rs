//! A stored network on data without labels.

use super::{Predicted, Said};
use crate::refusal::Refusal;
use crate::train::{Source, Stored};
use crate::watch::Watch;
use reticent_core::Code;
use reticent_data::schema::{Bounds, LabelKind};

pub(super) fn predict(mut stored: Stored, source: &Source, watch: &dyn Watch) -> Result<Predicted, Refusal> {
    if stored.reader.is_language() {
        let text = "a language model predicts no label: 'reticent evaluate' gives the perplexity of texts, and 'reticent sample' \
                    continues a prompt";
        return Err(Refusal::new(Code::Misfit, text));
    }
    let (scores, _) = stored.scores(source, false, watch)?;
    let names = &stored.reader.classes;
    let is_binary = matches!(stored.reader.target(), Some(LabelKind::Binary { .. }));
    let said: Vec<Said> = match stored.reader.target() {
        Some(LabelKind::Number(bounds)) => scores
            .iter()
            .map(|score| {
                let value = number(bounds, f64::from(*score));
                let prediction = if score.is_finite() { value.to_string() } else { String::new() };
                Said { prediction, probability: None }
            })
            .collect(),
        _ => scores
            .chunks_exact(names.len().max(1))
            .map(|scores| {
                let Some((class, own)) = likeliest(scores) else {
                    return Said { prediction: String::new(), probability: Some(f64::NAN) };
                };
                // Of two classes it is told of the positive one, which is the second.
                let probability = if is_binary && class == 0 { 1.0 - own } else { own };
                Said {
                    prediction: names.get(class).cloned().unwrap_or_default(),
                    probability: Some(probability),
                }
            })
            .collect(),
    };
    let warning = unusable(&scores, stored.reader.outputs(), "which have no prediction");
    let values = match stored.reader.target() {
        Some(LabelKind::Number(bounds)) => {
            scores.iter().map(|score| number(bounds, f64::from(*score))).collect()
        }
        _ => scores.iter().map(|score| f64::from(*score)).collect(),
    };
    Ok(Predicted::new(said, names.clone(), values, warning.into_iter().collect()))
}

/// The number that a score between -1 and 1 stands for; not a number where the score is none.
pub(super) fn number(bounds: &Bounds, score: f64) -> f64 {
    if score.is_nan() { f64::NAN } else { bounds.at(0.5 * (score.clamp(-1.0, 1.0) + 1.0)) }
}

/// The class with the largest score and its probability; none where a score is not a finite number.
pub(crate) fn likeliest(scores: &[f32]) -> Option<(usize, f64)> {
    if !scores.iter().all(|score| score.is_finite()) {
        return None;
    }
    let best = scores.iter().enumerate().fold((0, f32::NEG_INFINITY), |best, (class, score)| {
        if *score > best.1 { (class, *score) } else { best }
    });
    let rest: f64 = scores.iter().map(|score| f64::from(score - best.1).exp()).sum();
    Some((best.0, if rest > 0.0 { 1.0 / rest } else { 0.0 }))
}

/// Warns about rows for which a network's scores are not finite.
pub(crate) fn unusable(scores: &[f32], width: usize, what: &str) -> Option<String> {
    let rows =
        scores.chunks_exact(width.max(1)).filter(|scores| scores.iter().any(|score| !score.is_finite()));
    let count = rows.count();
    (count > 0).then(|| {
        format!(
            "the network's scores are not finite for {count} rows, {what}: its training may have diverged"
        )
    })
}
