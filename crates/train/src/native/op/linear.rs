//! W·x + b on the last dimension.

use super::super::kernel::product::{Matrix, multiply};
use super::outer::Outer;
use super::{Below, Flow, Op, Scratch, Units};

/// A linear layer; weights `[out][in]`, then the bias.
#[derive(Debug, Clone, Copy)]
pub(in crate::native) struct Linear(pub(in crate::native) Outer);

impl Linear {
    pub(in crate::native) fn new(inner: usize, out: usize, places: usize, bias: bool) -> Self {
        Self(Outer { inner, out, places, bias })
    }
}

impl Op for Linear {
    fn forward(&self, weights: &[f32], rows: usize, input: &[f32], output: &mut [f32], _: &mut Scratch) {
        let Outer { inner, out, places, bias } = self.0;
        let (matrix, offsets) = weights.split_at(inner * out);
        if bias {
            output.chunks_exact_mut(out).for_each(|row| row.copy_from_slice(offsets));
        }
        let input = Matrix::new(input, rows * places, inner);
        multiply(output, out, input, Matrix::new(matrix, out, inner).transposed(), bias);
    }

    fn backward(
        &self,
        weights: &[f32],
        rows: usize,
        flow: Flow<'_>,
        below: Option<Below<'_>>,
        _: &mut Scratch,
    ) {
        let Outer { inner, out, places, .. } = self.0;
        if let Some(Below { gradient, add }) = below {
            let matrix = Matrix::new(&weights[..inner * out], out, inner);
            multiply(gradient, inner, Matrix::new(flow.gradient, rows * places, out), matrix, add);
        }
    }

    fn squares(&self, units: Units<'_>, flow: Flow<'_>, scratch: &mut Scratch, squares: &mut [f64]) {
        self.0.squares(units, (flow.input, flow.gradient), scratch, squares);
    }

    fn sum(&self, units: Units<'_>, factors: &[f32], flow: Flow<'_>, scratch: &mut Scratch, sum: &mut [f32]) {
        self.0.sum(units, factors, (flow.input, flow.gradient), scratch, sum);
    }

    fn total(&self, flow: Flow<'_>, _: &mut Scratch, sum: &mut [f32]) {
        self.0.total(flow.input, flow.gradient, sum);
    }

    fn memory(&self) -> (usize, usize) {
        (0, self.0.memory())
    }
}
