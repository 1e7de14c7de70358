//! Independent Student-t noise on every coordinate.

/// D_α of Student-t noise with ν degrees of freedom on any number of coordinates, rounded up.
///
/// With I = (ν + 1)/(ν + 3), the Fisher information of the location, and t = 1/`noise_multiplier`:
/// D_α ≤ α·I·t²/2 when t² ≤ ν, and at all orders with (α − 1)(ν + 1)/2 whole; between those, for
/// t² > ν, a chord of (α − 1)·D_α. No smaller multiple of α·t² holds for all dimensions.
///
/// # Guarantee
/// For inputs at ℓ2 distance at most t scales, under whichever neighbouring relation the sensitivity was
/// taken, both directions (the noise is symmetric). Rounded up.
///
/// # Reference
/// Derived in the proof of this module.
pub fn student_t_rdp(noise_multiplier: f64, degrees_of_freedom: u64, order: f64) -> f64 {
    let nu = degrees_of_freedom as f64;
    let square = 1.0 / (noise_multiplier * noise_multiplier);
    let rho = (0.5 * square * ((nu + 1.0) / (nu + 3.0))).max(f64::MIN_POSITIVE);
    if square * (1.0 + 1e-14) <= nu {
        return order * rho * (1.0 + 1e-14);
    }
    // The chord of α(α − 1) between whole steps lies (step·θ)(step·(1 − θ)) above it.
    let step = 2.0 / (nu + 1.0);
    let steps = (order - 1.0) / step;
    let theta = steps - steps.floor();
    let chord =
        if steps < 1.0 { 1.0 + step } else { order + step * step * theta * (1.0 - theta) / (order - 1.0) };
    chord * rho * (1.0 + 1e-13)
}
