//! W·x + b on the last dimension.

use super::super::kernels::Kernel;
use super::super::machine::{Address, Argument, Matrix, Product};
use super::super::run::Run;
use super::{At, Below, Op, Way, activation, flag, long, place_sums};
use crate::TrainError;
use crate::graph::Activation;

/// A linear layer; weights `[out][inner]`, then the bias.
#[derive(Debug, Clone, Copy)]
pub(super) struct Linear {
    pub(super) inner: usize,
    pub(super) out: usize,
    pub(super) places: usize,
    pub(super) bias: bool,
}

impl Op for Linear {
    fn way(&self) -> Way {
        let Self { inner, out, places, bias } = *self;
        match places {
            1 => Way::Outer { inner, out, bias },
            _ => Way::Kept { size: inner * out + if bias { out } else { 0 } },
        }
    }

    fn takes_activation(&self) -> bool {
        true
    }

    fn forward(&self, at: &At, then: Option<Activation>, run: &mut Run) -> Result<(), TrainError> {
        let Self { inner, out, places, bias } = *self;
        let count = at.rows * places;
        run.multiply(Product {
            rows: count,
            columns: out,
            inner,
            left: Matrix::new(at.input, inner),
            right: Matrix::new(at.weights, inner).transposed(),
            into: Matrix::new(at.output, out),
            add: false,
            batch: 1,
        })?;
        if !bias && then.is_none() {
            return Ok(());
        }
        let [kind, scale, temperature, offset] = activation(then);
        let offsets = Argument::Address(at.weights.after(inner * out));
        let arguments = [
            Argument::Address(at.output),
            offsets,
            flag(bias),
            long(count * out),
            long(out),
            long(1),
            kind,
            scale,
            temperature,
            offset,
        ];
        run.each(Kernel::BiasActivate, count * out, &arguments)
    }

    fn backward(&self, at: &At, below: Option<Below>, run: &mut Run) -> Result<(), TrainError> {
        let Some(Below { gradient, add }) = below else { return Ok(()) };
        run.multiply(Product {
            rows: at.rows * self.places,
            columns: self.inner,
            inner: self.out,
            left: Matrix::new(at.gradient, self.out),
            right: Matrix::new(at.weights, self.inner),
            into: Matrix::new(gradient, self.inner),
            add,
            batch: 1,
        })
    }

    fn places(&self) -> usize {
        self.places
    }

    fn total(&self, at: &At, into: Address, run: &mut Run) -> Result<bool, TrainError> {
        let Self { inner, out, places, bias } = *self;
        let gradient = Matrix::new(at.gradient, out);
        run.multiply(Product {
            rows: out,
            columns: inner,
            inner: at.rows * places,
            left: gradient.transposed(),
            right: Matrix::new(at.input, inner),
            into: Matrix::new(into, inner),
            add: true,
            batch: 1,
        })?;
        if bias {
            let count = at.rows * places;
            let ones = Matrix::new(at.ones, count);
            run.add_weighted_rows((count, out), gradient, ones, into.after(inner * out))?;
        }
        Ok(true)
    }

    fn keep(&self, at: &At, run: &mut Run) -> Result<(), TrainError> {
        let Self { inner, out, places, bias } = *self;
        let Way::Kept { size } = self.way() else { return Ok(()) };
        let gradient = Matrix::new(at.gradient, out).every(places * out);
        run.multiply(Product {
            rows: out,
            columns: inner,
            inner: places,
            left: gradient.transposed(),
            right: Matrix::new(at.input, inner).every(places * inner),
            into: Matrix::new(at.kept, inner).every(size),
            add: false,
            batch: at.rows,
        })?;
        if bias {
            place_sums(at.gradient, at.kept.after(inner * out), [at.rows, places, out, size], 1, run)?;
        }
        Ok(())
    }
}
