//! Objective perturbation: a random linear term, then the minimiser.
//!
//! | function | relation | guarantee | noise |
//! |---|---|---|---|
//! | [`plan`] | either | pure, or (ε, δ) | spherical or Laplace; Gaussian with the profile of [`Profile`] |
//! | [`chaudhuri`] | replace-one | pure | spherical |
//! | [`kifer`] | add-remove | (ε, δ) | Gaussian |
//! | [`iyengar`] | replace-one | (ε, δ) | Gaussian |

mod named;
mod profile;

pub use named::{chaudhuri, chaudhuri_constants, iyengar, iyengar_constants, kifer};
pub use profile::{Profile, redberg_delta_up};

use crate::ErmError;
use crate::draw::{MOST_SPHERICAL, PerturbationLaw};
use crate::plan::{NoisePlacement, PerturbationPlan, Split, tolerance};
use crate::rule;
use crate::settings::Scope;
use reticent_core::rounding::{div_up, exp_m1_down, ln_1p_up, mul_up, sub_down};
use reticent_core::{Delta, Event, Guarantee};

/// The best proven noise for this budget.
///
/// # Guarantee
/// (ε, δ) under the scope's relation. For δ = 0, b has density ∝ e^{−‖b‖/s} with s = cL/ε′, ε′ = ε − ln(1 + β/λ),
/// c = 1 under add-remove and 2 under replace-one, in the ℓ2 norm or, with L replaced by L times the public ℓ1
/// bound of a row, in the ℓ1 norm: whichever is smaller on average, which is public. Where λ would leave less
/// than half of ε, it is raised to β/(e^{ε/2} − 1). For δ > 0, b is normal with the least σ of [`Profile`], or the
/// pure law where that is smaller on average, whose guarantee has δ = 0 ([`PerturbationPlan::guarantee`]). 1 % of ε and δ pays for
/// the distance between the computed and the exact minimiser.
///
/// # Reference
/// Chaudhuri, Monteleoni, Sarwate (2011), algorithm 2, with the determinant's term taken once instead of
/// twice (`proof.md`); Redberg, Koskela, Wang (2023) for δ > 0.
///
/// # Errors
/// [`ErmError::Invalid`] for ε = 0, or Λ that is not positive or too small for double precision.
pub fn plan(scope: &Scope, budget: Guarantee) -> Result<PerturbationPlan, ErmError> {
    scope.check()?;
    let split = Split::of(budget)?;
    let asked = scope.regularization.map(|regularization| scope.lambda(regularization));
    let lambda = asked.unwrap_or_else(|| rule::objective_lambda(scope, budget));
    let lambda = lambda.max(least_lambda(scope, split.main.epsilon.get() / 2.0));
    if budget.delta.get() == 0.0 {
        return pure(scope, split, lambda);
    }
    let gaussian = gaussian(scope, split, lambda);
    // A pure law that is out of reach leaves the Gaussian one, and the other way round.
    let Ok(pure) = pure(scope, Split::of(Guarantee::pure(budget.epsilon))?, lambda) else {
        return gaussian;
    };
    match gaussian {
        Ok(gaussian) if noise_norm(scope, &gaussian) <= noise_norm(scope, &pure) => Ok(gaussian),
        _ => Ok(pure),
    }
}

/// √E‖b‖² of a plan.
fn noise_norm(scope: &Scope, plan: &PerturbationPlan) -> f64 {
    match plan.place {
        NoisePlacement::Objective { shape, scale } => shape.typical_norm(scope.width, scale),
        NoisePlacement::Output { .. } | NoisePlacement::Finish => f64::INFINITY,
    }
}

/// The λ at which the determinant's term ln(1 + β/λ) is `share`, rounded up.
pub(crate) fn least_lambda(scope: &Scope, share: f64) -> f64 {
    div_up(scope.constants().smoothness, exp_m1_down(share))
}

/// The law of b for a pure guarantee and the norm of the shift it must hide, for one changed record. Beyond the
/// coordinates that are proven for spherical vectors it is always Laplace.
pub(crate) fn pure_shape(scope: &Scope) -> (PerturbationLaw, f64) {
    let lipschitz = scope.constants().lipschitz;
    let l1 = mul_up(lipschitz, scope.l1_bound);
    let spherical = PerturbationLaw::Spherical.typical_norm(scope.width, lipschitz);
    if scope.width > MOST_SPHERICAL || PerturbationLaw::Laplace.typical_norm(scope.width, l1) < spherical {
        (PerturbationLaw::Laplace, l1)
    } else {
        (PerturbationLaw::Spherical, lipschitz)
    }
}

fn pure(scope: &Scope, split: Split, lambda: f64) -> Result<PerturbationPlan, ErmError> {
    let (shape, shift) = pure_shape(scope);
    let determinant = ln_1p_up(div_up(scope.constants().smoothness, lambda));
    let left = shape.left_of(sub_down(split.main.epsilon.get(), determinant), scope.width)?;
    let scale = div_up(mul_up(scope.changes(), shift), left);
    let place = NoisePlacement::Objective { shape, scale };
    let theorem = "objective perturbation (Chaudhuri, Monteleoni, Sarwate 2011, algorithm 2, determinant once), \
                  finished with Laplace noise for the solver's distance";
    PerturbationPlan::pure(scope, split, lambda, place, theorem)
}

fn gaussian(scope: &Scope, split: Split, lambda: f64) -> Result<PerturbationPlan, ErmError> {
    let delta = sub_down(
        split.main.delta.get(),
        PerturbationLaw::Gaussian.delta_up(scope.width, split.main.epsilon.get()),
    );
    if delta <= 0.0 {
        return Err(ErmError::invalid("delta", split.main.delta, "give a larger delta"));
    }
    let profile =
        Profile { constants: scope.constants(), lambda, sigma: 0.0, neighboring: scope.neighboring };
    let profile = profile.calibrated(split.main.epsilon, Delta::new(delta)?)?;
    gaussian_plan(
        scope,
        split,
        profile,
        "objective perturbation, hockey-stick profile (after Redberg, Koskela, Wang 2023), finished with \
         Gaussian noise for the solver's distance",
    )
}

/// A plan with normal b whose profile has been checked against the main part of the budget.
fn gaussian_plan(
    scope: &Scope,
    split: Split,
    profile: Profile,
    theorem: &'static str,
) -> Result<PerturbationPlan, ErmError> {
    let place = NoisePlacement::Objective { shape: PerturbationLaw::Gaussian, scale: profile.sigma };
    Ok(PerturbationPlan {
        lambda: profile.lambda,
        place,
        tolerance: tolerance(scope, profile.lambda, place)?,
        main: Some(Event::Approximate { epsilon: split.main.epsilon, delta: split.main.delta }),
        finish: split.finish,
        sensitivity: 0.0,
        theorem,
    })
}
