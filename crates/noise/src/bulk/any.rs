//! Either kind of bulk noise.

use super::{BulkGaussian, BulkStudent, Drawing, NoiseAhead};
use crate::NoiseError;
use crate::bulk::device::DeviceNoise;
use reticent_core::{Delta, Epsilon, Event, NoiseMultiplier};

/// The noise of a vector of gradients: Gaussian, or Student-t on vectors of bounded shape.
///
/// # Guarantee
/// That of [`BulkGaussian`] or [`BulkStudent`].
///
/// # Reference
/// Theirs.
#[derive(Debug, Clone, PartialEq)]
pub enum BulkNoise {
    /// Gaussian noise.
    Gaussian(BulkGaussian),
    /// Student-t noise.
    Student(BulkStudent),
}

impl From<BulkGaussian> for BulkNoise {
    fn from(noise: BulkGaussian) -> Self {
        Self::Gaussian(noise)
    }
}

impl From<BulkStudent> for BulkNoise {
    fn from(noise: BulkStudent) -> Self {
        Self::Student(noise)
    }
}

impl BulkNoise {
    /// What one call costs.
    pub fn event(&self) -> Event {
        match self {
            Self::Gaussian(noise) => noise.event(),
            Self::Student(noise) => noise.event(),
        }
    }

    /// σ or the scale, over the norm of what one unit can add to the rounded sum, as the event states it.
    pub fn noise_multiplier(&self) -> NoiseMultiplier {
        match self {
            Self::Gaussian(noise) => noise.noise_multiplier(),
            Self::Student(noise) => noise.noise_multiplier(),
        }
    }

    /// What the sampler's distance from the ideal law adds to the δ of one call, at ε.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when ε is so large that nothing would be left.
    pub fn delta_up(&self, epsilon: Epsilon) -> Result<Delta, NoiseError> {
        match self {
            Self::Gaussian(noise) => noise.delta_up(epsilon),
            Self::Student(noise) => noise.delta_up(epsilon),
        }
    }

    /// σ of Gaussian noise, the scale of Student-t noise.
    pub fn scale(&self) -> f64 {
        match self {
            Self::Gaussian(noise) => noise.sigma(),
            Self::Student(noise) => noise.scale(),
        }
    }

    /// Starts drawing the noise of one call into `ahead`, as [`BulkGaussian::draw_ahead`].
    pub fn draw_ahead<'a>(&self, ahead: &'a mut NoiseAhead) -> Drawing<'a> {
        match self {
            Self::Gaussian(noise) => noise.draw_ahead(ahead),
            Self::Student(noise) => noise.draw_ahead(ahead),
        }
    }

    /// Adds noise that was drawn ahead, as [`BulkGaussian::add_ahead_on`].
    ///
    /// # Guarantee
    /// That of [`BulkGaussian::add_ahead`] or [`BulkStudent::add_ahead`].
    ///
    /// # Reference
    /// `proof.md`.
    ///
    /// # Errors
    /// As [`BulkGaussian::add_ahead`].
    pub fn add_ahead_on(
        &self,
        values: &mut [f32],
        ahead: &mut NoiseAhead,
        spread: impl FnOnce(usize, &(dyn Fn() + Sync)),
    ) -> Result<Event, NoiseError> {
        match self {
            Self::Gaussian(noise) => noise.add_ahead_on(values, ahead, spread),
            Self::Student(noise) => noise.add_ahead_on(values, ahead, spread),
        }
    }

    /// Draws the noise of one call and adds it: Gaussian noise as [`BulkGaussian::add_now_on`], Student-t noise drawn ahead.
    ///
    /// # Guarantee
    /// That of [`BulkGaussian::add_now_on`] or [`BulkStudent::add_ahead`].
    ///
    /// # Reference
    /// `proof.md`.
    ///
    /// # Errors
    /// As [`BulkGaussian::add_now_on`].
    pub fn add_now_on(
        &self,
        values: &mut [f32],
        ahead: &mut NoiseAhead,
        spread: impl Fn(usize, &(dyn Fn() + Sync)),
    ) -> Result<Event, NoiseError> {
        match self {
            Self::Gaussian(noise) => noise.add_now_on(values, ahead, spread),
            Self::Student(noise) => {
                noise.draw_ahead(ahead).finish()?;
                noise.add_ahead_on(values, ahead, spread)
            }
        }
    }

    /// Takes the noise of one call, to be drawn on a device, as [`BulkGaussian::take_for_device`].
    ///
    /// # Guarantee
    /// That of [`BulkGaussian::take_for_device`].
    ///
    /// # Reference
    /// `proof.md`.
    ///
    /// # Errors
    /// As there, and [`NoiseError::Invalid`] for Student-t noise, which no device draws.
    pub fn take_for_device(&self, ahead: &mut NoiseAhead) -> Result<DeviceNoise, NoiseError> {
        match self {
            Self::Gaussian(noise) => noise.take_for_device(ahead),
            Self::Student(_) => {
                Err(NoiseError::invalid("noise", "Student-t on a device", "use the CPU, or Gaussian noise"))
            }
        }
    }
}
