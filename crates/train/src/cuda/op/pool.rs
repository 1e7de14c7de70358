//! Windows over planes, without weights.

use super::super::kernels::Kernel;
use super::super::machine::{Address, Argument};
use super::super::run::Run;
use super::{At, Below, Needs, Op, flag, long};
use crate::TrainError;
use crate::describe::windows;
use crate::graph::{Activation, PoolKind, Window};

/// Pooling over each channel's plane.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pool {
    is_largest: bool,
    kernel: [usize; 2],
    stride: [usize; 2],
    channels: usize,
    size: [usize; 2],
    places: [usize; 2],
}

impl Pool {
    /// Nothing if the window does not fit.
    pub(super) fn new(
        kind: PoolKind,
        kernel: [usize; 2],
        stride: [usize; 2],
        channels: usize,
        size: [usize; 2],
    ) -> Option<Self> {
        let places = windows(size, Window { kernel, stride, padding: [0, 0], dilation: [1, 1] })?;
        Some(Self { is_largest: kind == PoolKind::Largest, kernel, stride, channels, size, places })
    }

    fn sizes(&self, rows: usize) -> Vec<Argument> {
        let pairs = [self.size, self.kernel, self.stride, self.places];
        std::iter::once(rows * self.channels).chain(pairs.into_iter().flatten()).map(long).collect()
    }

    fn outputs(&self) -> usize {
        self.channels * self.places[0] * self.places[1]
    }
}

impl Op for Pool {
    fn needs(&self) -> Needs {
        Needs { saved: if self.is_largest { self.outputs() } else { 0 }, ..Needs::default() }
    }

    fn forward(&self, at: &At, _: Option<Activation>, run: &mut Run) -> Result<(), TrainError> {
        let (kernel, arrays): (Kernel, &[Address]) = match self.is_largest {
            true => (Kernel::PoolLargest, &[at.input, at.output, at.saved]),
            false => (Kernel::PoolMean, &[at.input, at.output]),
        };
        let arguments: Vec<Argument> =
            arrays.iter().copied().map(Argument::Address).chain(self.sizes(at.rows)).collect();
        run.each(kernel, at.rows * self.outputs(), &arguments)
    }

    fn backward(&self, at: &At, below: Option<Below>, run: &mut Run) -> Result<(), TrainError> {
        let Some(Below { gradient, add }) = below else { return Ok(()) };
        let mut arguments = vec![
            Argument::Address(at.gradient),
            Argument::Address(at.saved),
            flag(self.is_largest),
            Argument::Address(gradient),
        ];
        arguments.extend(self.sizes(at.rows));
        arguments.push(flag(add));
        run.blocks(Kernel::PoolBack, at.rows * self.channels, &arguments)
    }
}
