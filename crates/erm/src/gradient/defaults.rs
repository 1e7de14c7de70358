//! Steps, learning rate and radius from public numbers.

use super::sums::exact_rate;
use crate::ErmError;
use crate::settings::Scope;
use reticent_core::Guarantee;
use reticent_core::profile::gaussian_noise_multiplier_up;
use serde::{Deserialize, Serialize};

/// The largest learning rate and radius: far from where a step could overflow.
const MOST: f64 = 1e6;

/// How a descent goes on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
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

impl Schedule {
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

/// size / (σ√d) for the σ of one Gaussian release of the gradient: how far the data speak above the noise.
fn strength(scope: &Scope, budget: Guarantee) -> f64 {
    let multiplier = gaussian_noise_multiplier_up(budget.epsilon, budget.delta).map_or(1e9, |z| z.get());
    let noise = multiplier * scope.changes() * scope.constants().lipschitz * libm::sqrt(scope.width as f64);
    scope.size as f64 / noise
}
