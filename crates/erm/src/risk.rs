//! Output perturbation by its closed formulas: the sensitivity of the minimiser, and the number of records for a risk.

use crate::ErmError;
use reticent_core::profile::gaussian_noise_multiplier_up;
use reticent_core::rounding::{add_up, div_up, ln_up, mul_down, mul_up, sqrt_up};
use reticent_core::{Guarantee, Neighboring, Scale, Sensitivity};

/// Δ₂ of the minimiser of (1/n)Σℓ + (Λ/2)‖w‖²: 2L/(nΛ) under replace-one, L/(nΛ) under add-remove.
///
/// # Guarantee
/// For a convex loss that is L-Lipschitz in w, rounded up. Under replace-one n is public; under add-remove nΛ, the weight of the
/// regularizer in the sum form, is.
///
/// # Reference
/// Chaudhuri, Monteleoni, Sarwate (2011), corollary 8.
///
/// # Errors
/// [`ErmError::Invalid`] without records, or when Λ is not a positive finite number.
pub fn minimizer_sensitivity_up(
    lipschitz: Scale,
    records: u64,
    regularization: f64,
    neighboring: Neighboring,
) -> Result<Sensitivity, ErmError> {
    if records == 0 {
        return Err(ErmError::invalid("dataset_size", records, "give at least 1"));
    }
    if !(regularization.is_finite() && regularization > 0.0) {
        return Err(ErmError::invalid("regularization", regularization, "give a finite number above 0"));
    }
    let changes = match neighboring {
        Neighboring::AddRemove => 1.0,
        Neighboring::ReplaceOne => 2.0,
    };
    let weight = mul_down(count_down(records), regularization);
    Ok(Sensitivity::new(div_up(mul_up(changes, lipschitz.get()), weight))?)
}

/// What a model trained by output perturbation is to reach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RiskTarget {
    /// The Lipschitz constant L of the loss, as a function of the weights.
    pub lipschitz: Scale,
    /// The norm R of the weights that the model is compared with.
    pub radius: Scale,
    /// The number of weights d.
    pub width: u64,
    /// γ: how far the mean loss on the population may be above that of those weights.
    pub excess: f64,
    /// β: the sample may be misleading with this probability, and the noise large with this probability.
    pub failure: f64,
}

/// Records and regularization that are enough for a [`RiskTarget`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleSize {
    /// n, rounded up.
    pub records: u64,
    /// Λ = γ/R².
    pub regularization: f64,
}

impl RiskTarget {
    /// The number of records with which Gaussian output perturbation stays within γ with probability at least 1 − 2β:
    /// n = 2R²L²(2/β + 2z(√d + √(2 ln(1/β))))/γ² with Λ = γ/R², z being the least noise multiplier for the budget.
    ///
    /// Let w be the minimiser of the regularized empirical loss Ĵ and J the regularized loss on the population, with the minimiser
    /// w°. Replacing a record moves w by at most 2L/(nΛ), so E[J(w) − Ĵ(w)] ≤ 2L²/(nΛ). Since Ĵ(w) ≤ Ĵ(w°) and
    /// E Ĵ(w°) = J(w°), E[J(w) − J(w°)] ≤ 2L²/(nΛ); it is not negative, so by Markov's inequality it is at most 2L²/(nΛβ) but for
    /// probability β. Noise of standard deviation z·2L/(nΛ) has norm at most z·2L/(nΛ)·(√d + √(2 ln(1/β))) but for probability β, and
    /// costs L times that. Against weights of norm R the regularizer costs ΛR²/2. With Λ = γ/R² the sum is at most γ for this n.
    ///
    /// # Guarantee
    /// For records drawn independently from one population, any convex L-Lipschitz loss, and weights released with the least σ for the
    /// budget under replace-one; rounded up. The minimiser is taken as exact. This is a bound on utility; privacy holds for
    /// any number of records.
    ///
    /// # Reference
    /// Chaudhuri, Monteleoni, Sarwate (2011), theorem 18, is of this form; the constants are derived above. Bousquet, Elisseeff,
    /// *Stability and generalization* (2002), for the argument.
    ///
    /// # Errors
    /// [`ErmError::Invalid`] when γ or β is out of range, the width is 0, ε or δ is 0, or n exceeds 2⁶².
    pub fn records_needed(&self, budget: Guarantee) -> Result<SampleSize, ErmError> {
        if !(self.excess.is_finite() && self.excess > 0.0) {
            return Err(ErmError::invalid("excess", self.excess, "give a finite number above 0"));
        }
        if !(self.failure > 0.0 && self.failure < 0.5) {
            let remedy =
                "give a number above 0 and below 0.5: the bound may fail with twice that probability";
            return Err(ErmError::invalid("failure", self.failure, remedy));
        }
        if self.width == 0 {
            return Err(ErmError::invalid("dimension", 0, "give at least 1"));
        }
        budget.epsilon.positive()?;
        let multiplier = gaussian_noise_multiplier_up(budget.epsilon, budget.delta)?.get();
        let (lipschitz, radius) = (self.lipschitz.get(), self.radius.get());
        let norm =
            add_up(sqrt_up(count_up(self.width)), sqrt_up(mul_up(2.0, ln_up(div_up(1.0, self.failure)))));
        let factor = add_up(div_up(2.0, self.failure), mul_up(mul_up(2.0, multiplier), norm));
        let ratio = div_up(mul_up(radius, lipschitz), self.excess);
        let records = mul_up(mul_up(2.0, factor), mul_up(ratio, ratio)).ceil();
        let regularization = self.excess / radius / radius;
        if !(records <= (1u64 << 62) as f64 && regularization.is_finite() && regularization > 0.0) {
            let remedy = "give a larger excess: more than 2^62 records would be needed";
            return Err(ErmError::invalid("excess", self.excess, remedy));
        }
        // One record more covers the rounding of Λ.
        Ok(SampleSize { records: records as u64 + 1, regularization })
    }
}

