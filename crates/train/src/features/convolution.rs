//! Convolution with random filters.

use crate::product::{MatrixView, multiply};
use reticent_noise::entropy::Repeatable;
use reticent_noise::sampler::normal_cell;

/// What separates these draws from others of the same number.
const DOMAIN: u64 = 0x6669_6c74_6572_7300;

/// Filters and the sizes around them.
pub(super) struct RandomConvolutions {
    shape: [usize; 3],
    filters: usize,
    size: usize,
    pool: usize,
    /// Filter after filter, in each channel after channel. Their variance is the inverse of their length.
    weights: Vec<f32>,
}

impl RandomConvolutions {
    pub(super) fn new(shape: [usize; 3], filters: usize, size: usize, pool: usize, seed: u64) -> Self {
        let length = shape[0] * size * size;
        let mut bits = Repeatable::new([seed, DOMAIN, 0, 0]);
        let scale = 1.0 / ((1u64 << 24) as f64 * (length as f64).sqrt());
        let weights = (0..filters * length).map(|_| (normal_cell(&mut bits) as f64 * scale) as f32).collect();
        Self { shape, filters, size, pool, weights }
    }

    fn places(&self) -> [usize; 2] {
        [self.shape[1] - self.size + 1, self.shape[2] - self.size + 1]
    }

    /// Room for the windows of one row of squares, and for what the filters make of them.
    pub(super) fn scratch(&self) -> Vec<f32> {
        let windows = self.pool * self.places()[1];
        vec![0.0; windows * (self.shape[0] * self.size * self.size + self.filters)]
    }

    pub(super) fn apply(&self, image: &[f32], out: &mut [f32], scratch: &mut [f32]) {
        let ([channels, height, width], size) = (self.shape, self.size);
        let length = channels * size * size;
        let [rows, columns] = self.places().map(|side| side / self.pool);
        let wide = self.places()[1];
        let (windows, answers) = scratch.split_at_mut(self.pool * wide * length);
        let share = 1.0 / (self.pool * self.pool) as f32;
        out.fill(0.0);
        for band in 0..rows {
            for (place, window) in windows.chunks_exact_mut(length).enumerate() {
                let (row, column) = (band * self.pool + place / wide, place % wide);
                for (line, own) in window.chunks_exact_mut(size).enumerate() {
                    let (channel, down) = (line / size, line % size);
                    let start = (channel * height + row + down) * width + column;
                    own.copy_from_slice(&image[start..start + size]);
                }
            }
            let count = self.pool * wide;
            let filters = MatrixView::new(&self.weights, self.filters, length);
            multiply(answers, count, filters, MatrixView::new(windows, count, length).transposed(), false);
            for (filter, answers) in answers.chunks_exact(count).enumerate() {
                let own = &mut out[(filter * rows + band) * columns..][..columns];
                for answers in answers.chunks_exact(wide) {
                    for (place, square) in own.iter_mut().zip(answers.chunks_exact(self.pool)) {
                        *place += share * square.iter().map(|value| value.max(0.0)).sum::<f32>();
                    }
                }
            }
        }
    }
}

#[cfg(test)]
impl RandomConvolutions {
    pub(super) fn weights(&self) -> &[f32] {
        &self.weights
    }
}
