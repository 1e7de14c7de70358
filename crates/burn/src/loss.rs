//! The gradient of each example's loss at its scores.

use super::backend::{Backend, Tensor, TensorData, log_sigmoid, log_softmax, sigmoid, softmax};
use reticent_train::{Examples, Targets, TrainError};

/// The targets of some examples beside the scores of a module.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// `[examples, scores]`: 1 at the class, or the number; with one score, the class.
    values: Vec<f32>,
    scores: usize,
    classes: bool,
}

impl Wanted {
    /// The targets of these examples for a module of this many scores.
    pub(crate) fn read(examples: &Examples, which: &[usize], scores: usize) -> Result<Self, TrainError> {
        fits(examples.targets(), scores)?;
        let mut values = vec![0.0; which.len() * scores];
        match examples.targets() {
            Targets::Classes(classes) => {
                for (&example, row) in which.iter().zip(values.chunks_exact_mut(scores)) {
                    let class = classes[example] as usize;
                    if class >= class_count(scores) {
                        return Err(beyond(example, classes[example], scores));
                    }
                    match row {
                        [only] => *only = class as f32,
                        row => row[class] = 1.0,
                    }
                }
            }
            Targets::Next(_) => return Err(next_tokens()),
            Targets::Numbers(numbers) => {
                for (&example, value) in which.iter().zip(&mut values) {
                    *value = numbers[example];
                }
            }
        }
        Ok(Self { values, scores, classes: matches!(examples.targets(), Targets::Classes(_)) })
    }

    fn tensor<I: Backend>(&self, device: &I::Device) -> Tensor<I, 2> {
        let examples = self.values.len() / self.scores;
        Tensor::from_data(TensorData::new(self.values.clone(), [examples, self.scores]), device)
    }

    /// The gradient of cross-entropy (of the logistic loss for one score), or of half the squared error, at the scores.
    pub(crate) fn gradient<I: Backend>(&self, scores: Tensor<I, 2>) -> Tensor<I, 2> {
        let wanted = self.tensor(&scores.device());
        let given = match (self.classes, self.scores) {
            (true, 1) => sigmoid(scores),
            (true, _) => softmax(scores, 1),
            (false, _) => scores,
        };
        given - wanted
    }

    /// The loss of every example, `[examples, 1]`.
    pub(crate) fn losses<I: Backend>(&self, scores: Tensor<I, 2>) -> Tensor<I, 2> {
        let wanted = self.tensor(&scores.device());
        match (self.classes, self.scores) {
            (true, 1) => {
                let (yes, no) = (log_sigmoid(scores.clone()), log_sigmoid(scores.neg()));
                (wanted.clone() * yes + (wanted.neg() + 1.0) * no).neg()
            }
            (true, _) => (wanted * log_softmax(scores, 1)).sum_dim(1).neg(),
            (false, _) => (scores - wanted).square().sum_dim(1) / 2.0,
        }
    }
}

/// Refuses numbers as targets where there is more than one score.
pub(crate) fn fits(targets: &Targets, scores: usize) -> Result<(), TrainError> {
    match targets {
        Targets::Numbers(_) if scores != 1 => Err(TrainError::Shape(format!(
            "a number needs one output, and the module gives {scores}: give the last layer 1 output"
        ))),
        Targets::Next(_) => Err(next_tokens()),
        _ => Ok(()),
    }
}

/// The error for targets that are next tokens.
fn next_tokens() -> TrainError {
    let why = "a module gives scores for one label per example, not for the next token of every position: describe the network in a \
               model.toml with loss = \"next-token\"";
    TrainError::Shape(why.to_owned())
}

/// How many classes scores tell apart: one score is the logit of class 1.
pub(crate) fn class_count(scores: usize) -> usize {
    scores.max(2)
}

/// The error for a class that the module has no score for.
pub(crate) fn beyond(example: usize, class: u32, scores: usize) -> TrainError {
    let count = class_count(scores);
    let why = format!(
        "the class {class} is not among the module's {count}: number the classes from 0, and give the last layer as \
         many outputs as there are"
    );
    TrainError::Example { example, why }
}
