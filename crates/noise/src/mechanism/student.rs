use super::{Accuracy, Mechanism, draw_ahead, l2_distance, padded, sampler_delta_up, settle};
use crate::grid::Grid;
use crate::sampler::StudentSampler;
use crate::{NoiseError, Randomness};
use reticent_core::rounding::{add_up, div_down, div_up, mul_up, sqrt_down, sqrt_up};
use reticent_core::special::{beta_inc, bisect};
use reticent_core::{Confidence, Delta, Epsilon, Event, Guarantee, NoiseMultiplier, Scale, Sensitivity};

const GRID_BITS: u32 = 32;

/// Real vectors with independent Student-t noise on every coordinate, on a power-of-two grid.
///
/// # Guarantee
/// For inputs of the declared length d whose ℓ2 distance is at most the sensitivity, under whichever
/// neighbouring relation the sensitivity was taken: ε = d(ν + 1)·asinh(t/(2√(νd))) with
/// t = sensitivity/scale, rounded up, the rounding of the input included, and a δ of about
/// d(ν + 1)·2⁻¹²⁰(1 + e^ε) for the sampler's distance from the ideal. The output is a
/// post-processing of continuous Student-t noise.
///
/// # Reference
/// The bound is derived in the proof; heavy-tailed noise of this kind: Nissim, Raskhodnikova, Smith,
/// *Smooth sensitivity and sampling in private data analysis* (2007).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StudentT {
    grid: Grid,
    sampler: StudentSampler,
    scale_steps: u64,
    degrees_of_freedom: u32,
    dimension: usize,
    sensitivity: f64,
    guarantee: Guarantee,
    noise_multiplier: NoiseMultiplier,
}

impl StudentT {
    /// Noise of (at least) this scale with ν degrees of freedom.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] unless 1 ≤ ν ≤ 1000 and the dimension is at least 1.
    pub fn new(
        sensitivity: Sensitivity,
        scale: Scale,
        degrees_of_freedom: u32,
        dimension: usize,
    ) -> Result<Self, NoiseError> {
        check_shape(degrees_of_freedom, dimension)?;
        let grid = Grid::for_scale(scale, GRID_BITS)?;
        let steps = grid.steps(scale.get()).ceil();
        let moved = add_up(grid.steps(sensitivity.get()), sqrt_up(dimension as f64));
        let epsilon = Self::epsilon_up(div_up(moved, steps), degrees_of_freedom, dimension)?;
        let delta = Delta::new(sampler_delta_up(
            epsilon.get(),
            dimension.saturating_mul(degrees_of_freedom as usize + 1),
        ))
        .map_err(|_| {
            NoiseError::invalid(
                "scale",
                scale.get(),
                "give a larger scale: epsilon is beyond what the sampler can vouch for",
            )
        })?;
        Ok(Self {
            grid,
            sampler: StudentSampler::new(steps as u64, degrees_of_freedom),
            scale_steps: steps as u64,
            degrees_of_freedom,
            dimension,
            sensitivity: sensitivity.get(),
            guarantee: Guarantee { epsilon, delta },
            noise_multiplier: NoiseMultiplier::new(div_down(steps, moved))?,
        })
    }

    /// Noise that gives ε.
    ///
    /// # Errors
    /// As [`new`](Self::new), and for ε = 0.
    pub fn for_epsilon(
        sensitivity: Sensitivity,
        epsilon: Epsilon,
        degrees_of_freedom: u32,
        dimension: usize,
    ) -> Result<Self, NoiseError> {
        check_shape(degrees_of_freedom, dimension)?;
        let d = dimension as f64;
        let nu = f64::from(degrees_of_freedom);
        // Invert the bound, leave a little for the grid, and let `new` state the exact claim.
        let ratio = 2.0 * (nu * d).sqrt() * libm::sinh(epsilon.positive()? / (d * (nu + 1.0)));
        let mut margin = 1.0 + 1e-9 + d.sqrt() * (2f64).powi(-30) * (1.0 + 1.0 / ratio);
        for _ in 0..64 {
            let scale = Scale::new(sensitivity.get() / ratio * margin)?;
            let built = Self::new(sensitivity, scale, degrees_of_freedom, dimension)?;
            if built.guarantee.epsilon <= epsilon {
                return Ok(built);
            }
            margin *= 1.0 + 1e-9 + (margin - 1.0);
        }
        Err(NoiseError::invalid(
            "epsilon",
            epsilon,
            "give a larger epsilon or a smaller dimension: the noise does not fit its grid",
        ))
    }

