//! Sums that another framework keeps on a GPU: clipping of what they are made of, and noise.
//!
//! The framework's memory and its streams are known here by their addresses, which nobody can check: naming them is unsafe.
#![allow(unsafe_code)]

mod clip;

use super::driver::Gpu;
use super::machine::{Address, Machine};
use super::noise::Cells;
use super::run::Run;
use crate::TrainError;
use crate::noise::StepNoise;
use clip::Desk;
pub use clip::{GuestJob, GuestJobs};

/// What clips gradients and adds noise to their sums, vectors of single-precision numbers in another framework's memory on a GPU.
///
/// # Guarantee
/// Noise is drawn and added by the kernels of [`reticent_noise::bulk::device`]. Of their conditions, that nothing of a vector is
/// published from before, or after an error, is for whoever asks for noise.
///
/// # Reference
/// [`DeviceNoise`](reticent_noise::bulk::device::DeviceNoise).
pub struct GuestSums {
    run: Run,
    cells: Cells,
    desk: Desk,
    length: usize,
    /// The vector that gets noise next.
    at: Option<Address>,
}

impl GuestSums {
    /// For vectors of this length on the GPU with this number.
    ///
    /// # Errors
    /// [`TrainError::Device`] when a library is missing, there is no such GPU, or kernels cannot be compiled; [`TrainError::Memory`]
    /// when the GPU has no memory left.
    pub fn new(device: usize, length: usize) -> Result<Self, TrainError> {
        Self::on(Gpu::visit(device)?, length)
    }

    /// For vectors of this length in the memory of a machine.
    ///
    /// # Errors
    /// [`TrainError::Device`] and [`TrainError::Memory`] when the machine fails.
    pub fn on(machine: Box<dyn Machine>, length: usize) -> Result<Self, TrainError> {
        let mut run = Run::new(machine);
        let cells = Cells::new(&mut run)?;
        let mut guest = Self { run, cells, desk: Desk::default(), length, at: None };
        // Before any step is counted.
        guest.cells.reserve(&mut guest.run, length)?;
        Ok(guest)
    }

    /// How many numbers a vector has.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Names the vector that gets noise next, and the framework's stream in whose order it does; 0 is the default stream.
    ///
    /// # Errors
    /// [`TrainError::Device`] when the machine fails.
    ///
    /// # Safety
    /// At the address there must be [`length`](Self::length) single-precision numbers of the machine's memory, until what the stream
    /// has to do is done. The stream must be one of the GPU's primary context, and exist until another one is named or this is no more.
    pub unsafe fn place(&mut self, address: u64, stream: u64) -> Result<(), TrainError> {
        self.at = None;
        // SAFETY: the caller's.
        unsafe { self.run.follow(stream)? };
        self.at = Some(Address(address));
        Ok(())
    }

    /// Adds the noise of a step to the vector that was named.
    pub(crate) fn add_noise(&mut self, noise: &mut StepNoise) -> Result<(), TrainError> {
        let Some(at) = self.at.take() else {
            return Err(TrainError::invalid("sum", "none", "name the vector that gets the noise"));
        };
        self.cells.add(&mut self.run, noise, at, self.length)
    }
}

impl Drop for GuestSums {
    fn drop(&mut self) {
        self.cells.free(&mut self.run);
        self.desk.free(&mut self.run);
    }
}
