use super::{DiscreteLaplaceSampler, Dyadic, bernoulli_exp, big};
use crate::entropy::Bits;
use dashu_int::UBig;

/// Discrete Gaussian: P(X = x) ∝ e^{−x²/(2σ²)} on the integers.
///
/// # Reference
/// Canonne, Kamath, Steinke (2020), algorithm 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiscreteGaussianSampler {
    sigma: Dyadic,
    /// ⌊σ⌋ + 1, the scale of the proposal.
    t: u128,
    proposal: DiscreteLaplaceSampler,
}

impl DiscreteGaussianSampler {
    /// The sampler with this σ.
    pub fn new(sigma: Dyadic) -> Self {
        let t = (sigma.numerator.checked_shr(sigma.shift).unwrap_or(0)) + 1;
        Self { sigma, t, proposal: DiscreteLaplaceSampler::new(Dyadic::integer(t)) }
    }

    /// The σ.
    pub fn sigma(&self) -> Dyadic {
        self.sigma
    }

    /// One draw. Beyond ±2¹²⁶ it saturates.
    #[inline]
    pub fn sample<B: Bits>(&self, bits: &mut B) -> i128 {
        loop {
            let candidate = self.proposal.sample(bits);
            // With σ = p/q the acceptance exponent (|y| − σ²/t)²/(2σ²) is
            // (|y|·t·q² − p²)² / (2·p²·q²·t²).
            let accept = match self.exponent(candidate.unsigned_abs()) {
                Some((num, den)) => bernoulli_exp(bits, num, den),
                None => {
                    let (num, den) = self.exponent_wide(candidate.unsigned_abs());
                    big::bernoulli_exp(bits, &num, &den)
                }
            };
            if accept {
                return candidate;
            }
        }
    }

    #[inline]
    fn exponent(&self, magnitude: u128) -> Option<(u128, u128)> {
        let p = self.sigma.numerator;
        if p > 1 << 28 || self.sigma.shift > 30 {
            return None;
        }
        let (pp, qq) = (p * p, 1u128 << (2 * self.sigma.shift));
        let gap = magnitude.checked_mul(self.t)?.checked_mul(qq)?.abs_diff(pp);
        let num = gap.checked_mul(gap)?;
        let den = pp.checked_mul(2)?.checked_mul(qq)?.checked_mul(self.t * self.t)?;
        Some((num, den))
    }

    #[cold]
    fn exponent_wide(&self, magnitude: u128) -> (UBig, UBig) {
        let square = |v: UBig| &v * &v;
        let (p, q, t) = (UBig::from(self.sigma.numerator), self.sigma.denominator(), UBig::from(self.t));
        let (pp, qq) = (square(p), square(q));
        let scaled = UBig::from(magnitude) * &t * &qq;
        let gap = if scaled > pp { scaled - &pp } else { &pp - scaled };
        (square(gap), UBig::from(2u8) * pp * qq * square(t))
    }
}
