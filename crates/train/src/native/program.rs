//! A graph compiled for the CPU: a list of steps over numbered buffers.

use super::op::{
    Attention, Conv, Copy, Dropout, Embedding, EmbeddingBag, GlobalMean, GroupNorm, Gru, LastTime, LayerNorm,
    Linear, Lstm, MeanTime, Op, Pool, Position, Scale, Smooth, Transpose,
};
use crate::describe::Objective;
use crate::graph::{Activation, GradientPlace, Graph, Operation};
use crate::{Layout, TrainError};
use std::ops::Range;

pub(super) enum Step {
    Op(Box<dyn Op>),
    /// In place.
    Activation(Activation),
    /// Adds the buffer of a residual connection.
    Add {
        skip: usize,
    },
}

/// One step: a [node](crate::graph::Node) of the graph with its arithmetic.
pub(super) struct Node {
    pub(super) step: Step,
    pub(super) input: usize,
    pub(super) output: usize,
    pub(super) weights: Range<usize>,
    /// Where its gradient lies in the sum, and its group; nothing for steps without trained weights.
    pub(super) trained: Option<(Range<usize>, usize)>,
    /// Whether anything below needs a gradient, and whether one is there already.
    pub(super) below: bool,
    pub(super) add: bool,
    /// As `add`, for the skipped buffer of a residual connection; nothing if it needs none.
    pub(super) skip: Option<bool>,
}

pub(super) struct Program {
    pub(super) nodes: Vec<Node>,
    /// Numbers per example in each buffer; the first holds the input.
    pub(super) sizes: Vec<usize>,
    pub(super) layout: Layout,
    pub(super) outputs: usize,
    pub(super) loss: Objective,
    /// The share of a target that the cross-entropy spreads over all classes.
    pub(super) smoothing: f32,
}

impl Program {
    pub(super) fn compile(graph: &Graph) -> Result<Self, TrainError> {
        let compile = |node: &crate::graph::Node| {
            Ok(Node {
                step: step(node.operation)?,
                input: node.input,
                output: node.output,
                weights: node.weights.clone(),
                trained: node.trained.clone().map(|GradientPlace { gradient, group }| (gradient, group)),
                below: node.below,
                add: node.add,
                skip: node.skip,
            })
        };
        Ok(Self {
            nodes: graph.nodes().iter().map(compile).collect::<Result<_, TrainError>>()?,
            sizes: graph.sizes().to_vec(),
            layout: graph.layout().clone(),
            outputs: graph.outputs(),
            loss: graph.objective(),
            smoothing: graph.label_smoothing(),
        })
    }
}

/// The arithmetic of an operation.
fn step(operation: Operation) -> Result<Step, TrainError> {
    fn boxed(op: impl Op + 'static) -> Step {
        Step::Op(Box::new(op))
    }
    let misfit = || TrainError::Shape("a window does not fit its input".to_owned());
    Ok(match operation {
        Operation::Linear { inner, out, places, bias } => boxed(Linear::new(inner, out, places, bias)),
        Operation::Convolution(geometry) => boxed(Conv::new(geometry).ok_or_else(misfit)?),
        Operation::Embedding { out, places, .. } => boxed(Embedding { out, places }),
        Operation::EmbeddingBag { out, places, .. } => boxed(EmbeddingBag { out, places }),
        Operation::Position { time, width } => boxed(Position { time, width }),
        Operation::LayerNorm { width, places } => boxed(LayerNorm { width, places }),
        Operation::GroupNorm { channels, groups, places } => boxed(GroupNorm { channels, groups, places }),
        Operation::Attention { time, width, heads, causal } => {
            boxed(Attention { time, width, heads, causal })
        }
        Operation::Lstm { inner, hidden, time } => boxed(Lstm::new(inner, hidden, time)),
        Operation::Gru { inner, hidden, time } => boxed(Gru::new(inner, hidden, time)),
        Operation::Activation(activation) => Step::Activation(activation),
        Operation::Gelu => boxed(Smooth::Gelu),
        Operation::Silu => boxed(Smooth::Silu),
        Operation::Pool { kind, kernel, stride, channels, size } => {
            boxed(Pool::new(kind, kernel, stride, channels, size).ok_or_else(misfit)?)
        }
        Operation::GlobalMean { places } => boxed(GlobalMean { places }),
        Operation::Dropout { rate, size } => boxed(Dropout { rate, size }),
        Operation::Transpose { rows, cols } => boxed(Transpose { rows, cols }),
        Operation::MeanTime { time, width } => boxed(MeanTime { time, width }),
        Operation::LastTime { time, width } => boxed(LastTime { time, width }),
        Operation::Scale { factor } => boxed(Scale { factor }),
        Operation::Copy => boxed(Copy),
        Operation::Add { skip } => Step::Add { skip },
    })
}
