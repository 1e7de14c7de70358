//! Layers that move numbers or average them, without weights.

use super::super::kernels::Kernel;
use super::super::machine::Argument::{Address, Single};
use super::super::run::Run;
use super::{At, Below, Op, flag, long};
use crate::TrainError;
use crate::graph::{Activation, positions};

/// The same numbers in another buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Copy {
    /// Numbers per row.
    pub(super) size: usize,
}

/// Adds a gradient to what is stored, or stores it.
fn deliver(at: &At, below: Option<Below>, size: usize, run: &mut Run) -> Result<(), TrainError> {
    let Some(Below { gradient, add }) = below else { return Ok(()) };
    let count = at.rows * size;
    let arguments = [Address(at.gradient), Address(gradient), long(count), flag(add)];
    run.each(Kernel::Deliver, count, &arguments)
}

impl Op for Copy {
    fn forward(&self, at: &At, _: Option<Activation>, run: &mut Run) -> Result<(), TrainError> {
        run.copy(at.input, at.output, at.rows * self.size)
    }

    fn backward(&self, at: &At, below: Option<Below>, run: &mut Run) -> Result<(), TrainError> {
        deliver(at, below, self.size, run)
    }
}

/// The numbers times a constant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    pub(super) factor: f32,
    /// Numbers per row.
    pub(super) size: usize,
}

impl Op for Scale {
    fn forward(&self, at: &At, _: Option<Activation>, run: &mut Run) -> Result<(), TrainError> {
        let count = at.rows * self.size;
        let arguments =
            [Address(at.input), Address(at.output), long(count), Single(self.factor), flag(false)];
        run.each(Kernel::DeliverScaled, count, &arguments)
    }

    fn backward(&self, at: &At, below: Option<Below>, run: &mut Run) -> Result<(), TrainError> {
        let Some(Below { gradient, add }) = below else { return Ok(()) };
        let count = at.rows * self.size;
        let arguments =
            [Address(at.gradient), Address(gradient), long(count), Single(self.factor), flag(add)];
        run.each(Kernel::DeliverScaled, count, &arguments)
    }
}

/// Rows and columns exchanged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transpose {
    pub(super) rows: usize,
    pub(super) columns: usize,
}

impl Op for Transpose {
    fn forward(&self, at: &At, _: Option<Activation>, run: &mut Run) -> Result<(), TrainError> {
        let [count, rows, columns] = [at.rows, self.rows, self.columns].map(long);
        let arguments = [Address(at.input), Address(at.output), count, rows, columns, flag(false)];
        run.each(Kernel::Transpose, at.rows * self.rows * self.columns, &arguments)
    }

    fn backward(&self, at: &At, below: Option<Below>, run: &mut Run) -> Result<(), TrainError> {
        let Some(Below { gradient, add }) = below else { return Ok(()) };
        let [count, rows, columns] = [at.rows, self.columns, self.rows].map(long);
        let arguments = [Address(at.gradient), Address(gradient), count, rows, columns, flag(add)];
        run.each(Kernel::Transpose, at.rows * self.rows * self.columns, &arguments)
    }
}

/// The mean over the places of `[places][width]`, or of `[width][places]` where places are inside.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mean {
    pub(super) places: usize,
    pub(super) width: usize,
    pub(super) is_inner: bool,
}

impl Op for Mean {
    fn forward(&self, at: &At, _: Option<Activation>, run: &mut Run) -> Result<(), TrainError> {
        let [rows, places, width] = [at.rows, self.places, self.width].map(long);
        let arguments = [Address(at.input), Address(at.output), rows, places, width, flag(self.is_inner)];
        run.each(Kernel::MeanPlaces, at.rows * self.width, &arguments)
    }

    fn backward(&self, at: &At, below: Option<Below>, run: &mut Run) -> Result<(), TrainError> {
        let Some(Below { gradient, add }) = below else { return Ok(()) };
        let [rows, places, width] = [at.rows, self.places, self.width].map(long);
        let arguments =
            [Address(at.gradient), Address(gradient), rows, places, width, flag(self.is_inner), flag(add)];
        run.each(Kernel::MeanPlacesBack, at.rows * self.places * self.width, &arguments)
    }
}

/// The last place of `[places][width]`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Last {
    pub(super) places: usize,
    pub(super) width: usize,
}

impl Op for Last {
    fn forward(&self, at: &At, _: Option<Activation>, run: &mut Run) -> Result<(), TrainError> {
        let [rows, places, width] = [at.rows, self.places, self.width].map(long);
        let arguments = [Address(at.input), Address(at.output), rows, places, width];
        run.each(Kernel::LastPlace, at.rows * self.width, &arguments)
    }

    fn backward(&self, at: &At, below: Option<Below>, run: &mut Run) -> Result<(), TrainError> {
        let Some(Below { gradient, add }) = below else { return Ok(()) };
        let [rows, places, width] = [at.rows, self.places, self.width].map(long);
        let arguments = [Address(at.gradient), Address(gradient), rows, places, width, flag(add)];
        run.each(Kernel::LastPlaceBack, at.rows * self.places * self.width, &arguments)
    }
}

/// Sines and cosines of the place, added to `[time][width]`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Position {
    pub(super) time: usize,
    pub(super) width: usize,
}

impl Op for Position {
    fn table(&self) -> Vec<f32> {
        positions(self.time, self.width)
    }

    fn forward(&self, at: &At, _: Option<Activation>, run: &mut Run) -> Result<(), TrainError> {
        let size = self.time * self.width;
        let arguments =
            [Address(at.input), Address(at.table), Address(at.output), long(at.rows * size), long(size)];
        run.each(Kernel::AddTable, at.rows * size, &arguments)
    }

    fn backward(&self, at: &At, below: Option<Below>, run: &mut Run) -> Result<(), TrainError> {
        deliver(at, below, self.time * self.width, run)
    }
}
