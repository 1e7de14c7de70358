//! Noise for gradients: vectors of 10⁵ to 10⁹ floats. Gaussian, or Student-t on vectors of bounded shape.
//!
//! A vector is scaled so that σ is exactly 2²⁴ steps, rounded to whole steps, and given
//! [`normal_cell`](crate::sampler::normal_cell) noise in integers; only the finished integer becomes a float again. So the output
//! is a post-processing of the continuous Gaussian mechanism on the rounded vector. [`device`] does the same on a GPU. Student-t noise is
//! drawn in the same way, on a grid of powers of two.
#![doc = include_str!("proof.md")]

mod ahead;
mod any;
pub mod device;
mod student;

pub use ahead::{Drawing, NoiseAhead};
pub use any::BulkNoise;
pub use student::BulkStudent;

use crate::entropy::{Block, Stream};
use crate::mechanism::sampler_delta_up;
use crate::sampler::{CELL_BITS, normal_cells};
use crate::{Draws, NoiseError};
use pulp::{Arch, Simd, WithSimd};
use reticent_core::rounding::{add_up, div_down, mul_up, sqrt_up};
use reticent_core::{Delta, Epsilon, Event, NoiseMultiplier, Scale, Sensitivity};
use std::sync::{Mutex, PoisonError};
use zeroize::Zeroize;

/// Below this many numbers a second thread costs more than it saves.
const THREAD_WORTH: usize = 1 << 15;

/// Numbers a thread takes at a time.
const PIECE: usize = 1 << 14;

/// Values beyond ± this many steps (2¹⁶ σ) are cut off.
const STEP_LIMIT: f64 = (1u64 << 40) as f64;

/// Adding and subtracting 1.5·2⁵² rounds a number below 2⁵¹ to the nearest integer, ties to even. The
/// standard library's rounding is a call on processors that are not known to have an instruction for it.
const ROUNDER: f64 = 3.0 * (1u64 << 51) as f64;

/// Settings that cannot change what is guaranteed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parallelism {
    /// Worker threads, at least 1.
    pub threads: usize,
}

impl Default for Parallelism {
    fn default() -> Self {
        Self { threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get) }
    }
}

/// Gaussian noise for vectors of one length.
///
/// # Guarantee
/// For vectors whose ℓ2 distance is at most the sensitivity, under whichever neighbouring relation
/// the sensitivity was taken, one call of [`add_noise`](Self::add_noise) is a post-processing of the
/// Gaussian mechanism described by [`event`](Self::event), up to the extra
/// [`delta`](Self::delta_up) of the sampler. The event's noise multiplier is rounded down and pays
/// for rounding the vector.
///
/// # Reference
/// Abadi et al., *Deep learning with differential privacy* (2016), for its use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BulkGaussian {
    sigma: f64,
    step: f64,
    length: usize,
    noise_multiplier: NoiseMultiplier,
}

impl BulkGaussian {
    /// Noise of standard deviation σ for vectors of `length` numbers.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when σ is outside 10⁻²⁵⁰…10³³, beyond which steps or outputs would not be normal floating-point numbers.
    pub fn new(sensitivity: Sensitivity, sigma: Scale, length: usize) -> Result<Self, NoiseError> {
        let sigma = sigma.get();
        // Cut-off values with noise stay below 65 600 σ, so that every output is a finite f32.
        if !(1e-250..=1e33).contains(&sigma) {
            return Err(NoiseError::invalid("sigma", sigma, "give a number from 1e-250 to 1e33"));
        }
        let step = sigma / (1u64 << CELL_BITS) as f64;
        // Rounding moves each of two vectors by half a step a coordinate; the division that finds the
        // step number adds at most 2⁻¹⁰ of a step within the cut-off.
        let rounding = mul_up(mul_up(sqrt_up(length as f64), step), 1.0 + 1.0 / 1024.0);
        let noise_multiplier = NoiseMultiplier::new(div_down(sigma, add_up(sensitivity.get(), rounding)))?;
        Ok(Self { sigma, step, length, noise_multiplier })
    }

    /// What one call of [`add_noise`](Self::add_noise) costs.
    pub fn event(&self) -> Event {
        Event::Gaussian { noise_multiplier: self.noise_multiplier }
    }

    /// σ over what one unit can add to the rounded sum, as the event states it.
    pub fn noise_multiplier(&self) -> NoiseMultiplier {
        self.noise_multiplier
    }

    /// What the sampler's distance from the ideal normal adds to the δ of one call, at ε.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when ε is so large that nothing would be left.
    pub fn delta_up(&self, epsilon: Epsilon) -> Result<Delta, NoiseError> {
        Ok(Delta::new(sampler_delta_up(epsilon.get(), self.length))?)
    }

