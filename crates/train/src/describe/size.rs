//! How large a network is, from its description alone: no product of sizes goes unchecked, and nothing is allocated before.

use super::{LayerKind, Window};

/// The most weights of a network: 1 GiB of them.
pub const MOST_WEIGHTS: u128 = 1 << 28;

/// The most numbers that one example may need in all layers together, with the tables of the layers: 512 MiB.
pub const MOST_NUMBERS: u128 = 1 << 27;

/// The most layers, those inside of others included.
pub const MOST_LAYERS: usize = 4096;

/// What layers need.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Need {
    pub(super) weights: u128,
    pub(super) numbers: u128,
    pub(super) layers: usize,
}

/// A product that stays at the largest number instead of wrapping.
pub(super) fn product(sizes: impl IntoIterator<Item = usize>) -> u128 {
    sizes.into_iter().fold(1, |all: u128, size| all.saturating_mul(size as u128))
}

impl Need {
    /// Adds a layer's need.
    ///
    /// # Errors
    /// In words, where the whole becomes too large.
    pub(super) fn add(&mut self, other: Self) -> Result<(), String> {
        self.weights = self.weights.saturating_add(other.weights);
        self.numbers = self.numbers.saturating_add(other.numbers);
        self.layers = self.layers.saturating_add(other.layers);
        if self.layers > MOST_LAYERS {
            return Err(format!("there are more than {MOST_LAYERS} layers: give fewer"));
        }
        if self.weights > MOST_WEIGHTS {
            return Err(format!(
                "the network would have more than {MOST_WEIGHTS} weights up to here: give smaller layers"
            ));
        }
        if self.numbers > MOST_NUMBERS {
            return Err(format!(
                "one example would need more than {MOST_NUMBERS} numbers up to here: give smaller layers"
            ));
        }
        Ok(())
    }
}

/// What a layer needs that turns `input` into `output`: not less than the engine takes.
pub(super) fn need(kind: &LayerKind, input: &[usize], output: &[usize]) -> Need {
    let (reads, yields) = (product(input.iter().copied()), product(output.iter().copied()));
    let last = input.last().map_or(1, |last| *last as u128);
    let wide = |size: usize| size as u128;
    let (weights, more) = match kind {
        LayerKind::Linear { out, .. } => (wide(*out).saturating_mul(last + 1), 0),
        LayerKind::Conv1d { out, kernel, stride, padding, dilation, groups, .. } => {
            let window = Window {
                kernel: [1, *kernel],
                stride: [1, *stride],
                padding: [0, *padding],
                dilation: [1, *dilation],
            };
            convolution(input[0], [1, input.get(1).copied().unwrap_or(1)], *out, *groups, window)
        }
        LayerKind::Conv2d { out, kernel, stride, padding, dilation, groups, .. } => {
            let window = Window { kernel: *kernel, stride: *stride, padding: *padding, dilation: *dilation };
            let size = [1, 2].map(|at| input.get(at).copied().unwrap_or(1));
            convolution(input[0], size, *out, *groups, window)
        }
        LayerKind::Embedding { vocabulary, out } => (product([*vocabulary, *out]), 0),
        LayerKind::EmbeddingBag { vocabulary, out } => {
            (product([*vocabulary, *out]), product([input[0], *out]))
        }
        LayerKind::Attention { heads, .. } => attention(input, *heads),
        LayerKind::Transformer { heads, hidden, .. } => {
            let (weights, numbers) = attention(input, *heads);
            let inner = wide(*hidden).saturating_mul(2 * last + 1).saturating_add(5 * last);
            let hidden = product([input[0], *hidden]).saturating_mul(3);
            (weights.saturating_add(inner), numbers.saturating_add(hidden).saturating_add(8 * reads))
        }
        LayerKind::Lstm { hidden } => recurrent(input[0], last, wide(*hidden), 4),
        LayerKind::Gru { hidden } => recurrent(input[0], last, wide(*hidden), 3),
        LayerKind::LayerNorm => (2 * last, 2 * yields),
        LayerKind::GroupNorm { .. } => (2 * wide(input[0]), 2 * yields),
        LayerKind::MaxPool { .. }
        | LayerKind::AveragePool { .. }
        | LayerKind::Position
        | LayerKind::Gelu
        | LayerKind::Silu => (0, yields),
        _ => (0, 0),
    };
    // Values and gradients of what is yielded.
    Need { weights, numbers: more.saturating_add(yields.saturating_mul(2)), layers: 1 }
}

/// What a low-rank update adds to a layer that turns `input` into `output`.
pub(super) fn lora_need(kind: &LayerKind, rank: usize, input: &[usize], output: &[usize]) -> Need {
    let width = |shape: &[usize]| shape.last().copied().unwrap_or(1);
    let (inner, out) = (width(input), width(output));
    let places = product(input.iter().copied()) / (inner.max(1) as u128);
    // One linear layer, or the joint projection to queries, keys and values and the one of the output.
    let outs: &[usize] = match kind {
        LayerKind::Attention { .. } | LayerKind::Transformer { .. } => &[inner.saturating_mul(3), inner],
        _ => &[out],
    };
    outs.iter().fold(Need::default(), |all, out| {
        let weights = product([rank, inner]).saturating_add(product([rank, *out]));
        let each = (2 * rank as u128).saturating_add(4 * *out as u128);
        Need {
            weights: all.weights.saturating_add(weights),
            numbers: all.numbers.saturating_add(places.saturating_mul(2).saturating_mul(each)),
            layers: all.layers + 3,
        }
    })
}

/// A plane is copied once for every residue of the stride; gradients of weights are kept by channels of eight.
fn convolution(channels: usize, size: [usize; 2], out: usize, groups: usize, window: Window) -> (u128, u128) {
    let inner = channels / groups.max(1);
    let taps = product(window.kernel);
    let weights = product([out, inner]).saturating_mul(taps).saturating_add(out as u128);
    let along = |i: usize| {
        let padded = size[i] as u128 + 2 * window.padding[i] as u128;
        padded.div_ceil(window.stride[i].max(1) as u128)
    };
    let (plane, residues) = (along(0).saturating_mul(along(1)), product(window.stride));
    let planes = plane.saturating_add(64).saturating_mul(residues).saturating_mul(channels as u128);
    let lanes = plane.saturating_mul(2).saturating_add(64).saturating_mul(out as u128);
    let kept = product([channels, (out / groups.max(1)).next_multiple_of(64)]).saturating_mul(taps);
    let tables = residues
        .saturating_mul(32)
        .saturating_add(product([inner.saturating_add(out), 2]).saturating_mul(taps));
    (weights, planes.saturating_add(lanes).saturating_add(kept).saturating_add(tables))
}

fn attention(input: &[usize], heads: usize) -> (u128, u128) {
    let (time, width) = (input[0], input.last().map_or(1, |width| *width as u128));
    let weights = width.saturating_mul(width).saturating_add(width).saturating_mul(4);
    let scores = product([heads, time, time]).saturating_mul(2);
    (weights, scores.saturating_add((time as u128).saturating_mul(width).saturating_mul(10)))
}

fn recurrent(time: usize, inner: u128, hidden: u128, gates: u128) -> (u128, u128) {
    let weights = gates.saturating_mul(hidden).saturating_mul(inner.saturating_add(hidden).saturating_add(2));
    let states = (time as u128).saturating_mul(hidden).saturating_mul(4 * gates + 4);
    (weights, states.saturating_add((time as u128).saturating_mul(inner)))
}
