//! Two bounds on δ that cost nothing, and meet where hardly any noise is left.

use super::contour::{Bounds, Sum};

/// Thresholds tried, as powers of two.
const THRESHOLDS: std::ops::RangeInclusive<i32> = -6..=24;

impl Sum {
    /// δ at ε ≥ 0. From above: δ(ε) ≤ δ(0), and total variations compose as 1 − Π(1 − δᵢ(0)). From below: the event that
    /// some use of one loss exceeds a threshold.
    pub(super) fn extremes(&self, epsilon: f64) -> Bounds {
        let kept: f64 =
            self.parts.iter().map(|(count, loss)| count * libm::log1p(-loss.delta(0.0).upper)).sum();
        let upper = (-libm::expm1(kept) * (1.0 + 1e-12)).clamp(0.0, 1.0);
        let some = |count: f64, one: f64| -libm::expm1(count * libm::log1p(-one.min(1.0)));
        let gain = |threshold: f64| {
            let best = self.parts.iter().map(|(count, loss)| {
                let tails = loss.tails(threshold);
                let (p, q) = (some(*count, tails.p_above), some(*count, tails.q_above));
                p * (1.0 - 1e-11) - libm::exp(epsilon) * q * (1.0 + 1e-11)
            });
            best.filter(|gain| gain.is_finite()).fold(0.0, f64::max)
        };
        let lower = THRESHOLDS.map(|k| gain(epsilon + libm::exp2(f64::from(k)))).fold(0.0, f64::max);
        if upper.is_nan() || lower > upper * (1.0 + 1e-9) + 1e-300 {
            return Bounds { lower: 0.0, upper: 1.0 };
        }
        Bounds { lower: lower.min(upper), upper }
    }
}
