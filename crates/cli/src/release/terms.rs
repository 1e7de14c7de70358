//! What a release may cost and how: ε, δ, the noise, the neighbouring relation, the confidence.

use super::read;
use crate::args::{self, Ask};
use crate::fail::Fail;
use reticent::core::{Delta, Epsilon};
use reticent::noise::query::{Noise, Terms};

/// Below this ε an additive answer or a choice is all noise; also what private choices can draw.
pub(super) const LEAST_EPSILON: f64 = 1e-6;
/// A quantile divides its ε into eighths.
pub(super) const LEAST_QUANTILE_EPSILON: f64 = 1e-5;
/// Terms of an additive answer. With `error`, ε is a placeholder until the plan settles it.
pub(super) fn additive(ask: &Ask, noise: &args::Noise, error: Option<&str>) -> Result<Terms, Fail> {
    let epsilon = match (&ask.epsilon, error) {
        (Some(text), None) => read::epsilon(text, LEAST_EPSILON)?,
        (None, Some(_)) => read::epsilon("1", LEAST_EPSILON)?,
        (Some(_), Some(error)) => {
            return Err(Fail::conflict("--error", error, "give either --error or --epsilon"));
        }
        (None, None) => return Err(no_epsilon()),
    };
    let delta = noise.delta.as_deref().map(read::delta).transpose()?;
    let chosen = match (noise.mechanism.as_deref(), delta) {
        (None, Some(_)) | (Some("gaussian"), _) => Noise::Gaussian,
        (None, None) | (Some("laplace"), _) => Noise::Laplace,
        (Some("discrete-gaussian"), _) => Noise::DiscreteGaussian,
        (Some(other), _) => {
            let known = "unknown: give laplace, gaussian or discrete-gaussian";
            return Err(Fail::unknown("--mechanism", other, known));
        }
    };
    let delta = match (chosen, delta) {
        (Noise::Laplace, Some(given)) => {
            let remedy = "leave it out: Laplace noise needs none (or choose --mechanism gaussian)";
            return Err(Fail::conflict("--delta", &given.to_string(), remedy));
        }
        (Noise::Laplace, None) => Delta::ZERO,
        (_, Some(given)) => given,
        (_, None) => return Err(Fail::missing("--delta", "Gaussian noise needs one, e.g. --delta 1e-6")),
    };
    Ok(Terms { delta, noise: chosen, ..common(ask, epsilon)? })
}

/// Terms of a private choice.
pub(super) fn choice(ask: &Ask, choice: &args::Choice, least: f64) -> Result<Terms, Fail> {
    if let Some(text) = &choice.delta {
        return Err(Fail::conflict("--delta", text, "leave it out: a private choice needs none"));
    }
    let epsilon = ask.epsilon.as_deref().ok_or_else(no_epsilon)?;
    common(ask, read::epsilon(epsilon, least)?)
}

fn common(ask: &Ask, epsilon: Epsilon) -> Result<Terms, Fail> {
    let (neighboring, confidence) =
        (read::neighboring(&ask.neighboring)?, read::confidence(&ask.confidence)?);
    Ok(Terms { neighboring, confidence, ..Terms::pure(epsilon) })
}

fn no_epsilon() -> Fail {
    Fail::missing("--epsilon", "say how much privacy to spend, e.g. --epsilon 1")
}
