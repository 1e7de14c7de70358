//! How good a model is on public examples.

use crate::engine::{Engine, Weights};
use crate::{Examples, Targets, TrainError, UNSCORED};

/// Examples that go through the model at a time.
const CHUNK: usize = 512;

/// The most scores that are held at a time.
const MOST_SCORES: usize = 1 << 22;

/// Means over examples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evaluation {
    /// How many examples.
    pub examples: usize,
    /// Cross-entropy for classes, squared error for numbers, cross-entropy per scored token for texts.
    pub loss: f64,
    /// Share of right classes, or of right next tokens; none for numbers.
    pub accuracy: Option<f64>,
    /// How many next tokens were scored; none unless they are the targets.
    pub tokens: Option<u64>,
}

impl Evaluation {
    /// e to the mean loss per scored token; none unless next tokens are the targets.
    pub fn perplexity(&self) -> Option<f64> {
        self.tokens.map(|_| libm::exp(self.loss))
    }
}

/// The scores of raw examples: of one with copies, their mean.
///
/// # Errors
/// [`TrainError::Shape`] for numbers of examples that there are not; what the engine refuses.
pub fn scores(
    engine: &mut dyn Engine,
    weights: Weights,
    examples: &Examples,
    which: &[usize],
) -> Result<Vec<f32>, TrainError> {
    let copies = examples.copies();
    if copies == 1 {
        return engine.outputs(weights, examples, which);
    }
    let all: Vec<usize> =
        which.iter().flat_map(|example| (0..copies).map(move |copy| example * copies + copy)).collect();
    examples.check_numbers(&all)?;
    let outputs = engine.outputs(weights, examples, &all)?;
    let width = outputs.len() / all.len().max(1);
    let mean = |group: &[f32]| -> Vec<f32> {
        (0..width).map(|at| group.iter().skip(at).step_by(width).sum::<f32>() / copies as f32).collect()
    };
    Ok(outputs.chunks_exact((width * copies).max(1)).flat_map(mean).collect())
}

/// Mean loss and accuracy of an engine's network on public examples. One with [copies](Examples::copies) is one example, whose scores
/// are the mean over its copies.
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
    let (mut loss, mut right, mut scored) = (0.0, 0u64, 0u64);
    let (count, copies) = (public.len() / public.copies(), public.copies());
    let all: Vec<usize> = (0..count).collect();
    // Texts have scores for every token at every position: the first example tells how many.
    let mut chunk = if matches!(public.targets(), Targets::Next(_)) { 1 } else { CHUNK };
    let mut rest = &all[..];
    while !rest.is_empty() {
        let (which, later) = rest.split_at(chunk.min(rest.len()));
        rest = later;
        let outputs = scores(engine, weights, public, which)?;
        let width = outputs.len() / which.len();
        if width == 0 || width * which.len() != outputs.len() {
            return Err(TrainError::Shape(format!("{} outputs for {} examples", outputs.len(), which.len())));
        }
        chunk = (MOST_SCORES / width).clamp(1, CHUNK);
        for (scores, example) in outputs.chunks_exact(width).zip(which) {
            match public.targets() {
                Targets::Numbers(numbers) => {
                    loss += (f64::from(scores[0]) - f64::from(numbers[*example * copies])).powi(2);
                }
                Targets::Classes(classes) => {
                    let (cost, is_right) = judge(scores, classes[*example * copies] as usize);
                    loss += cost;
                    right += u64::from(is_right);
                }
                Targets::Next(next) => {
                    let length = public.size();
                    let next = &next[example * length..(example + 1) * length];
                    for (scores, token) in scores.chunks_exact((width / length).max(1)).zip(next) {
                        if *token != UNSCORED {
                            let (cost, is_right) = judge(scores, *token as usize);
                            loss += cost;
                            right += u64::from(is_right);
                            scored += 1;
                        }
                    }
                }
            }
        }
    }
    let tokens = matches!(public.targets(), Targets::Next(_)).then_some(scored);
    if tokens == Some(0) {
        let remedy = "give texts of at least one token to evaluate on";
        return Err(TrainError::invalid("examples", "no scored token", remedy));
    }
    let scored = tokens.map_or(count as f64, |tokens| tokens as f64);
    let accuracy = (!matches!(public.targets(), Targets::Numbers(_))).then_some(right as f64 / scored);
    Ok(Evaluation { examples: count, loss: loss / scored, accuracy, tokens })
}