/// A count as a double that is not above it.
fn count_down(count: u64) -> f64 {
    if count > 1 << 53 { (count as f64).next_down() } else { count as f64 }
}

/// A count as a double that is not below it.
fn count_up(count: u64) -> f64 {
    if count > 1 << 53 { (count as f64).next_up() } else { count as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_core::{Delta, Epsilon};

    fn scale(value: f64) -> Scale {
        Scale::new(value).unwrap()
    }

    fn budget() -> Guarantee {
        Guarantee { epsilon: Epsilon::new(0.5).unwrap(), delta: Delta::new(1e-5).unwrap() }
    }

    fn target() -> RiskTarget {
        RiskTarget { lipschitz: scale(1.0), radius: scale(1.0), width: 14, excess: 0.1, failure: 0.05 }
    }

    #[test]
    fn the_minimizer_moves_by_two_over_the_weight_of_the_regularizer() {
        let moved =
            |neighboring| minimizer_sensitivity_up(scale(1.0), 1000, 0.01, neighboring).unwrap().get();
        assert!((moved(Neighboring::ReplaceOne) - 0.2).abs() < 1e-15);
        assert!((moved(Neighboring::AddRemove) - 0.1).abs() < 1e-15);
        for (records, regularization) in [(0, 0.01), (10, 0.0), (10, f64::NAN), (10, -1.0)] {
            let refused =
                minimizer_sensitivity_up(scale(1.0), records, regularization, Neighboring::AddRemove);
            assert!(refused.is_err(), "{records} {regularization}");
        }
        // Attained by the loss −wx: the minimiser is the mean of x over Λ, and x goes from 1 to −1.
        assert!((2.0 / 1000.0 / 0.01 - moved(Neighboring::ReplaceOne)).abs() < 1e-15);
    }

    #[test]
    fn the_number_of_records_agrees_with_high_precision() {
        let found = target().records_needed(budget()).unwrap();
        assert_eq!((found.records, found.regularization), (RECORDS + 1, 0.1));
    }

    /// Of the target above, computed in 30 digits.
    const RECORDS: u64 = 25_410;

    #[test]
    fn targets_out_of_range_are_refused() {
        let refused = |target: RiskTarget| target.records_needed(budget()).is_err();
        for excess in [0.0, -1.0, f64::NAN, 1e-30] {
            assert!(refused(RiskTarget { excess, ..target() }), "{excess}");
        }
        for failure in [0.0, 0.5, 1.0, f64::NAN] {
            assert!(refused(RiskTarget { failure, ..target() }), "{failure}");
        }
        assert!(refused(RiskTarget { width: 0, ..target() }));
        let pure = Guarantee { delta: Delta::ZERO, ..budget() };
        assert!(target().records_needed(pure).is_err());
    }

    /// A standard normal number from two uniform ones (Box and Muller).
    fn normal(state: &mut u64) -> f64 {
        let mut uniform = || {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((*state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
        };
        let (a, b) = (uniform(), uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    #[test]
    fn models_fail_no_more_often_than_claimed() {
        // The loss −w·x on x = ±1 with mean μ: the minimiser is the mean of x over Λ, the best w of norm 1 has loss −|μ|.
        let (target, trials, mut state) = (RiskTarget { width: 1, ..target() }, 4000, 7u64);
        let SampleSize { records, regularization } = target.records_needed(budget()).unwrap();
        let multiplier = gaussian_noise_multiplier_up(budget().epsilon, budget().delta).unwrap().get();
        let failures = |records: u64, state: &mut u64| {
            let n = records as f64;
            let sigma = multiplier * 2.0 / (n * regularization);
            let mu: f64 = 0.02;
            let deviation = ((1.0 - mu * mu) / n).sqrt();
            let one = |_| {
                let mean = mu + deviation * normal(state);
                let weight = mean / regularization + sigma * normal(state);
                usize::from(-mu * weight + mu > target.excess)
            };
            (0..trials).map(one).sum::<usize>()
        };
        let found = failures(records, &mut state) as f64 / f64::from(trials);
        assert!(found <= 2.0 * target.failure, "{found}");
        // One record in two thousand is not enough: the test can fail.
        let few = failures(records / 2000, &mut state) as f64 / f64::from(trials);
        assert!(few > 2.0 * target.failure, "{few}");
    }
}
