//! The gradient of each example's loss at its scores.

use super::backend::{Backend, Bool, Tensor, TensorData, sigmoid, softmax};
use crate::{Examples, Targets, TrainError};

/// The targets of some examples beside the scores of a module.
#[derive(Debug)]
pub(super) struct Wanted {
    /// `[examples, scores]`: 1 at the class, or the number; with one score, the class.
    values: Vec<f32>,
    scores: usize,
    classes: bool,
}

impl Wanted {
    /// The targets of these examples for a module of this many scores.
    pub(super) fn read(examples: &Examples, which: &[usize], scores: usize) -> Result<Self, TrainError> {
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
            Targets::Numbers(numbers) => {
                for (&example, value) in which.iter().zip(&mut values) {
                    *value = numbers[example];
                }
            }
        }
        Ok(Self { values, scores, classes: matches!(examples.targets(), Targets::Classes(_)) })
    }

    /// The gradient of cross-entropy (of the logistic loss for one score), or of half the squared error, at the scores. Fillers get zeros.
    pub(super) fn gradient<I: Backend>(self, scores: Tensor<I, 2>, fillers: &[bool]) -> Tensor<I, 2> {
        let examples = self.values.len() / self.scores;
        let device = scores.device();
        let wanted = Tensor::from_data(TensorData::new(self.values, [examples, self.scores]), &device);
        let given = match (self.classes, self.scores) {
            (true, 1) => sigmoid(scores),
            (true, _) => softmax(scores, 1),
            (false, _) => scores,
        };
        let gradient = given - wanted;
        if fillers.is_empty() {
            return gradient;
        }
        let mask = Tensor::<I, 2, Bool>::from_data(TensorData::new(fillers.to_vec(), [examples, 1]), &device);
        gradient.mask_fill(mask.expand([examples, self.scores]), 0.0)
    }
}

/// Refuses numbers as targets where there is more than one score.
pub(super) fn fits(targets: &Targets, scores: usize) -> Result<(), TrainError> {
    match targets {
        Targets::Numbers(_) if scores != 1 => Err(TrainError::Shape(format!(
            "a number needs one output, and the module gives {scores}: give the last layer 1 output"
        ))),
        _ => Ok(()),
    }
}

/// How many classes scores tell apart: one score speaks for class 1 against class 0.
pub(super) fn class_count(scores: usize) -> usize {
    scores.max(2)
}

/// The error for a class that the module has no score for.
pub(super) fn beyond(example: usize, class: u32, scores: usize) -> TrainError {
    let count = class_count(scores);
    let why = format!(
        "the class {class} is not among the module's {count}: number the classes from 0, and give the last layer as \
         many outputs as there are"
    );
    TrainError::Example { example, why }
}
