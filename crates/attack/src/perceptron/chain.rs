//! Dense layers one after the other, with their backward pass.

use super::Hidden;
use reticent_noise::entropy::{Bits, Repeatable};
use reticent_train::product::{MatrixView, multiply};

/// One dense layer: a matrix with a row per output and then the offsets, from `start` in the weights of all layers.
#[derive(Debug, Clone, Copy)]
struct Dense {
    inputs: usize,
    outputs: usize,
    start: usize,
    hidden: Option<Hidden>,
}

impl Dense {
    fn split<'a>(&self, weights: &'a [f32]) -> (&'a [f32], &'a [f32]) {
        weights[self.start..][..(self.inputs + 1) * self.outputs].split_at(self.inputs * self.outputs)
    }
}

/// Dense layers one after the other.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    layers: Vec<Dense>,
    inputs: usize,
}

impl Chain {
    /// Layers of these widths; their weights are drawn and appended. The last layer is linear if `is_linear`.
    pub(super) fn new(
        inputs: usize,
        widths: &[usize],
        hidden: Hidden,
        is_linear: bool,
        weights: &mut Vec<f32>,
        bits: &mut Repeatable,
    ) -> Self {
        let (mut layers, mut before) = (Vec::with_capacity(widths.len()), inputs);
        for (place, outputs) in widths.iter().copied().enumerate() {
            let is_last = place + 1 == widths.len();
            let hidden = (!(is_last && is_linear)).then_some(hidden);
            layers.push(Dense { inputs: before, outputs, start: weights.len(), hidden });
            // He's bound for rectifiers, Glorot's for others.
            let spread = if hidden == Some(Hidden::Relu) {
                6.0 / before as f32
            } else {
                6.0 / (before + outputs) as f32
            };
            let draw = |_| spread.sqrt() * ((bits.word() >> 40) as f32 / (1_u64 << 23) as f32 - 1.0);
            weights.extend((0..before * outputs).map(draw));
            weights.extend(std::iter::repeat_n(0.0, outputs));
            before = outputs;
        }
        Self { layers, inputs }
    }

    /// How many numbers come out.
    pub(super) fn outputs(&self) -> usize {
        self.layers.last().map_or(self.inputs, |layer| layer.outputs)
    }

    /// The layer before the last with the fewest outputs, counted from 1; 0 for none.
    pub(super) fn narrowest(&self) -> usize {
        let widths = self.layers.iter().take(self.layers.len().saturating_sub(1)).enumerate();
        widths.min_by_key(|(_, layer)| layer.outputs).map_or(0, |(place, _)| place + 1)
    }

    /// The input and the outputs of every layer, for so many rows.
    pub(super) fn forward(&self, weights: &[f32], input: Vec<f32>, rows: usize) -> Vec<Vec<f32>> {
        let mut values = vec![input];
        for layer in &self.layers {
            let (matrix, offsets) = layer.split(weights);
            let mut out = offsets.repeat(rows);
            let input = MatrixView::new(&values[values.len() - 1], rows, layer.inputs);
            let matrix = MatrixView::new(matrix, layer.outputs, layer.inputs).transposed();
            multiply(&mut out, layer.outputs, input, matrix, true);
            match layer.hidden {
                Some(Hidden::Relu) => out.iter_mut().for_each(|value| *value = value.max(0.0)),
                Some(Hidden::Tanh) => out.iter_mut().for_each(|value| *value = libm::tanhf(*value)),
                None => {}
            }
            values.push(out);
        }
        values
    }

    /// Adds the gradient of the weights to `sum`, from that of the outputs; returns that of the input.
    pub(super) fn backward(
        &self,
        weights: &[f32],
        values: &[Vec<f32>],
        mut gradient: Vec<f32>,
        sum: &mut [f32],
    ) -> Vec<f32> {
        for (place, layer) in self.layers.iter().enumerate().rev() {
            let (input, output) = (&values[place], &values[place + 1]);
            let rows = output.len() / layer.outputs;
            let each = gradient.iter_mut().zip(output);
            match layer.hidden {
                Some(Hidden::Relu) => {
                    each.for_each(|(slope, value)| *slope *= f32::from(u8::from(*value > 0.0)))
                }
                Some(Hidden::Tanh) => each.for_each(|(slope, value)| *slope *= 1.0 - value * value),
                None => {}
            }
            let own = &mut sum[layer.start..][..(layer.inputs + 1) * layer.outputs];
            let (own_matrix, own_offsets) = own.split_at_mut(layer.inputs * layer.outputs);
            let slopes = MatrixView::new(&gradient, rows, layer.outputs);
            multiply(
                own_matrix,
                layer.inputs,
                slopes.transposed(),
                MatrixView::new(input, rows, layer.inputs),
                true,
            );
            for row in gradient.chunks_exact(layer.outputs) {
                own_offsets.iter_mut().zip(row).for_each(|(sum, slope)| *sum += slope);
            }
            let mut back = vec![0.0; rows * layer.inputs];
            let matrix = MatrixView::new(layer.split(weights).0, layer.outputs, layer.inputs);
            multiply(&mut back, layer.inputs, slopes, matrix, false);
            gradient = back;
        }
        gradient
    }
}