/// What a network makes of single raw examples: 1 for a class that is predicted right and 0 for another, or for a number the difference
/// between prediction and truth, with the prediction clamped to the bounds -1 and 1 of labels. Scores that are not numbers are wrong by
/// as much as can be.
///
/// # Errors
/// [`TrainError::Invalid`] for next tokens; what the engine refuses.
pub(crate) fn judge_each(
    engine: &mut dyn Engine,
    weights: Weights,
    examples: &Examples,
    which: &[usize],
) -> Result<Vec<f64>, TrainError> {
    let (mut judged, copies) = (Vec::with_capacity(which.len()), examples.copies());
    for which in which.chunks(CHUNK) {
        let outputs = scores(engine, weights, examples, which)?;
        let width = outputs.len() / which.len();
        if width == 0 || width * which.len() != outputs.len() {
            return Err(TrainError::Shape(format!("{} outputs for {} examples", outputs.len(), which.len())));
        }
        for (scores, example) in outputs.chunks_exact(width).zip(which) {
            judged.push(match examples.targets() {
                Targets::Classes(classes) => {
                    f64::from(u8::from(judge(scores, classes[*example * copies] as usize).1))
                }
                Targets::Numbers(numbers) => {
                    let found = f64::from(scores[0]).clamp(-1.0, 1.0) - f64::from(numbers[*example * copies]);
                    if found.is_nan() { 2.0 } else { found }
                }
                Targets::Next(_) => {
                    return Err(TrainError::invalid(
                        "examples",
                        "texts",
                        "give classes or numbers to predict",
                    ));
                }
            });
        }
    }
    Ok(judged)
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
    fn an_image_with_copies_has_their_mean_score() {
        use crate::{Augmentation, Description, Device, Inputs, Resources, engine};
        let text = "input = [1, 1, 2]\nloss = \"cross-entropy\"\n[[layer]]\nkind = \"flatten\"\n[[layer]]\nkind = \"linear\"\nout = 2\n";
        let described = Description::from_toml(text, "text").unwrap();
        let mut engine = engine(&described, Device::Cpu, Resources::SINGLE).unwrap();
        // Class 0 has the first pixel for its score, class 1 has 0.4.
        engine.load_weights(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.4]).unwrap();
        let pixels = Inputs::Pixels { values: vec![255, 0, 0, 0], shift: vec![0.0], scale: vec![1.0] };
        let alone = Examples::new(&[1, 1, 2], pixels, Targets::Classes(vec![1, 1])).unwrap();
        let both = Augmentation::Flip.apply(alone.clone()).unwrap();
        assert_eq!((alone.copies(), both.copies(), both.len()), (1, 2, 4));
        let found = scores(&mut *engine, Weights::Current, &both, &[1, 0]).unwrap();
        assert_eq!(found, [0.0, 0.4, 0.5, 0.4]);
        assert!(scores(&mut *engine, Weights::Current, &both, &[2]).is_err());
        let mut share = |examples| evaluate(&mut *engine, Weights::Current, examples).unwrap();
        assert_eq!((share(&alone).accuracy, share(&alone).examples), (Some(0.5), 2));
        assert_eq!((share(&both).accuracy, share(&both).examples), (Some(0.5), 2));
        let judged = judge_each(&mut *engine, Weights::Current, &both, &[0, 1]).unwrap();
        assert_eq!(judged, [0.0, 1.0]);
    }

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
