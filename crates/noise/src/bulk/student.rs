//! Student-t noise for sums of encoded gradients.

use super::{BulkNoise, Drawing, NoiseAhead, PIECE, Parallelism, THREAD_WORTH, threads_for};
use crate::entropy::Stream;
use crate::grid::Grid;
use crate::mechanism::sampler_delta_up;
use crate::sampler::StudentSampler;
use crate::{Draws, NoiseError};
use reticent_core::rounding::{add_up, div_down, mul_up, sqrt_up};
use reticent_core::{Delta, Epsilon, Event, NoiseMultiplier, Scale};
use std::sync::{Mutex, PoisonError};

/// The scale is at least 2 to this power of steps.
const GRID_BITS: u32 = 28;

/// Values beyond ± this many steps (at least 2¹⁷ scales) are cut off.
const STEP_LIMIT: f64 = (1u64 << 46) as f64;

/// Noise beyond ± this many steps is cut off.
const NOISE_LIMIT: i64 = 1 << 52;

/// Outputs beyond ± this many steps are cut off: no output says whether noise was.
const OUTPUT_LIMIT: f64 = NOISE_LIMIT as f64 - STEP_LIMIT;

/// Student-t noise for sums of vectors of one length and of bounded shape.
///
/// # Guarantee
/// For vectors that differ by one whose magnitudes, sorted from the largest, are at most those of the profile (the first `counts[0]`
/// at most `levels[0]`, the next `counts[1]` at most `levels[1]`, …, all others exactly 0), one call of
/// [`add_noise`](Self::add_noise) is a post-processing of the mechanism described by [`event`](Self::event), up to the extra
/// [`delta`](Self::delta_up) of the sampler. The event's levels pay for rounding the vector, its noise multiplier is rounded down.
///
/// # Reference
/// `proof.md`; the accounting is that of [`Event::EncodedStudentT`].
#[derive(Debug, Clone, PartialEq)]
pub struct BulkStudent {
    sampler: StudentSampler,
    degrees_of_freedom: u32,
    step: f64,
    scale: f64,
    length: usize,
    noise_multiplier: NoiseMultiplier,
    levels: Vec<f64>,
    counts: Vec<u64>,
}

impl BulkStudent {
    /// Noise of (at least) this scale with ν degrees of freedom for vectors of `length` numbers, of which one unit changes as the
    /// profile says.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when the scale is outside 10⁻²⁵⁰…10²⁹, beyond which steps or outputs would not be normal
    /// floating-point numbers, and for a profile or a ν that [`Event::EncodedStudentT`] does not allow.
    pub fn new(
        levels: &[f64],
        counts: &[u64],
        scale: Scale,
        degrees_of_freedom: u32,
        length: usize,
    ) -> Result<Self, NoiseError> {
        let asked = scale.get();
        if !(1e-250..=1e29).contains(&asked) {
            return Err(NoiseError::invalid("scale", asked, "give a number from 1e-250 to 1e29"));
        }
        let profile = |noise_multiplier, levels: &[f64], counts: &[u64]| Event::EncodedStudentT {
            noise_multiplier,
            degrees_of_freedom: u64::from(degrees_of_freedom),
            levels: levels.to_vec(),
            counts: counts.to_vec(),
        };
        profile(NoiseMultiplier::new(1.0)?, levels, counts).validate()?;
        let grid = Grid::for_scale(scale, GRID_BITS)?;
        let (step, steps) = (grid.step(), grid.steps(asked).ceil());
        // Rounding moves each of two numbers by half a step; equal numbers stay equal.
        let (mut moved, mut often): (Vec<f64>, Vec<u64>) = (Vec::new(), Vec::new());
        for (level, count) in levels.iter().zip(counts) {
            let level = add_up(*level, step);
            match (moved.last(), often.last_mut()) {
                (Some(last), Some(total)) if *last <= level => *total += count,
                _ => {
                    moved.push(level);
                    often.push(*count);
                }
            }
        }
        let square = |(level, count): (&f64, &u64)| mul_up(mul_up(*level, *level), *count as f64);
        let norm = sqrt_up(moved.iter().zip(&often).map(square).fold(0.0, add_up));
        // Whole steps: the product is exact.
        let scale = steps * step;
        let noise_multiplier = NoiseMultiplier::new(div_down(scale, norm))?;
        profile(noise_multiplier, &moved, &often).validate()?;
        Ok(Self {
            sampler: StudentSampler::new(steps as u64, degrees_of_freedom),
            degrees_of_freedom,
            step,
            scale,
            length,
            noise_multiplier,
            levels: moved,
            counts: often,
        })
    }

    /// What one call of [`add_noise`](Self::add_noise) costs.
    pub fn event(&self) -> Event {
        Event::EncodedStudentT {
            noise_multiplier: self.noise_multiplier,
            degrees_of_freedom: u64::from(self.degrees_of_freedom),
            levels: self.levels.clone(),
            counts: self.counts.clone(),
        }
    }

    /// The scale over the ℓ2 norm of what one unit can add to the rounded sum, as the event states it.
    pub fn noise_multiplier(&self) -> NoiseMultiplier {
        self.noise_multiplier
    }

