//! A row of a table per token.

use super::super::kernels::Kernel;
use super::super::machine::Argument::Address;
use super::super::run::Run;
use super::{At, Below, Op, Way, long};
use crate::TrainError;
use crate::graph::Activation;

/// A table `[vocabulary][width]`; inputs are positions in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Embedding {
    pub(super) width: usize,
    pub(super) places: usize,
}

impl Op for Embedding {
    fn way(&self) -> Way {
        Way::Tokens { places: self.places, width: self.width }
    }

    fn forward(&self, at: &At, _: Option<Activation>, run: &mut Run) -> Result<(), TrainError> {
        let places = at.rows * self.places;
        let arguments =
            [Address(at.input), Address(at.weights), Address(at.output), long(places), long(self.width)];
        run.each(Kernel::Embed, places * self.width, &arguments)
    }

    fn backward(&self, _: &At, _: Option<Below>, _: &mut Run) -> Result<(), TrainError> {
        Ok(())
    }
}
