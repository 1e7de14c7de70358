//! The privacy profile δ(ε) of the Gaussian mechanism, with a stated rounding side.
//!
//! | name | symbol | meaning |
//! |---|---|---|
//! | `noise_multiplier` | z | σ / ℓ2 sensitivity |
//! | | a, b | εz − 1/(2z), εz + 1/(2z) |
//! | [`mills`] | M(t) | (1 − Φ(t)) / φ(t) |
//!
//! The exact profile is δ(ε) = Φ(−a) − e^ε Φ(−b). Because e^ε φ(b) = φ(a), it also equals
//! φ(a)·(M(a) − M(b)), a form that keeps its relative accuracy when δ is tiny. The derivatives of
//! that form with respect to a and b are at most 2φ(a) in size, so rounding a and b by a relative u
//! moves it by at most about 4u·φ(a)·(εz + 1/(2z)); evaluating φ and M adds a few u of each term.
//! The bounds below allow several times that.

use crate::special::{bisect, mills, normal_pdf, normal_tail};
use crate::{Delta, Epsilon, InvalidValue, NoiseMultiplier};

/// A value and a bound on its error.
struct Approximate {
    value: f64,
    error: f64,
}

impl Approximate {
    /// Whether the exact value is certainly at most `target`; not-a-number never is.
    fn is_at_most(&self, target: f64) -> bool {
        (self.value + self.error).next_up() <= target
    }
}

fn gaussian_delta(epsilon: f64, z: f64) -> Approximate {
    let u = f64::EPSILON;
    let (scaled, half) = (epsilon * z, 0.5 / z);
    let (a, b) = (scaled - half, scaled + half);
    if !b.is_finite() {
        // Either the noise or the signal is beyond double range.
        return if scaled > half {
            Approximate { value: 0.0, error: f64::MIN_POSITIVE }
        } else {
            Approximate { value: 1.0, error: 0.0 }
        };
    }
    let density = normal_pdf(a);
    if density == 0.0 {
        // φ underflows beyond 38 standard deviations: δ is 0 or 1 to more digits than a double has.
        let value = if a > 0.0 { 0.0 } else { 1.0 };
        return Approximate { value, error: f64::MIN_POSITIVE };
    }
    // exp(-a²/2) with a² rounded: relative error a²·u, and a itself is off by u·b.
    let density_error = density * u * (4.0 + 2.0 * a * a + 2.0 * a.abs() * b);
    if a >= 0.0 {
        let (first, second) = (mills(a), mills(b));
        let gap = first - second;
        let error = density * u * (16.0 * first + 8.0 * b) + density_error * gap.abs();
        Approximate { value: density * gap, error: error + f64::MIN_POSITIVE }
    } else {
        let head = normal_tail(a);
        let second = mills(b);
        let error = u * (8.0 * head + density * (16.0 * second + 8.0 * b)) + density_error * second;
        Approximate { value: head - density * second, error: error + f64::MIN_POSITIVE }
    }
}

/// The smallest δ for which Gaussian noise gives (ε, δ), rounded up.
///
/// # Guarantee
/// For sensitivity taken under either neighbouring relation, adding N(0, σ²) with
/// σ = `noise_multiplier` · sensitivity to every coordinate is (ε, returned)-differentially private.
/// Rounded up; never above 1.
///
/// # Reference
/// Balle, Wang, *Improving the Gaussian Mechanism for Differential Privacy* (ICML 2018), theorem 8.
pub fn gaussian_delta_up(epsilon: Epsilon, noise_multiplier: NoiseMultiplier) -> f64 {
    let delta = gaussian_delta(epsilon.get(), noise_multiplier.get());
    (delta.value + delta.error).clamp(0.0, 1.0).next_up().min(1.0)
}

/// The same δ rounded down: no smaller δ is true.
///
/// # Guarantee
/// The mechanism of [`gaussian_delta_up`] is not (ε, δ)-private for any δ below the returned value.
///
/// # Reference
/// As [`gaussian_delta_up`].
pub fn gaussian_delta_down(epsilon: Epsilon, noise_multiplier: NoiseMultiplier) -> f64 {
    let delta = gaussian_delta(epsilon.get(), noise_multiplier.get());
    (delta.value - delta.error).clamp(0.0, 1.0).next_down().max(0.0)
}

/// The smallest noise multiplier that reaches (ε, δ), rounded up.
///
/// # Guarantee
/// Under the neighbouring relation of the sensitivity, Gaussian noise with this multiplier is
/// (ε, δ)-differentially private.
///
/// # Reference
/// Balle, Wang (ICML 2018), algorithm 1; here the profile is bounded from above and bisected.
///
/// # Errors
/// [`InvalidValue`] when δ = 0, which no Gaussian noise reaches, or when no double is large enough.
pub fn gaussian_noise_multiplier_up(epsilon: Epsilon, delta: Delta) -> Result<NoiseMultiplier, InvalidValue> {
    let target = delta.get();
    if target == 0.0 {
        return Err(InvalidValue::new(
            "delta",
            0,
            "give a delta above 0: Gaussian noise has no pure guarantee (use Laplace noise for delta = 0)",
        ));
    }
    let too_small = |z: f64| !gaussian_delta(epsilon.get(), z).is_at_most(target);
    let mut high = 1.0;
    while too_small(high) {
        high *= 2.0;
        if high > 1e150 {
            return Err(InvalidValue::new(
                "delta",
                target,
                "give a larger delta or epsilon: no finite noise reaches this one",
            ));
        }
    }
    let mut low = high;
    while !too_small(low) && low > 1e-150 {
        low *= 0.5;
    }
    NoiseMultiplier::new(bisect(low, high, too_small))
}

/// The smallest ε that Gaussian noise gives at δ, rounded up.
///
/// # Guarantee
/// As [`gaussian_delta_up`], read the other way: (returned, δ) holds.
///
/// # Reference
/// As [`gaussian_delta_up`].
///
/// # Errors
/// [`InvalidValue`] when δ = 0.
pub fn gaussian_epsilon_up(noise_multiplier: NoiseMultiplier, delta: Delta) -> Result<Epsilon, InvalidValue> {
    let target = delta.get();
    if target == 0.0 {
        return Err(InvalidValue::new(
            "delta",
            0,
            "give a delta above 0: Gaussian noise has no pure guarantee",
        ));
    }
    let too_small = |epsilon: f64| !gaussian_delta(epsilon, noise_multiplier.get()).is_at_most(target);
    if !too_small(0.0) {
        return Epsilon::new(0.0);
    }
    let mut high = 1.0;
    while too_small(high) {
        high *= 2.0;
        if high > 1e300 {
            return Err(InvalidValue::new(
                "delta",
                target,
                "give a larger delta or more noise: no finite epsilon holds",
            ));
        }
    }
    Epsilon::new(bisect(0.0, high, too_small))
}

#[cfg(test)]
#[path = "profile_tests.rs"]
mod tests;
