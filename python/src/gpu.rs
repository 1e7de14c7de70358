//! Noise on sums that another framework keeps on a GPU.
//!
//! PyTorch tells addresses of its memory and of its streams as numbers, which nobody can check: naming them is unsafe. They come from
//! `reticent.torch.sums`, which keeps the tensor until noise has been added.
#![allow(unsafe_code)]

use crate::error::guarded;
use pyo3::prelude::*;
use reticent_curator::Refusal;
use reticent_curator::train::{GuestNoise, StepCourse};
use std::sync::{Mutex, PoisonError};

/// What adds noise to vectors of one length on a GPU.
#[pyclass(frozen, module = "reticent._native")]
pub(crate) struct GpuNoise {
    inner: Mutex<GuestNoise>,
}

impl GpuNoise {
    /// Adds the noise of a step to the vector at an address, in the order of a stream.
    pub(crate) fn add(&self, course: &mut StepCourse, address: u64, stream: u64) -> Result<(), Refusal> {
        let mut own = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the caller keeps the tensor, and PyTorch's streams live as long as the process.
        unsafe { own.place(address, stream)? };
        course.add_noise_on(&mut own)
    }
}

#[pymethods]
impl GpuNoise {
    #[new]
    fn new(py: Python<'_>, device: usize, length: usize) -> PyResult<Self> {
        guarded(py, || {
            let made = py.detach(|| GuestNoise::new(device, length)).map_err(Refusal::from)?;
            Ok(Self { inner: Mutex::new(made) })
        })
    }
}
