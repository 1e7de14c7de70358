//! What a node of a graph computes.

pub use crate::describe::Window;

/// An elementwise function that is written over its argument; its derivative follows from its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Activation {
    /// max(x, 0).
    Relu,
    /// Hyperbolic tangent.
    Tanh,
    /// scale/(1 + e^(−temperature·x)) − offset; the logistic function with 1, 1 and 0.
    Sigmoid {
        /// What the range is stretched by.
        scale: f32,
        /// What the argument is multiplied by.
        temperature: f32,
        /// What is subtracted.
        offset: f32,
    },
}

/// A convolution over planes; a line is a plane of height 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// Input channels.
    pub channels: usize,
    /// Height and width of an input plane.
    pub size: [usize; 2],
    /// Output channels.
    pub out: usize,
    /// Groups of channels that see only each other.
    pub groups: usize,
    /// Kernel, stride, padding and dilation.
    pub window: Window,
    /// Whether there is a bias per output channel.
    pub bias: bool,
}

/// What becomes of a pooling window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolKind {
    /// The largest value.
    Largest,
    /// The mean.
    Mean,
}

/// One operation with its sizes. All arrays hold one example after the other, in row-major order.
///
/// The weights of an operation lie one after the other in the order given here, each in row-major order.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)] // The sizes are what their names say.
pub enum Operation {
    /// W·x + b at each place. Weights: `[out][inner]`, then `[out]` with a bias.
    Linear { inner: usize, out: usize, places: usize, bias: bool },
    /// Weights: `[out][channels / groups][kernel height][kernel width]`, then `[out]` with a bias.
    Convolution(Geometry),
    /// A row of a table per token. Weights: `[vocabulary][out]`.
    Embedding { vocabulary: usize, out: usize, places: usize },
    /// The mean of the rows of a table for the tokens that are not [padding](reticent_data::text::PADDING); 0 if there are none. Weights:
    /// `[vocabulary][out]`.
    EmbeddingBag { vocabulary: usize, out: usize, places: usize },
    /// Adds sines and cosines of the position.
    Position { time: usize, width: usize },
    /// Normalization over the last dimension. Weights: scale `[width]`, shift `[width]`.
    LayerNorm { width: usize, places: usize },
    /// Normalization over groups of channels. Weights: scale `[channels]`, shift `[channels]`.
    GroupNorm { channels: usize, groups: usize, places: usize },
    /// Softmax attention of queries, keys and values, which lie side by side in the input: `[time][3·width]` to `[time][width]`.
    /// A `causal` one gives later positions the weight 0.
    Attention { time: usize, width: usize, heads: usize, causal: bool },
    /// Weights: `[4·hidden][inner]`, `[4·hidden][hidden]`, and two biases `[4·hidden]`.
    Lstm { inner: usize, hidden: usize, time: usize },
    /// Weights: `[3·hidden][inner]`, `[3·hidden][hidden]`, and two biases `[3·hidden]`.
    Gru { inner: usize, hidden: usize, time: usize },
    /// In place: the node's input and output are the same buffer.
    Activation(Activation),
    /// x·Φ(x), by the hyperbolic tangent.
    Gelu,
    /// x·sigmoid(x).
    Silu,
    /// Windows over each channel's plane, without padding.
    Pool { kind: PoolKind, kernel: [usize; 2], stride: [usize; 2], channels: usize, size: [usize; 2] },
    /// The mean over all places of each channel.
    GlobalMean { places: usize },
    /// Sets a random share to 0 in training and scales the rest.
    Dropout { rate: f32, size: usize },
    /// `[rows][cols]` to `[cols][rows]`.
    Transpose { rows: usize, cols: usize },
    /// The mean over time.
    MeanTime { time: usize, width: usize },
    /// The last place in time.
    LastTime { time: usize, width: usize },
    /// The input times a constant.
    Scale { factor: f32 },
    /// The input as it is, where it must not be overwritten.
    Copy,
    /// Adds the buffer `skip` of a residual connection to the input.
    Add { skip: usize },
}

/// What [`Operation::Position`] adds: sines and cosines of the position, `[time][width]`.
pub(crate) fn positions(time: usize, width: usize) -> Vec<f32> {
    let value = |i: usize| {
        let (place, j) = ((i / width) as f64, i % width);
        let rate = libm::pow(10_000.0, -((j / 2 * 2) as f64) / width as f64);
        (if j % 2 == 0 { libm::sin(place * rate) } else { libm::cos(place * rate) }) as f32
    };
    (0..time * width).map(value).collect()
}
