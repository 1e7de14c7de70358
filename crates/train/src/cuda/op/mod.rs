//! Layers: forward, backward, and the gradient of each unit.
//!
//! All arrays hold the rows of one chunk, row after row. A row is an example; with clipping it is a unit too.

mod attention;
mod conv;
mod elementwise;
mod embedding;
mod linear;
mod norm;
mod place;
mod pool;
mod recurrent;

use super::kernels::Kernel;
use super::machine::{Address, Argument};
use super::run::Run;
use crate::TrainError;
use crate::graph::{Activation, Operation};

/// Threads that share a row of numbers in kernels that say so.
pub(super) const SHARERS: usize = 8;

/// Numbers that a layer needs besides its input and output.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Needs {
    /// Kept from the forward pass until the sum, per row.
    pub(super) saved: usize,
    /// Kept from the backward pass until the sum, per row.
    pub(super) slopes: usize,
    /// Intermediate results of one call, per row; all layers share the room.
    pub(super) work: usize,
}

/// Where a layer finds what it reads and writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    pub(super) rows: usize,
    pub(super) input: Address,
    pub(super) output: Address,
    /// Of the output.
    pub(super) gradient: Address,
    pub(super) weights: Address,
    pub(super) saved: Address,
    pub(super) slopes: Address,
    pub(super) work: Address,
    /// One gradient per row, for layers that write them out.
    pub(super) kept: Address,
    /// As many ones as the rows of a chunk have [places](Op::places), or more.
    pub(super) ones: Address,
    /// The layer's [`table`](Op::table).
    pub(super) table: Address,
    /// Whether the pass is one of training.
    pub(super) training: bool,
}

/// The gradient that goes to an input.
#[derive(Debug, Clone, Copy)]
pub(super) struct Below {
    pub(super) gradient: Address,
    /// Whether to add to what is stored there already.
    pub(super) add: bool,
}

/// How the gradient of a layer's weights is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// There are no weights.
    None,
    /// As the product of the output's gradient and the input, which are vectors.
    Outer { inner: usize, out: usize, bias: bool },
    /// Written out, so many numbers per row.
    Kept { size: usize },
    /// As rows of a table that tokens choose.
    Tokens { places: usize, width: usize },
    /// As [`Tokens`](Self::Tokens), from rows that the backward pass has written to the [slopes](At::slopes).
    Bag { places: usize, width: usize },
}

/// A layer on a machine.
pub(super) trait Op: Send + std::fmt::Debug {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// How the gradient of the weights is found.
    fn way(&self) -> Way {
        Way::None
    }

    /// Numbers that depend on nothing and are needed in every pass.
    fn table(&self) -> Vec<f32> {
        Vec::new()
    }

    /// Computes the output; where `then` is given, with this function over it.
    fn forward(&self, at: &At, then: Option<Activation>, run: &mut Run) -> Result<(), TrainError>;

    /// Whether [`forward`](Self::forward) can apply a function to what it writes.
    fn takes_activation(&self) -> bool {
        false
    }

    /// Passes the gradient of the output on to the input and remembers what the weights' gradients need.
    fn backward(&self, at: &At, below: Option<Below>, run: &mut Run) -> Result<(), TrainError>;

    /// Places of a row that gradients are summed over.
    fn places(&self) -> usize {
        1
    }

    /// Adds the gradients of all rows to `into` without writing them out one by one, where that is cheaper; whether it has.
    fn total(&self, _: &At, _into: Address, _: &mut Run) -> Result<bool, TrainError> {
        Ok(false)
    }

    /// Writes the gradient of every row to `at.kept`, one after the other; for [`Way::Kept`].
    fn keep(&self, _: &At, _: &mut Run) -> Result<(), TrainError> {
        Ok(())
    }
}

