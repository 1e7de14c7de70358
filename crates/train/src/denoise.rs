//! Denoising: what becomes of a noisy gradient before the optimizer takes it.
//!
//! Everything here is computed from released sums, public constants and fresh noise, so it changes nothing about the guarantee.

use crate::noise::NoiseLaw;
use crate::{Layout, TrainError};
use reticent_noise::Entropy;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

/// The decay of the mean of squared gradients behind [`Denoising::Wiener`].
const DECAY: f64 = 0.99;

/// What the Kolmogorov–Smirnov statistic is multiplied by to become a weight.
const SLOPE: f64 = 500.0;

/// The largest weight.
const MOST: f64 = 5.0;

/// A weight below this becomes 0.
const LEAST: f64 = 0.7;

/// How a noisy gradient is denoised.
///
/// # Guarantee
/// That of the noisy gradient: the rule sees released numbers and public ones alone.
///
/// # Reference
/// Post-processing; the crate's proof, section 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Denoising {
    /// Every parameter's gradient u of d numbers is multiplied by max(0, 1 − (d − 2)·v/‖u‖²), v the variance of the noise: the positive
    /// part of the estimator of James and Stein (1961). For d ≥ 3 and Gaussian noise its expected squared error is below that of u,
    /// whatever the gradient is; for Student-t noise it is a heuristic with the right variance. A parameter of one or two numbers
    /// stays as it is.
    JamesStein,
    /// Every number u is multiplied by max(0, m − v)/m, m the mean of the squares that were released at its place, recent ones weighing
    /// more (decay 0.99, without the bias of the first steps). It is the Wiener filter if the gradient of a weight has about the same size
    /// from step to step.
    Wiener,
    /// All numbers are multiplied by one weight: w = 500·D, at most 5, and 0 where that is below 0.7, with D the two-sample
    /// Kolmogorov–Smirnov statistic between the numbers of u and as many fresh draws of the noise (Nasr, Shokri, Houmansadr, 2020). The
    /// optimizer takes w·u as any other gradient: momentum goes on where w is 0, while the authors' code leaves it as it is up to w = 1.5.
    Weighted,
}

impl Denoising {
    /// All rules with their names.
    pub const NAMES: [(&'static str, Self); 3] =
        [("james-stein", Self::JamesStein), ("wiener", Self::Wiener), ("weighted", Self::Weighted)];
}

impl fmt::Display for Denoising {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::JamesStein => "james-stein",
            Self::Wiener => "wiener",
            Self::Weighted => "weighted",
        })
    }
}

/// A rule with what it remembers.
pub(crate) struct Denoiser {
    rule: Denoising,
    law: NoiseLaw,
    /// The scale of the noise on a sum.
    scale: f64,
    /// Where each trained parameter lies in the gradient.
    parameters: Vec<Range<usize>>,
    /// The mean of squares, not yet divided by the weight of all steps; empty for rules that remember nothing.
    squares: Vec<f32>,
    steps: u64,
}

impl Denoiser {
    /// The rule for sums with noise of this law and scale.
    pub(crate) fn new(rule: Denoising, layout: &Layout, law: NoiseLaw, scale: f64) -> Self {
        let ranges = (0..layout.parameters().len()).map(|place| layout.gradient_range(place));
        let parameters = ranges.filter(|range| !range.is_empty()).collect();
        let remembered = if rule == Denoising::Wiener { layout.gradients() } else { 0 };
        Self { rule, law, scale, parameters, squares: vec![0.0; remembered], steps: 0 }
    }

    /// Denoises a noisy sum in place.
    pub(crate) fn apply(&mut self, sum: &mut [f32]) -> Result<(), TrainError> {
        self.steps += 1;
        let variance = self.law.variance(self.scale);
        match self.rule {
            Denoising::JamesStein => {
                for range in &self.parameters {
                    let own = &mut sum[range.clone()];
                    let weight = james_stein(own, variance);
                    own.iter_mut().for_each(|u| *u *= weight);
                }
            }
            Denoising::Wiener => {
                let whole = 1.0 - libm::pow(DECAY, self.steps as f64);
                let (whole, variance) = (whole as f32, variance as f32);
                let (keep, new) = (DECAY as f32, (1.0 - DECAY) as f32);
                for (u, square) in sum.iter_mut().zip(&mut self.squares) {
                    *square = keep * *square + new * *u * *u;
                    let mean = *square / whole;
                    *u *= if mean > variance { (mean - variance) / mean } else { 0.0 };
                }
            }
            Denoising::Weighted => {
                let mut bits = Entropy::new()?;
                let mut fresh: Vec<f32> = Vec::with_capacity(sum.len());
                self.law.fill(self.scale, sum.len(), &mut bits, &mut fresh);
                let weight = weight_of(kolmogorov_smirnov(sum.to_vec(), fresh)) as f32;
                sum.iter_mut().for_each(|u| *u *= weight);
            }
        }
        Ok(())
    }

    /// What a checkpoint holds.
    pub(crate) fn state(&self) -> (&[f32], u64) {
        (&self.squares, self.steps)
    }

    /// What a checkpoint held; the length has been checked.
    pub(crate) fn restore(&mut self, squares: Vec<f32>, steps: u64) {
        (self.squares, self.steps) = (squares, steps);
    }
}

/// What a parameter's noisy gradient is multiplied by.
fn james_stein(own: &[f32], variance: f64) -> f32 {
    if own.len() < 3 {
        return 1.0;
    }
    let square: f64 = own.iter().map(|u| f64::from(*u).powi(2)).sum();
    (1.0 - (own.len() - 2) as f64 * variance / square).max(0.0) as f32
}

