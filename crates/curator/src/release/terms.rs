//! What a release may cost and how: ε, δ, the noise, the neighbouring relation, the confidence.

use super::request::{Noise, Release};
use crate::quantity;
use crate::refusal::Refusal;
use reticent_core::{Code, Delta, Epsilon};
use reticent_noise::query::Terms;

/// Below this ε an additive answer or a choice is all noise; also what private choices can draw.
pub(super) const LEAST_EPSILON: f64 = 1e-6;
/// A quantile divides its ε into eighths.
pub(super) const LEAST_QUANTILE_EPSILON: f64 = 1e-5;

/// Terms of an additive answer. With `error`, ε is a placeholder until the plan settles it.
pub(super) fn additive(release: &Release, error: Option<f64>) -> Result<Terms, Refusal> {
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
        Some(_) => Noise::Gaussian,
        None => Noise::Laplace,
    });
    let delta = match (noise, delta) {
        (Noise::Laplace, Some(given)) => {
            let remedy = "leave it out: Laplace noise needs none (or choose ⟦mechanism⟧ gaussian)";
            return Err(Refusal::conflict("delta", given, remedy).exactly());
        }
        (Noise::Laplace, None) => Delta::ZERO,
        (_, Some(given)) => given,
        (_, None) => {
            return Err(Refusal::missing("delta", "Gaussian noise needs one, e.g. ⟦delta⟧ 1e-6"));
        }
    };
    Ok(Terms { delta, noise: noise.into(), ..common(release, epsilon)? })
}

/// Terms of a private choice.
pub(super) fn choice(release: &Release, least: f64) -> Result<Terms, Refusal> {
    if let Some(delta) = release.delta {
        return Err(Refusal::conflict("delta", delta, "leave it out: a private choice needs none"));
    }
    if release.mechanism.is_some() {
        let remedy = "leave it out: a private choice adds no noise to its answer";
        return Err(Refusal::about(Code::Conflict, "mechanism", remedy));
    }
    common(release, quantity::epsilon(release.epsilon.ok_or_else(no_epsilon)?, least)?)
}

fn common(release: &Release, epsilon: Epsilon) -> Result<Terms, Refusal> {
    let confidence = quantity::confidence(release.confidence)?;
    Ok(Terms { neighboring: release.neighboring, confidence, ..Terms::pure(epsilon) })
}

/// The ε that a wanted error needs, within the same limits.
pub(super) fn needed_epsilon(error: f64, needed: Epsilon) -> Result<Epsilon, Refusal> {
    if needed.get() > quantity::LARGEST_EPSILON {
        let remedy = format!(
            "this needs epsilon = {:.3}, and above {} a release protects nobody: allow a larger error",
            needed.get(),
            quantity::LARGEST_EPSILON
        );
        return Err(Refusal::value("error", error, remedy).coded(Code::Useless));
    }
    Ok(Epsilon::new(needed.get().max(LEAST_EPSILON))?)
}

fn no_epsilon() -> Refusal {
    Refusal::missing("epsilon", "say how much privacy to spend, e.g. ⟦epsilon⟧ 1")
}
