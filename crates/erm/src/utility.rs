//! Proven utility: how far the private model's mean loss can be above the best, and how many records that takes.
//!
//! Excess is of the mean loss (1/n)Σℓ against any w of norm at most `radius`, for rows of norm at most 1.

use crate::ErmError;
use crate::gradient;
use crate::method::FitMethod;
use crate::objective::{self, least_lambda};
use crate::output;
use crate::plan::{NoisePlacement, PerturbationPlan, Split};
use crate::settings::Scope;
use reticent_core::{Code, Guarantee, InvalidValue};

/// The norm of weights that the defaults are made for.
pub const USUAL_RADIUS: f64 = 14.0;

/// A bound on the expected excess of a method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExcessRiskBound {
    /// The method.
    pub method: FitMethod,
    /// Expected excess of the mean loss.
    pub excess: f64,
    /// The λ of the sum form at which the bound is taken; 0 for descent.
    pub lambda: f64,
}

/// The bounds of the methods that can serve this budget, each at its best λ; infinite where no plan can be made.
pub fn bounds(scope: &Scope, budget: Guarantee, radius: f64) -> Vec<ExcessRiskBound> {
    let bounded = [FitMethod::Objective, FitMethod::Output, FitMethod::Descent];
    bounded.into_iter().filter_map(|method| bound(scope, method, budget, radius)).collect()
}

pub(crate) fn bound(
    scope: &Scope,
    method: FitMethod,
    budget: Guarantee,
    radius: f64,
) -> Option<ExcessRiskBound> {
    match method {
        FitMethod::Objective => Some(objective_excess(scope, budget, radius)),
        FitMethod::Output => Some(output_excess(scope, budget, radius)),
        FitMethod::Descent if budget.delta.get() > 0.0 => Some(descent_excess(scope, budget, radius)),
        _ => None,
    }
}

/// Objective perturbation: E‖b‖²/(nλ) + (λ/(2n))·radius² + L·(τ/λ + E‖ξ‖), at the best λ that leaves half of ε. b and the
/// finishing noise ξ are those of [`objective::plan`], and so is τ, the gradient norm at which its solver stops.
///
/// With G = Σℓ + (λ/2)‖w‖² and w_b the minimiser of G + bᵀw, strong convexity gives ‖w_b − w₀‖ ≤ ‖b‖/λ, and
/// G(w_b) ≤ G(w₀) + bᵀ(w₀ − w_b) ≤ G(w₀) + ‖b‖²/λ. What is released is at most τ/λ + ‖ξ‖ from w_b.
///
/// # Reference
/// Chaudhuri, Monteleoni, Sarwate (2011) and Kifer, Smith, Thakurta (2012), in the form derived here.
pub fn objective_excess(scope: &Scope, budget: Guarantee, radius: f64) -> ExcessRiskBound {
    let share = Split::of(budget).map_or(0.0, |split| 0.5 * split.main.epsilon.get());
    let floor = least_lambda(scope, share);
    best(scope, FitMethod::Objective, floor, |scope| excess(scope, objective::plan(scope, budget), radius))
}

/// Output perturbation: L·(E‖noise‖ + τ/λ + E‖ξ‖) + (λ/(2n))·radius² at the best λ, with the noise, the finishing noise ξ
/// and the solver's τ of [`output::plan`].
///
/// # Reference
/// Chaudhuri, Monteleoni, Sarwate (2011), in the form for losses that are only Lipschitz.
pub fn output_excess(scope: &Scope, budget: Guarantee, radius: f64) -> ExcessRiskBound {
    best(scope, FitMethod::Output, 0.0, |scope| excess(scope, output::plan(scope, budget), radius))
}

/// The bound for one plan.
fn excess(scope: &Scope, plan: Result<PerturbationPlan, ErmError>, radius: f64) -> f64 {
    let finished = plan.and_then(|plan| Ok((plan.finishing_norm(scope.width)?, plan)));
    let Ok((finish, plan)) = finished else { return f64::INFINITY };
    let (n, lambda, lipschitz) = (scope.size as f64, plan.lambda, scope.constants().lipschitz);
    let noise = match plan.place {
        NoisePlacement::Objective { shape, scale } => {
            shape.typical_norm(scope.width, scale).powi(2) / (n * lambda)
        }
        NoisePlacement::Output { shape, scale } => lipschitz * shape.typical_norm(scope.width, scale),
        NoisePlacement::Finish => 0.0,
    };
    noise + lipschitz * (plan.tolerance / lambda + finish) + 0.5 * lambda / n * radius * radius
}

/// Projected noisy descent on all rows as [`DescentSchedule::proven`](gradient::DescentSchedule::proven) does it, not as the default
/// [`DescentSchedule::descent`](gradient::DescentSchedule::descent), whose
/// momentum and length are chosen by experiment and have no bound here.
///
/// # Reference
/// Bassily, Smith, Thakurta (2014), theorem 2.4, with the noise of exact Gaussian composition; derived in
/// [`DescentSchedule::proven`](gradient::DescentSchedule::proven).
pub fn descent_excess(scope: &Scope, budget: Guarantee, radius: f64) -> ExcessRiskBound {
    ExcessRiskBound {
        method: FitMethod::Descent,
        excess: gradient::proven(scope, budget, radius).1,
        lambda: 0.0,
    }
}

/// The least over λ from `floor` up of the excess for a scope with that λ.
fn best(scope: &Scope, method: FitMethod, floor: f64, excess: impl Fn(&Scope) -> f64) -> ExcessRiskBound {
    let excess = |lambda: f64| excess(&Scope { regularization: Some(lambda / scope.size as f64), ..*scope });
    let start = floor.max(1e-9 * scope.size as f64).max(1e-12);
    let (mut low, mut high) = (libm::log(start), libm::log(start.max(scope.size as f64) * 1e3));
    // The bounds have one valley in ln λ: golden-section search.
    let ratio = 0.618_033_988_749_894_9;
    for _ in 0..60 {
        let (left, right) = (high - ratio * (high - low), low + ratio * (high - low));
        if excess(libm::exp(left)) < excess(libm::exp(right)) {
            high = right;
        } else {
            low = left;
        }
    }
    let lambda = libm::exp(0.5 * (low + high)).max(start);
    ExcessRiskBound { method, excess: excess(lambda), lambda }
}

/// The least number of records for which the bound of a method is at most `excess`: "how many records do I
/// need?". The scope's own size is not looked at.
///
/// # Errors
/// [`ErmError::Invalid`] when `excess` is not positive, the method has no bound here, or 2⁶² records are too few.
pub fn records_needed(
    scope: &Scope,
    method: FitMethod,
    budget: Guarantee,
    radius: f64,
    excess: f64,
) -> Result<u64, ErmError> {
    if !(excess.is_finite() && excess > 0.0) {
        return Err(ErmError::invalid("excess", excess, "give a finite number above 0"));
    }
    budget.epsilon.positive()?;
    let fits = |size: u64| {
        let bound = bound(&Scope { size, ..*scope }, method, budget, radius);
        bound.is_some_and(|bound| bound.excess <= excess)
    };
    let mut high = 1u64;
    while !fits(high) {
        high *= 2;
        if high >= 1 << 62 {
            let remedy = "give another method or a larger excess";
            return Err(InvalidValue::new("method", method, remedy).coded(Code::UnknownName).into());
        }
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(high)
}
