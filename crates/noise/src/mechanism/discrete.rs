//! Noise on the integers.

use super::{Accuracy, Mechanism, draw_ahead, integer_l2_distance, l1_distance, positive};
use crate::sampler::{DiscreteGaussianSampler, DiscreteLaplaceSampler, Dyadic};
use crate::{NoiseError, Randomness};
use reticent_core::rounding::{add_up, div_down, div_up, exp_up, mul_up, sqrt_up};
use reticent_core::special::{bisect, normal_tail_quantile};
use reticent_core::{Confidence, Delta, Epsilon, Event, Guarantee, NoiseMultiplier, Scale, Sensitivity};

/// Integer vectors with discrete Laplace (two-sided geometric) noise.
///
/// # Guarantee
/// For inputs whose ℓ1 distance is at most the sensitivity, under whichever neighbouring relation
/// the sensitivity was taken: pure ε = sensitivity / scale, rounded up. Outputs saturate at the
/// limits of `i128`, and noise at ±2¹²⁶, which it reaches with probability below e^(−2²⁶).
///
/// # Reference
/// Ghosh, Roughgarden, Sundararajan, *Universally utility-maximizing privacy mechanisms* (2009);
/// sampler of Canonne, Kamath, Steinke (2020).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DiscreteLaplace {
    sampler: DiscreteLaplaceSampler,
    sensitivity: u64,
    guarantee: Guarantee,
    noise_multiplier: NoiseMultiplier,
}

fn positive_sensitivity(sensitivity: u64) -> Result<f64, NoiseError> {
    if sensitivity == 0 || sensitivity > 1 << 53 {
        return Err(NoiseError::invalid("sensitivity", sensitivity, "give a whole number from 1 to 2^53"));
    }
    Ok(sensitivity as f64)
}

impl DiscreteLaplace {
    /// The least noise that gives ε.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] for sensitivity 0, ε = 0, or a scale outside 2⁻⁶⁰…2¹⁰⁰.
    pub fn new(sensitivity: u64, epsilon: Epsilon) -> Result<Self, NoiseError> {
        let scale = div_up(positive_sensitivity(sensitivity)?, epsilon.positive()?);
        Self::with_scale(sensitivity, Scale::new(scale)?)
    }

    /// Noise of (at least) this scale.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_scale(sensitivity: u64, scale: Scale) -> Result<Self, NoiseError> {
        let delta = positive_sensitivity(sensitivity)?;
        let sampler = DiscreteLaplaceSampler::new(Dyadic::at_least("scale", scale.get(), 53)?);
        let scale = sampler.scale().to_f64_down();
        Ok(Self {
            sampler,
            sensitivity,
            guarantee: Guarantee::pure(Epsilon::new(div_up(delta, scale))?),
            noise_multiplier: NoiseMultiplier::new(div_down(scale, delta))?,
        })
    }

    /// The ε that keeps the error of a count-like value within `error` at this confidence.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when `error` is not positive.
    pub fn epsilon_for_error(
        sensitivity: u64,
        error: f64,
        confidence: Confidence,
    ) -> Result<Epsilon, NoiseError> {
        NoiseError::check_error(error)?;
        let delta = positive_sensitivity(sensitivity)?;
        let error = error.max(0.5);
        let too_big = |scale: f64| Self::tail(error.floor(), scale) > confidence.beta();
        // A little less, so that rounding the scale up again cannot tip the integer error over.
        let scale = bisect(0.0, error * 64.0 + 64.0, |scale| !too_big(scale)) * (1.0 - 1e-13);
        Ok(Epsilon::new(div_up(delta, scale))?)
    }

    /// The scale.
    pub fn scale(&self) -> f64 {
        self.sampler.scale().to_f64_down()
    }

    /// P(|X| > k) = 2 e^{−(k+1)/t} / (1 + e^{−1/t}), rounded up.
    fn tail(k: f64, scale: f64) -> f64 {
        let ratio = libm::exp(-1.0 / scale);
        2.0 * exp_up(-(k + 1.0) / scale) / (1.0 + ratio) * (1.0 + 1e-14)
    }
}

impl Accuracy for DiscreteLaplace {
    fn error(&self, confidence: Confidence) -> f64 {
        let scale = div_up(self.scale(), 1.0 - 1e-15);
        let beta = confidence.beta();
        // Invert the tail, then settle the integer by the tail itself.
        let guess = (scale * libm::log(2.0 / beta / (1.0 + libm::exp(-1.0 / scale))) - 1.0).ceil().max(0.0);
        if guess > (1u64 << 40) as f64 {
            // Beyond the reach of single steps: a relative 1e-12 covers every rounding above.
            return (guess * (1.0 + 1e-12)).ceil();
        }
        let mut k = (guess - 2.0).max(0.0);
        while Self::tail(k, scale) > beta && k < guess + 4.0 {
            k += 1.0;
        }
        k
    }
}

impl Mechanism for DiscreteLaplace {
    type Input = [i128];
    type Output = Vec<i128>;

    fn event(&self) -> Event {
        let sensitivity = Some(self.sensitivity).filter(|own| *own != 1);
        Event::DiscreteLaplace { noise_multiplier: self.noise_multiplier, sensitivity }
    }

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    fn distance(&self, a: &[i128], b: &[i128]) -> f64 {
        l1_distance(a, b, self.sensitivity as f64)
    }

    fn draw(&self, input: &[i128], draws: &mut Randomness<'_>) -> Vec<i128> {
        let noise = draw_ahead(input.len(), || self.sampler.sample(draws));
        input.iter().zip(noise).map(|(value, noise)| value.saturating_add(noise)).collect()
    }
}

