use super::{Accuracy, Mechanism, draw_ahead, integer_l2_distance, l2_distance, padded, positive, settle};
use crate::grid::Grid;
use crate::sampler::{NORMAL_DISTANCE_LOG2, rounded_normal};
use crate::{NoiseError, Randomness};
use reticent_core::profile::{gaussian_delta_up, gaussian_epsilon_up, gaussian_noise_multiplier_up};
use reticent_core::rounding::{add_up, div_down, div_up, exp_up, ln_up, mul_up, sqrt_up, sub_down};
use reticent_core::special::normal_tail_quantile;
use reticent_core::{Confidence, Delta, Epsilon, Event, Guarantee, NoiseMultiplier, Scale, Sensitivity};

/// Fineness of the grid: σ is at least this many bits of steps.
const GRID_BITS: u32 = 32;

/// The part of δ that pays for the sampler's distance from the ideal normal: both neighbours'
/// outputs are within dimension · 2⁻¹²⁰ of the ideal.
pub(crate) fn sampler_delta_up(epsilon: f64, dimension: usize) -> f64 {
    let distance = mul_up(dimension.max(1) as f64, (2f64).powi(NORMAL_DISTANCE_LOG2));
    mul_up(distance, add_up(1.0, exp_up(epsilon)))
}

/// How a vector of numbers meets the grid: shared by real and integer inputs.
#[derive(Debug, Clone, Copy, PartialEq)]
struct GridNoise {
    grid: Grid,
    /// In steps.
    sigma: u64,
    dimension: usize,
    sensitivity: f64,
    guarantee: Guarantee,
    noise_multiplier: NoiseMultiplier,
}

impl GridNoise {
    /// `exact`: inputs that are multiples of 1 lie on the grid when its step divides 1.
    fn calibrated(
        sensitivity: Sensitivity,
        epsilon: Epsilon,
        delta: Delta,
        dimension: usize,
        exact: bool,
    ) -> Result<Self, NoiseError> {
        let spare = sub_down(delta.get(), sampler_delta_up(epsilon.positive()?, dimension));
        if spare <= 0.0 {
            return Err(NoiseError::invalid(
                "delta",
                delta.get(),
                format!(
                    "give a delta above {:e}: the sampler needs that much",
                    sampler_delta_up(epsilon.get(), dimension)
                ),
            ));
        }
        let multiplier = gaussian_noise_multiplier_up(epsilon, Delta::new(spare)?)?.get();
        let grid = Grid::for_scale(Scale::new(mul_up(multiplier, sensitivity.get()))?, GRID_BITS)?;
        let moved = steps_apart(grid, sensitivity, dimension, exact);
        let guarantee = Guarantee { epsilon, delta };
        Self::on_grid(grid, sensitivity, dimension, moved, mul_up(multiplier, moved), guarantee)
    }

    fn with_sigma(
        sensitivity: Sensitivity,
        sigma: Scale,
        delta: Delta,
        dimension: usize,
        exact: bool,
    ) -> Result<Self, NoiseError> {
        Self::with_sigma_on(Grid::for_scale(sigma, GRID_BITS)?, sensitivity, sigma, delta, dimension, exact)
    }

    fn with_sigma_on(
        grid: Grid,
        sensitivity: Sensitivity,
        sigma: Scale,
        delta: Delta,
        dimension: usize,
        exact: bool,
    ) -> Result<Self, NoiseError> {
        let moved = steps_apart(grid, sensitivity, dimension, exact);
        let steps = grid.steps(sigma.get()).ceil();
        let multiplier = NoiseMultiplier::new(div_down(steps, moved))?;
        // Nine tenths of δ for the noise, the rest for the sampler; ε grows only logarithmically with it.
        let epsilon = gaussian_epsilon_up(multiplier, Delta::new(delta.get() * 0.9)?)?;
        if sampler_delta_up(epsilon.get(), dimension) > delta.get() * 0.09 {
            return Err(NoiseError::invalid(
                "delta",
                delta.get(),
                "give a larger delta or more noise: the sampler's own share does not fit",
            ));
        }
        Self::on_grid(grid, sensitivity, dimension, moved, steps, Guarantee { epsilon, delta })
    }

