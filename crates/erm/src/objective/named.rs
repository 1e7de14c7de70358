//! Objective perturbation with the constants of the papers.

use super::{Profile, gaussian_plan, least_lambda};
use crate::ErmError;
use crate::draw::PerturbationLaw;
use crate::plan::{NoisePlacement, PerturbationPlan, Split};
use crate::rule;
use crate::settings::Scope;
use libm::{log, pow, sqrt};
use reticent_core::rounding::{add_up, div_up, ln_1p_up, mul_up, sub_down};
use reticent_core::{Guarantee, Neighboring};

/// The constants of Chaudhuri, Monteleoni and Sarwate's algorithm 2 in the sum form: (λ, ε′), where b has
/// density ∝ e^{−ε′‖b‖/(2L)}.
///
/// ε′ = ε − ln(1 + 2c/(nΛ) + c²/(nΛ)²); where that is not positive, λ is raised to c/(e^{ε/4} − 1) and ε′ = ε/2.
/// So it is where λ is not a positive number. c and ε are positive.
pub fn chaudhuri_constants(smoothness: f64, lambda: f64, epsilon: f64) -> (f64, f64) {
    let left = sub_down(epsilon, 2.0 * ln_1p_up(div_up(smoothness, lambda)));
    if lambda > 0.0 && left > 0.0 {
        (lambda, left)
    } else {
        (div_up(smoothness, reticent_core::rounding::exp_m1_down(0.25 * epsilon)), 0.5 * epsilon)
    }
}

/// Chaudhuri, Monteleoni and Sarwate's objective perturbation as published, with the finishing noise.
///
/// # Guarantee
/// Pure ε under replace-one; 1 % of ε is the finishing noise's.
///
/// # Reference
/// Chaudhuri, Monteleoni, Sarwate, *Differentially private empirical risk minimization* (2011), algorithm 2 and
/// theorem 9.
///
/// # Errors
/// [`ErmError::Relation`] under add-remove, [`ErmError::Kind`] for δ > 0, [`ErmError::Invalid`] for ε = 0.
pub fn chaudhuri(scope: &Scope, budget: Guarantee) -> Result<PerturbationPlan, ErmError> {
    const NAME: &str = "chaudhuri-2011";
    relation(scope, Neighboring::ReplaceOne, NAME, "use replace-one, or the method `objective`")?;
    if budget.delta.get() > 0.0 {
        return Err(ErmError::Kind { method: NAME, remedy: "it is pure: use delta = 0 or `objective`" });
    }
    scope.check()?;
    let split = Split::of(budget)?;
    let asked = scope.regularization.map(|regularization| scope.lambda(regularization));
    let asked = asked.unwrap_or_else(|| rule::objective_lambda(scope, budget));
    let constants = scope.constants();
    let (lambda, left) = chaudhuri_constants(constants.smoothness, asked, split.main.epsilon.get());
    let left = PerturbationLaw::Spherical.left_of(left, scope.width)?;
    let scale = div_up(2.0 * constants.lipschitz, left);
    let place = NoisePlacement::Objective { shape: PerturbationLaw::Spherical, scale };
    let theorem = "objective perturbation (Chaudhuri, Monteleoni, Sarwate 2011, algorithm 2)";
    PerturbationPlan::pure(scope, split, lambda, place, theorem)
}

/// Kifer, Smith and Thakurta's Gaussian objective perturbation: λ ≥ 2β/ε and σ = L√(8 ln(2/δ) + 4ε)/ε.
///
/// # Guarantee
/// (ε, δ) under add-remove; 1 % of both is the finishing noise's. The published σ is also checked against
/// [`Profile`] with the λ in use.
///
/// # Reference
/// Kifer, Smith, Thakurta, *Private convex empirical risk minimization and high-dimensional regression* (2012),
/// algorithm 1.
///
/// # Errors
/// [`ErmError::Relation`] under replace-one, [`ErmError::Kind`] for δ = 0, [`ErmError::Invalid`] for ε = 0.
pub fn kifer(scope: &Scope, budget: Guarantee) -> Result<PerturbationPlan, ErmError> {
    const NAME: &str = "kifer-2012";
    relation(scope, Neighboring::AddRemove, NAME, "use add-remove, or the method `objective`")?;
    let split = approximate(scope, budget, NAME)?;
    let (epsilon, delta) = (split.main.epsilon.get(), split.main.delta.get());
    let constants = scope.constants();
    let asked = scope.regularization.map_or(0.0, |regularization| scope.lambda(regularization));
    let lambda = asked.max(div_up(2.0 * constants.smoothness, epsilon));
    let sigma = constants.lipschitz * sqrt(8.0 * log(2.0 / delta) + 4.0 * epsilon) / epsilon;
    checked(scope, split, lambda, sigma, NAME, "objective perturbation (Kifer, Smith, Thakurta 2012)")
}

