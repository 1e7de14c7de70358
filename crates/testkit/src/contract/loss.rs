//! The loss of one example at its scores, in double precision.

use super::tape::{Number, Tape};
use reticent_train::describe::Objective;
use reticent_train::{Examples, Targets, UNSCORED};

/// The loss of one example.
pub(super) fn loss(
    tape: &mut Tape,
    scores: &[Number],
    objective: Objective,
    examples: &Examples,
    example: usize,
) -> Number {
    match (examples.targets(), objective) {
        (Targets::Next(next), _) => {
            let own = &next[example * examples.size()..(example + 1) * examples.size()];
            next_token(tape, scores, own)
        }
        (Targets::Classes(classes), Objective::CrossEntropy | Objective::NextToken) => {
            cross_entropy(tape, scores, classes[example] as usize)
        }
        (Targets::Classes(classes), Objective::Squared) => squared(tape, scores, f64::from(classes[example])),
        (Targets::Numbers(numbers), _) => squared(tape, scores, f64::from(numbers[example])),
    }
}

fn cross_entropy(tape: &mut Tape, scores: &[Number], class: usize) -> Number {
    let most = scores.iter().map(|s| tape.value(*s)).fold(f64::MIN, f64::max);
    let powers: Vec<f64> = scores.iter().map(|s| libm::exp(tape.value(*s) - most)).collect();
    let total: f64 = powers.iter().sum();
    let made_of = scores.iter().zip(&powers).map(|(score, power)| (*score, power / total)).collect();
    let all = tape.push(libm::log(total) + most, made_of);
    tape.subtract(all, scores[class])
}

/// The mean cross-entropy over the scored positions.
fn next_token(tape: &mut Tape, scores: &[Number], next: &[u32]) -> Number {
    let rows = scores.chunks_exact(scores.len() / next.len()).zip(next);
    let losses: Vec<Number> = rows
        .filter(|(_, token)| **token != UNSCORED)
        .map(|(row, token)| cross_entropy(tape, row, *token as usize))
        .collect();
    tape.sum(&losses, 1.0 / losses.len().max(1) as f64, 0.0)
}

fn squared(tape: &mut Tape, scores: &[Number], target: f64) -> Number {
    let squares: Vec<Number> = scores
        .iter()
        .map(|score| tape.function(*score, |s| (0.5 * (s - target).powi(2), s - target)))
        .collect();
    tape.sum(&squares, 1.0, 0.0)
}
