//! Normalization within an example.

use super::super::kernels::Kernel;
use super::super::machine::{Address, Argument};
use super::super::run::Run;
use super::{At, Below, Needs, Op, SHARERS, Way, flag, long};
use crate::TrainError;
use crate::graph::Activation;

/// Stretches of numbers, normalized each by itself; weights: a scale and then a shift per channel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Norm {
    /// Channels of an example, which have a scale and a shift each.
    channels: usize,
    /// Numbers of an example per channel.
    places: usize,
    /// Stretches of an example.
    stretches: usize,
    /// Whether the numbers of a channel lie side by side.
    is_planar: bool,
}

impl Norm {
    /// Over the last dimension of `[places][width]`.
    pub(super) fn layer(width: usize, places: usize) -> Self {
        Self { channels: width, places, stretches: places, is_planar: false }
    }

    /// Over groups of channels of `[channels][places]`.
    pub(super) fn group(channels: usize, groups: usize, places: usize) -> Self {
        Self { channels, places, stretches: groups, is_planar: true }
    }

    fn numbers(&self) -> usize {
        self.channels * self.places
    }

    /// Where 1/deviation is kept, after the normalized numbers.
    fn inverses(&self, at: &At) -> Address {
        at.saved.after(at.rows * self.numbers())
    }

    /// Stretches, their length, and how their numbers belong to channels.
    fn sizes(&self, rows: usize) -> [Argument; 5] {
        let (parts, inside) = if self.is_planar { (self.stretches, self.places) } else { (1, 1) };
        let channels = if self.is_planar { self.channels / self.stretches } else { self.channels };
        [rows * self.stretches, self.numbers() / self.stretches, parts, channels, inside].map(long)
    }
}

impl Op for Norm {
    fn needs(&self) -> Needs {
        Needs { saved: self.numbers() + self.stretches, ..Needs::default() }
    }

    fn way(&self) -> Way {
        Way::Kept { size: 2 * self.channels }
    }

    fn forward(&self, at: &At, _: Option<Activation>, run: &mut Run) -> Result<(), TrainError> {
        let addresses =
            [at.input, at.weights, at.weights.after(self.channels), at.saved, self.inverses(at), at.output]
                .map(Argument::Address);
        let arguments = [addresses.as_slice(), &self.sizes(at.rows)].concat();
        run.each(Kernel::Normalize, SHARERS * at.rows * self.stretches, &arguments)
    }

    fn backward(&self, at: &At, below: Option<Below>, run: &mut Run) -> Result<(), TrainError> {
        let Some(Below { gradient, add }) = below else { return Ok(()) };
        let addresses =
            [at.gradient, at.weights, at.saved, self.inverses(at), gradient].map(Argument::Address);
        let arguments = [addresses.as_slice(), &self.sizes(at.rows), &[flag(add)]].concat();
        run.each(Kernel::NormalizeBack, SHARERS * at.rows * self.stretches, &arguments)
    }

    fn keep(&self, at: &At, run: &mut Run) -> Result<(), TrainError> {
        let (step, skip) = if self.is_planar { (self.places, 1) } else { (1, self.channels) };
        let sizes = [at.rows, self.channels, self.places, step, skip].map(long);
        let addresses = [at.gradient, at.saved, at.kept].map(Argument::Address);
        // Neighbouring threads read neighbouring numbers.
        let lanes = if self.is_planar { SHARERS } else { 1 };
        let arguments = [addresses.as_slice(), &sizes, &[Argument::Int(lanes as i32)]].concat();
        run.each(Kernel::NormalizeKeep, lanes * at.rows * self.channels, &arguments)
    }
}
