//! Exact recovery from a first linear layer.
//!
//! Let h = W·x + b be the first layer and L the mean loss of a batch. Then ∂L/∂W_j = (1/B) Σᵢ δᵢⱼ xᵢ and ∂L/∂b_j = (1/B) Σᵢ δᵢⱼ, where
//! δᵢⱼ = ∂ℓᵢ/∂hᵢⱼ. With one record, ∂W_j/∂b_j = x for every output j with δⱼ ≠ 0. In a batch the same holds for every output that
//! one record alone changes; two such outputs of one record have the same quotient, while those of mixtures differ.
//!
//! Phong, Aono, Hayashi, Wang, Moriai, *Privacy-preserving deep learning via additively homomorphic encryption* (2018).

use super::space::{RecordSpace, squared_distance};
use reticent_train::describe::LayerKind;
use reticent_train::{Description, Layout};

/// Quotients are the same when their root-mean-square distance is below this, of a range of 1.
const SAME: f64 = 1e-3;

/// Outputs whose slope is below this share of the largest are rounding.
const STEEP: f32 = 1e-4;

/// The part of a gradient that the first linear layer has: its weights, one row per output, and its offsets.
pub(super) struct FirstLayer {
    weights: std::ops::Range<usize>,
    offsets: std::ops::Range<usize>,
}

/// Quotients that agree: Σ δW and Σ δ² over their outputs, and how many there are.
struct Agreeing {
    record: Vec<f32>,
    products: Vec<f64>,
    squares: f64,
    outputs: usize,
}

impl FirstLayer {
    /// The first layer of a network that reads its input with a linear layer and trains its offsets.
    pub(super) fn of(description: &Description, layout: &Layout) -> Option<Self> {
        let mut layers = description.layers.iter().filter(|layer| layer.kind != LayerKind::Flatten);
        let is_linear = |kind: &LayerKind| matches!(kind, LayerKind::Linear { bias: true, .. });
        layers.next().filter(|layer| is_linear(&layer.kind) && !layer.frozen && layer.lora.is_none())?;
        Some(Self { weights: layout.gradient_range(0), offsets: layout.gradient_range(1) })
    }

    /// As many records as the batch has, from 0 to 1; the mean of the space stands for those that were not found, and the number of
    /// those that were.
    pub(super) fn recover(&self, gradient: &[f32], batch: usize, space: &RecordSpace) -> (Vec<f32>, usize) {
        let (rows, slopes) = (&gradient[self.weights.clone()], &gradient[self.offsets.clone()]);
        let rows = || rows.chunks_exact(space.size()).zip(slopes);
        if batch == 1 {
            let mut whole = Agreeing::new(space);
            rows().for_each(|(row, slope)| whole.add(row, *slope));
            return (whole.mean(space), 1);
        }
        let steepest = slopes.iter().fold(0.0_f32, |most, slope| most.max(slope.abs()));
        let mut found: Vec<Agreeing> = Vec::new();
        for (row, slope) in rows().filter(|(_, slope)| slope.abs() > STEEP * steepest) {
            let quotient: Vec<f32> = row.iter().map(|value| value / slope).collect();
            let record = space.unit(&quotient);
            let is_same = |own: &&mut Agreeing| {
                squared_distance(&own.record, &record) < SAME * SAME * record.len() as f64
            };
            match found.iter_mut().find(is_same) {
                Some(own) => own.add(row, *slope),
                None => {
                    let mut own = Agreeing { record, ..Agreeing::new(space) };
                    own.add(row, *slope);
                    found.push(own);
                }
            }
        }
        found.retain(|own| own.outputs > 1);
        found.sort_by_key(|own| std::cmp::Reverse(own.outputs));
        found.truncate(batch);
        let mut records: Vec<f32> = found.iter().flat_map(|own| own.mean(space)).collect();
        let count = found.len();
        records.extend(space.mean().repeat(batch - count));
        (records, count)
    }
}

impl Agreeing {
    fn new(space: &RecordSpace) -> Self {
        Self { record: Vec::new(), products: vec![0.0; space.size()], squares: 0.0, outputs: 0 }
    }

    fn add(&mut self, row: &[f32], slope: f32) {
        let slope = f64::from(slope);
        self.products.iter_mut().zip(row).for_each(|(sum, value)| *sum += slope * f64::from(*value));
        self.squares += slope * slope;
        self.outputs += 1;
    }

    /// The record with the smallest squared error in ∂W_j = ∂b_j·x: with noise, better than any single quotient.
    fn mean(&self, space: &RecordSpace) -> Vec<f32> {
        let record: Vec<f32> = self.products.iter().map(|sum| (sum / self.squares) as f32).collect();
        space.unit(&record)
    }
}
