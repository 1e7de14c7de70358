//! Output perturbation: the minimiser, then noise.

use crate::ErmError;
use crate::draw::PerturbationLaw;
use crate::plan::{NoisePlacement, PerturbationPlan, Split, tolerance};
use crate::rule;
use crate::settings::Scope;
use reticent_core::Guarantee;
use reticent_core::rounding::div_up;

/// Noise of density ∝ e^{−‖b‖/scale} for δ = 0, normal noise of the least (analytic) σ for δ > 0, both for the
/// sensitivity 2L/λ under replace-one and L/λ under add-remove, λ = nΛ.
///
/// # Guarantee
/// (ε, δ) under the scope's relation, n public under replace-one. A pure budget pays 1 % of ε for the distance
/// between the computed and the exact result; with δ > 0 the sensitivity is enlarged by it instead. Holds for
/// every loss of the crate: they are Lipschitz everywhere.
///
/// # Reference
/// Chaudhuri, Monteleoni, Sarwate, *Differentially private empirical risk minimization* (2011), algorithm 1, whose
/// scale 2/(nΛε) is the one here for L = 1; Balle, Wang (2018) for the σ.
///
/// # Errors
/// [`ErmError::Invalid`] for ε = 0, Λ that is not positive or too small for double precision, or, where δ = 0, more than
/// 2¹⁸ weights.
pub fn plan(scope: &Scope, budget: Guarantee) -> Result<PerturbationPlan, ErmError> {
    scope.check()?;
    let lambda = match scope.regularization {
        Some(regularization) => scope.lambda(regularization),
        None => rule::output_lambda(scope, budget),
    };
    let sensitivity = scope.sensitivity_up(lambda);
    if budget.delta.get() > 0.0 {
        budget.epsilon.positive()?;
        return Ok(PerturbationPlan {
            lambda,
            place: NoisePlacement::Finish,
            tolerance: tolerance(scope, lambda, NoisePlacement::Finish)?,
            main: None,
            finish: budget,
            sensitivity,
            theorem: "output perturbation: sensitivity of the minimiser, exact Gaussian profile",
        });
    }
    let split = Split::of(budget)?;
    let spend = PerturbationLaw::Spherical.left_of(split.main.epsilon.get(), scope.width)?;
    let scale = div_up(sensitivity, spend);
    let place = NoisePlacement::Output { shape: PerturbationLaw::Spherical, scale };
    let theorem = "output perturbation (Chaudhuri, Monteleoni, Sarwate 2011, algorithm 1), finished with Laplace \
                  noise for the solver's distance";
    PerturbationPlan::pure(scope, split, lambda, place, theorem)
}
