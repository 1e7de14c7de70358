//! Gaussian noise that a GPU draws and adds: a kernel with the claim of [`BulkGaussian`].
//!
//! An engine compiles [`SOURCE`] behind a header of its own and copies [`table`] to the device once. For each sum it takes a
//! [`DeviceNoise`], which is paid for and has a key of its own, draws with it, and adds what was drawn. The sum need not be known yet
//! when noise is drawn.
//!
//! # The kernels
//!
//! ```cuda
//! noise_draw(int* cells, i64 n, u32 key0, ..., u32 key7, const u64* table)
//! noise_add(float* values, int* cells, i64 n, double step)
//! ```
//!
//! The first draws noise for n values, in steps of the grid. The second rounds n values to the grid, adds the noise to each in place,
//! and erases it. Any one-dimensional grid of blocks of at most 256 threads will do; [`threads`] says how many threads have work to
//! draw.
//!
//! # What the header defines
//!
//! - the types `u32`, `u64` and `i64`;
//! - `KERNEL(name, arguments...)` and `DEVICE` in front of the declaration of a kernel and of a helper;
//! - `high64(a, b)`, the upper half of a product of two `u64`, and `isfinite_(x)` for a `float`;
//! - the double function `exp` with an error of at most 2 units in the last place.
//!
//! Doubles and conversions must be those of IEEE 754, rounded to nearest, and subnormal floats must be kept: options such as
//! `--use_fast_math` and `--ftz=true` break the claim.
#![doc = include_str!("proof.md")]

mod table;

pub use table::table;

use super::{BulkGaussian, NoiseAhead};
use crate::entropy::generation;
use crate::{Entropy, NoiseError};
use zeroize::Zeroize;

/// The kernel, in a subset of CUDA C++ that a plain C++ compiler accepts as well.
pub const SOURCE: &str = concat!(include_str!("exact.cu"), "\n", include_str!("noise.cu"));

/// Coordinates of a chunk: 32 groups of 8.
const CHUNK: usize = 256;

/// Groups of a chunk.
const GROUPS: usize = 32;

/// How many threads have work for vectors of this length; with fewer, each takes more.
pub const fn threads(length: usize) -> usize {
    length.div_ceil(CHUNK) * GROUPS
}

/// The noise of one call, to be drawn and added on a device. It cannot be printed or copied, and its key is erased on drop. A forked
/// child cannot use what its parent took.
///
/// # Guarantee
/// It is made only by [`BulkGaussian::take_for_device`], which counts a call that was paid for, and [`launch`](Self::launch)
/// consumes it. The sum that the caller runs `noise_add` on then has the guarantee of [`BulkGaussian::add_noise`], if the caller
/// - runs `noise_draw` of [`SOURCE`] once, with these arguments and [`table`], and then `noise_add` once, with the same step, on one
///   vector of the stated length;
/// - publishes nothing of that vector from before, computes it without the key and without what was drawn, and shows what was drawn to
///   nothing but `noise_add`;
/// - keeps no copy of the key: not in a log, not in device memory, not in a recorded graph of launches that runs again;
/// - publishes nothing if the launch fails, or may have run in part, and does not launch again with the same arguments.
///
/// # Reference
/// `proof.md`.
pub struct DeviceNoise {
    noise: BulkGaussian,
    /// In memory that does not move, so there is one copy to erase.
    key: Box<[u32; 8]>,
    /// The process that may use it.
    made_in: u64,
}

/// The arguments of one launch of `noise_draw`, beside the cells and the table, and the step of `noise_add`.
pub struct NoiseArguments<'a> {
    /// The number of values.
    pub length: i64,
    /// The distance of two points of the grid.
    pub step: f64,
    /// Eight words, each a kernel argument by value.
    pub key: &'a [u32; 8],
}

impl DeviceNoise {
    fn new(noise: &BulkGaussian, entropy: &mut Entropy) -> Self {
        let mut bytes = entropy.key();
        let mut key = Box::new([0; 8]);
        for (word, bytes) in key.iter_mut().zip(bytes.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        bytes.zeroize();
        Self { noise: *noise, key, made_in: generation() }
    }

    /// How many values it is for.
    pub fn length(&self) -> usize {
        self.noise.length
    }

    /// Hands the arguments of `noise_draw` to `launch`, once, for a vector of `length` values.
    ///
    /// # Guarantee
    /// As [`DeviceNoise`] says, with its conditions on what `launch` does.
    ///
    /// # Reference
    /// `proof.md`.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when the vector does not have the declared length, or another process took the noise; `launch` is
    /// not called then.
    pub fn launch<T>(
        self,
        length: usize,
        launch: impl FnOnce(NoiseArguments<'_>) -> T,
    ) -> Result<T, NoiseError> {
        if self.made_in != generation() {
            let remedy = "take it in the process that uses it";
            return Err(NoiseError::invalid("noise", "taken before a fork", remedy));
        }
        super::check_length(self.noise.length, length)?;
        Ok(launch(NoiseArguments { length: length as i64, step: self.noise.step, key: &self.key }))
    }
}

impl Drop for DeviceNoise {
    fn drop(&mut self) {
        self.key.zeroize();
    }
}

impl BulkGaussian {
    /// Takes the noise of one call, to be drawn on a device instead of [ahead](Self::draw_ahead).
    ///
    /// # Guarantee
    /// The call counts as made, whether or not the noise is used. The key is fresh from the operating system.
    ///
    /// # Reference
    /// [`NoiseAhead`].
    ///
    /// # Errors
    /// [`NoiseError::Unpaid`] when all calls that were paid for have been made, or other noise was paid for;
    /// [`NoiseError::Entropy`] when the operating system provides no randomness. No call is counted then.
    pub fn take_for_device(&self, ahead: &mut NoiseAhead) -> Result<DeviceNoise, NoiseError> {
        let mut entropy = Entropy::new()?;
        ahead.take_call(&super::BulkNoise::Gaussian(*self))?;
        Ok(DeviceNoise::new(self, &mut entropy))
    }
}

#[cfg(test)]
mod tests;
