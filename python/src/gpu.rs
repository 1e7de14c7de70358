//! Clipping and noise for sums that another framework keeps on a GPU.
//!
//! PyTorch tells addresses of its memory and of its streams as numbers, which nobody can check: naming them is unsafe. They come from
//! `reticent.torch.gpu` and `reticent.torch.sums`, which keep the tensors until what uses them has been launched. PyTorch gives memory to
//! others of the same stream alone, after that.
#![allow(unsafe_code)]

use crate::error::guarded;
use pyo3::prelude::*;
use reticent_curator::Refusal;
use reticent_curator::train::{GuestJob, GuestJobs, GuestSums, StepCourse};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What clips gradients and adds noise to their sums, vectors of one length on a GPU.
#[pyclass(frozen, module = "reticent._native")]
pub(crate) struct GpuSums {
    inner: Mutex<GuestSums>,
}

impl GpuSums {
    fn own(&self) -> MutexGuard<'_, GuestSums> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the noise of a step to the vector at an address, in the order of a stream.
    pub(crate) fn add_noise(
        &self,
        course: &mut StepCourse,
        address: u64,
        stream: u64,
    ) -> Result<(), Refusal> {
        let mut own = self.own();
        // SAFETY: the caller keeps the tensor, and PyTorch's streams live as long as the process.
        unsafe { own.place(address, stream)? };
        course.add_noise_on(&mut own)
    }
}

#[pymethods]
impl GpuSums {
    #[new]
    fn new(py: Python<'_>, device: usize, length: usize) -> PyResult<Self> {
        guarded(py, || {
            let made = py.detach(|| GuestSums::new(device, length)).map_err(Refusal::from)?;
            Ok(Self { inner: Mutex::new(made) })
        })
    }

    /// Writes the squared norm of every row in every group.
    fn totals(&self, py: Python<'_>, stream: u64, jobs: Lists, groups: usize, into: u64) -> PyResult<()> {
        guarded(py, || {
            // SAFETY: see the module.
            Ok(unsafe { self.own().totals(stream, &jobs.all(), groups, into) }.map_err(Refusal::from)?)
        })
    }

    /// Writes the factor of every row, and behind them how many are 0; then sums up.
    fn clip(
        &self,
        py: Python<'_>,
        stream: u64,
        jobs: Lists,
        bound: f64,
        scale: f64,
        into: u64,
    ) -> PyResult<()> {
        guarded(py, || {
            // SAFETY: see the module.
            Ok(unsafe { self.own().clip(stream, &jobs.all(), (bound, scale), into) }
                .map_err(Refusal::from)?)
        })
    }

    /// How many factors are 0, when that is known.
    fn zeros(&self, py: Python<'_>) -> PyResult<f32> {
        guarded(py, || Ok(py.detach(|| self.own().zeros()).map_err(Refusal::from)?))
    }

    /// Sums up.
    fn add(&self, py: Python<'_>, stream: u64, jobs: Lists) -> PyResult<()> {
        guarded(py, || {
            // SAFETY: see the module.
            Ok(unsafe { self.own().add(stream, &jobs.all()) }.map_err(Refusal::from)?)
        })
    }
}

/// Jobs as Python lists them: what is written out, kind by kind, measured and summed up; and how many rows there are.
#[derive(FromPyObject)]
struct Lists([Vec<GuestJob>; 3], Vec<GuestJob>, Vec<GuestJob>, usize);

impl Lists {
    fn all(&self) -> GuestJobs<'_> {
        let Self(written, measured, sums, rows) = self;
        GuestJobs { written: written.each_ref().map(Vec::as_slice), measured, sums, rows: *rows }
    }
}
