//! How many trials a search has.

use super::{bernoulli, uniform_below};
use crate::entropy::Bits;
use reticent_core::InvalidValue;

/// 2⁶⁰: the denominator of the success probability.
const WHOLE: u64 = 1 << 60;

/// The largest mean: a trial takes minutes, and means beyond it would need a finer probability.
const MOST_MEAN: f64 = 1e4;

/// The law of the number of trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialLaw {
    /// P(K = k) = γ(1 − γ)^{k−1}: the truncated negative binomial of shape 1.
    Geometric,
    /// P(K = k) = (1 − γ)^k/(k·ln(1/γ)): that of shape 0.
    Logarithmic,
}

impl TrialLaw {
    /// The shape η of the truncated negative binomial, as the event `repeat_and_select` states it.
    pub fn shape(self) -> f64 {
        match self {
            Self::Geometric => 1.0,
            Self::Logarithmic => 0.0,
        }
    }
}

/// A random number of trials, at least 1.
///
/// # Guarantee
/// [`draw`](Self::draw) has exactly the law given here, with a γ that makes its mean at most `mean`: costs grow with the mean, so an event
/// that states `mean` covers it.
///
/// # Reference
/// Papernot, Steinke, *Hyperparameter tuning with Rényi differential privacy* (2022), definition 1; the samplers' proof, claim 7.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialCount {
    law: TrialLaw,
    /// γ·2⁶⁰.
    success: u64,
}

impl TrialCount {
    /// A number of trials with this law and mean.
    ///
    /// # Errors
    /// [`InvalidValue`] unless the mean is from 1 to 10⁴.
    pub fn new(law: TrialLaw, mean: f64) -> Result<Self, InvalidValue> {
        if !(1.0..=MOST_MEAN).contains(&mean) {
            return Err(InvalidValue::new("trials", mean, "give a mean number of trials from 1 to 10000"));
        }
        // A γ a little larger than the mean's own, by more than all rounding here.
        let parameter = match law {
            TrialLaw::Geometric => 1.0 / mean,
            TrialLaw::Logarithmic => logarithmic_parameter(mean),
        } * (1.0 + 1e-9);
        Ok(Self { law, success: ((parameter * WHOLE as f64) as u64).min(WHOLE) })
    }

    /// The number of trials.
    pub fn draw<B: Bits>(&self, bits: &mut B) -> u64 {
        loop {
            let mut count = 1;
            while !bernoulli(bits, u128::from(self.success), u128::from(WHOLE)) {
                count += 1;
            }
            match self.law {
                TrialLaw::Geometric => return count,
                // (1 − γ)^{k−1} thinned by 1/k.
                TrialLaw::Logarithmic if uniform_below(bits, count) == 0 => return count,
                TrialLaw::Logarithmic => {}
            }
        }
    }
}

/// γ with (1/γ − 1)/ln(1/γ) = mean, to about 10⁻¹².
fn logarithmic_parameter(mean: f64) -> f64 {
    // With t = ln(1/γ) the mean is (e^t − 1)/t, which grows with t from 1.
    let (mut low, mut high) = (0.0, 64.0);
    for _ in 0..200 {
        let t = 0.5 * (low + high);
        let own = if t < 1e-9 { 1.0 + t / 2.0 } else { libm::expm1(t) / t };
        if own < mean { low = t } else { high = t }
    }
    libm::exp(-low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::SeededForTests;

    /// The mean of the law with the γ that is drawn with.
    fn mean(count: &TrialCount) -> f64 {
        let parameter = count.success as f64 / WHOLE as f64;
        match count.law {
            TrialLaw::Geometric => 1.0 / parameter,
            TrialLaw::Logarithmic if parameter == 1.0 => 1.0,
            TrialLaw::Logarithmic => (1.0 / parameter - 1.0) / -parameter.ln(),
        }
    }

    #[test]
    fn the_mean_is_met_from_below() {
        for law in [TrialLaw::Geometric, TrialLaw::Logarithmic] {
            for asked in [1.0, 1.000001, 1.5, 10.0, 137.0, 1e4] {
                let own = mean(&TrialCount::new(law, asked).unwrap());
                assert!(own <= asked && own >= asked * (1.0 - 1e-5), "{law:?} {asked} {own}");
            }
            for asked in [0.99, f64::NAN, f64::INFINITY, 1.1e4] {
                assert!(TrialCount::new(law, asked).is_err());
            }
        }
    }

    #[test]
    fn numbers_have_their_law() {
        let mut bits = SeededForTests::new(7);
        for law in [TrialLaw::Geometric, TrialLaw::Logarithmic] {
            let count = TrialCount::new(law, 3.0).unwrap();
            let parameter = count.success as f64 / WHOLE as f64;
            let draws = 60_000;
            let mut seen = [0u32; 8];
            for _ in 0..draws {
                let own = count.draw(&mut bits) as usize;
                seen[own.min(8) - 1] += 1;
            }
            for (place, seen) in seen[..7].iter().enumerate() {
                let k = place as f64 + 1.0;
                let exact = match law {
                    TrialLaw::Geometric => parameter * (1.0 - parameter).powf(k - 1.0),
                    TrialLaw::Logarithmic => (1.0 - parameter).powf(k) / (k * -parameter.ln()),
                };
                let spread = 6.0 * (exact * (1.0 - exact) / f64::from(draws)).sqrt();
                assert!((f64::from(*seen) / f64::from(draws) - exact).abs() < spread, "{law:?} {k}");
            }
        }
    }
}
