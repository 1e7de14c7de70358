//! Networks and models as subjects.

use super::Subject;
use reticent_train::gradients::clipped_sum;
use reticent_train::{
    Clipping, Description, Device, Engine, Examples, Gradients, Layout, Resources, Selection, TrainError,
    engine,
};

/// A described network on an engine.
pub struct Described {
    engine: Box<dyn Engine>,
}

impl Described {
    /// The network on the CPU at these weights, on so many threads, in chunks of so many examples. Without weights all are 0.
    ///
    /// # Errors
    /// When the layers do not fit together.
    pub fn new(
        description: &Description,
        weights: Vec<f32>,
        threads: usize,
        chunk: usize,
    ) -> Result<Self, TrainError> {
        let engine = engine(description, Device::Cpu, Resources { threads, chunk: Some(chunk) })?;
        Self::on(engine, &weights)
    }

    /// The network of any engine, at these weights. Without weights they stay as they are.
    ///
    /// # Errors
    /// When there are not as many weights as the network has.
    pub fn on(mut engine: Box<dyn Engine>, weights: &[f32]) -> Result<Self, TrainError> {
        if !weights.is_empty() {
            engine.load_weights(weights)?;
        }
        Ok(Self { engine })
    }
}

impl Subject for Described {
    fn layout(&self) -> Layout {
        self.engine.layout().clone()
    }

    fn sum(
        &mut self,
        examples: &Examples,
        selection: &Selection,
        clipping: Option<&Clipping>,
    ) -> Result<Vec<f32>, TrainError> {
        self.engine.sum(examples, selection, clipping, &|| ())?;
        self.engine.read_sum()
    }
}

/// A model that is not described.
#[derive(Debug)]
pub struct Modelled<G> {
    /// The model.
    pub model: G,
    /// Its weights.
    pub weights: Vec<f32>,
}

impl<G: Gradients> Subject for Modelled<G> {
    fn layout(&self) -> Layout {
        Gradients::layout(&self.model).clone()
    }

    fn sum(
        &mut self,
        examples: &Examples,
        selection: &Selection,
        clipping: Option<&Clipping>,
    ) -> Result<Vec<f32>, TrainError> {
        clipped_sum(&mut self.model, &self.weights, examples, selection, clipping)
    }
}
