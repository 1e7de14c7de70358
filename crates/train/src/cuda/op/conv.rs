//! Convolution over planes: the input is unfolded into columns, and products do the rest.

use super::super::kernels::Kernel;
use super::super::machine::{Address, Argument, Matrix, Product};
use super::super::run::Run;
use super::{At, Below, Needs, Op, SHARERS, Way, activation, flag, long};
use crate::TrainError;
use crate::describe::windows;
use crate::graph::{Activation, Geometry};

/// A convolution; weights `[out][in of a group][kernel]`, then the bias.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conv {
    geometry: Geometry,
    places: [usize; 2],
}

impl Conv {
    /// Nothing if the window does not fit the input.
    pub(super) fn new(geometry: Geometry) -> Option<Self> {
        Some(Self { geometry, places: windows(geometry.size, geometry.window)? })
    }

    fn count(&self) -> usize {
        self.places[0] * self.places[1]
    }

    /// Rows of the columns that one group of channels has.
    fn taps(&self) -> usize {
        let Geometry { channels, groups, window, .. } = self.geometry;
        channels / groups * window.kernel[0] * window.kernel[1]
    }

    /// Numbers of one example's columns.
    fn columns(&self) -> usize {
        self.geometry.groups * self.taps() * self.count()
    }

    fn size(&self) -> usize {
        self.geometry.out * (self.taps() + usize::from(self.geometry.bias))
    }

    /// The numbers of unfolding and folding after the two arrays.
    fn window(&self, rows: usize) -> Vec<Argument> {
        let Geometry { channels, size, window, .. } = self.geometry;
        let pairs = [window.kernel, window.stride, window.padding, window.dilation, self.places];
        [rows, channels, size[0], size[1]].into_iter().chain(pairs.into_iter().flatten()).map(long).collect()
    }

    /// Output channels of a group.
    fn outer(&self) -> usize {
        self.geometry.out / self.geometry.groups
    }
}

impl Op for Conv {
    fn needs(&self) -> Needs {
        Needs { saved: self.columns(), slopes: 0, work: self.columns() }
    }

    fn way(&self) -> Way {
        Way::Kept { size: self.size() }
    }

    fn takes_activation(&self) -> bool {
        true
    }

    fn forward(&self, at: &At, then: Option<Activation>, run: &mut Run) -> Result<(), TrainError> {
        let (outer, taps, places) = (self.outer(), self.taps(), self.count());
        let mut arguments = vec![Argument::Address(at.input), Argument::Address(at.saved)];
        arguments.extend(self.window(at.rows));
        run.blocks(Kernel::Unfold, at.rows * self.geometry.channels, &arguments)?;
        for group in 0..self.geometry.groups {
            run.multiply(Product {
                rows: outer,
                columns: places,
                inner: taps,
                left: Matrix::new(at.weights.after(group * outer * taps), taps),
                right: Matrix::new(at.saved.after(group * taps * places), places).every(self.columns()),
                into: Matrix::new(at.output.after(group * outer * places), places)
                    .every(self.geometry.out * places),
                add: false,
                batch: at.rows,
            })?;
        }
        if !self.geometry.bias && then.is_none() {
            return Ok(());
        }
        let [kind, scale, temperature, offset] = activation(then);
        let count = at.rows * self.geometry.out * places;
        let arguments = [
            Argument::Address(at.output),
            Argument::Address(at.weights.after(self.geometry.out * taps)),
            flag(self.geometry.bias),
            long(count),
            long(self.geometry.out),
            long(places),
            kind,
            scale,
            temperature,
            offset,
        ];
        run.each(Kernel::BiasActivate, count, &arguments)
    }

    fn backward(&self, at: &At, below: Option<Below>, run: &mut Run) -> Result<(), TrainError> {
        let Some(Below { gradient, add }) = below else { return Ok(()) };
        let (outer, taps, places) = (self.outer(), self.taps(), self.count());
        for group in 0..self.geometry.groups {
            run.multiply(Product {
                rows: taps,
                columns: places,
                inner: outer,
                left: Matrix::new(at.weights.after(group * outer * taps), taps).transposed(),
                right: Matrix::new(at.gradient.after(group * outer * places), places)
                    .every(self.geometry.out * places),
                into: Matrix::new(at.work.after(group * taps * places), places).every(self.columns()),
                add: false,
                batch: at.rows,
            })?;
        }
        let mut arguments = vec![Argument::Address(at.work), Argument::Address(gradient)];
        arguments.extend(self.window(at.rows));
        arguments.push(flag(add));
        run.blocks(Kernel::Fold, at.rows * self.geometry.channels, &arguments)
    }

    fn keep(&self, at: &At, run: &mut Run) -> Result<(), TrainError> {
        let (outer, taps, places) = (self.outer(), self.taps(), self.count());
        let out = self.geometry.out;
        for group in 0..self.geometry.groups {
            run.multiply(Product {
                rows: outer,
                columns: taps,
                inner: places,
                left: Matrix::new(at.gradient.after(group * outer * places), places).every(out * places),
                right: Matrix::new(at.saved.after(group * taps * places), places)
                    .every(self.columns())
                    .transposed(),
                into: Matrix::new(at.kept.after(group * outer * taps), taps).every(self.size()),
                add: false,
                batch: at.rows,
            })?;
        }
        if !self.geometry.bias {
            return Ok(());
        }
        let into: Address = at.kept.after(out * taps);
        let sizes = [at.rows, out, places, self.size()].map(long);
        let arguments =
            [[Argument::Address(at.gradient), Argument::Address(into)].as_slice(), &sizes].concat();
        run.each(Kernel::ChannelSums, SHARERS * at.rows * out, &arguments)
    }
}
