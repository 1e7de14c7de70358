//! The closed-form noise of the courses.

use crate::ErmError;
use reticent_core::rounding::{div_down, div_up, ln_down, ln_up, mul_down, mul_up, sqrt_down, sqrt_up};
use reticent_core::{Delta, Epsilon};

/// The closed form's σ with what it was computed from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CourseSigma {
    /// σ of the noise that is added to the gradient of a step's one record.
    pub sigma: f64,
    /// The steps it is for.
    pub steps: u64,
}

/// σ = 16L√(T ln(2/δ) ln(2.5T/(δn)))/(nε), for stochastic gradient descent with T steps of one record each.
///
/// # Guarantee
/// (ε, δ) under replace-one with n public, each step's record drawn uniformly, for ε < 1, nε < 4√(2T ln(2/δ)) and
/// 2T > δn. Each step is the classical Gaussian mechanism of sensitivity 2L at ε₀ = nε/(4√(2T ln(2/δ))) and δ₀ = δn/(2T),
/// which needs both below 1; sampling brings them to 2ε₀/n and δ₀/n, and advanced composition of T such steps, with
/// δ/2 of its own, to ε/2 + ε²/(4 ln(2/δ)) ≤ ε and δ. Rounded up. It is here for comparison: a fit takes its noise
/// from the accountant.
///
/// # Reference
/// Bassily, Smith, Thakurta, *Private empirical risk minimization* (2014), theorem 2.1, as the courses state it.
///
/// # Errors
/// [`ErmError::Invalid`] for ε = 0, δ = 0, no steps or no records, or outside the conditions above.
pub fn course_sigma(
    lipschitz: f64,
    records: u64,
    steps: u64,
    epsilon: Epsilon,
    delta: Delta,
) -> Result<CourseSigma, ErmError> {
    let epsilon = epsilon.positive()?;
    if delta.get() == 0.0 {
        return Err(ErmError::invalid("delta", 0, "give a delta above 0"));
    }
    if records == 0 || steps == 0 {
        return Err(ErmError::invalid("steps", steps, "give at least one step and one record"));
    }
    if !(lipschitz.is_finite() && lipschitz > 0.0) {
        return Err(ErmError::invalid("lipschitz", lipschitz, "give a finite number above 0"));
    }
    if epsilon >= 1.0 {
        return Err(ErmError::invalid("epsilon", epsilon, "give an epsilon below 1: the proof ends there"));
    }
    let (n, t) = (records as f64, steps as f64);
    let log_down = ln_down(div_down(2.0, delta.get()));
    if mul_up(n, epsilon) >= mul_down(4.0, sqrt_down(mul_down(2.0 * t, log_down))) {
        let remedy = "give more steps than (n·epsilon)²/(32 ln(2/delta)): the proof needs them";
        return Err(ErmError::invalid("steps", steps, remedy));
    }
    if 2.0 * t <= mul_up(delta.get(), n) {
        return Err(ErmError::invalid("steps", steps, "give more steps than half of delta times records"));
    }
    let log = ln_up(div_up(2.0, delta.get()));
    let inner = ln_up(div_up(2.5 * t, mul_down(delta.get(), n)));
    let root = sqrt_up(mul_up(mul_up(t, log), inner));
    let sigma = div_up(mul_up(16.0 * lipschitz, root), mul_down(n, epsilon));
    Ok(CourseSigma { sigma, steps })
}
