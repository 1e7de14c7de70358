use super::bernoulli::bernoulli_exp_one;
use super::{Dyadic, bernoulli_exp, big, uniform_below};
use crate::entropy::Bits;
use dashu_int::UBig;

/// Failures before the first success: P(X = x) = (1 − e^{−1/t}) e^{−x/t}, for t < 2⁶⁴.
///
/// X = U + tV with U on {0, …, t−1} proportional to e^{−U/t} and V geometric with ratio e⁻¹.
///
/// # Reference
/// Canonne, Kamath, Steinke (2020), algorithm 2.
#[inline]
pub fn geometric<B: Bits>(bits: &mut B, t: u64) -> u128 {
    let start = loop {
        let candidate = uniform_below(bits, t);
        if bernoulli_exp(bits, u128::from(candidate), u128::from(t)) {
            break candidate;
        }
    };
    let mut rounds = 0u128;
    while bernoulli_exp_one(bits) {
        rounds += 1;
    }
    u128::from(start) + u128::from(t) * rounds
}

/// Discrete Laplace: P(X = x) ∝ e^{−|x|/scale} on the integers.
///
/// # Reference
/// Canonne, Kamath, Steinke (2020), algorithm 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiscreteLaplaceSampler {
    scale: Dyadic,
}

impl DiscreteLaplaceSampler {
    /// The sampler with this scale.
    pub fn new(scale: Dyadic) -> Self {
        Self { scale }
    }

    /// The scale.
    pub fn scale(&self) -> Dyadic {
        self.scale
    }

    /// One draw. Beyond ±2¹²⁶, which has probability below e^(−2²⁶), it saturates.
    #[inline]
    pub fn sample<B: Bits>(&self, bits: &mut B) -> i128 {
        match u64::try_from(self.scale.numerator) {
            Ok(t) if self.scale.shift < 64 => loop {
                let magnitude = (geometric(bits, t) >> self.scale.shift) as i128;
                let negative = bits.bit();
                if !(negative && magnitude == 0) {
                    return if negative { -magnitude } else { magnitude };
                }
            },
            _ => big::saturate(&big::discrete_laplace(
                bits,
                &UBig::from(self.scale.numerator),
                &self.scale.denominator(),
            )),
        }
    }
}
