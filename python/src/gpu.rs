//! Sums that another framework keeps on a GPU.
//!
//! PyTorch tells addresses of its memory and of its streams as numbers, which nobody can check: naming them is unsafe. They come from
//! `reticent.torch.sums`, which keeps the tensor for as long as the vector.
#![allow(unsafe_code)]

use crate::error::guarded;
use pyo3::prelude::*;
use reticent_curator::Refusal;
use reticent_curator::train::{GuestVector, StepCourse};
use std::sync::{Mutex, PoisonError};

/// A vector in another framework's memory on a GPU.
#[pyclass(frozen, module = "reticent._native")]
pub(crate) struct GpuVector {
    inner: Mutex<GuestVector>,
}

impl GpuVector {
    /// Adds the noise of a step, in the order of a stream.
    pub(crate) fn add_noise(&self, course: &mut StepCourse, stream: u64) -> Result<(), Refusal> {
        let mut own = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: PyTorch's streams live as long as the process.
        unsafe { own.follow(stream)? };
        course.add_noise_on(&mut own)
    }
}

#[pymethods]
impl GpuVector {
    #[new]
    fn new(py: Python<'_>, device: usize, address: u64, length: usize) -> PyResult<Self> {
        guarded(py, || {
            // SAFETY: the caller keeps a tensor of so many numbers there.
            let made = py.detach(|| unsafe { GuestVector::new(device, address, length) });
            Ok(Self { inner: Mutex::new(made.map_err(Refusal::from)?) })
        })
    }
}
