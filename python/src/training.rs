//! The steps of a training that another framework computes.

use crate::budget::{self, Budget, Purse};
use crate::data::list;
use crate::error::{guarded, json, parse};
use crate::gpu::GpuSums;
use crate::team::team;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use reticent_curator::train::{StepCourse, TrainSteps};
use reticent_curator::{Refusal, Session};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Samples, noise and the count of steps of one training.
#[pyclass(frozen, module = "reticent._native")]
pub(crate) struct PrivateSteps {
    inner: Mutex<StepCourse>,
    purse: Option<Arc<Purse>>,
}

impl PrivateSteps {
    fn own(&self) -> MutexGuard<'_, StepCourse> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does work that is charged to a budget, if there is one.
fn charged<R>(
    purse: Option<&Arc<Purse>>,
    work: impl FnOnce(&mut Session) -> Result<R, Refusal>,
) -> Result<R, Refusal> {
    match purse {
        Some(purse) => budget::drawn(purse, work),
        None => work(&mut Session::without_limit()?),
    }
}

#[pymethods]
impl PrivateSteps {
    #[new]
    #[pyo3(signature = (request, examples, ids=None, budget=None))]
    fn new(
        py: Python<'_>,
        request: &str,
        examples: usize,
        ids: Option<Bound<'_, PyArray1<i64>>>,
        budget: Option<&Budget>,
    ) -> PyResult<Self> {
        guarded(py, || {
            let request: TrainSteps = parse(request)?;
            let ids = ids.map(|ids| list(&ids)).transpose()?;
            let purse = budget.map(|budget| Arc::clone(&budget.inner));
            let begun = py.detach(|| {
                charged(purse.as_ref(), |session| request.begin(examples, ids.as_deref(), session))
            })?;
            Ok(Self { inner: Mutex::new(begun), purse })
        })
    }

    /// Pays for as many steps again.
    fn extend(&self, py: Python<'_>) -> PyResult<()> {
        guarded(py, || {
            let mut own = self.own();
            Ok(charged(self.purse.as_ref(), |session| own.extend(session))?)
        })
    }

    /// The examples of the next step, and where those of each unit end.
    #[expect(clippy::type_complexity, reason = "two arrays")]
    fn sample<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>)> {
        guarded(py, || {
            let (examples, ends) = py.detach(|| self.own().sample())?;
            Ok((PyArray1::from_vec(py, examples), PyArray1::from_vec(py, ends)))
        })
    }

    /// Draws the noise of the next step.
    fn draw(&self, py: Python<'_>, threads: usize) -> PyResult<()> {
        guarded(py, || Ok(py.detach(|| self.own().draw(team(threads)))?))
    }

    /// Adds the noise of a step to the sum of its clipped gradients, in place.
    fn add_noise(&self, py: Python<'_>, sum: &Bound<'_, PyArray1<f32>>, threads: usize) -> PyResult<()> {
        guarded(py, || {
            let mut own = sum.try_readwrite().map_err(PyErr::from)?;
            let values = own.as_slice_mut().map_err(PyErr::from)?;
            Ok(py.detach(|| self.own().add_noise(values, team(threads)))?)
        })
    }

    /// Adds the noise of a step to the sum at an address on a GPU, in the order of a stream.
    fn add_noise_on(&self, py: Python<'_>, gpu: &GpuSums, address: u64, stream: u64) -> PyResult<()> {
        guarded(py, || Ok(py.detach(|| gpu.add_noise(&mut self.own(), address, stream))?))
    }

    /// How many steps count, and how many were paid for.
    fn count(&self) -> (u64, u64) {
        let standing = self.own().standing();
        (standing.counted, standing.allowed)
    }

    /// Factors of the clipping rule for squared norms, unit by unit and in it group by group.
    fn factors<'py>(
        &self,
        py: Python<'py>,
        groups: usize,
        squared: Bound<'py, PyArray1<f64>>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        guarded(py, || Ok(PyArray1::from_vec(py, self.own().factors(groups, &list(&squared)?)?)))
    }

    /// Counts at least so many steps.
    fn count_from(&self, steps: u64) {
        self.own().count_from(steps);
    }

    /// Writes the exact count to the file of the count.
    fn settle(&self, py: Python<'_>) -> PyResult<()> {
        guarded(py, || Ok(py.detach(|| self.own().settle())?))
    }

    /// The public numbers of the plan, and how many steps count, as JSON.
    fn standing(&self, py: Python<'_>) -> PyResult<String> {
        guarded(py, || json(&self.own().standing()))
    }

    /// ε of the counted steps.
    #[pyo3(signature = (delta=None))]
    fn epsilon(&self, py: Python<'_>, delta: Option<f64>) -> PyResult<f64> {
        guarded(py, || Ok(py.detach(|| self.own().epsilon(delta))?))
    }

    /// What is guaranteed if the run ends here for this cause, as JSON.
    #[pyo3(signature = (cause=None))]
    fn certificate(&self, py: Python<'_>, cause: Option<&str>) -> PyResult<String> {
        guarded(py, || {
            let certificate = py.detach(|| self.own().certificate(cause))?;
            json(&certificate)
        })
    }
}
