//! What the trainer asks of a model.

use crate::clip::Clipping;
use crate::{Examples, Selection, TrainError};
use reticent_noise::entropy::Repeatable;
use std::ops::Range;

/// One array of weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// A stable name, such as `0.weight`.
    pub name: String,
    /// Its shape, outermost dimension first.
    pub shape: Vec<usize>,
    /// The layer it belongs to: the parameters of one layer are clipped together when clipping goes by layer.
    pub group: usize,
    /// Whether training may change it.
    pub trainable: bool,
}

impl Parameter {
    /// How many numbers it has.
    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }
}

/// The weights of a model as one vector, and the gradient of the trainable ones as another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    parameters: Vec<Parameter>,
    weights: Vec<usize>,
    gradients: Vec<usize>,
    groups: usize,
}

impl Layout {
    /// Parameters one after the other. Groups are numbered from 0 without gaps in what is trainable.
    pub fn new(parameters: Vec<Parameter>) -> Self {
        let (mut weights, mut gradients) = (vec![0], vec![0]);
        for parameter in &parameters {
            let size = parameter.size();
            weights.push(weights[weights.len() - 1] + size);
            gradients.push(gradients[gradients.len() - 1] + if parameter.trainable { size } else { 0 });
        }
        let groups = parameters.iter().filter(|p| p.trainable).map(|p| p.group + 1).max().unwrap_or(0);
        Self { parameters, weights, gradients, groups }
    }

    /// The parameters, in order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// How many weights there are.
    pub fn weights(&self) -> usize {
        self.weights[self.parameters.len()]
    }

    /// How many weights are trained.
    pub fn gradients(&self) -> usize {
        self.gradients[self.parameters.len()]
    }

    /// How many groups of trainable parameters there are.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Where a parameter lies among the weights.
    pub fn weight_range(&self, parameter: usize) -> Range<usize> {
        self.weights[parameter]..self.weights[parameter + 1]
    }

    /// Where a parameter lies in the gradient; empty for a frozen one.
    pub fn gradient_range(&self, parameter: usize) -> Range<usize> {
        self.gradients[parameter]..self.gradients[parameter + 1]
    }
}

/// Work for threads that have nothing else to do; it returns when there is no more of it.
pub type Beside<'a> = &'a (dyn Fn() + Sync);

/// A network whose clipped gradient sums the trainer can ask for. Weights are held by the trainer.
///
/// # Guarantee
/// The privacy of training rests on [`accumulate`](Self::accumulate): what it adds to `sum` must be the sum over the
/// selection's units of a vector that depends on the weights and that unit's own examples only, multiplied by the
/// factors that [`Clipping::factors`] makes of its norms; a factor of 0 must add nothing at all, whatever the vector
/// holds.
pub trait Model: Send {
    /// The names and places of all weights.
    fn layout(&self) -> &Layout;

    /// Weights to start from: random ones that no example has influenced.
    ///
    /// # Errors
    /// When the operating system gives no randomness.
    fn initial_weights(&self) -> Result<Vec<f32>, TrainError>;

    /// Weights to start from as a function of a key, for a training that can be repeated and guarantees nothing.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] for a model that cannot.
    fn repeatable_weights(&self, _bits: &mut Repeatable) -> Result<Vec<f32>, TrainError> {
        let remedy = "leave it out: this model draws its starting weights by itself";
        Err(TrainError::invalid("key", "given", remedy))
    }

    /// Checks that every example fits the model: shape, kind, classes in range.
    ///
    /// # Errors
    /// [`TrainError::Example`] or [`TrainError::Shape`], naming the first that does not.
    fn check(&self, examples: &Examples) -> Result<(), TrainError>;

    /// Adds the units' gradients to `sum` (of [`Layout::gradients`] numbers), each multiplied by its clip factor; without
    /// `clipping` as they are. A unit's gradient is the sum over its examples.
    ///
    /// `beside` is work of the trainer's own: a thread that has nothing left to do may call it.
    ///
    /// # Errors
    /// When the arguments do not fit the model, or the device fails.
    fn accumulate(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        selection: &Selection,
        clipping: Option<&Clipping>,
        beside: Beside<'_>,
        sum: &mut [f32],
    ) -> Result<(), TrainError>;

    /// The model's outputs for these examples, example by example: a score per class, or one number.
    ///
    /// # Errors
    /// As [`accumulate`](Self::accumulate).
    fn outputs(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        which: &[usize],
    ) -> Result<Vec<f32>, TrainError>;
}
