//! Self-attention between its projections.

use super::super::kernels::Kernel;
use super::super::machine::{Address, Argument, Matrix, Product};
use super::super::run::Run;
use super::{At, Below, Needs, Op, SHARERS, flag, long};
use crate::TrainError;
use crate::graph::Activation;

/// Reads `[time][query, key, value]`, each of `width` numbers, and yields `[time][width]`; no weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attention {
    pub(super) time: usize,
    pub(super) width: usize,
    pub(super) heads: usize,
    /// Whether later positions get the weight 0.
    pub(super) causal: bool,
}

impl Attention {
    fn head(&self) -> usize {
        self.width / self.heads
    }

    fn scale(&self) -> Argument {
        Argument::Single(1.0 / (self.head() as f32).sqrt())
    }

    /// The part (0 query, 1 key, 2 value) of a head in the input or its gradient, for all rows.
    fn part(&self, base: Address, part: usize, head: usize) -> Matrix {
        let at = base.after(part * self.width + head * self.head());
        Matrix::new(at, 3 * self.width).every(3 * self.width * self.time)
    }

    /// A head of the output or its gradient.
    fn mixed(&self, base: Address, head: usize) -> Matrix {
        Matrix::new(base.after(head * self.head()), self.width).every(self.width * self.time)
    }

    /// The probabilities of a head, or their gradients: head after head, in it row after row.
    fn shares(&self, base: Address, rows: usize, head: usize) -> Matrix {
        let each = self.time * self.time;
        Matrix::new(base.after(head * rows * each), self.time).every(each)
    }
}

impl Op for Attention {
    fn needs(&self) -> Needs {
        let shares = self.heads * self.time * self.time;
        Needs { saved: shares, slopes: 0, work: shares }
    }

    fn forward(&self, at: &At, _: Option<Activation>, run: &mut Run) -> Result<(), TrainError> {
        let time = self.time;
        for head in 0..self.heads {
            run.multiply(Product {
                rows: time,
                columns: time,
                inner: self.head(),
                left: self.part(at.input, 0, head),
                right: self.part(at.input, 1, head).transposed(),
                into: self.shares(at.saved, at.rows, head),
                add: false,
                batch: at.rows,
            })?;
        }
        let count = self.heads * at.rows * time;
        let arguments =
            [Argument::Address(at.saved), long(count), long(time), self.scale(), flag(self.causal)];
        run.each(Kernel::SoftmaxRows, SHARERS * count, &arguments)?;
        for head in 0..self.heads {
            run.multiply(Product {
                rows: time,
                columns: self.head(),
                inner: time,
                left: self.shares(at.saved, at.rows, head),
                right: self.part(at.input, 2, head),
                into: self.mixed(at.output, head),
                add: false,
                batch: at.rows,
            })?;
        }
        Ok(())
    }

    fn backward(&self, at: &At, below: Option<Below>, run: &mut Run) -> Result<(), TrainError> {
        let Some(Below { gradient, add }) = below else { return Ok(()) };
        let time = self.time;
        for head in 0..self.heads {
            run.multiply(Product {
                rows: time,
                columns: time,
                inner: self.head(),
                left: self.mixed(at.gradient, head),
                right: self.part(at.input, 2, head).transposed(),
                into: self.shares(at.work, at.rows, head),
                add: false,
                batch: at.rows,
            })?;
        }
        let count = self.heads * at.rows * time;
        let arguments =
            [Argument::Address(at.work), Argument::Address(at.saved), long(count), long(time), self.scale()];
        run.each(Kernel::SoftmaxBack, SHARERS * count, &arguments)?;
        for head in 0..self.heads {
            let (slopes, shares) =
                (self.shares(at.work, at.rows, head), self.shares(at.saved, at.rows, head));
            let pairs = [
                (slopes, self.part(at.input, 1, head)),
                (slopes.transposed(), self.part(at.input, 0, head)),
                (shares.transposed(), self.mixed(at.gradient, head)),
            ];
            for (part, (left, right)) in pairs.into_iter().enumerate() {
                run.multiply(Product {
                    rows: time,
                    columns: self.head(),
                    inner: time,
                    left,
                    right,
                    into: self.part(gradient, part, head),
                    add,
                    batch: at.rows,
                })?;
            }
        }
        Ok(())
    }
}