/// The arithmetic of an operation whose output has a buffer of its own, of so many numbers per row; nothing for those that the engine
/// does itself.
pub(super) fn op(operation: Operation, size: usize) -> Result<Option<Box<dyn Op>>, TrainError> {
    let misfit = || TrainError::Shape("a window does not fit its input".to_owned());
    Ok(Some(match operation {
        Operation::Linear { inner, out, places, bias } => {
            Box::new(linear::Linear { inner, out, places, bias })
        }
        Operation::Convolution(geometry) => Box::new(conv::Conv::new(geometry).ok_or_else(misfit)?),
        Operation::Embedding { out, places, .. } => Box::new(embedding::Embedding { width: out, places }),
        Operation::EmbeddingBag { out, places, .. } => {
            Box::new(embedding::EmbeddingBag { width: out, places })
        }
        Operation::Position { time, width } => Box::new(place::Position { time, width }),
        Operation::LayerNorm { width, places } => Box::new(norm::Norm::layer(width, places)),
        Operation::GroupNorm { channels, groups, places } => {
            Box::new(norm::Norm::group(channels, groups, places))
        }
        Operation::Attention { time, width, heads, causal } => {
            Box::new(attention::Attention { time, width, heads, causal })
        }
        Operation::Lstm { inner, hidden, time } => Box::new(recurrent::Recurrent::lstm(inner, hidden, time)),
        Operation::Gru { inner, hidden, time } => Box::new(recurrent::Recurrent::gru(inner, hidden, time)),
        Operation::Gelu => Box::new(elementwise::Smooth { is_gelu: true, size }),
        Operation::Silu => Box::new(elementwise::Smooth { is_gelu: false, size }),
        Operation::Pool { kind, kernel, stride, channels, size } => {
            Box::new(pool::Pool::new(kind, kernel, stride, channels, size).ok_or_else(misfit)?)
        }
        Operation::GlobalMean { places } => Box::new(place::Mean { places, width: size, is_inner: true }),
        Operation::Dropout { rate, size } => Box::new(elementwise::Dropout { rate, size }),
        Operation::Transpose { rows, cols } => Box::new(place::Transpose { rows, columns: cols }),
        Operation::MeanTime { time, width } => Box::new(place::Mean { places: time, width, is_inner: false }),
        Operation::LastTime { time, width } => Box::new(place::Last { places: time, width }),
        Operation::Scale { factor } => Box::new(place::Scale { factor, size }),
        Operation::Copy => Box::new(place::Copy { size }),
        Operation::Activation(_) | Operation::Add { .. } => return Ok(None),
    }))
}

/// The arguments of a function of one number: kind, scale, temperature, offset.
pub(super) fn activation(function: Option<Activation>) -> [Argument; 4] {
    let (kind, numbers) = match function {
        None => (0, [1.0, 1.0, 0.0]),
        Some(Activation::Relu) => (1, [1.0, 1.0, 0.0]),
        Some(Activation::Tanh) => (2, [1.0, 1.0, 0.0]),
        Some(Activation::Sigmoid { scale, temperature, offset }) => (3, [scale, temperature, offset]),
    };
    let [scale, temperature, offset] = numbers.map(Argument::Single);
    [Argument::Int(kind), scale, temperature, offset]
}

/// Writes the sums over places of `[rows][places][width]` to `into`, row by row at a distance, so many times side by side.
fn place_sums(
    from: Address,
    into: Address,
    [rows, places, width, distance]: [usize; 4],
    copies: i32,
    run: &mut Run,
) -> Result<(), TrainError> {
    let addresses = [from, into].map(Argument::Address);
    let sizes = [rows, places, width, distance].map(long);
    let arguments = [addresses.as_slice(), &sizes, &[Argument::Int(copies)]].concat();
    run.each(Kernel::PlaceSums, rows * width, &arguments)
}

/// A size as an argument.
pub(super) fn long(size: usize) -> Argument {
    Argument::Long(size as i64)
}

/// A yes or no as an argument.
pub(super) fn flag(is_so: bool) -> Argument {
    Argument::Int(i32::from(is_so))
}
