//! Steps, learning rate and radius from public numbers.

use super::Reach;
use super::sums::{exact_rate, record_norm_up};
use crate::ErmError;
use crate::settings::Scope;
use reticent_core::Guarantee;
use reticent_core::profile::gaussian_noise_multiplier_up;
use serde::{Deserialize, Serialize};

/// The largest learning rate and radius: far from where a step could overflow.
const MOST: f64 = 1e6;

/// How a descent goes on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DescentSchedule {
    /// Number of steps.
    pub steps: u32,
    /// Factor of the mean gradient.
    pub learning_rate: f64,
    /// Share of the last move that is kept, below 1.
    pub momentum: f64,
    /// Weights stay within this norm.
    pub radius: f64,
    /// Probability of a row to be in a step; none when every row is in every step.
    pub sampling_rate: Option<f64>,
}

impl DescentSchedule {
    /// Full-batch descent from public numbers alone. The stronger the data speak above the noise, the more and
    /// the longer the steps; the constants were chosen on UCI Adult.
    pub fn descent(scope: &Scope, budget: Guarantee) -> Self {
        let strength = strength(scope, budget);
        Self {
            steps: strength.clamp(30.0, 150.0) as u32,
            learning_rate: (strength / 25.0).clamp(0.5, 8.0) / (4.0 * scope.constants().smoothness),
            momentum: 0.9,
            radius: 30.0,
            sampling_rate: None,
        }
    }

    /// Poisson-sampled descent from public numbers alone: a quarter of the rows, four times the steps.
    pub fn sampled(scope: &Scope, budget: Guarantee) -> Self {
        let full = Self::descent(scope, budget);
        Self {
            steps: 4 * full.steps,
            sampling_rate: Some(0.25),
            learning_rate: 0.25 * full.learning_rate,
            ..full
        }
    }

    /// The descent whose excess is proven: constant steps, no momentum, weights within `radius`, from public numbers.
    ///
    /// Let f be the mean objective, Λ its regularisation, G² = (L + Λ·radius)² + dσ² a bound on E‖g‖² for the noisy
    /// gradients g of T steps, w* the best in the ball, and η the learning rate. Projection takes no
    /// point away from w*, so E‖w₊ − w*‖² ≤ E‖w − w*‖² − 2ηE(f(w) − f(w*)) + η²G². Dropping the
    /// excess of the first half, E‖w − w*‖² ≤ radius² + (T/2)η²G² there; summing over the second half, whose average is
    /// released, gives an excess of radius²/(ηT) + ηG², and 2·radius·G/√T for η = radius/(G√T). T is odd, so that the
    /// halves are those of the average. T steps of noise σ cost what one of σ/√T does: the bound is
    /// 2·radius·√((L + Λ·radius)²/T + d(σ/√T)²), falling with T, which is taken so large that the noise is most of it,
    /// up to 9999.
    /// The rounding of summands to a step moves a mean gradient by at most √d·step, which adds 4·radius times that, and
    /// Λ adds Λ/2·radius².
    ///
    /// # Reference
    /// Bassily, Smith, Thakurta (2014), theorem 2.4; Shamir, Zhang (2013) for averages of the last iterates.
    pub fn proven(scope: &Scope, budget: Guarantee, radius: f64) -> Self {
        proven(scope, budget, radius).0
    }

    /// What a method descends on unless told otherwise: sampled or not, and with several classes their softmax, which has so
    /// many times the weights and is twice as curved.
    pub fn usual(scope: &Scope, budget: Guarantee, sampled: bool, classes: u32) -> Self {
        let together = Scope { width: scope.width.saturating_mul(classes.max(1) as usize), ..*scope };
        let usual = if sampled { Self::sampled(&together, budget) } else { Self::descent(&together, budget) };
        let slower = if classes > 1 { 0.5 } else { 1.0 };
        Self { learning_rate: slower * usual.learning_rate, ..usual }
    }

    /// Checks that the numbers can drive a descent.
    ///
    /// # Errors
    /// [`ErmError::Invalid`] naming the one that cannot.
    pub fn check(&self) -> Result<(), ErmError> {
        if self.steps == 0 || self.steps > 10_000_000 {
            return Err(ErmError::invalid("steps", self.steps, "give from 1 to 10 million"));
        }
        if !(self.learning_rate > 0.0 && self.learning_rate <= MOST) {
            let remedy = "give a number above 0 and at most 1e6";
            return Err(ErmError::invalid("learning_rate", self.learning_rate, remedy));
        }
        if !(0.0..1.0).contains(&self.momentum) {
            return Err(ErmError::invalid("momentum", self.momentum, "give a number from 0 to below 1"));
        }
        if !(self.radius > 0.0 && self.radius <= MOST) {
            return Err(ErmError::invalid("radius", self.radius, "give a number above 0 and at most 1e6"));
        }
        Ok(self.rate_exact().map(|_| ())?)
    }

    /// The sampling rate as it is drawn, a multiple of 2⁻³².
    ///
    /// # Errors
    /// [`ErmError::Invalid`] when it is outside (2⁻³², 1].
    pub fn rate_exact(&self) -> Result<Option<f64>, reticent_core::InvalidValue> {
        self.sampling_rate.map(exact_rate).transpose()
    }
}

/// Room for the accountant's bounds and the noise's grid above the exact σ of the composition.
const ACCOUNTING_ROOM: f64 = 1.01;

/// The most steps of a proven descent.
const MOST_PROVEN_STEPS: f64 = 9999.0;

/// [`DescentSchedule::proven`] and its bound on the expected excess of the mean loss.
pub(crate) fn proven(scope: &Scope, budget: Guarantee, radius: f64) -> (DescentSchedule, f64) {
    let size = scope.size as f64;
    let record = record_norm_up(Reach::of(scope));
    let multiplier =
        gaussian_noise_multiplier_up(budget.epsilon, budget.delta).map_or(f64::INFINITY, |z| z.get());
    let sigma = ACCOUNTING_ROOM * multiplier * scope.changes() * record / size;
    let noise = scope.width as f64 * sigma * sigma;
    let regularization = scope.regularization.unwrap_or(0.0);
    let steepest = record + regularization * radius;
    let steps = (10.0 * steepest * steepest / noise).clamp(1.0, MOST_PROVEN_STEPS) as u32 | 1;
    let count = f64::from(steps);
    let gradient = libm::sqrt(steepest * steepest + count * noise);
    let rounding = record - scope.constants().lipschitz;
    let excess = 2.0 * radius * gradient / libm::sqrt(count)
        + 4.0 * radius * rounding
        + 0.5 * regularization * radius * radius;
    let learning_rate = radius / (gradient * libm::sqrt(count));
    (DescentSchedule { steps, learning_rate, momentum: 0.0, radius, sampling_rate: None }, excess)
}

/// size / (σ√d) for the σ of one Gaussian release of the gradient: how far the data speak above the noise.
fn strength(scope: &Scope, budget: Guarantee) -> f64 {
    let multiplier = gaussian_noise_multiplier_up(budget.epsilon, budget.delta).map_or(1e9, |z| z.get());
    let noise = multiplier * scope.changes() * scope.constants().lipschitz * libm::sqrt(scope.width as f64);
    scope.size as f64 / noise
}
