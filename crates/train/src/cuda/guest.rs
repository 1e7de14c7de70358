//! Noise on a vector that another framework keeps on a GPU.
//!
//! The framework's memory and its streams are known here by their addresses, which nobody can check: naming them is unsafe.
#![allow(unsafe_code)]

use super::driver::Gpu;
use super::machine::{Address, Machine};
use super::noise::Cells;
use super::run::Run;
use crate::TrainError;
use crate::noise::StepNoise;

/// A vector of single-precision numbers in another framework's memory on a GPU, which noise can be added to.
///
/// # Guarantee
/// Noise is drawn and added by the kernels of [`reticent_noise::bulk::device`]. Of their conditions, that nothing of the vector is
/// published from before, or after an error, is for whoever asks for noise.
///
/// # Reference
/// [`DeviceNoise`](reticent_noise::bulk::device::DeviceNoise).
pub struct GuestVector {
    run: Run,
    noise: Cells,
    at: Address,
    length: usize,
}

impl GuestVector {
    /// A vector on the GPU with this number.
    ///
    /// # Errors
    /// [`TrainError::Device`] when a library is missing, there is no such GPU, or kernels cannot be compiled; [`TrainError::Memory`]
    /// when the GPU has no memory left.
    ///
    /// # Safety
    /// As [`on`](Self::on).
    pub unsafe fn new(device: usize, address: u64, length: usize) -> Result<Self, TrainError> {
        // SAFETY: the caller's.
        unsafe { Self::on(Gpu::open(device)?, address, length) }
    }

    /// A vector in the memory of a machine.
    ///
    /// # Errors
    /// [`TrainError::Device`] and [`TrainError::Memory`] when the machine fails.
    ///
    /// # Safety
    /// At the address there must be so many single-precision numbers of the machine's memory, for as long as the vector lives.
    pub unsafe fn on(machine: Box<dyn Machine>, address: u64, length: usize) -> Result<Self, TrainError> {
        let mut run = Run::new(machine);
        let noise = Cells::new(&mut run)?;
        Ok(Self { run, noise, at: Address(address), length })
    }

    /// How many numbers it has.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Has noise be added in the order of this stream of the framework's; 0 is the default stream.
    ///
    /// # Errors
    /// [`TrainError::Device`] when the machine fails.
    ///
    /// # Safety
    /// The stream must be one of the GPU's primary context, and exist until another one is followed or the vector is no more.
    pub unsafe fn follow(&mut self, stream: u64) -> Result<(), TrainError> {
        // SAFETY: the caller's.
        unsafe { self.run.follow(stream) }
    }

    /// Adds the noise of a step.
    pub(crate) fn add_noise(&mut self, noise: &mut StepNoise) -> Result<(), TrainError> {
        self.noise.add(&mut self.run, noise, self.at, self.length)
    }
}