/// The weight of an update whose numbers are this far from noise alone.
fn weight_of(statistic: f64) -> f64 {
    let weight = SLOPE * statistic;
    if weight < LEAST { 0.0 } else { weight.min(MOST) }
}

/// The largest distance between the distribution functions of two samples.
fn kolmogorov_smirnov(mut a: Vec<f32>, mut b: Vec<f32>) -> f64 {
    a.sort_unstable_by(f32::total_cmp);
    b.sort_unstable_by(f32::total_cmp);
    let (mut i, mut j, mut most) = (0, 0, 0.0f64);
    while i < a.len() && j < b.len() {
        let at = a[i].min(b[j]);
        while i < a.len() && a[i] <= at {
            i += 1;
        }
        while j < b.len() && b[j] <= at {
            j += 1;
        }
        most = most.max((i as f64 / a.len() as f64 - j as f64 / b.len() as f64).abs());
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Parameter;

    fn layout(sizes: &[usize]) -> Layout {
        let parameter = |size: &usize| Parameter {
            name: format!("p{size}"),
            shape: vec![*size],
            group: 0,
            trainable: *size != 7,
        };
        Layout::new(sizes.iter().map(parameter).collect())
    }

    fn normals(count: usize, scale: f64) -> Vec<f32> {
        let mut values = Vec::new();
        NoiseLaw::Gaussian.fill(scale, count, &mut Entropy::new().unwrap(), &mut values);
        values
    }

    #[test]
    fn a_parameter_that_is_all_noise_is_shrunk_and_a_strong_one_kept() {
        // The second parameter of 7 numbers is frozen.
        let layout = layout(&[10_000, 7, 5000, 2]);
        let mut sum = normals(15_002, 2.0);
        sum[10_000..15_000].iter_mut().for_each(|u| *u += 200.0);
        let before = sum.clone();
        let mut denoiser = Denoiser::new(Denoising::JamesStein, &layout, NoiseLaw::Gaussian, 2.0);
        denoiser.apply(&mut sum).unwrap();
        // 1 − (d − 2)v/‖u‖² is within seven standard errors of 0 for noise alone.
        assert!((sum[0] / before[0]).abs() < 7.0 * (2.0f32 / 10_000.0).sqrt());
        assert!(sum[10_000] / before[10_000] > 0.999);
        assert_eq!(sum[15_000..], before[15_000..], "two numbers stay as they are");
    }

    #[test]
    fn numbers_that_stand_out_step_after_step_are_kept() {
        let layout = layout(&[4000]);
        let mut denoiser = Denoiser::new(Denoising::Wiener, &layout, NoiseLaw::Gaussian, 1.0);
        let mut kept = [0.0f64; 2];
        for _ in 0..300 {
            let mut sum = normals(4000, 1.0);
            sum[..2000].iter_mut().for_each(|u| *u += 10.0);
            let before = sum.clone();
            denoiser.apply(&mut sum).unwrap();
            for (part, range) in kept.iter_mut().zip([0..2000, 2000..4000]) {
                let length = |v: &[f32]| v.iter().map(|u| f64::from(*u).powi(2)).sum::<f64>().sqrt();
                *part = length(&sum[range.clone()]) / length(&before[range]);
            }
        }
        assert!(kept[0] > 0.97 && kept[1] < 0.3, "{kept:?}");
        assert_eq!(denoiser.state().1, 300);
    }

    #[test]
    fn what_is_remembered_goes_on() {
        let layout = layout(&[50]);
        let sums: Vec<Vec<f32>> = (0..10).map(|_| normals(50, 1.5)).collect();
        let make = || Denoiser::new(Denoising::Wiener, &layout, NoiseLaw::Gaussian, 1.0);
        let run = |denoiser: &mut Denoiser, sums: &[Vec<f32>]| -> Vec<Vec<f32>> {
            let one = |sum: &Vec<f32>| {
                let mut sum = sum.clone();
                denoiser.apply(&mut sum).unwrap();
                sum
            };
            sums.iter().map(one).collect()
        };
        let whole = run(&mut make(), &sums);
        let (mut first, mut second) = (make(), make());
        let before = run(&mut first, &sums[..5]);
        let (squares, steps) = first.state();
        second.restore(squares.to_vec(), steps);
        assert_eq!([before, run(&mut second, &sums[5..])].concat(), whole);
    }

    #[test]
    fn one_weight_follows_the_distance_from_noise() {
        assert_eq!(weight_of(0.001), 0.0);
        assert_eq!(weight_of(0.002), 1.0);
        assert_eq!(weight_of(0.5), 5.0);
        assert_eq!(kolmogorov_smirnov(vec![1.0, 2.0, 3.0], vec![1.0, 2.0, 3.0]), 0.0);
        assert_eq!(kolmogorov_smirnov(vec![1.0, 2.0], vec![3.0, 4.0]), 1.0);
        assert_eq!(kolmogorov_smirnov(vec![1.0, 2.0, 2.0, 5.0], vec![2.0, 3.0]), 0.25);
        let layout = layout(&[100_000]);
        let mut denoiser = Denoiser::new(Denoising::Weighted, &layout, NoiseLaw::Gaussian, 3.0);
        let mut sum = normals(100_000, 6.0);
        let before = sum.clone();
        denoiser.apply(&mut sum).unwrap();
        assert!(sum.iter().zip(&before).all(|(u, before)| *u == 5.0 * before), "far from the noise");
    }
}
