//! The loss of examples at their scores: its value and its gradient.

use super::{Task, Worker, last};
use crate::describe::Objective;
use crate::native::kernel::activation::softmax;
use crate::{Targets, UNSCORED};

/// The scored positions of one example with their next tokens, and the share of each in the loss.
fn scored(next: &[u32]) -> (impl Iterator<Item = (usize, usize)> + '_, f64) {
    let places = next.iter().enumerate().filter(|(_, token)| **token != UNSCORED);
    let count = places.clone().count();
    (places.map(|(place, token)| (place, *token as usize)), 1.0 / count.max(1) as f64)
}

/// −ln softmax of a class, in double precision.
fn cross_entropy(scores: &[f32], class: usize) -> f64 {
    let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let total: f64 = scores.iter().map(|score| libm::exp(f64::from(score - most))).sum();
    libm::log(total) + f64::from(most) - f64::from(scores[class])
}

impl Worker {
    /// The gradient of each example's loss with respect to its scores.
    pub(super) fn loss(&mut self, task: Task<'_>, which: &[usize]) {
        let (slot, outputs) = (last(task.program), task.program.outputs);
        let (scores, gradient) = (&self.values[slot], &mut self.gradients[slot]);
        gradient.clear();
        gradient.extend_from_slice(scores);
        match (task.examples.targets(), task.program.loss) {
            (Targets::Classes(classes), Objective::CrossEntropy | Objective::NextToken) => {
                softmax(gradient, outputs, 1.0);
                for (row, example) in gradient.chunks_exact_mut(outputs).zip(which) {
                    row[classes[*example] as usize] -= 1.0;
                }
            }
            (Targets::Numbers(numbers), _) => {
                for (row, example) in gradient.chunks_exact_mut(outputs).zip(which) {
                    row.iter_mut().for_each(|g| *g -= numbers[*example]);
                }
            }
            (Targets::Classes(classes), Objective::Squared) => {
                for (row, example) in gradient.chunks_exact_mut(outputs).zip(which) {
                    row.iter_mut().for_each(|g| *g -= classes[*example] as f32);
                }
            }
            (Targets::Next(next), _) => {
                let length = task.program.sizes[0];
                let width = outputs / length;
                softmax(gradient, width, 1.0);
                for (rows, example) in gradient.chunks_exact_mut(outputs).zip(which) {
                    let next = &next[example * length..(example + 1) * length];
                    let share = scored(next).1 as f32;
                    for (row, token) in rows.chunks_exact_mut(width).zip(next) {
                        match *token {
                            UNSCORED => row.fill(0.0),
                            token => {
                                row[token as usize] -= 1.0;
                                row.iter_mut().for_each(|g| *g *= share);
                            }
                        }
                    }
                }
            }
        }
    }

    /// The slope of the true class's score as minus the sum of the others: one less its probability, of which little is left in
    /// single precision where it is nearly certain.
    pub(super) fn sharpen(&mut self, task: Task<'_>, which: &[usize]) {
        let outputs = task.program.outputs;
        let sharp = |row: &mut [f32], class: usize| {
            row[class] = 0.0;
            row[class] = -row.iter().sum::<f32>();
        };
        let rows = self.gradients[last(task.program)].chunks_exact_mut(outputs).zip(which);
        match (task.examples.targets(), task.program.loss) {
            (Targets::Classes(classes), Objective::CrossEntropy) => {
                rows.for_each(|(row, example)| sharp(row, classes[*example] as usize));
            }
            (Targets::Next(next), _) => {
                let length = task.program.sizes[0];
                let width = outputs / length;
                for (row, example) in rows {
                    for (place, token) in scored(&next[example * length..(example + 1) * length]).0 {
                        sharp(&mut row[place * width..(place + 1) * width], token);
                    }
                }
            }
            _ => {}
        }
    }

    /// The loss of every example, in double precision from its scores.
    pub(super) fn losses(&self, task: Task<'_>, which: &[usize]) -> Vec<f64> {
        let outputs = task.program.outputs;
        let rows = self.values[last(task.program)].chunks_exact(outputs).zip(which);
        let squared = |row: &[f32], target: f64| {
            0.5 * row.iter().map(|score| (f64::from(*score) - target).powi(2)).sum::<f64>()
        };
        match (task.examples.targets(), task.program.loss) {
            (Targets::Classes(classes), Objective::CrossEntropy | Objective::NextToken) => {
                rows.map(|(row, example)| cross_entropy(row, classes[*example] as usize)).collect()
            }
            (Targets::Classes(classes), Objective::Squared) => {
                rows.map(|(row, example)| squared(row, f64::from(classes[*example]))).collect()
            }
            (Targets::Numbers(numbers), _) => {
                rows.map(|(row, example)| squared(row, f64::from(numbers[*example]))).collect()
            }
            (Targets::Next(next), _) => {
                let length = task.program.sizes[0];
                let width = outputs / length;
                let loss = |(row, example): (&[f32], &usize)| {
                    let (places, share) = scored(&next[example * length..(example + 1) * length]);
                    let at = |(place, token)| cross_entropy(&row[place * width..(place + 1) * width], token);
                    share * places.map(at).sum::<f64>()
                };
                rows.map(loss).collect()
            }
        }
    }
}