    fn on_grid(
        grid: Grid,
        sensitivity: Sensitivity,
        dimension: usize,
        moved: f64,
        sigma_steps: f64,
        guarantee: Guarantee,
    ) -> Result<Self, NoiseError> {
        let sigma = sigma_steps.ceil();
        if !(sigma >= 1.0 && sigma < (2f64).powi(34)) {
            return Err(NoiseError::invalid(
                "epsilon",
                guarantee.epsilon,
                "give a larger epsilon or a smaller dimension: the noise does not fit its grid",
            ));
        }
        Ok(Self {
            grid,
            sigma: sigma as u64,
            dimension,
            sensitivity: sensitivity.get(),
            guarantee,
            noise_multiplier: NoiseMultiplier::new(div_down(sigma, moved))?,
        })
    }

    fn noise(&self, draws: &mut Randomness<'_>) -> Vec<i128> {
        draw_ahead(self.dimension, || rounded_normal(draws, self.sigma))
    }

    fn error(&self, confidence: Confidence) -> f64 {
        let steps = self.sigma as f64 * normal_tail_quantile(confidence.beta() / 2.0) * (1.0 + 1e-12) + 1.0;
        mul_up(steps, self.grid.step())
    }
}

/// The ε at δ of the largest σ whose error stays within `error`; 10⁻⁹ covers the grid.
fn epsilon_for_error(
    sensitivity: Sensitivity,
    delta: Delta,
    error: f64,
    confidence: Confidence,
) -> Result<Epsilon, NoiseError> {
    let sigma = error * (1.0 - 1e-9) / normal_tail_quantile(confidence.beta() / 2.0);
    let multiplier = NoiseMultiplier::new(div_down(sigma, sensitivity.get() * (1.0 + 1e-9)))?;
    Ok(gaussian_epsilon_up(multiplier, Delta::new(delta.get() * (1.0 - 1e-9))?)?)
}

/// Δ/step, plus √dimension when inputs must be rounded: how far apart rounded neighbours can be, in ℓ2.
fn steps_apart(grid: Grid, sensitivity: Sensitivity, dimension: usize, exact: bool) -> f64 {
    let steps = grid.steps(sensitivity.get());
    if exact && grid.exponent() <= 0 { steps } else { add_up(steps, sqrt_up(dimension as f64)) }
}

/// Real vectors with Gaussian noise on a power-of-two grid.
///
/// # Guarantee
/// For inputs of the declared length whose ℓ2 distance is at most the sensitivity, under whichever
/// neighbouring relation the sensitivity was taken: (ε, δ), rounded up, with the rounding of the
/// input and the sampler's distance from the ideal normal already paid for. The output is a
/// post-processing of the continuous Gaussian mechanism, and its possible values do not depend on
/// the input.
///
/// # Reference
/// Balle, Wang, *Improving the Gaussian Mechanism for Differential Privacy* (2018).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gaussian(GridNoise);

impl Gaussian {
    /// The least noise that gives (ε, δ), by the exact (analytic) calibration.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] for ε = 0, δ = 0 or below the sampler's share, or a scale beyond
    /// what doubles can hold.
    pub fn new(
        sensitivity: Sensitivity,
        epsilon: Epsilon,
        delta: Delta,
        dimension: usize,
    ) -> Result<Self, NoiseError> {
        Ok(Self(GridNoise::calibrated(sensitivity, epsilon, delta, dimension, false)?))
    }

    /// Noise of (at least) this σ, with the ε it gives at δ.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_sigma(
        sensitivity: Sensitivity,
        sigma: Scale,
        delta: Delta,
        dimension: usize,
    ) -> Result<Self, NoiseError> {
        Ok(Self(GridNoise::with_sigma(sensitivity, sigma, delta, dimension, false)?))
    }

    /// The ε that keeps the error of one number within `error` at this confidence, for a given δ.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when `error` is not positive or δ = 0.
    pub fn epsilon_for_error(
        sensitivity: Sensitivity,
        delta: Delta,
        error: f64,
        confidence: Confidence,
    ) -> Result<Epsilon, NoiseError> {
        NoiseError::check_error(error)?;
        let first = epsilon_for_error(sensitivity, delta, error, confidence)?;
        settle(first, error, |e| Ok(Self::new(sensitivity, e, delta, 1)?.error(confidence)))
    }

    /// The σ.
    pub fn sigma(&self) -> f64 {
        self.0.grid.value(i128::from(self.0.sigma), 0.0)
    }

    /// σ over how far neighbours can be apart on the grid, as the event states it.
    pub fn noise_multiplier(&self) -> NoiseMultiplier {
        self.0.noise_multiplier
    }
}

