//! The gradient of each example's loss at its scores.

use super::backend::{Backend, Bool, Tensor, TensorData, softmax};
use crate::{Examples, Targets, TrainError};

/// The targets of some examples beside the scores of a module.
#[derive(Debug)]
pub(super) struct Wanted {
    /// `[examples, scores]`: 1 at the class, or the number.
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
                    let place = row.get_mut(classes[example] as usize);
                    *place.ok_or_else(|| beyond(example, classes[example], scores))? = 1.0;
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

    /// The gradient of cross-entropy, or of half the squared error, at the scores. Fillers get zeros.
    pub(super) fn gradient<I: Backend>(self, scores: Tensor<I, 2>, fillers: &[bool]) -> Tensor<I, 2> {
        let examples = self.values.len() / self.scores;
        let device = scores.device();
        let wanted = Tensor::from_data(TensorData::new(self.values, [examples, self.scores]), &device);
        let given = if self.classes { softmax(scores, 1) } else { scores };
        let gradient = given - wanted;
        if fillers.is_empty() {
            return gradient;
        }
        let mask = Tensor::<I, 2, Bool>::from_data(TensorData::new(fillers.to_vec(), [examples, 1]), &device);
        gradient.mask_fill(mask.expand([examples, self.scores]), 0.0)
    }
}

/// Refuses a kind of target that the number of scores does not fit.
pub(super) fn fits(targets: &Targets, scores: usize) -> Result<(), TrainError> {
    match targets {
        Targets::Classes(_) if scores < 2 => Err(TrainError::Shape(
            "classes need a score each, and the module gives 1: give the last layer as many outputs as there are classes"
                .to_owned(),
        )),
        Targets::Numbers(_) if scores != 1 => Err(TrainError::Shape(format!(
            "a number needs one output, and the module gives {scores}: give the last layer 1 output"
        ))),
        _ => Ok(()),
    }
}

/// The error for a class that the module has no score for.
pub(super) fn beyond(example: usize, class: u32, scores: usize) -> TrainError {
    let why = format!("the class {class} is not among the module's {scores}: number the classes from 0");
    TrainError::Example { example, why }
}