    /// What the sampler's distance from the ideal law adds to the δ of one call, at ε.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when ε is so large that nothing would be left.
    pub fn delta_up(&self, epsilon: Epsilon) -> Result<Delta, NoiseError> {
        let normals = self.length.saturating_mul(self.degrees_of_freedom as usize + 1);
        Ok(Delta::new(sampler_delta_up(epsilon.get(), normals))?)
    }

    /// The scale.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The degrees of freedom ν.
    pub fn degrees_of_freedom(&self) -> u32 {
        self.degrees_of_freedom
    }

    /// The number of coordinates.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Adds noise to every number in place, with what is paid for. A number that is not finite counts as 0.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when `values` does not have the declared length, [`NoiseError::Unpaid`] when `draws` are another event's
    /// or all made; nothing is changed then.
    pub fn add_noise(
        &self,
        values: &mut [f32],
        draws: &mut Draws<'_>,
        parallelism: Parallelism,
    ) -> Result<Event, NoiseError> {
        super::check_length(self.length, values.len())?;
        draws.take(&self.event())?;
        let threads = threads_for(values.len().saturating_mul(self.degrees_of_freedom as usize), parallelism);
        let pieces = Mutex::new(values.chunks_mut(PIECE / 16));
        let next = || pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = |mut stream: Stream| {
            let mut noise = Vec::new();
            while let Some(piece) = next() {
                noise.resize(piece.len(), 0);
                self.draw_into(&mut noise, &mut stream);
                self.add_to(piece, &mut noise);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                let stream = Stream::new(draws.entropy());
                scope.spawn(|| work(stream));
            }
            work(Stream::new(draws.entropy()));
        });
        Ok(self.event())
    }

    /// Starts drawing the noise of one call into `ahead`, as [`BulkGaussian::draw_ahead`](super::BulkGaussian::draw_ahead).
    pub fn draw_ahead<'a>(&self, ahead: &'a mut NoiseAhead) -> Drawing<'a> {
        ahead.start_student(self.sampler, self.length)
    }

    /// Adds noise that was drawn ahead to every number in place, as
    /// [`BulkGaussian::add_ahead`](super::BulkGaussian::add_ahead).
    ///
    /// # Guarantee
    /// As [`add_noise`](Self::add_noise), of which it is the second half.
    ///
    /// # Reference
    /// `proof.md`.
    ///
    /// # Errors
    /// As [`BulkGaussian::add_ahead`](super::BulkGaussian::add_ahead).
    pub fn add_ahead(
        &self,
        values: &mut [f32],
        ahead: &mut NoiseAhead,
        parallelism: Parallelism,
    ) -> Result<Event, NoiseError> {
        self.add_ahead_on(values, ahead, |tasks, work| super::on_own_threads(parallelism, tasks, work))
    }

    /// As [`add_ahead`](Self::add_ahead), on the threads of the caller, as
    /// [`BulkGaussian::add_ahead_on`](super::BulkGaussian::add_ahead_on).
    ///
    /// # Guarantee
    /// As [`add_ahead`](Self::add_ahead).
    ///
    /// # Reference
    /// `proof.md`.
    ///
    /// # Errors
    /// As [`add_ahead`](Self::add_ahead).
    pub fn add_ahead_on(
        &self,
        values: &mut [f32],
        ahead: &mut NoiseAhead,
        spread: impl FnOnce(usize, &(dyn Fn() + Sync)),
    ) -> Result<Event, NoiseError> {
        super::check_length(self.length, values.len())?;
        let noise = ahead.take_student(&BulkNoise::Student(self.clone()), self.length)?;
        let pieces = Mutex::new(values.chunks_mut(PIECE).zip(noise.chunks_mut(PIECE)));
        let next = || pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            while let Some((values, noise)) = next() {
                self.add_to(values, noise);
            }
        };
        spread(self.length.div_ceil(THREAD_WORTH).max(1), &work);
        work();
        Ok(self.event())
    }

    fn draw_into(&self, noise: &mut [i64], stream: &mut Stream) {
        draw_student(&self.sampler, noise, stream);
    }

    /// Rounds values to the grid and adds noise, which is erased. A value that is not finite counts as 0.
    fn add_to(&self, values: &mut [f32], noise: &mut [i64]) {
        // A power of two that is not subnormal, and so is its inverse.
        let inverse = 1.0 / self.step;
        for (value, noise) in values.iter_mut().zip(noise) {
            let steps = f64::from(if value.is_finite() { *value } else { 0.0 }) * inverse;
            let whole = steps.clamp(-STEP_LIMIT, STEP_LIMIT).round_ties_even();
            // Both terms are integers and the sum stays below 2⁵³, so it is exact; ½ centres the cell.
            let sum = (whole + std::mem::take(noise) as f64).clamp(-OUTPUT_LIMIT, OUTPUT_LIMIT);
            *value = ((sum + 0.5) * self.step) as f32;
        }
    }
}

/// Fills `noise` with draws in steps.
pub(super) fn draw_student(sampler: &StudentSampler, noise: &mut [i64], stream: &mut Stream) {
    sampler.fill(stream, noise, NOISE_LIMIT);
}

#[cfg(test)]
#[path = "student_tests.rs"]
mod tests;
