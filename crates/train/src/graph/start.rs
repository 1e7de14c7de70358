//! Initial weights.

use super::Graph;
use reticent_noise::entropy::Bits;
use reticent_noise::sampler::normal_cell;

/// How a parameter starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Start {
    /// Uniform between ± this.
    Uniform(f32),
    /// Standard normal.
    Normal,
    /// This number.
    Constant(f32),
}

/// U(±1/√fan), the usual start of linear layers and convolutions.
pub(super) fn fan(inputs: usize) -> Start {
    Start::Uniform(1.0 / (inputs.max(1) as f32).sqrt())
}

impl Graph {
    /// Weights to start from, drawn from these bits.
    pub fn initial_weights<B: Bits>(&self, bits: &mut B) -> Vec<f32> {
        let mut weights = Vec::with_capacity(self.layout.weights());
        for (parameter, start) in self.layout.parameters().iter().zip(&self.starts) {
            let draw = |bits: &mut B| match *start {
                Start::Uniform(bound) => bound * ((bits.word() >> 40) as f32 / (1u64 << 23) as f32 - 1.0),
                Start::Normal => normal_cell(bits) as f32 / (1u64 << 24) as f32,
                Start::Constant(value) => value,
            };
            weights.extend((0..parameter.size()).map(|_| draw(bits)));
        }
        weights
    }
}
