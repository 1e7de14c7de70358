//! Functions of one number that need their argument again, and random zeros.

use super::super::kernel::activation::{sigmoid, tanh};
use super::{Below, Flow, Op, Scratch, sized};
use pulp::{Arch, Simd, WithSimd};
use reticent_noise::Entropy;
use reticent_noise::entropy::Bits;

/// Functions whose slope follows from the argument.
#[derive(Debug, Clone, Copy)]
pub(in crate::native) enum Smooth {
    /// x·Φ(x), by the hyperbolic tangent.
    Gelu,
    /// x·sigmoid(x).
    Silu,
}

/// √(2/π).
const SPREAD: f32 = 0.797_884_6;
const CUBE: f32 = 0.044_715;

impl Smooth {
    #[inline(always)]
    fn value(self, x: f32) -> f32 {
        match self {
            Self::Gelu => 0.5 * x * (1.0 + tanh(SPREAD * (x + CUBE * x * x * x))),
            Self::Silu => x * sigmoid(x),
        }
    }

    #[inline(always)]
    fn slope(self, x: f32) -> f32 {
        match self {
            Self::Gelu => {
                let t = tanh(SPREAD * (x + CUBE * x * x * x));
                0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * SPREAD * (1.0 + 3.0 * CUBE * x * x)
            }
            Self::Silu => {
                let s = sigmoid(x);
                s * (1.0 + x * (1.0 - s))
            }
        }
    }
}

struct Values<'a>(Smooth, &'a [f32], &'a mut [f32]);

impl WithSimd for Values<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (y, x) in self.2.iter_mut().zip(self.1) {
            *y = self.0.value(*x);
        }
    }
}

struct Slopes<'a>(Smooth, Flow<'a>, Below<'a>);

impl WithSimd for Slopes<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self(activation, flow, below) = self;
        for ((into, g), x) in below.gradient.iter_mut().zip(flow.gradient.iter()).zip(flow.input) {
            let slope = g * activation.slope(*x);
            *into = if below.add { *into + slope } else { slope };
        }
    }
}

impl Op for Smooth {
    fn forward(&self, _: &[f32], _: usize, input: &[f32], output: &mut [f32], _: &mut Scratch) {
        Arch::new().dispatch(Values(*self, input, output));
    }

    fn backward(&self, _: &[f32], _: usize, flow: Flow<'_>, below: Option<Below<'_>>, _: &mut Scratch) {
        if let Some(below) = below {
            Arch::new().dispatch(Slopes(*self, flow, below));
        }
    }
}

/// Zeroes a random share in training and enlarges the rest.
#[derive(Debug, Clone, Copy)]
pub(in crate::native) struct Dropout {
    pub(in crate::native) rate: f32,
    pub(in crate::native) size: usize,
}

impl Op for Dropout {
    fn forward(&self, _: &[f32], _: usize, input: &[f32], output: &mut [f32], scratch: &mut Scratch) {
        let mask = sized(&mut scratch.saved, input.len());
        // Without randomness from the operating system nothing is dropped, which no guarantee rests on.
        match if scratch.training { Entropy::new().ok() } else { None } {
            Some(mut entropy) => {
                let threshold = (f64::from(self.rate) * 65536.0) as u64;
                let keep = 1.0 / (1.0 - self.rate);
                for quarter in mask.chunks_mut(4) {
                    let mut word = entropy.word();
                    for place in quarter {
                        *place = if word & 0xffff < threshold { 0.0 } else { keep };
                        word >>= 16;
                    }
                }
            }
            None => mask.fill(1.0),
        }
        for ((y, x), mask) in output.iter_mut().zip(input).zip(mask.iter()) {
            *y = x * mask;
        }
    }

    fn backward(&self, _: &[f32], _: usize, flow: Flow<'_>, below: Option<Below<'_>>, scratch: &mut Scratch) {
        if let Some(Below { gradient, add }) = below {
            for ((into, g), mask) in gradient.iter_mut().zip(flow.gradient.iter()).zip(&scratch.saved) {
                *into = if add { *into + g * mask } else { g * mask };
            }
        }
    }

    fn memory(&self) -> (usize, usize) {
        (self.size, 0)
    }
}