/// The schedule of approximate minima perturbation: (ε_p, λ, σ) for the main share (ε, δ) of the budget, ε < 1000.
/// From there on ε_p would be all of ε, and no λ fits.
pub fn iyengar_constants(lipschitz: f64, smoothness: f64, epsilon: f64, delta: f64) -> (f64, f64, f64) {
    let share = (0.887 + 0.0187 / pow(epsilon, 0.373)).min(0.99).max(1.0 - 1.0 / epsilon + 0.001);
    let part = share * epsilon;
    let lambda = 2.0 * smoothness / (epsilon - part);
    let sigma = 2.0 * lipschitz * (1.0 + sqrt(2.0 * log(1.0 / delta))) / part;
    (part, lambda, sigma)
}

/// Iyengar et al.'s approximate minima perturbation with its data-independent schedule.
///
/// # Guarantee
/// (ε, δ) under replace-one, checked against [`Profile`]; 1 % of both is the finishing noise's, whose sensitivity
/// is 2·tolerance/λ here.
///
/// # Reference
/// Iyengar, Near, Song, Thakkar, Thakurta, Wang, *Towards practical differentially private convex optimization*
/// (2019), algorithm 1, with the schedule of the authors' hyperparameter-free variant.
///
/// # Errors
/// [`ErmError::Relation`] under add-remove, [`ErmError::Kind`] for δ = 0, [`ErmError::Invalid`] for ε = 0 or a
/// main share of ε that is not below 1000.
pub fn iyengar(scope: &Scope, budget: Guarantee) -> Result<PerturbationPlan, ErmError> {
    const NAME: &str = "iyengar-2019";
    relation(scope, Neighboring::ReplaceOne, NAME, "use replace-one, or the method `objective`")?;
    let split = approximate(scope, budget, NAME)?;
    let constants = scope.constants();
    let (epsilon, delta) = (split.main.epsilon.get(), split.main.delta.get());
    let (part, lambda, sigma) = iyengar_constants(constants.lipschitz, constants.smoothness, epsilon, delta);
    if part >= epsilon {
        return Err(ErmError::invalid("epsilon", budget.epsilon, "give an epsilon below 1000"));
    }
    let asked = scope.regularization.map_or(0.0, |regularization| scope.lambda(regularization));
    let theorem = "approximate minima perturbation (Iyengar et al. 2019)";
    checked(scope, split, lambda.max(asked), sigma, NAME, theorem)
}

fn relation(
    scope: &Scope,
    needed: Neighboring,
    method: &'static str,
    remedy: &'static str,
) -> Result<(), ErmError> {
    if scope.neighboring == needed {
        Ok(())
    } else {
        Err(ErmError::Relation { method, neighboring: scope.neighboring, remedy })
    }
}

fn approximate(scope: &Scope, budget: Guarantee, method: &'static str) -> Result<Split, ErmError> {
    scope.check()?;
    if budget.delta.get() == 0.0 {
        return Err(ErmError::Kind { method, remedy: "give a delta above 0" });
    }
    Ok(Split::of(budget)?)
}

/// A plan with published numbers, refused where the profile does not bear them out.
fn checked(
    scope: &Scope,
    split: Split,
    lambda: f64,
    sigma: f64,
    method: &'static str,
    theorem: &'static str,
) -> Result<PerturbationPlan, ErmError> {
    let lambda = lambda.max(least_lambda(scope, split.main.epsilon.get()));
    let profile = Profile { constants: scope.constants(), lambda, sigma, neighboring: scope.neighboring };
    let sampler = PerturbationLaw::Gaussian.delta_up(scope.width, split.main.epsilon.get());
    let delta = add_up(profile.delta_up(split.main.epsilon), mul_up(1.0, sampler));
    if delta > split.main.delta.get() {
        return Err(ErmError::Kind {
            method,
            remedy: "its published noise is not enough at this epsilon and delta: use `objective`",
        });
    }
    gaussian_plan(scope, split, profile, theorem)
}
