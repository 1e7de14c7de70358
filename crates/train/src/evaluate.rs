//! How good a model is on public examples.

use crate::engine::{Engine, Weights};
use crate::{Examples, Targets, TrainError};

/// Examples that go through the model at a time.
const CHUNK: usize = 512;

/// Means over examples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evaluation {
    /// How many examples.
    pub examples: usize,
    /// Cross-entropy for classes, squared error for numbers.
    pub loss: f64,
    /// Share of right classes; none for numbers.
    pub accuracy: Option<f64>,
}

/// Mean loss and accuracy of an engine's network on public examples.
///
/// # Errors
/// [`TrainError::Invalid`] when there are no examples; what the engine refuses.
pub fn evaluate(
    engine: &mut dyn Engine,
    weights: Weights,
    public: &Examples,
) -> Result<Evaluation, TrainError> {
    if public.is_empty() {
        return Err(TrainError::invalid("examples", 0, "give at least one to evaluate on"));
    }
    engine.check(public)?;
    let (mut loss, mut right) = (0.0, 0usize);
    let all: Vec<usize> = (0..public.len()).collect();
    for which in all.chunks(CHUNK) {
        let outputs = engine.outputs(weights, public, which)?;
        let width = outputs.len() / which.len();
        if width == 0 || width * which.len() != outputs.len() {
            return Err(TrainError::Shape(format!("{} outputs for {} examples", outputs.len(), which.len())));
        }
        for (scores, example) in outputs.chunks_exact(width).zip(which) {
            match public.targets() {
                Targets::Numbers(numbers) => {
                    loss += (f64::from(scores[0]) - f64::from(numbers[*example])).powi(2);
                }
                Targets::Classes(classes) => {
                    let (cost, is_right) = judge(scores, classes[*example] as usize);
                    loss += cost;
                    right += usize::from(is_right);
                }
            }
        }
    }
    let count = public.len() as f64;
    let accuracy = matches!(public.targets(), Targets::Classes(_)).then_some(right as f64 / count);
    Ok(Evaluation { examples: public.len(), loss: loss / count, accuracy })
}

/// The cross-entropy of scores, and whether the class has the largest; a single score speaks for class 1 against 0.
fn judge(scores: &[f32], class: usize) -> (f64, bool) {
    let pair = [0.0, scores[0]];
    let scores = if scores.len() == 1 { &pair[..] } else { scores };
    let Some(own) = scores.get(class) else { return (f64::INFINITY, false) };
    let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let rest: f64 = scores.iter().map(|score| libm::exp(f64::from(score - most))).sum();
    let is_right = scores.iter().enumerate().all(|(other, score)| other == class || *score < *own);
    (libm::log(rest) + f64::from(most - own), is_right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_judged() {
        let (loss, right) = judge(&[0.0, 0.0], 1);
        assert!((loss - std::f64::consts::LN_2).abs() < 1e-9 && !right);
        assert!(judge(&[1.0, 3.0, 2.0], 1).1);
        let (loss, right) = judge(&[2.0], 1);
        assert!((loss - libm::log1p(libm::exp(-2.0))).abs() < 1e-6 && right);
        assert!(!judge(&[2.0], 0).1 && !judge(&[f32::NAN, 1.0], 0).1);
    }
}
