//! The exponential moving average of the weights.

use crate::TrainError;
use crate::optimizer::Segments;
use rayon::prelude::*;

/// Numbers a thread takes at a time.
const PIECE: usize = 1 << 15;

/// m ← d·m + (1 − d)·w after every step, and m/(1 − dᵗ) when it is read: a mean of the weights of all steps in which recent ones
/// weigh more.
#[derive(Debug, Clone, PartialEq)]
pub struct Average {
    decay: f64,
    steps: u64,
    mean: Vec<f32>,
}

impl Average {
    /// Checks a decay.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] unless it is from 0 to below 1.
    pub fn check(decay: f64) -> Result<(), TrainError> {
        if (0.0..1.0).contains(&decay) {
            return Ok(());
        }
        Err(TrainError::invalid("average", decay, "give a number from 0 to below 1, such as 0.99"))
    }

    /// An empty average for this many trained weights.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn new(decay: f64, dimension: usize) -> Result<Self, TrainError> {
        Self::check(decay)?;
        Ok(Self { decay, steps: 0, mean: vec![0.0; dimension] })
    }

    /// Adds the weights of a step, on this thread alone if `is_single`.
    pub(crate) fn take(&mut self, weights: &[f32], segments: &Segments, is_single: bool) {
        self.steps += 1;
        let new = (1.0 - self.decay) as f32;
        for (place, own) in segments.iter() {
            let (mean, weights) = (&mut self.mean[own], &weights[place]);
            if is_single || mean.len() <= PIECE {
                blend(mean, weights, new);
                continue;
            }
            let pieces = mean.par_chunks_mut(PIECE).zip(weights.par_chunks(PIECE));
            pieces.for_each(|(mean, weights)| blend(mean, weights, new));
        }
    }

    /// What the unscaled mean is multiplied by after so many steps.
    pub(crate) fn scale(decay: f64, steps: u64) -> f32 {
        (1.0 / (1.0 - libm::pow(decay, steps as f64))) as f32
    }

    /// Writes the average over the trained weights; leaves them before the first step.
    pub(crate) fn write(&self, weights: &mut [f32], segments: &Segments) {
        if self.steps == 0 {
            return;
        }
        let scale = Self::scale(self.decay, self.steps);
        for (place, own) in segments.iter() {
            for (weight, mean) in weights[place].iter_mut().zip(&self.mean[own]) {
                *weight = scale * *mean;
            }
        }
    }

    /// What a checkpoint holds.
    pub(crate) fn state(&self) -> (&[f32], u64) {
        (&self.mean, self.steps)
    }

    /// What a checkpoint held.
    pub(crate) fn restore(&mut self, mean: Vec<f32>, steps: u64) {
        (self.mean, self.steps) = (mean, steps);
    }
}

fn blend(mean: &mut [f32], weights: &[f32], new: f32) {
    for (mean, weight) in mean.iter_mut().zip(weights) {
        *mean += new * (*weight - *mean);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layout, Parameter};

    #[test]
    fn a_constant_is_its_own_average_and_frozen_weights_stay() {
        let parameter =
            |name: &str, trainable| Parameter { name: name.to_owned(), shape: vec![2], group: 0, trainable };
        let layout = Layout::new(vec![parameter("a", false), parameter("b", true)]);
        let segments = Segments::of(&layout);
        let mut average = Average::new(0.9, 2).unwrap();
        let mut weights = [7.0, 8.0, 1.0, -2.0];
        average.write(&mut weights, &segments);
        assert_eq!(weights, [7.0, 8.0, 1.0, -2.0]);
        for _ in 0..3 {
            average.take(&weights, &segments, false);
        }
        let mut out = [0.0; 4];
        average.write(&mut out, &segments);
        assert!(out[..2] == [0.0, 0.0] && (out[2] - 1.0).abs() < 1e-6 && (out[3] + 2.0).abs() < 1e-6);
        assert!(Average::new(1.0, 2).is_err() && Average::new(f64::NAN, 2).is_err());
    }
}
