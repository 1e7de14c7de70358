//! The closed-form noise of the courses.

use crate::ErmError;
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
/// (ε, δ) for ε < 1 by sampling amplification and advanced composition, under replace-one with n public. It is
/// here for comparison: a fit takes its noise from the accountant.
///
/// # Reference
/// Bassily, Smith, Thakurta, *Private empirical risk minimization* (2014), theorem 2.1, as the courses state it.
///
/// # Errors
/// [`ErmError::Invalid`] for ε = 0, δ = 0, no steps or no records, or where 2.5T ≤ δn makes no sense of it.
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
    let (n, t) = (records as f64, steps as f64);
    let inner = libm::log(2.5 * t / (delta.get() * n));
    if inner <= 0.0 {
        return Err(ErmError::invalid("steps", steps, "give more steps than delta times records"));
    }
    let sigma = 16.0 * lipschitz * libm::sqrt(t * libm::log(2.0 / delta.get()) * inner) / (n * epsilon);
    Ok(CourseSigma { sigma, steps })
}