    /// The standard deviation.
    pub fn sigma(&self) -> f64 {
        self.sigma
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
        check_length(self.length, values.len())?;
        draws.take(&self.event())?;
        let threads = threads_for(values.len(), parallelism);
        // Threads take pieces as they become free, so none waits for a slower one.
        let pieces = Mutex::new(values.chunks_mut(PIECE));
        let next = || pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = |mut stream: Stream| {
            while let Some(piece) = next() {
                add_noise_to(piece, self.step, &mut stream);
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
}

fn check_length(declared: usize, length: usize) -> Result<(), NoiseError> {
    if length == declared {
        return Ok(());
    }
    Err(NoiseError::invalid(
        "values",
        format!("{length} numbers"),
        format!("give as many as declared: {declared}"),
    ))
}

/// Runs `work` on at most as many threads as there are tasks.
fn on_own_threads(parallelism: Parallelism, tasks: usize, work: &(dyn Fn() + Sync)) {
    std::thread::scope(|scope| {
        for _ in 1..parallelism.threads.min(tasks) {
            scope.spawn(work);
        }
        work();
    });
}

/// As many threads as are allowed and worth it for this many numbers.
fn threads_for(length: usize, parallelism: Parallelism) -> usize {
    parallelism.threads.clamp(1, length.div_ceil(THREAD_WORTH).max(1))
}

fn add_noise_to(values: &mut [f32], step: f64, stream: &mut Stream) {
    let (mut block, mut cells) = (Block::new(), [0i32; Block::WORDS]);
    for part in values.chunks_mut(Block::WORDS) {
        normal_cells(stream, &mut block, &mut cells);
        add_cells(part, &mut cells, step);
    }
    cells.zeroize();
}

/// Rounds values to the grid of steps and adds the noise of their cells, which are erased. A value that is not finite
/// counts as 0.
fn add_cells(values: &mut [f32], cells: &mut [i32], step: f64) {
    struct Add<'a>(&'a mut [f32], &'a mut [i32], f64);
    impl WithSimd for Add<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            let Self(values, cells, step) = self;
            let inverse = 1.0 / step;
            for (value, cell) in values.iter_mut().zip(cells) {
                *value = noisy(*value, std::mem::take(cell), step, inverse);
            }
        }
    }
    Arch::new().dispatch(Add(values, cells, step));
}

/// A value on the grid of steps with the noise of its cell. A value that is not finite counts as 0.
#[inline(always)]
fn noisy(value: f32, cell: i32, step: f64, inverse: f64) -> f32 {
    let steps = f64::from(if value.is_finite() { value } else { 0.0 }) * inverse;
    let whole = (steps.clamp(-STEP_LIMIT, STEP_LIMIT) + ROUNDER) - ROUNDER;
    // Both terms are integers below 2⁴¹, so the sum is exact; ½ centres the cell.
    ((whole + f64::from(cell) + 0.5) * step) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoiseSession;
    use reticent_core::Neighboring;

    fn session() -> NoiseSession {
        NoiseSession::without_limit("row", Neighboring::AddRemove).unwrap()
    }

    fn bulk(length: usize) -> BulkGaussian {
        BulkGaussian::new(Sensitivity::new(1.0).unwrap(), Scale::new(2.0).unwrap(), length).unwrap()
    }

    #[test]
    fn noise_has_the_stated_spread_on_any_number_of_threads() {
        let mut session = session();
        for threads in [1, 2, 5] {
            let mut values = vec![3.0f32; 400_000];
            let bulk = bulk(values.len());
            let mut draws = session.draws(&bulk.event()).unwrap();
            bulk.add_noise(&mut values, &mut draws, Parallelism { threads }).unwrap();
            let n = values.len() as f64;
            let mean = values.iter().map(|v| f64::from(*v)).sum::<f64>() / n;
            let variance = values.iter().map(|v| (f64::from(*v) - mean).powi(2)).sum::<f64>() / n;
            // Seven standard errors.
            assert!((mean - 3.0).abs() < 7.0 * 2.0 / n.sqrt(), "{mean}");
            assert!((variance - 4.0).abs() < 7.0 * 4.0 * (2.0 / n).sqrt(), "{variance}");
        }
    }

    #[test]
    fn the_claim_pays_for_rounding() {
        let Event::Gaussian { noise_multiplier } = bulk(1_000_000).event() else { panic!() };
        assert!(noise_multiplier.get() < 2.0 && noise_multiplier.get() > 1.999);
        assert!(bulk(10).delta_up(Epsilon::new(8.0).unwrap()).unwrap().get() < 1e-30);
    }

    #[test]
    fn odd_values_do_no_harm() {
        let mut session = session();
        let mut values = [f32::NAN, f32::INFINITY, f32::MAX, f32::MIN_POSITIVE, 0.0];
        let event = Event::Repeated { count: 2, event: Box::new(bulk(5).event()) };
        let mut draws = session.draws(&event).unwrap();
        bulk(5).add_noise(&mut values, &mut draws, Parallelism::default()).unwrap();
        assert!(values.iter().all(|v| v.is_finite()));
        assert!(bulk(4).add_noise(&mut values, &mut draws, Parallelism::default()).is_err());
        // Another length has another rounding, and so another event.
        let unpaid = bulk(4).add_noise(&mut [0.0; 4], &mut draws, Parallelism::default());
        assert_eq!(unpaid, Err(NoiseError::Unpaid));
        assert!(BulkGaussian::new(Sensitivity::new(1.0).unwrap(), Scale::new(1e-300).unwrap(), 1).is_err());
        let mut again = values;
        bulk(5).add_noise(&mut again, &mut draws, Parallelism::default()).unwrap();
        let unpaid = bulk(5).add_noise(&mut values, &mut draws, Parallelism::default());
        assert_eq!(unpaid, Err(NoiseError::Unpaid));
        let mut draws = session.draws(&bulk(0).event()).unwrap();
        bulk(0).add_noise(&mut [], &mut draws, Parallelism::default()).unwrap();
    }
}
