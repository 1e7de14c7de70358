//! The terms of a release: ε, δ, the noise mechanism, the neighbouring relation, the confidence level.

use super::request::{NoiseChoice, Release};
use crate::quantity;
use crate::refusal::Refusal;
use reticent_core::{Code, Delta, Epsilon};
use reticent_noise::query::QueryTerms;

/// Below this ε an additive answer or a choice is all noise; also what private choices can draw.
pub(super) const LEAST_EPSILON: f64 = 1e-6;
/// A quantile divides its ε into eighths.
pub(super) const LEAST_QUANTILE_EPSILON: f64 = 1e-5;

/// Terms of an additive answer. With `error`, ε is a placeholder until the plan settles it.
pub(super) fn additive(release: &Release, error: Option<f64>) -> Result<QueryTerms, Refusal> {
    let epsilon = match (release.epsilon, error) {
        (Some(value), None) => quantity::epsilon(value, LEAST_EPSILON)?,
        (None, Some(_)) => quantity::epsilon(1.0, LEAST_EPSILON)?,
        (Some(_), Some(error)) => {
            return Err(Refusal::conflict("error", error, "give either ⟦error⟧ or ⟦epsilon⟧"));
        }
        (None, None) => return Err(no_epsilon()),
    };
    let delta = release.delta.map(quantity::delta).transpose()?;
    let noise = release.mechanism.unwrap_or(match delta {
        Some(_) => NoiseChoice::Gaussian,
        None => NoiseChoice::Laplace,
    });
    let delta = match (noise, delta) {
        (NoiseChoice::Laplace, Some(given)) => {
            let remedy = "Laplace noise needs no delta: leave it out, or choose ⟦mechanism⟧ gaussian";
            return Err(Refusal::conflict("delta", given, remedy).exactly());
        }
        (NoiseChoice::Laplace, None) => Delta::ZERO,
        (_, Some(given)) => given,
        (_, None) => {
            return Err(Refusal::missing("delta", "Gaussian noise needs a delta, e.g. ⟦delta⟧ 1e-6"));
        }
    };
    Ok(QueryTerms { delta, noise: noise.into(), ..common(release, epsilon)? })
}

/// Terms of a private selection.
pub(super) fn choice(release: &Release, least: f64) -> Result<QueryTerms, Refusal> {
    if let Some(delta) = release.delta {
        return Err(Refusal::conflict("delta", delta, "private selection needs no delta: leave it out"));
    }
    if release.mechanism.is_some() {
        let remedy = "private selection does not add noise to its answer: leave it out";
        return Err(Refusal::about(Code::Conflict, "mechanism", remedy));
    }
    common(release, quantity::epsilon(release.epsilon.ok_or_else(no_epsilon)?, least)?)
}

fn common(release: &Release, epsilon: Epsilon) -> Result<QueryTerms, Refusal> {
    let confidence = quantity::confidence(release.confidence)?;
    Ok(QueryTerms { neighboring: release.neighboring, confidence, ..QueryTerms::pure(epsilon) })
}

/// The ε of a target error, within the same limits.
pub(super) fn needed_epsilon(error: f64, needed: Epsilon) -> Result<Epsilon, Refusal> {
    if needed.get() > quantity::LARGEST_EPSILON {
        let remedy = format!(
            "this needs epsilon = {:.3}, and above {} there is no protection: allow a larger error",
            needed.get(),
            quantity::LARGEST_EPSILON
        );
        return Err(Refusal::value("error", error, remedy).coded(Code::Useless));
    }
    Ok(Epsilon::new(needed.get().max(LEAST_EPSILON))?)
}

fn no_epsilon() -> Refusal {
    Refusal::missing("epsilon", "give a privacy budget, e.g. ⟦epsilon⟧ 1")
}
