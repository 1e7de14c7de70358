//! Norms and clipped sums of gradients that are given in factors, over plain slices.

use super::op::{Embedding, Flow, Op, Outer, Scratch, Units, sized};
use std::ops::Range;

/// What is remembered of one parameter between norms and sum.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    scratch: Scratch,
    left: Vec<f32>,
    right: Vec<f32>,
}

/// The units of a batch: where the examples of each end.
pub(crate) type Ends<'a> = &'a [usize];

/// Gradients Σₜ leftₜ·rightₜᵀ over the places t of a unit, of p × q numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Product<'a> {
    /// `[examples][places][p]`.
    pub(crate) left: &'a [f32],
    /// `[examples][places][q]`.
    pub(crate) right: &'a [f32],
    pub(crate) places: usize,
    pub(crate) p: usize,
    pub(crate) q: usize,
}

impl<'a> Product<'a> {
    fn outer(self) -> Outer {
        Outer { inner: self.q, out: self.p, places: self.places, bias: false }
    }

    /// The same for some of the examples.
    pub(crate) fn of(self, examples: Range<usize>) -> Self {
        let part = |all: &'a [f32], width: usize| {
            &all[examples.start * self.places * width..examples.end * self.places * width]
        };
        Self { left: part(self.left, self.p), right: part(self.right, self.q), ..self }
    }

    /// Numbers that are written out for a unit of one example.
    pub(crate) fn memory(self) -> usize {
        self.outer().memory()
    }

    /// Adds the squared norms of the units' gradients.
    pub(crate) fn squares(self, units: Ends<'_>, buffers: &mut Buffers, squares: &mut [f64]) {
        self.outer().squares(Units(units), (self.right, self.left), &mut buffers.scratch, squares);
    }

    /// Adds the units' gradients times their factors, after [`squares`](Self::squares). A factor of 0 adds nothing, whatever the
    /// factors of the product hold.
    pub(crate) fn sum(self, units: Ends<'_>, factors: &[f32], buffers: &mut Buffers, sum: &mut [f32]) {
        let Buffers { scratch, left, right } = buffers;
        let scaled = sized(left, self.left.len());
        scaled.copy_from_slice(self.left);
        let right = if factors.contains(&0.0) {
            let clean = sized(right, self.right.len());
            clean.copy_from_slice(self.right);
            let width = self.places * self.q;
            for (range, _) in Units(units).ranges().zip(factors).filter(|(_, factor)| **factor == 0.0) {
                clean[range.start * width..range.end * width].fill(0.0);
            }
            clean
        } else {
            self.right
        };
        self.outer().sum(Units(units), factors, (right, scaled), scratch, sum);
    }

    /// Adds the gradient of all examples.
    pub(crate) fn total(self, sum: &mut [f32]) {
        self.outer().total(self.right, self.left, sum);
    }
}

/// Gradients of a table of rows, each place adding `q` numbers to one row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table<'a> {
    /// `[examples][places]`, rows as numbers.
    pub(crate) rows: &'a [f32],
    /// `[examples][places][q]`.
    pub(crate) added: &'a [f32],
    pub(crate) places: usize,
    pub(crate) q: usize,
}

impl<'a> Table<'a> {
    fn op(self) -> Embedding {
        Embedding { out: self.q, places: self.places }
    }

    /// The same for some of the examples.
    pub(crate) fn of(self, examples: Range<usize>) -> Self {
        let places = examples.start * self.places..examples.end * self.places;
        Self {
            rows: &self.rows[places.clone()],
            added: &self.added[places.start * self.q..places.end * self.q],
            ..self
        }
    }

    fn flow<'b>(self, copy: &'b mut Vec<f32>) -> Flow<'b>
    where
        'a: 'b,
    {
        let gradient = sized(copy, self.added.len());
        gradient.copy_from_slice(self.added);
        Flow { input: self.rows, gradient }
    }

    /// Adds the squared norms of the units' gradients.
    pub(crate) fn squares(self, units: Ends<'_>, buffers: &mut Buffers, squares: &mut [f64]) {
        self.op().squares(Units(units), self.flow(&mut buffers.left), &mut buffers.scratch, squares);
    }

    /// Adds the units' gradients times their factors, after [`squares`](Self::squares). A factor of 0 adds nothing.
    pub(crate) fn sum(self, units: Ends<'_>, factors: &[f32], buffers: &mut Buffers, sum: &mut [f32]) {
        self.op().sum(Units(units), factors, self.flow(&mut buffers.left), &mut buffers.scratch, sum);
    }

    /// Adds the gradient of all examples.
    pub(crate) fn total(self, buffers: &mut Buffers, sum: &mut [f32]) {
        self.op().total(self.flow(&mut buffers.left), &mut buffers.scratch, sum);
    }
}

/// Σ xᵢ² in double precision.
pub(crate) fn squared(x: &[f32]) -> f64 {
    super::kernel::vector::squared_exactly(x)
}

/// Adds a gradient times its clip factor; a factor of 0 adds nothing, whatever the gradient holds.
pub(crate) fn add_clipped(sum: &mut [f32], factor: f32, gradient: &[f32]) {
    if factor != 0.0 {
        super::kernel::vector::add_scaled(sum, factor, gradient);
    }
}
