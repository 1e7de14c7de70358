//! Norms and clipped sums of convolutions that another framework computes, on its memory.

use crate::error::{Fault, guarded};
use crate::team::team;
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use reticent_curator::train::{self, ConvLengths, ConvPass, Geometry, Window};

/// The gradients of a convolution's weights for single examples.
#[pyclass(frozen, module = "reticent._native")]
pub(crate) struct ConvGradients {
    inner: train::ConvGradients,
}

fn unfit() -> Fault {
    PyValueError::new_err("arrays of a convolution that do not belong together").into()
}

fn slice<'a>(array: &'a PyReadonlyArrayDyn<'_, f32>) -> Result<&'a [f32], Fault> {
    Ok(array.as_slice().map_err(PyErr::from)?)
}

fn readonly<'py>(array: &Bound<'py, PyArrayDyn<f32>>) -> Result<PyReadonlyArrayDyn<'py, f32>, Fault> {
    Ok(array.try_readonly().map_err(PyErr::from)?)
}

#[pymethods]
impl ConvGradients {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the numbers of a convolution")]
    fn new(
        channels: usize,
        size: [usize; 2],
        out: usize,
        groups: usize,
        kernel: [usize; 2],
        stride: [usize; 2],
        padding: [usize; 2],
        dilation: [usize; 2],
    ) -> PyResult<Self> {
        let window = Window { kernel, stride, padding, dilation };
        let geometry = Geometry { channels, size, out, groups, window, bias: false };
        let inner = train::ConvGradients::new(geometry);
        inner
            .map(|inner| Self { inner })
            .ok_or_else(|| PyValueError::new_err("a convolution that does not fit its input"))
    }

    /// Numbers that are kept of every unit.
    #[getter]
    fn kept(&self) -> usize {
        self.inner.kept()
    }

    /// The squared norm of every unit's gradient, and the sum of the lengths of its parts unless gradients are kept.
    #[pyo3(signature = (input, gradient, each, threads, kept=None))]
    #[expect(clippy::type_complexity, reason = "two arrays")]
    fn measure<'py>(
        &self,
        py: Python<'py>,
        input: &Bound<'py, PyArrayDyn<f32>>,
        gradient: &Bound<'py, PyArrayDyn<f32>>,
        each: usize,
        threads: usize,
        kept: Option<&Bound<'py, PyArrayDyn<f32>>>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
        guarded(py, || {
            let (input, gradient) = (readonly(input)?, readonly(gradient)?);
            let pass = ConvPass { input: slice(&input)?, gradient: slice(&gradient)?, each };
            let units = self.inner.units(pass).ok_or_else(unfit)?;
            let mut kept = kept.map(|kept| kept.try_readwrite().map_err(PyErr::from)).transpose()?;
            let room = kept.as_mut().map(|kept| kept.as_slice_mut().map_err(PyErr::from)).transpose()?;
            if room.as_ref().is_some_and(|room| room.len() != units * self.inner.kept()) {
                return Err(unfit());
            }
            let (mut squares, mut parts) = (vec![0.0; units], vec![0.0; units]);
            let lengths = ConvLengths { squares: &mut squares, parts: &mut parts };
            py.detach(|| self.inner.measure(pass, room, lengths, team(threads)));
            Ok((PyArray1::from_vec(py, squares), PyArray1::from_vec(py, parts)))
        })
    }

    /// Adds every unit's gradient times its factor.
    #[expect(clippy::too_many_arguments, reason = "what is added, and to what")]
    fn add(
        &self,
        py: Python<'_>,
        input: &Bound<'_, PyArrayDyn<f32>>,
        gradient: &Bound<'_, PyArrayDyn<f32>>,
        each: usize,
        factors: &Bound<'_, PyArrayDyn<f32>>,
        sum: &Bound<'_, PyArrayDyn<f32>>,
        threads: usize,
    ) -> PyResult<()> {
        guarded(py, || {
            let (input, gradient, factors) = (readonly(input)?, readonly(gradient)?, readonly(factors)?);
            let pass = ConvPass { input: slice(&input)?, gradient: slice(&gradient)?, each };
            let factors = slice(&factors)?;
            let mut sum = sum.try_readwrite().map_err(PyErr::from)?;
            let sum = sum.as_slice_mut().map_err(PyErr::from)?;
            if self.inner.units(pass) != Some(factors.len()) || sum.len() != self.inner.weights() {
                return Err(unfit());
            }
            py.detach(|| self.inner.add(pass, factors, sum, team(threads)));
            Ok(())
        })
    }

    /// Adds what is kept of every unit times its factor.
    fn add_kept(
        &self,
        py: Python<'_>,
        kept: &Bound<'_, PyArrayDyn<f32>>,
        factors: &Bound<'_, PyArrayDyn<f32>>,
        sum: &Bound<'_, PyArrayDyn<f32>>,
        threads: usize,
    ) -> PyResult<()> {
        guarded(py, || {
            let (kept, factors) = (readonly(kept)?, readonly(factors)?);
            let (kept, factors) = (slice(&kept)?, slice(&factors)?);
            let mut sum = sum.try_readwrite().map_err(PyErr::from)?;
            let sum = sum.as_slice_mut().map_err(PyErr::from)?;
            if kept.len() != factors.len() * self.inner.kept() || sum.len() != self.inner.weights() {
                return Err(unfit());
            }
            py.detach(|| self.inner.add_kept(kept, factors, sum, team(threads)));
            Ok(())
        })
    }
}
