//! A row of a table per token, and the mean of the rows of a text.

use super::super::kernels::Kernel;
use super::super::machine::Argument::Address;
use super::super::run::Run;
use super::{At, Below, Needs, Op, Way, long};
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

/// The mean of the rows of a table `[vocabulary][width]` for the tokens of a text that are not padding.
#[derive(Debug, Clone, Copy)]
pub(super) struct EmbeddingBag {
    pub(super) width: usize,
    pub(super) places: usize,
}

impl Op for EmbeddingBag {
    fn needs(&self) -> Needs {
        Needs { slopes: self.places * self.width, ..Needs::default() }
    }

    fn way(&self) -> Way {
        Way::Bag { places: self.places, width: self.width }
    }

    fn forward(&self, at: &At, _: Option<Activation>, run: &mut Run) -> Result<(), TrainError> {
        let arrays = [at.input, at.weights, at.output].map(Address);
        let arguments = [arrays.as_slice(), &[at.rows, self.places, self.width].map(long)].concat();
        run.each(Kernel::EmbedBag, at.rows * self.width, &arguments)
    }

    fn backward(&self, at: &At, _: Option<Below>, run: &mut Run) -> Result<(), TrainError> {
        let arrays = [at.input, at.gradient, at.slopes].map(Address);
        let arguments = [arrays.as_slice(), &[at.rows, self.places, self.width].map(long)].concat();
        run.each(Kernel::EmbedBagBack, at.rows * self.places * self.width, &arguments)
    }
}