/// Integer vectors with discrete Gaussian noise.
///
/// # Guarantee
/// For inputs whose ℓ2 distance is at most the sensitivity, under whichever neighbouring relation
/// the sensitivity was taken: ½(sensitivity/σ)²-zCDP, and from it (ε, δ) by the optimised
/// conversion. Rounded up. Outputs saturate at the limits of `i128`.
///
/// # Reference
/// Canonne, Kamath, Steinke, *The Discrete Gaussian for Differential Privacy* (2020), theorem 4
/// (zCDP in any dimension) and proposition 12 (conversion).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DiscreteGaussian {
    sampler: DiscreteGaussianSampler,
    sensitivity: f64,
    guarantee: Guarantee,
    noise_multiplier: NoiseMultiplier,
}

impl DiscreteGaussian {
    /// Noise that gives (ε, δ).
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] for ε = 0, δ = 0, or σ outside 2⁻⁶⁰…2¹⁰⁰.
    pub fn new(sensitivity: Sensitivity, epsilon: Epsilon, delta: Delta) -> Result<Self, NoiseError> {
        let target = epsilon.positive()?;
        positive(delta)?;
        let too_small = |z: f64| zcdp_epsilon_up(z, delta.get()) > target;
        let mut high = 1.0;
        while too_small(high) {
            high *= 2.0;
            if high > 1e30 {
                return Err(NoiseError::invalid(
                    "epsilon",
                    target,
                    "give a larger epsilon or delta: no noise within reach gives this one",
                ));
            }
        }
        let multiplier = bisect(0.0, high, too_small);
        Self::with_sigma(sensitivity, Scale::new(mul_up(multiplier, sensitivity.get()))?, delta)
    }

    /// Noise of (at least) this σ, with the ε it gives at δ.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_sigma(sensitivity: Sensitivity, sigma: Scale, delta: Delta) -> Result<Self, NoiseError> {
        positive(delta)?;
        let sampler = DiscreteGaussianSampler::new(Dyadic::at_least("sigma", sigma.get(), 20)?);
        let multiplier = div_down(sampler.sigma().to_f64_down(), sensitivity.get());
        let epsilon = Epsilon::new(zcdp_epsilon_up(multiplier, delta.get()))?;
        Ok(Self {
            sampler,
            sensitivity: sensitivity.get(),
            guarantee: Guarantee { epsilon, delta },
            noise_multiplier: NoiseMultiplier::new(multiplier)?,
        })
    }

    /// The ε that keeps the error of one number within `error` at this confidence, for a given δ.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when `error` is below 1, which the bound cannot show, or δ = 0.
    pub fn epsilon_for_error(
        sensitivity: Sensitivity,
        delta: Delta,
        error: f64,
        confidence: Confidence,
    ) -> Result<Epsilon, NoiseError> {
        if !(error.is_finite() && error >= 1.0) {
            return Err(NoiseError::invalid("error", error, "give a finite number of at least 1"));
        }
        // Less by what rounding σ up to 20 bits can add.
        let sigma = error.floor() / normal_tail_quantile(confidence.beta() / 2.0) * (1.0 - 4e-6);
        Ok(Self::with_sigma(sensitivity, Scale::new(sigma)?, delta)?.guarantee.epsilon)
    }

    /// The σ.
    pub fn sigma(&self) -> f64 {
        self.sampler.sigma().to_f64_down()
    }
}

/// ε of noise with ρ = 1/(2z²) at δ: min over α of ρα + ln(1 − 1/α) − ln(δα)/(α − 1), rounded up.
fn zcdp_epsilon_up(z: f64, delta: f64) -> f64 {
    let rho = div_up(0.5, z * z * (1.0 - 1e-15));
    let log_delta = libm::log(delta);
    // In terms of the gap α − 1, so that nothing cancels near α = 1.
    let at =
        |gap: f64| rho * (1.0 + gap) + libm::log(gap / (1.0 + gap)) - (log_delta + libm::log1p(gap)) / gap;
    // Any order gives a true bound; ternary search in ln(α − 1) finds a good one.
    let (mut low, mut high) = (-20.0f64, 40.0f64);
    for _ in 0..200 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if at(libm::exp(a)) < at(libm::exp(b)) {
            high = b;
        } else {
            low = a;
        }
    }
    let gap = libm::exp(low);
    let size = rho * (1.0 + gap) + (log_delta.abs() + libm::log1p(gap)) / gap + low.abs() + 1.0;
    add_up(at(gap).max(0.0), size * 1e-14)
}

impl Accuracy for DiscreteGaussian {
    /// From P(X > k) = P(X ≥ k + 1) ≤ P(N(0, σ²) ≥ k) (Canonne, Kamath, Steinke 2020, proposition 25).
    fn error(&self, confidence: Confidence) -> f64 {
        let sigma = self.sigma() * (1.0 + 1e-12);
        (sigma * normal_tail_quantile(confidence.beta() / 2.0)).ceil()
    }
}

impl Mechanism for DiscreteGaussian {
    type Input = [i128];
    type Output = Vec<i128>;

    fn event(&self) -> Event {
        let sensitivity = Sensitivity::new(self.sensitivity).ok();
        Event::DiscreteGaussian { noise_multiplier: self.noise_multiplier, sensitivity }
    }

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    fn distance(&self, a: &[i128], b: &[i128]) -> f64 {
        integer_l2_distance(a, b, self.sensitivity)
    }

    fn draw(&self, input: &[i128], draws: &mut Randomness<'_>) -> Vec<i128> {
        let noise = draw_ahead(input.len(), || self.sampler.sample(draws));
        input.iter().zip(noise).map(|(value, noise)| value.saturating_add(noise)).collect()
    }
}

/// √k, rounded up: the ℓ2 sensitivity of k counts that one unit can move by one each.
pub(crate) fn l2_of_units(k: u64) -> f64 {
    sqrt_up(k as f64)
}
