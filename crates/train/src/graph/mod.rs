//! A description lowered to operations over numbered buffers: what every engine compiles.
//!
//! A graph names no engine. It says what is computed in which order, how large every buffer is, where weights and gradients lie, how
//! weights start, and which gradients the backward pass needs.
//!
//! | file | contents |
//! |---|---|
//! | `operation` | the operations with their sizes |
//! | `build` | from layers to nodes |
//! | `freeze` | what is frozen by name |
//! | `start` | initial weights |
//! | `check` | whether examples fit |

mod build;
mod check;
mod freeze;
mod operation;
mod start;
#[cfg(test)]
mod tests;

pub(crate) use operation::positions;
pub use operation::{Activation, Geometry, Operation, PoolKind, Window};
pub use start::Start;

use crate::describe::Objective;
use crate::{Description, Layout, TrainError};
use std::ops::Range;

/// One operation: what it reads and writes, where its weights lie, and what its backward pass owes.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What is computed.
    pub operation: Operation,
    /// The buffer that is read.
    pub input: usize,
    /// The buffer that is written; the input itself for an [`Operation::Activation`].
    pub output: usize,
    /// Its weights among those of the layout.
    pub weights: Range<usize>,
    /// Its gradient's place; none without trained weights.
    pub trained: Option<GradientPlace>,
    /// Whether something below needs the gradient of the input.
    pub below: bool,
    /// Whether that gradient is added to one that an operation further up has stored for the same buffer.
    pub add: bool,
    /// As `add`, for the skipped buffer of a residual connection; none if that needs no gradient.
    pub skip: Option<bool>,
}

/// Where the gradient of an operation's weights lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GradientPlace {
    /// Its place in the gradient.
    pub gradient: Range<usize>,
    /// The group it is clipped with.
    pub group: usize,
}

/// A network as operations over buffers.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    nodes: Vec<Node>,
    sizes: Vec<usize>,
    shapes: Vec<Vec<usize>>,
    layout: Layout,
    starts: Vec<Start>,
    outputs: usize,
    objective: Objective,
    label_smoothing: f32,
    vocabulary: Option<usize>,
    has_dropout: bool,
    layers: Vec<LayerOutput>,
}

/// Where the output of a layer of the description is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerOutput {
    /// The layer's name, such as `2`, or `2.0` within a residual connection.
    pub name: String,
    /// The output stands in its buffer after so many nodes; a later node may overwrite it.
    pub nodes: usize,
    /// The buffer.
    pub buffer: usize,
    /// The shape of one example's output.
    pub shape: Vec<usize>,
}

impl Graph {
    /// Lowers a description.
    ///
    /// # Errors
    /// [`TrainError::Layer`] when layers do not fit together or the network is too large.
    pub fn new(description: &Description) -> Result<Self, TrainError> {
        build::lower(description, false)
    }

    /// Lowers a description such that the backward pass reaches the input; for tokens, which have no gradient, as [`new`](Self::new).
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_input_gradient(description: &Description) -> Result<Self, TrainError> {
        build::lower(description, true)
    }

    /// Where the output of each layer is found, layers within a residual connection before the connection.
    pub fn layers(&self) -> &[LayerOutput] {
        &self.layers
    }

    /// The operations in the order of the forward pass.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Numbers per example in each buffer; the first holds the input.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The shape of one example in each buffer.
    pub fn shapes(&self) -> &[Vec<usize>] {
        &self.shapes
    }

    /// The names and places of the weights.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How each parameter of the layout starts.
    pub fn starts(&self) -> &[Start] {
        &self.starts
    }

    /// Numbers per example in the last buffer: a score per class, one number, or a score per token at every position.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// What training minimizes.
    pub fn objective(&self) -> Objective {
        self.objective
    }

    /// The share of a target that the cross-entropy spreads over all classes.
    pub fn label_smoothing(&self) -> f32 {
        self.label_smoothing
    }

    /// How many tokens there are; none where the input is numbers.
    pub fn vocabulary(&self) -> Option<usize> {
        self.vocabulary
    }

    /// Whether training can be a function of a key: not with dropout, which draws from the operating system.
    pub fn is_repeatable(&self) -> bool {
        !self.has_dropout
    }
}
