//! δ(ε) of objective perturbation with Gaussian noise.

use crate::ErmError;
use crate::loss::Constants;
use reticent_core::profile::gaussian_delta_up;
use reticent_core::rounding::{add_up, div_up, exp_down, exp_up, ln_1p_up, mul_up, sub_down, sub_up};
use reticent_core::special::bisect;
use reticent_core::{Delta, Epsilon, Neighboring, NoiseMultiplier};

/// What decides the guarantee: the loss, λ (of the sum form), σ and the relation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Profile {
    /// The constants of the loss.
    pub constants: Constants,
    /// The weight of ½‖w‖² beside the *sum* of losses.
    pub lambda: f64,
    /// Standard deviation of every coordinate of b, beside the sum of losses.
    pub sigma: f64,
    /// The neighbouring relation.
    pub neighboring: Neighboring,
}

impl Profile {
    /// ln(1 + β/λ), rounded up: what the change of the Hessian's determinant can add to the loss of privacy,
    /// under either relation.
    pub fn determinant_up(&self) -> f64 {
        ln_1p_up(div_up(self.constants.smoothness, self.lambda))
    }

    /// Whether the numbers are those of a loss, a strongly convex objective and noise.
    fn has_meaning(&self) -> bool {
        self.lambda > 0.0 && self.constants.smoothness >= 0.0 && self.constants.lipschitz > 0.0
    }

    /// δ at ε, rounded up; 1 where λ, σ or the constants are not positive numbers.
    ///
    /// # Guarantee
    /// The exact minimiser of Σℓ + (λ/2)‖w‖² + bᵀw, b ~ N(0, σ²I), is (ε, returned)-differentially private under the
    /// profile's relation. With ε̃ = ε − ln(1 + β/λ) and H(s) the Gaussian profile at ε̃ for a shift of s:
    /// * monotone losses, add-remove: H(L);
    /// * monotone losses, replace-one: H(2L) + 2H(L);
    /// * other losses, add-remove: 2H(L), refined below ε̃ = L²/(2σ²) as in the reference;
    /// * other losses, replace-one: 2H(2L) + 2H(√2·L).
    ///
    /// # Reference
    /// Redberg, Koskela, Wang, *Improving the privacy and practicality of objective perturbation for
    /// differentially private linear learners* (2023), for the third case; `proof.md` derives all four.
    pub fn delta_up(&self, epsilon: Epsilon) -> f64 {
        if !(self.has_meaning() && self.sigma > 0.0) {
            return 1.0;
        }
        let shifted = sub_down(epsilon.get(), self.determinant_up());
        let lipschitz = self.constants.lipschitz;
        let delta = match (self.constants.monotone, self.neighboring) {
            (true, Neighboring::AddRemove) => self.shift_up(shifted, lipschitz),
            (true, Neighboring::ReplaceOne) => {
                add_up(self.shift_up(shifted, 2.0 * lipschitz), 2.0 * self.shift_up(shifted, lipschitz))
            }
            (false, Neighboring::AddRemove) => redberg_delta_up(shifted, lipschitz, self.sigma),
            (false, Neighboring::ReplaceOne) => add_up(
                2.0 * self.shift_up(shifted, 2.0 * lipschitz),
                2.0 * self.shift_up(shifted, mul_up(std::f64::consts::SQRT_2.next_up(), lipschitz)),
            ),
        };
        delta.min(1.0)
    }

    /// H(shift) at ε̃, or 1 for a negative ε̃.
    fn shift_up(&self, epsilon: f64, shift: f64) -> f64 {
        hockey_up(epsilon, shift, self.sigma)
    }

    /// The least σ, to adjacent doubles, whose δ at ε is at most `delta`.
    ///
    /// # Errors
    /// [`ErmError::Invalid`] when λ is not positive or leaves nothing of ε, or δ = 0.
    pub fn calibrated(mut self, epsilon: Epsilon, delta: Delta) -> Result<Self, ErmError> {
        if delta.get() == 0.0 {
            return Err(ErmError::invalid("delta", 0, "give a delta above 0 for Gaussian noise"));
        }
        if !self.has_meaning() || sub_down(epsilon.get(), self.determinant_up()) <= 0.0 {
            return Err(ErmError::invalid(
                "regularization",
                self.lambda,
                format!(
                    "give more: epsilon = {epsilon} is used up by ln(1 + {}/lambda)",
                    self.constants.smoothness
                ),
            ));
        }
        let too_small = |sigma: f64| Self { sigma, ..self }.delta_up(epsilon) > delta.get();
        let mut high = self.constants.lipschitz;
        while too_small(high) {
            high *= 2.0;
            if high > 1e30 {
                return Err(ErmError::invalid("epsilon", epsilon, "give a larger epsilon or delta"));
            }
        }
        self.sigma = bisect(1e-6 * high, high, too_small);
        Ok(self)
    }
}

/// The Gaussian profile for N(0, σ²) against N(shift, σ²) at a possibly negative ε, rounded up.
fn hockey_up(epsilon: f64, shift: f64, sigma: f64) -> f64 {
    let (Ok(epsilon), Ok(multiplier)) =
        (Epsilon::new(epsilon), NoiseMultiplier::new((sigma / shift).next_down()))
    else {
        return 1.0;
    };
    gaussian_delta_up(epsilon, multiplier)
}

/// Redberg, Koskela and Wang's bound for add-remove at ε̃ = ε − ln(1 + β/λ), rounded up: 2·H(L) where
/// ε̂ = ε̃ − L²/(2σ²) ≥ 0, else (1 − e^ε̂) + e^ε̂·2·H(L) with H at L²/(2σ²); 1 where ε̃ is not a number.
///
/// # Guarantee
/// As [`Profile::delta_up`] under add-remove, for every convex loss of the margin.
///
/// # Reference
/// Redberg, Koskela, Wang (2023), the hockey-stick bound for generalised linear models.
pub fn redberg_delta_up(shifted_epsilon: f64, lipschitz: f64, sigma: f64) -> f64 {
    if shifted_epsilon.is_nan() {
        return 1.0;
    }
    let ratio = div_up(lipschitz, sigma);
    let middle_up = mul_up(0.5 * ratio, ratio);
    if shifted_epsilon >= middle_up {
        return (2.0 * hockey_up(shifted_epsilon, lipschitz, sigma)).min(1.0);
    }
    let ratio_down = (lipschitz / sigma).next_down();
    let middle_down = (0.5 * ratio_down * ratio_down).next_down();
    // 1 − e^ε̂(1 − 2H) falls with ε̂ and rises with H.
    let hat = sub_down(shifted_epsilon, middle_up);
    let twice = (2.0 * hockey_up(middle_down, lipschitz, sigma)).min(1.0);
    let kept = exp_down(hat.min(0.0));
    let other = exp_up(hat.min(0.0));
    add_up(sub_up(1.0, kept), mul_up(other, twice)).clamp(0.0, 1.0)
}