    /// The ε that keeps the error of one coordinate within `error` at this confidence.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when `error` is not positive, and as [`new`](Self::new).
    pub fn epsilon_for_error(
        sensitivity: Sensitivity,
        error: f64,
        confidence: Confidence,
        degrees_of_freedom: u32,
        dimension: usize,
    ) -> Result<Epsilon, NoiseError> {
        NoiseError::check_error(error)?;
        check_shape(degrees_of_freedom, dimension)?;
        let scale = Scale::new(error / quantile(degrees_of_freedom, confidence))?;
        let first = Self::new(sensitivity, scale, degrees_of_freedom, dimension)?.guarantee.epsilon;
        settle(first, error, |e| {
            Ok(Self::for_epsilon(sensitivity, e, degrees_of_freedom, dimension)?.error(confidence))
        })
    }

    fn epsilon_up(t: f64, degrees_of_freedom: u32, dimension: usize) -> Result<Epsilon, NoiseError> {
        let (nu, d) = (f64::from(degrees_of_freedom), dimension as f64);
        let argument = div_up(t, 2.0 * sqrt_down(nu * d).next_down());
        Ok(Epsilon::new(mul_up(mul_up(d, nu + 1.0), libm::asinh(argument) * (1.0 + 4.0 * f64::EPSILON)))?)
    }

    /// The scale.
    pub fn scale(&self) -> f64 {
        self.grid.value(i128::from(self.scale_steps), 0.0)
    }
}

impl Accuracy for StudentT {
    fn error(&self, confidence: Confidence) -> f64 {
        mul_up(
            quantile(self.degrees_of_freedom, confidence) * self.scale_steps as f64 + 1.0,
            self.grid.step(),
        )
    }
}

fn check_shape(degrees_of_freedom: u32, dimension: usize) -> Result<(), NoiseError> {
    if !(1..=1000).contains(&degrees_of_freedom) {
        return Err(NoiseError::invalid(
            "degrees_of_freedom",
            degrees_of_freedom,
            "give a whole number from 1 to 1000",
        ));
    }
    if dimension == 0 {
        return Err(NoiseError::invalid("dimension", 0, "give at least 1"));
    }
    Ok(())
}

/// The x with P(|T| > x) = I_{ν/(ν+x²)}(ν/2, ½) = 1 − confidence, rounded up.
fn quantile(degrees_of_freedom: u32, confidence: Confidence) -> f64 {
    let nu = f64::from(degrees_of_freedom);
    let heavier = |x: f64| beta_inc(nu / 2.0, 0.5, nu / (nu + x * x)) > confidence.beta() * (1.0 - 1e-9);
    let mut high = 1.0;
    while heavier(high) && high < 1e150 {
        high *= 2.0;
    }
    bisect(0.0, high, heavier)
}

impl Mechanism for StudentT {
    type Input = [f64];
    type Output = Vec<f64>;

    fn event(&self) -> Event {
        Event::StudentT {
            noise_multiplier: self.noise_multiplier,
            degrees_of_freedom: u64::from(self.degrees_of_freedom),
        }
    }

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        if a.len() != self.dimension {
            return f64::INFINITY;
        }
        l2_distance(a.iter().copied(), b.iter().copied(), self.sensitivity)
    }

    /// Entries beyond the declared dimension are not released; missing ones count as 0.
    fn draw(&self, input: &[f64], draws: &mut Randomness<'_>) -> Vec<f64> {
        draw_ahead(self.dimension, || self.sampler.sample(draws))
            .into_iter()
            .zip(padded(input))
            .map(|(noise, value)| self.grid.value(self.grid.round(value).saturating_add(noise), 0.5))
            .collect()
    }
}
