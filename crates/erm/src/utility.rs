//! Proven utility: how far the private model's mean loss can be above the best, and how many records that takes.
//!
//! Excess is of the mean loss (1/n)Σℓ against any w of norm at most `radius`, for rows of norm at most 1.

use crate::ErmError;
use crate::draw::Shape;
use crate::gradient::Schedule;
use crate::method::Method;
use crate::objective::{Profile, least_lambda, pure_shape};
use crate::settings::Scope;
use reticent_core::Guarantee;
use reticent_core::profile::gaussian_noise_multiplier_up;

/// The norm of weights that the defaults are made for.
pub const USUAL_RADIUS: f64 = 14.0;

/// A bound on the expected excess of a method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The method.
    pub method: Method,
    /// Expected excess of the mean loss.
    pub excess: f64,
    /// The λ of the sum form at which the bound is taken; 0 for descent.
    pub lambda: f64,
}

/// The bounds of the methods that can serve this budget, each at its best λ.
pub fn bounds(scope: &Scope, budget: Guarantee, radius: f64) -> Vec<Bound> {
    let mut bounds = vec![objective_excess(scope, budget, radius), output_excess(scope, budget, radius)];
    if budget.delta.get() > 0.0 {
        bounds.push(descent_excess(scope, budget, radius));
    }
    bounds
}

/// Objective perturbation: E‖b‖²/(nλ) + (λ/(2n))·radius², at the best λ that leaves half of ε.
///
/// With G = Σℓ + (λ/2)‖w‖² and w_b the minimiser of G + bᵀw, strong convexity gives ‖w_b − w₀‖ ≤ ‖b‖/λ, and
/// G(w_b) ≤ G(w₀) + bᵀ(w₀ − w_b) ≤ G(w₀) + ‖b‖²/λ.
///
/// # Reference
/// Chaudhuri, Monteleoni, Sarwate (2011) and Kifer, Smith, Thakurta (2012), in the form derived here.
pub fn objective_excess(scope: &Scope, budget: Guarantee, radius: f64) -> Bound {
    let epsilon = budget.epsilon.get();
    let floor = least_lambda(scope, 0.5 * epsilon);
    let norm = |lambda: f64| {
        if budget.delta.get() == 0.0 {
            let (shape, shift) = pure_shape(scope);
            let left = epsilon - libm::log1p(scope.constants().smoothness / lambda);
            return shape.typical_norm(scope.width, scope.changes() * shift / left);
        }
        let profile =
            Profile { constants: scope.constants(), lambda, sigma: 0.0, neighboring: scope.neighboring };
        profile
            .calibrated(budget.epsilon, budget.delta)
            .map_or(f64::INFINITY, |p| Shape::Gaussian.typical_norm(scope.width, p.sigma))
    };
    best(scope, Method::Objective, floor, |lambda| {
        (norm(lambda) * norm(lambda) / lambda + 0.5 * lambda * radius * radius) / scope.size as f64
    })
}

/// Output perturbation: L·E‖noise‖ + (λ/(2n))·radius² at the best λ.
///
/// # Reference
/// Chaudhuri, Monteleoni, Sarwate (2011), in the form for losses that are only Lipschitz.
pub fn output_excess(scope: &Scope, budget: Guarantee, radius: f64) -> Bound {
    let lipschitz = scope.constants().lipschitz;
    let unit = if budget.delta.get() == 0.0 {
        Shape::Spherical.typical_norm(scope.width, 1.0 / budget.epsilon.get())
    } else {
        let z = gaussian_noise_multiplier_up(budget.epsilon, budget.delta).map_or(f64::INFINITY, |z| z.get());
        Shape::Gaussian.typical_norm(scope.width, z)
    };
    best(scope, Method::Output, 0.0, |lambda| {
        lipschitz * unit * scope.sensitivity_up(lambda) + 0.5 * lambda * radius * radius / scope.size as f64
    })
}

/// Projected noisy descent on all rows with averaging: radius·√(L²/T + dσ²/n²) with the default number of steps T and
/// the σ of a single release of the gradient (T releases have √T times it each).
///
/// # Reference
/// Bassily, Smith, Thakurta (2014), theorem 2.4, with the noise of exact Gaussian composition.
pub fn descent_excess(scope: &Scope, budget: Guarantee, radius: f64) -> Bound {
    let z = gaussian_noise_multiplier_up(budget.epsilon, budget.delta).map_or(f64::INFINITY, |z| z.get());
    let lipschitz = scope.constants().lipschitz;
    let noise = libm::sqrt(scope.width as f64) * z * scope.changes() * lipschitz / scope.size as f64;
    let steps = f64::from(Schedule::descent(scope, budget).steps);
    let excess = radius * libm::sqrt(lipschitz * lipschitz / steps + noise * noise);
    Bound { method: Method::Descent, excess, lambda: 0.0 }
}

/// The least over λ from `floor` up.
fn best(scope: &Scope, method: Method, floor: f64, excess: impl Fn(f64) -> f64) -> Bound {
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
    Bound { method, excess: excess(lambda), lambda }
}

/// The least number of records for which the bound of a method is at most `excess`: "how many records do I
/// need?". The scope's own size is not looked at.
///
/// # Errors
/// [`ErmError::Invalid`] when `excess` is not positive, the method has no bound here, or 2⁶² records are too few.
pub fn records_needed(
    scope: &Scope,
    method: Method,
    budget: Guarantee,
    radius: f64,
    excess: f64,
) -> Result<u64, ErmError> {
    if !(excess.is_finite() && excess > 0.0) {
        return Err(ErmError::invalid("excess", excess, "give a finite number above 0"));
    }
    budget.epsilon.positive()?;
    let fits = |size: u64| {
        let bounds = bounds(&Scope { size, ..*scope }, budget, radius);
        bounds.iter().any(|bound| bound.method == method && bound.excess <= excess)
    };
    let mut high = 1u64;
    while !fits(high) {
        high *= 2;
        if high >= 1 << 62 {
            return Err(ErmError::invalid("method", method, "give another method or a larger excess"));
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
