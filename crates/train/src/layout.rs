//! The names and places of a model's weights.

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
