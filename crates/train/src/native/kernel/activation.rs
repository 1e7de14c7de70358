//! Functions of one number over slices.

use crate::graph::Activation;
use pulp::{Arch, Simd, WithSimd};
use std::f32::consts::LOG2_E;

/// Adding and subtracting 1.5·2²³ rounds a number below 2²² to the nearest integer.
const ROUNDER: f32 = 12_582_912.0;

/// e^x within 2 units in the last place, for x cut to −87.3…88.7; NaN for NaN.
#[inline(always)]
pub(in crate::native) fn exp(x: f32) -> f32 {
    let x = x.clamp(-87.3, 88.7);
    let shifted = x.mul_add(LOG2_E, ROUNDER);
    let n = shifted - ROUNDER;
    let r = n.mul_add(-0.693_359_4, x);
    let r = n.mul_add(2.121_944_4e-4, r);
    let mut p = 1.987_569_1e-4f32;
    for c in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        p = p.mul_add(r, c);
    }
    let p = p.mul_add(r * r, r) + 1.0;
    // The low bits of the shifted number are n; it goes into the exponent in two halves, since 2¹²⁸ is not representable.
    let n = (shifted.to_bits() as i32).wrapping_sub(ROUNDER.to_bits() as i32);
    let half = n >> 1;
    let power = |n: i32| f32::from_bits((n.wrapping_add(127) << 23) as u32);
    p * power(half) * power(n.wrapping_sub(half))
}

/// tanh x within a few units in the last place.
#[inline(always)]
pub(in crate::native) fn tanh(x: f32) -> f32 {
    let square = x * x;
    let mut p = -5.704_988_7e-3f32;
    for c in [2.063_909e-2, -5.373_971_5e-2, 1.333_144_2e-1, -3.333_328e-1] {
        p = p.mul_add(square, c);
    }
    let near = p.mul_add(square * x, x);
    let far = 1.0 - 2.0 / (exp(2.0 * x.abs()) + 1.0);
    if x.abs() < 0.625 { near } else { far.copysign(x) }
}

#[inline(always)]
pub(in crate::native) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

struct Apply<'a>(Activation, &'a mut [f32]);

impl WithSimd for Apply<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        match self.0 {
            Activation::Relu => {
                for x in self.1 {
                    // NaN stays NaN.
                    *x = if *x < 0.0 { 0.0 } else { *x };
                }
            }
            Activation::Tanh => {
                for x in self.1 {
                    *x = tanh(*x);
                }
            }
            Activation::Sigmoid { scale, temperature, offset } => {
                for x in self.1 {
                    *x = scale * sigmoid(temperature * *x) - offset;
                }
            }
        }
    }
}

struct Slope<'a>(Activation, &'a [f32], &'a mut [f32]);

impl WithSimd for Slope<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let pairs = self.2.iter_mut().zip(self.1);
        match self.0 {
            Activation::Relu => {
                for (g, y) in pairs {
                    *g = if *y > 0.0 { *g } else { *y * 0.0 };
                }
            }
            Activation::Tanh => {
                for (g, y) in pairs {
                    *g *= 1.0 - y * y;
                }
            }
            Activation::Sigmoid { scale, temperature, offset } => {
                let (inverse, slope) = (1.0 / scale, scale * temperature);
                for (g, y) in pairs {
                    let s = (y + offset) * inverse;
                    *g *= slope * s * (1.0 - s);
                }
            }
        }
    }
}

impl Activation {
    /// Replaces every number by its value.
    pub(in crate::native) fn apply(self, values: &mut [f32]) {
        Arch::new().dispatch(Apply(self, values));
    }

    /// Multiplies gradients by the slope where the value is `y`.
    pub(in crate::native) fn slope(self, y: &[f32], gradient: &mut [f32]) {
        Arch::new().dispatch(Slope(self, y, gradient));
    }
}

/// The largest number of a row.
#[inline(always)]
fn largest<S: Simd>(simd: S, row: &[f32]) -> f32 {
    let (whole, rest) = S::as_simd_f32s(row);
    let mut most = simd.splat_f32s(f32::NEG_INFINITY);
    for x in whole {
        most = simd.max_f32s(*x, most);
    }
    rest.iter().fold(simd.reduce_max_f32s(most), |most, x| if *x > most { *x } else { most })
}

/// Turns each row of scores into probabilities.
pub(crate) fn softmax(rows: &mut [f32], width: usize, scale: f32) {
    struct Softmax<'a>(&'a mut [f32], usize, f32);
    impl WithSimd for Softmax<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            for row in self.0.chunks_exact_mut(self.1) {
                let most = largest(simd, row);
                for x in row.iter_mut() {
                    *x = exp((*x - most) * self.2);
                }
                let (whole, rest) = S::as_simd_f32s(row);
                let mut sums = simd.splat_f32s(0.0);
                for x in whole {
                    sums = simd.add_f32s(sums, *x);
                }
                let inverse = 1.0 / (simd.reduce_sum_f32s(sums) + rest.iter().sum::<f32>());
                for x in row.iter_mut() {
                    *x *= inverse;
                }
            }
        }
    }
    Arch::new().dispatch(Softmax(rows, width, scale));
}
