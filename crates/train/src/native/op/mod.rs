//! Layers: forward, backward, and the gradient of each unit.
//!
//! All arrays hold the examples of one chunk, example after example.

mod activation;
mod attention;
mod bag;
mod conv;
mod embedding;
mod gated;
mod linear;
mod lstm;
mod norm;
mod outer;
mod place;
mod pool;
mod recurrent;

pub(super) use activation::{Dropout, Smooth};
pub(super) use attention::Attention;
pub(super) use bag::EmbeddingBag;
pub(super) use conv::Conv;
pub(super) use embedding::Embedding;
pub(super) use gated::Gru;
pub(super) use linear::Linear;
pub(super) use lstm::Lstm;
pub(super) use norm::{GroupNorm, LayerNorm};
pub(super) use outer::Outer;
pub(super) use place::{Copy, GlobalMean, LastTime, MeanTime, Position, Scale, Transpose};
pub(super) use pool::Pool;

use super::kernel::product::{MatrixView, multiply, multiply_rows};
use super::kernel::sparse::Nonzeros;

/// What a layer remembers between the passes over one chunk. Buffers keep their memory from chunk to chunk.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Whether the pass is one of training.
    pub(super) training: bool,
    /// Saved by the forward pass, of a size per example.
    pub(super) saved: Vec<f32>,
    /// Saved by the backward pass, of a size per example.
    pub(super) slopes: Vec<f32>,
    /// Gradients of units, of a size per unit.
    pub(super) kept: Vec<f32>,
    /// Intermediate results.
    pub(super) work: Vec<f32>,
    pub(super) more: Vec<f32>,
    /// Weights in another order, for the forward and the backward pass.
    pub(super) packed: [Packed; 2],
    /// A table that depends on nothing.
    pub(super) table: Vec<f32>,
    /// A sum over the chunks of a step, in an order of the layer's own.
    pub(super) total: Vec<f32>,
    pub(super) places: Vec<u32>,
    /// Whether units are not clipped: only then may the way of computing depend on what else is in the chunk.
    pub(super) plain: bool,
    /// The input where it is mostly zero and the layer makes use of that.
    pub(super) nonzeros: Nonzeros,
}

/// Writes a product, or adds it: [`multiply`] and [`multiply_rows`].
type RowProduct = fn(&mut [f32], usize, MatrixView<'_>, MatrixView<'_>, bool);

impl Scratch {
    /// The product of a matrix that has rows of every example in the chunk: where units are clipped, no row may depend on the others.
    fn row_product(&self) -> RowProduct {
        if self.plain { multiply } else { multiply_rows }
    }
}

/// Weights in another order, made anew when the weights have changed, in the same memory.
#[derive(Debug, Default)]
pub(super) struct Packed {
    numbers: Vec<f32>,
    is_made: bool,
}

impl Packed {
    /// Says that the weights may have changed.
    pub(super) fn forget(&mut self) {
        self.is_made = false;
    }

    /// The numbers; `make` writes over whatever the buffer holds, unless they are there.
    pub(super) fn get(&mut self, make: impl FnOnce(&mut Vec<f32>)) -> &[f32] {
        if !self.is_made {
            make(&mut self.numbers);
            self.is_made = true;
        }
        &self.numbers
    }
}

/// A buffer of this length, with whatever is in it.
pub(super) fn sized(buffer: &mut Vec<f32>, length: usize) -> &mut [f32] {
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
    &mut buffer[..length]
}

/// The gradient that goes to an input: absent where nothing below is trained.
pub(super) struct Below<'a> {
    pub(super) gradient: &'a mut [f32],
    /// Whether to add to what is stored there already.
    pub(super) add: bool,
}

/// The units of a chunk by where their examples end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Units<'a>(pub(super) &'a [usize]);

impl Units<'_> {
    pub(super) fn len(self) -> usize {
        self.0.len()
    }

    /// The examples of every unit.
    pub(super) fn ranges(self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let starts = std::iter::once(0).chain(self.0.iter().copied());
        starts.zip(self.0).map(|(start, end)| start..*end)
    }
}

/// What a layer has read and what has arrived at its output.
pub(super) struct Flow<'a> {
    pub(super) input: &'a [f32],
    pub(super) gradient: &'a mut [f32],
}

/// A layer on the CPU. `weights` are its own, one parameter after the other.
pub(super) trait Op: Send + Sync {
    fn forward(&self, weights: &[f32], rows: usize, input: &[f32], output: &mut [f32], scratch: &mut Scratch);

    /// Passes the gradient of the output on to the input and remembers what the weights' gradients need. The gradient may
    /// be overwritten by what [`squares`](Self::squares) and [`sum`](Self::sum) expect.
    fn backward(
        &self,
        weights: &[f32],
        rows: usize,
        flow: Flow<'_>,
        below: Option<Below<'_>>,
        scratch: &mut Scratch,
    );

    /// Adds the squared norm of each unit's gradient to `squares`.
    fn squares(&self, _: Units<'_>, _: Flow<'_>, _: &mut Scratch, _: &mut [f64]) {}

    /// Adds the units' gradients to `sum`, each multiplied by its factor, after [`squares`](Self::squares). What belongs to a
    /// unit of factor 0 has been set to 0 in `flow`; what the layer remembers of it must not be used.
    fn sum(&self, _: Units<'_>, _: &[f32], _: Flow<'_>, _: &mut Scratch, _: &mut [f32]) {}

    /// Adds the gradient of one unit to `sum`, after [`squares`](Self::squares).
    fn one(&self, units: Units<'_>, unit: usize, flow: Flow<'_>, scratch: &mut Scratch, sum: &mut [f32]) {
        let mut factors = vec![0.0; units.len()];
        factors[unit] = 1.0;
        self.sum(units, &factors, flow, scratch, sum);
        self.finish(scratch, sum);
    }

    /// Adds the gradient of all examples to `sum`.
    fn total(&self, _: Flow<'_>, _: &mut Scratch, _: &mut [f32]) {}

    /// Adds what the layer has summed up in [`Scratch::total`] over the chunks of a step, and clears it.
    fn finish(&self, _: &mut Scratch, _: &mut [f32]) {}

    /// Numbers remembered per example besides input and output, and per unit; used to choose the chunk size.
    fn memory(&self) -> (usize, usize) {
        (0, 0)
    }
}

/// Adds what is kept of each unit to `sum`, multiplied by its factor.
pub(super) fn add_kept(kept: &[f32], size: usize, factors: &[f32], sum: &mut [f32]) {
    for (kept, factor) in kept.chunks_exact(size).zip(factors) {
        if *factor != 0.0 {
            super::kernel::vector::add_scaled(sum, *factor, kept);
        }
    }
}