impl Accuracy for Gaussian {
    fn error(&self, confidence: Confidence) -> f64 {
        self.0.error(confidence)
    }
}

impl Mechanism for Gaussian {
    type Input = [f64];
    type Output = Vec<f64>;

    fn event(&self) -> Event {
        Event::Gaussian { noise_multiplier: self.0.noise_multiplier }
    }

    fn guarantee(&self) -> Guarantee {
        self.0.guarantee
    }

    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        if a.len() != self.0.dimension {
            return f64::INFINITY;
        }
        l2_distance(a.iter().copied(), b.iter().copied(), self.0.sensitivity)
    }

    /// Entries beyond the declared dimension are not released; missing ones count as 0.
    fn draw(&self, input: &[f64], draws: &mut Randomness<'_>) -> Vec<f64> {
        let grid = self.0.grid;
        self.0
            .noise(draws)
            .into_iter()
            .zip(padded(input))
            .map(|(noise, value)| grid.value(grid.round(value) + noise, 0.5))
            .collect()
    }
}

/// Integer vectors with Gaussian noise, rounded back to integers.
///
/// # Guarantee
/// As [`Gaussian`]; integers lie on the grid already, so nothing is paid for rounding them while
/// σ < 2³³.
///
/// # Reference
/// As [`Gaussian`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntegerGaussian(GridNoise);

impl IntegerGaussian {
    /// The least noise that gives (ε, δ), by the exact (analytic) calibration.
    ///
    /// # Errors
    /// As [`Gaussian::new`].
    pub fn new(
        sensitivity: Sensitivity,
        epsilon: Epsilon,
        delta: Delta,
        dimension: usize,
    ) -> Result<Self, NoiseError> {
        Ok(Self(GridNoise::calibrated(sensitivity, epsilon, delta, dimension, true)?))
    }

    /// Noise of (at least) this σ, with the ε it gives at δ.
    ///
    /// # Errors
    /// As [`Gaussian::new`].
    pub fn with_sigma(
        sensitivity: Sensitivity,
        sigma: Scale,
        delta: Delta,
        dimension: usize,
    ) -> Result<Self, NoiseError> {
        Ok(Self(GridNoise::with_sigma(sensitivity, sigma, delta, dimension, true)?))
    }

    /// Noise whose event states (at least) this noise multiplier, with the ε it gives at δ.
    ///
    /// # Errors
    /// As [`Gaussian::new`].
    pub fn with_noise_multiplier(
        sensitivity: Sensitivity,
        noise_multiplier: NoiseMultiplier,
        delta: Delta,
        dimension: usize,
    ) -> Result<Self, NoiseError> {
        let sigma = Scale::new(mul_up(noise_multiplier.get(), sensitivity.get()))?;
        let grid = Grid::for_scale(sigma, GRID_BITS)?;
        let moved = steps_apart(grid, sensitivity, dimension, true);
        // Up by what rounding the input may cost, so that the event does not fall below what was asked for.
        let steps = Scale::new(mul_up(mul_up(noise_multiplier.get(), moved), grid.step()))?;
        Ok(Self(GridNoise::with_sigma_on(grid, sensitivity, steps, delta, dimension, true)?))
    }

    /// The ε that keeps the error of one number within `error` at this confidence, for a given δ.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when `error` is not positive or δ = 0.
    pub fn epsilon_for_error(
        sensitivity: Sensitivity,
        delta: Delta,
        error: f64,
        confidence: Confidence,
    ) -> Result<Epsilon, NoiseError> {
        NoiseError::check_error(error)?;
        // Rounding to whole numbers hides half a unit.
        let first = epsilon_for_error(sensitivity, delta, error.floor() + 0.5, confidence)?;
        settle(first, error, |e| Ok(Self::new(sensitivity, e, delta, 1)?.error(confidence)))
    }

    /// The σ.
    pub fn sigma(&self) -> f64 {
        self.0.grid.value(i128::from(self.0.sigma), 0.0)
    }
}

