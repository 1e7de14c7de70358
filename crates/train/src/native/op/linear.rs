//! W·x + b on the last dimension.

use super::super::kernel::product::MatrixView;
use super::super::kernel::sparse;
use super::super::kernel::transpose::{transpose, transposed};
use super::super::kernel::vector::{add, add_rows};
use super::outer::Outer;
use super::{Below, Flow, Op, Scratch, Units, sized};

/// Rows from which on transposed weights pay, and a look for zeros in the input.
const ROWS: usize = 24;

/// Outputs from which on a row of the transposed weights fills vectors.
const OUT: usize = 32;

/// A linear layer; weights `[out][in]`, then the bias.
#[derive(Debug, Clone, Copy)]
pub(in crate::native) struct Linear(pub(in crate::native) Outer);

impl Linear {
    pub(in crate::native) fn new(inner: usize, out: usize, places: usize, bias: bool) -> Self {
        Self(Outer { inner, out, places, bias })
    }
}

impl Op for Linear {
    fn forward(
        &self,
        weights: &[f32],
        rows: usize,
        input: &[f32],
        output: &mut [f32],
        scratch: &mut Scratch,
    ) {
        let Outer { inner, out, places, bias } = self.0;
        let (matrix, offsets) = weights.split_at(inner * out);
        let is_case = scratch.plain && rows * places >= ROWS && out >= OUT;
        if is_case && scratch.nonzeros.read(input, inner) {
            if bias {
                output.chunks_exact_mut(out).for_each(|row| row.copy_from_slice(offsets));
            } else {
                output.fill(0.0);
            }
            let turned = scratch.packed[0].get(|turned| transposed(matrix, inner, turned));
            sparse::multiply(&scratch.nonzeros, turned, out, output);
            return;
        }
        scratch.nonzeros.clear();
        if bias {
            output.chunks_exact_mut(out).for_each(|row| row.copy_from_slice(offsets));
        }
        let product = scratch.row_product();
        let input = MatrixView::new(input, rows * places, inner);
        let turned = if out >= OUT && (scratch.training || rows * places >= ROWS) {
            // A product copies its right side in blocks, which is slow across the lines of a matrix.
            let turned = scratch.packed[0].get(|turned| transposed(matrix, inner, turned));
            MatrixView::new(turned, inner, out)
        } else {
            MatrixView::new(matrix, out, inner).transposed()
        };
        product(output, out, input, turned, bias);
    }

    fn backward(
        &self,
        weights: &[f32],
        rows: usize,
        flow: Flow<'_>,
        below: Option<Below<'_>>,
        scratch: &mut Scratch,
    ) {
        let Outer { inner, out, places, .. } = self.0;
        if let Some(Below { gradient, add }) = below {
            let matrix = MatrixView::new(&weights[..inner * out], out, inner);
            let product = scratch.row_product();
            product(gradient, inner, MatrixView::new(flow.gradient, rows * places, out), matrix, add);
        }
    }

    fn squares(&self, units: Units<'_>, flow: Flow<'_>, scratch: &mut Scratch, squares: &mut [f64]) {
        self.0.squares(units, (flow.input, flow.gradient), scratch, squares);
    }

    fn sum(&self, units: Units<'_>, factors: &[f32], flow: Flow<'_>, scratch: &mut Scratch, sum: &mut [f32]) {
        self.0.sum(units, factors, (flow.input, flow.gradient), scratch, sum);
    }

    fn one(&self, units: Units<'_>, unit: usize, flow: Flow<'_>, scratch: &mut Scratch, sum: &mut [f32]) {
        self.0.one(units, unit, (flow.input, flow.gradient), scratch, sum);
    }

    fn total(&self, flow: Flow<'_>, scratch: &mut Scratch, sum: &mut [f32]) {
        let Outer { inner, out, bias, .. } = self.0;
        if scratch.nonzeros.is_empty() {
            return self.0.total(flow.input, flow.gradient, sum);
        }
        let total = sized(&mut scratch.total, inner * out);
        sparse::multiply_transposed(&scratch.nonzeros, flow.gradient, out, total);
        if bias {
            let mut own = vec![0.0; out];
            add_rows(&mut own, flow.gradient);
            add(&mut sum[inner * out..], &own);
        }
    }

    fn finish(&self, scratch: &mut Scratch, sum: &mut [f32]) {
        let Outer { inner, out, .. } = self.0;
        if !scratch.total.is_empty() {
            transpose(&scratch.total, out, &mut sum[..inner * out], inner, true);
            scratch.total.clear();
        }
    }

    fn memory(&self) -> (usize, usize) {
        (0, self.0.memory())
    }
}
