//! The expected error of an answer before any value is read, and the ε for a target error.

use super::plan::PlannedRelease;
use super::query::{Query, empty_sum, whole_sums};
use crate::refusal::Refusal;
use reticent_core::{Confidence, Epsilon, Neighboring, Sensitivity};
use reticent_noise::Releaser;
use reticent_noise::mechanism::{
    DiscreteGaussian, DiscreteLaplace, Gaussian, IntegerGaussian, Laplace, PrivateSelection, SelectionRule,
};
use reticent_noise::query::{self, NoiseKind, QueryTerms};
use serde::Serialize;

/// An error that is exceeded with probability at most 1 − confidence.
pub(super) struct Expected {
    pub(super) error: f64,
    pub(super) of: Measure,
}

/// The unit of an expected error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Measure {
    /// The answer's own unit.
    #[serde(rename = "answer")]
    Answer,
    /// The answer's own unit, once divided by the number of rows.
    #[serde(rename = "answer times number of rows")]
    PerRow,
    /// Rows between the answer's rank and the quantile's.
    #[serde(rename = "ranks")]
    Rank,
    /// Rows by which the answer falls short of the most common category.
    #[serde(rename = "rows short of the most common")]
    Shortfall,
}

/// The error of a planned release: that of the same release on no rows at all.
pub(super) fn expected(plan: &PlannedRelease, source: &mut impl Releaser) -> Result<Expected, Refusal> {
    let terms = &plan.terms;
    // Twelve digits: the last bits of an interval's ends depend on the noisy value between them.
    let half = |interval: [f64; 2]| -> f64 {
        let half = (interval[1] - interval[0]) / 2.0;
        format!("{half:.11e}").parse().unwrap_or(half)
    };
    let (error, of) = match &plan.query {
        Query::Count { .. } => (half(query::count(source, terms, 0)?.interval[0]).round(), Measure::Answer),
        Query::Histogram { .. } => {
            (half(query::histogram(source, terms, &[0])?.interval[0]).round(), Measure::Answer)
        }
        Query::Sum { bounds, integers, .. } => {
            let error = half(query::sum(source, terms, &empty_sum(*bounds, *integers)?)?.interval[0]);
            (if whole_sums(*bounds, *integers) { error.round() } else { error }, Measure::Answer)
        }
        Query::Mean { bounds: [low, high], .. } => {
            // One noisy sum of x − low over public rows, or that and its complement.
            let reach = (high - low) * private_rows_factor(plan);
            let sum = empty_sum([0.0, reach], false)?;
            (half(query::sum(source, &parts(plan)?, &sum)?.interval[0]), Measure::PerRow)
        }
        Query::Proportion { .. } if plan.rows_are_public() => {
            (half(query::count(source, terms, 0)?.interval[0]).round(), Measure::PerRow)
        }
        Query::Proportion { .. } => {
            (half(query::histogram(source, &parts(plan)?, &[0, 0])?.interval[0]).round(), Measure::PerRow)
        }
        Query::Quantile { level, candidates, .. } => {
            // Sensitivity in ranks; the answer gets half of the budget.
            let moved =
                if terms.neighboring == Neighboring::AddRemove { level.max(1.0 - level) } else { 1.0 };
            let half_budget = Epsilon::new(terms.epsilon.get() / 2.0)?;
            let choice =
                PrivateSelection::new(SelectionRule::PermuteAndFlip, Sensitivity::new(moved)?, half_budget)?;
            (choice.shortfall(candidates.len() as u64, 1, terms.confidence)?, Measure::Rank)
        }
        Query::Mode { categories, rule, .. } => {
            let choice = PrivateSelection::for_integers(*rule, 1, terms.epsilon)?;
            let choice =
                if terms.neighboring == Neighboring::AddRemove { choice.monotone()? } else { choice };
            (choice.shortfall(categories.len() as u64, 1, terms.confidence)?, Measure::Shortfall)
        }
    };
    Ok(Expected { error, of })
}

/// Half the error probability for each of two parts, where a ratio of two is released.
fn parts(plan: &PlannedRelease) -> Result<QueryTerms, Refusal> {
    if plan.rows_are_public() {
        return Ok(plan.terms);
    }
    let confidence = Confidence::new(1.0 - plan.terms.confidence.beta() / 2.0)?;
    Ok(QueryTerms { confidence, ..plan.terms })
}

/// How much further one row moves the two parts of a ratio than a single sum.
fn private_rows_factor(plan: &PlannedRelease) -> f64 {
    match (plan.terms.neighboring, plan.rows_are_public(), plan.terms.noise) {
        (Neighboring::AddRemove, ..) | (_, true, _) => 1.0,
        (Neighboring::ReplaceOne, false, NoiseKind::Laplace) => 2.0,
        (Neighboring::ReplaceOne, false, _) => 2f64.sqrt(),
    }
}

/// The smallest ε that keeps the error of a count or a sum within `error`.
pub(super) fn epsilon_for(plan: &PlannedRelease, error: f64) -> Result<Epsilon, Refusal> {
    let (reach, whole) = match &plan.query {
        Query::Sum { bounds, integers, .. } => {
            let [low, high] = bounds;
            let reach = match plan.terms.neighboring {
                Neighboring::AddRemove => low.abs().max(high.abs()),
                Neighboring::ReplaceOne => high.max(0.0) - low.min(0.0),
            };
            (reach, whole_sums(*bounds, *integers))
        }
        _ => (1.0, true),
    };
    let (sensitivity, confidence) = (Sensitivity::new(reach)?, plan.terms.confidence);
    let invalid = |remedy: &str| Refusal::value("error", error, remedy);
    if error <= 0.0 {
        return Err(invalid("give a number above 0"));
    }
    // Beyond this the answer is all noise at any epsilon worth spending.
    let error = error.min(reach * 1e9);
    let delta = plan.terms.delta;
    Ok(match (plan.terms.noise, whole) {
        (NoiseKind::Laplace, true) => DiscreteLaplace::epsilon_for_error(reach as u64, error, confidence)?,
        (NoiseKind::Laplace, false) => Laplace::epsilon_for_error(sensitivity, error, confidence)?,
        (NoiseKind::Gaussian, true) => {
            IntegerGaussian::epsilon_for_error(sensitivity, delta, error, confidence)?
        }
        (NoiseKind::Gaussian, false) => {
            Gaussian::epsilon_for_error(sensitivity, delta, error * (1.0 - 1e-8), confidence)?
        }
        (NoiseKind::DiscreteGaussian, true) => {
            DiscreteGaussian::epsilon_for_error(sensitivity, delta, error, confidence)?
        }
        // In steps of a grid as fine as that of the sum.
        (NoiseKind::DiscreteGaussian, false) => {
            let steps = (1u64 << 44) as f64;
            let error = error / reach * steps * (1.0 - 1e-9);
            DiscreteGaussian::epsilon_for_error(Sensitivity::new(steps)?, delta, error, confidence)?
        }
    })
}
