use super::{Accuracy, Mechanism, draw_ahead, padded, settle};
use crate::entropy::Bits;
use crate::grid::Grid;
use crate::sampler::geometric;
use crate::{NoiseError, Randomness};
use reticent_core::rounding::{add_up, div_down, div_up, ln_up, mul_up};
use reticent_core::{Confidence, Epsilon, Event, Guarantee, NoiseMultiplier, Scale, Sensitivity};

/// Fineness of the grid: the scale is at least this many bits of steps.
const GRID_BITS: u32 = 45;

/// Real vectors with Laplace noise on a power-of-two grid.
///
/// # Guarantee
/// For inputs of the declared length whose ℓ1 distance is at most the sensitivity, under whichever
/// neighbouring relation the sensitivity was taken: pure ε, rounded up, with the rounding of the
/// input to the grid already paid for. The output is a post-processing of the continuous Laplace
/// mechanism, and its possible values do not depend on the input.
///
/// # Reference
/// Dwork, McSherry, Nissim, Smith, *Calibrating noise to sensitivity* (2006); the grid answers
/// Mironov, *On significance of the least significant bits* (2012), and Haney et al., *Precision-based
/// attacks* (2022).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Laplace {
    grid: Grid,
    /// In steps.
    scale: u64,
    dimension: usize,
    sensitivity: f64,
    guarantee: Guarantee,
    noise_multiplier: NoiseMultiplier,
}

impl Laplace {
    /// The least noise that gives ε to a vector of `dimension` numbers.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] for ε = 0 or a scale beyond what doubles can hold.
    pub fn new(sensitivity: Sensitivity, epsilon: Epsilon, dimension: usize) -> Result<Self, NoiseError> {
        let target = epsilon.positive()?;
        let grid = Grid::for_scale(Scale::new(div_up(sensitivity.get(), target))?, GRID_BITS)?;
        let moved = steps_apart(grid, sensitivity, dimension);
        Self::on_grid(grid, sensitivity, dimension, div_up(moved, target))
    }

    /// Noise of (at least) this scale.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_scale(sensitivity: Sensitivity, scale: Scale, dimension: usize) -> Result<Self, NoiseError> {
        let grid = Grid::for_scale(scale, GRID_BITS)?;
        Self::on_grid(grid, sensitivity, dimension, grid.steps(scale.get()))
    }

    fn on_grid(
        grid: Grid,
        sensitivity: Sensitivity,
        dimension: usize,
        scale_steps: f64,
    ) -> Result<Self, NoiseError> {
        let moved = steps_apart(grid, sensitivity, dimension);
        let scale = scale_steps.ceil();
        if !(scale >= 1.0 && scale < (2f64).powi(62)) {
            return Err(NoiseError::invalid(
                "epsilon",
                scale_steps,
                "give a larger epsilon or a smaller dimension: the noise does not fit its grid",
            ));
        }
        Ok(Self {
            grid,
            scale: scale as u64,
            dimension,
            sensitivity: sensitivity.get(),
            guarantee: Guarantee::pure(Epsilon::new(div_up(moved, scale))?),
            noise_multiplier: NoiseMultiplier::new(div_down(scale, moved))?,
        })
    }

    /// The ε that keeps the error of one number within `error` at this confidence.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when `error` is not positive.
    pub fn epsilon_for_error(
        sensitivity: Sensitivity,
        error: f64,
        confidence: Confidence,
    ) -> Result<Epsilon, NoiseError> {
        NoiseError::check_error(error)?;
        let first = Epsilon::new(div_up(mul_up(sensitivity.get(), ln_up(1.0 / confidence.beta())), error))?;
        settle(first, error, |e| Ok(Self::new(sensitivity, e, 1)?.error(confidence)))
    }

    /// The scale b.
    pub fn scale(&self) -> f64 {
        self.grid.value(i128::from(self.scale), 0.0)
    }
}

/// ⌊Δ/step + dimension⌋: how many steps apart rounded neighbours can be, in ℓ1.
fn steps_apart(grid: Grid, sensitivity: Sensitivity, dimension: usize) -> f64 {
    add_up(grid.steps(sensitivity.get()), dimension as f64).floor().max(1.0)
}

impl Accuracy for Laplace {
    fn error(&self, confidence: Confidence) -> f64 {
        let steps = mul_up(self.scale as f64, ln_up(1.0 / confidence.beta()));
        mul_up(add_up(steps, 1.0), self.grid.step()) * (1.0 + 1e-15)
    }
}

impl Mechanism for Laplace {
    type Input = [f64];
    type Output = Vec<f64>;

    fn event(&self) -> Event {
        Event::Laplace { noise_multiplier: self.noise_multiplier }
    }

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        if a.len() != self.dimension || b.len() != self.dimension {
            return f64::INFINITY;
        }
        a.iter().zip(b).map(|(x, y)| (x - y).abs()).sum::<f64>() / self.sensitivity
    }

    /// Entries beyond the declared dimension are not released; missing ones count as 0.
    fn draw(&self, input: &[f64], draws: &mut Randomness<'_>) -> Vec<f64> {
        // ⌊Laplace⌋ in steps: a geometric magnitude g read as g or as −g − 1.
        let noise = draw_ahead(self.dimension, || {
            let magnitude = geometric(draws, self.scale) as i128;
            if draws.bit() { magnitude } else { -magnitude - 1 }
        });
        noise
            .into_iter()
            .zip(padded(input))
            .map(|(noise, value)| self.grid.value(self.grid.round(value) + noise, 0.5))
            .collect()
    }
}