impl IntegerGaussian {
    /// How far a released integer may be from the true one plus the ideal normal noise.
    pub(crate) fn rounding(&self) -> f64 {
        self.0.grid.step() + 0.5
    }
}

impl Accuracy for IntegerGaussian {
    fn error(&self, confidence: Confidence) -> f64 {
        (self.0.error(confidence) + 0.5).floor()
    }
}

impl Mechanism for IntegerGaussian {
    type Input = [i128];
    type Output = Vec<i128>;

    fn event(&self) -> Event {
        Event::Gaussian { noise_multiplier: self.0.noise_multiplier }
    }

    fn guarantee(&self) -> Guarantee {
        self.0.guarantee
    }

    fn distance(&self, a: &[i128], b: &[i128]) -> f64 {
        if a.len() != self.0.dimension {
            return f64::INFINITY;
        }
        integer_l2_distance(a, b, self.0.sensitivity)
    }

    /// Entries beyond the declared dimension are not released; missing ones count as 0.
    fn draw(&self, input: &[i128], draws: &mut Randomness<'_>) -> Vec<i128> {
        let grid = self.0.grid;
        self.0
            .noise(draws)
            .into_iter()
            .zip(padded(input))
            .map(|(noise, value)| grid.integer(grid.round_integer(value) + noise))
            .collect()
    }
}

/// The textbook σ = Δ√(2 ln(1.25/δ))/ε, rounded up.
///
/// # Guarantee
/// (ε, δ) for ε < 1, for the neighbouring relation of the sensitivity. [`Gaussian::new`] reaches
/// the same with less noise.
///
/// # Reference
/// Dwork, Roth (2014), theorem A.1, proven for 0 < ε < 1.
///
/// # Errors
/// [`NoiseError::Invalid`] when ε ≥ 1, ε = 0 or δ = 0.
pub fn classical_sigma(
    sensitivity: Sensitivity,
    epsilon: Epsilon,
    delta: Delta,
) -> Result<Scale, NoiseError> {
    let e = epsilon.positive()?;
    if e >= 1.0 {
        return Err(NoiseError::invalid(
            "epsilon",
            e,
            "give an epsilon below 1: the classical formula is proven only there (the analytic calibration has no such limit)",
        ));
    }
    textbook_sigma(sensitivity, e, delta, 1.25)
}

/// The shorter textbook σ = Δ√(2 ln(1/δ))/ε, rounded up, where it holds.
///
/// # Guarantee
/// (ε, δ), for the neighbouring relation of the sensitivity: the exact profile is checked at this
/// very σ and the formula refused where it fails. What is proven for every ε is weaker than the
/// formula's usual statement: Gaussian noise of this σ is ρ-zCDP with ρ = ε²/(4 ln(1/δ)), hence
/// (ε + ε²/(4 ln(1/δ)), δ).
///
/// # Reference
/// Bun, Steinke, *Concentrated Differential Privacy* (2016), proposition 1.3, for what is proven;
/// Balle, Wang (2018), theorem 8, for the check.
///
/// # Errors
/// [`NoiseError::Invalid`] when ε = 0, δ = 0, or the formula's noise is too small at this (ε, δ).
pub fn short_classical_sigma(
    sensitivity: Sensitivity,
    epsilon: Epsilon,
    delta: Delta,
) -> Result<Scale, NoiseError> {
    let e = epsilon.positive()?;
    let sigma = textbook_sigma(sensitivity, e, delta, 1.0)?;
    let multiplier = NoiseMultiplier::new(div_down(sigma.get(), sensitivity.get()))?;
    if gaussian_delta_up(epsilon, multiplier) > delta.get() {
        let proven = add_up(e, div_up(mul_up(e, e), 4.0 * -ln_up(delta.get())));
        return Err(NoiseError::invalid(
            "epsilon",
            e,
            format!(
                "give a smaller epsilon or use the analytic calibration: here this formula gives only epsilon = {proven}"
            ),
        ));
    }
    Ok(sigma)
}

fn textbook_sigma(
    sensitivity: Sensitivity,
    epsilon: f64,
    delta: Delta,
    constant: f64,
) -> Result<Scale, NoiseError> {
    let delta = positive(delta)?;
    let root = sqrt_up(mul_up(2.0, ln_up(div_up(constant, delta))));
    Ok(Scale::new(div_up(mul_up(sensitivity.get(), root), epsilon))?)
}
