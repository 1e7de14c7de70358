//! What is known from below about batches of a shuffled data set.

use reticent_core::special::{normal_cdf, normal_tail};

/// One epoch of Gaussian steps over shuffled batches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shuffle {
    pub(crate) steps: f64,
    pub(crate) sigma: f64,
}

impl Shuffle {
    /// A δ that is certainly lost at ε: the best threshold on the largest of the noisy sums, when every other
    /// record pushes its batch the other way (Chua et al., *How private are DP-SGD implementations?*, 2024).
    /// With the record, one batch stands at 2 below the others' mirror image and the rest at 0; without it, at 1.
    pub(crate) fn delta_down(&self, epsilon: f64) -> f64 {
        let at = |threshold: f64| self.gain(threshold, epsilon);
        let (mut low, mut high) = (-10.0 * self.sigma, 2.0 + 40.0 * self.sigma);
        // Any threshold is a valid lower bound: a scan, then a finer one around the best.
        let mut best = (0.0f64, low);
        for _ in 0..3 {
            let step = (high - low) / 400.0;
            for i in 0..=400 {
                let threshold = low + step * f64::from(i);
                let gain = at(threshold);
                if gain > best.0 {
                    best = (gain, threshold);
                }
            }
            (low, high) = (best.1 - step, best.1 + step);
        }
        best.0
    }

    /// An ε that is certainly lost at δ.
    pub(crate) fn epsilon_down(&self, delta: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        if self.delta_down(0.0) <= delta {
            return 0.0;
        }
        while self.delta_down(high) > delta && high < 1e6 {
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if self.delta_down(middle) > delta {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// P(E) − e^ε·Q(E) for E = {the largest exceeds the threshold}, from below.
    fn gain(&self, threshold: f64, epsilon: f64) -> f64 {
        let (others, s) = (self.steps - 1.0, self.sigma);
        // 1 − Φ(C/s)^{T−1}·Φ((C − m)/s), with the product in logarithms.
        let exceeds = |shift: f64| {
            let log_others = others * libm::log1p(-normal_tail(threshold / s));
            let own = (threshold - shift) / s;
            if normal_cdf(own) < 0.5 {
                1.0 - libm::exp(log_others) * normal_cdf(own)
            } else {
                -libm::expm1(log_others + libm::log1p(-normal_tail(own)))
            }
        };
        let (p, q) = (exceeds(2.0), exceeds(1.0));
        p * (1.0 - 1e-12) - libm::exp(epsilon) * q * (1.0 + 1e-12) - 4.0 * f64::EPSILON
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_s_threshold_event() {
        let shuffle = Shuffle { steps: 1e4, sigma: 0.4 };
        assert!((shuffle.delta_down(4.0) - 0.226_055_636).abs() < 1e-7, "{}", shuffle.delta_down(4.0));
        let back = shuffle.epsilon_down(0.226_055_6);
        assert!((back - 4.0).abs() < 1e-4, "{back}");
        assert_eq!(Shuffle { steps: 100.0, sigma: 50.0 }.epsilon_down(0.1), 0.0);
    }
}
