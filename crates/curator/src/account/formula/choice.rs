//! A private choice on known scores.

use super::{CandidateProbability, ChoiceMechanism, SelectionFormula};
use crate::Refusal;
use crate::account::check;
use reticent_core::Sensitivity;
use reticent_noise::mechanism::PrivateSelection;

/// Whole scores below this are doubles without rounding.
const MOST_WHOLE: f64 = (1u64 << 53) as f64;

/// The probabilities of the candidates and the bound on the best.
pub(super) fn selection(
    choices: &[(String, f64)],
    epsilon: f64,
    sensitivity: f64,
    mechanism: ChoiceMechanism,
    monotone: bool,
    shortfall: Option<f64>,
) -> Result<SelectionFormula, Refusal> {
    let scores: Vec<f64> = choices.iter().map(|(_, score)| *score).collect();
    if scores.is_empty() || scores.iter().any(|score| !score.is_finite()) {
        let remedy = "give candidates with finite scores, such as dark=500,brown=399";
        return Err(Refusal::missing("choices", remedy));
    }
    let claim = check::epsilon(epsilon)?;
    let moved = Sensitivity::new(check::finite("sensitivity", sensitivity)?)?;
    let is_whole = |value: &f64| value.fract() == 0.0 && value.abs() < MOST_WHOLE;
    let whole = is_whole(&sensitivity) && scores.iter().all(is_whole);
    let rule = mechanism.rule();
    let choice = match whole {
        true => PrivateSelection::for_integers(rule, sensitivity as u64, claim)?,
        false => PrivateSelection::new(rule, moved, claim)?,
    };
    let choice = if monotone { choice.monotone()? } else { choice };
    let points = match whole {
        true => scores.iter().map(|score| *score as i128).collect(),
        false => choice.points(&scores),
    };
    let probabilities = choice.probabilities_of_public(&points)?;
    let shortfall = shortfall.unwrap_or_else(|| gap(&scores));
    let bound = choice.success_bound_down(scores.len() as u64, shortfall)?;
    let candidates = choices.iter().zip(probabilities);
    let candidates = candidates.map(|((name, score), probability)| CandidateProbability {
        name: name.clone(),
        score: *score,
        probability,
    });
    Ok(SelectionFormula {
        candidates: candidates.collect(),
        bound,
        shortfall,
        mechanism,
        monotone,
        epsilon,
        sensitivity,
    })
}

/// Between the best score and the next lower one; 0 where all are equal.
fn gap(scores: &[f64]) -> f64 {
    let best = scores.iter().copied().fold(f64::MIN, f64::max);
    let below = scores.iter().copied().filter(|score| *score < best);
    below.map(|score| best - score).reduce(f64::min).unwrap_or(0.0)
}
