//! Totals that need no approximation: one use of one loss, and a few answers with three outcomes each.

use super::contour::{Bounds, Sum};
use super::loss::PrivacyLoss;

/// Outcomes listed at most.
const MOST_OUTCOMES: usize = 200_000;

/// A total loss whose δ(ε) is a finite expression.
pub(super) enum Exact<'a> {
    /// One use.
    Single(&'a PrivacyLoss),
    /// Every value of the total with its probability, the losses increasing.
    Listed(Listed),
}

pub(super) struct Listed {
    /// (loss, Σ of P-mass from here on, Σ of P-mass·e^{−loss} from here on).
    outcomes: Vec<(f64, f64, f64)>,
    /// Relative error of every mass, and absolute error of every loss.
    doubt: f64,
    drift: f64,
}

impl Sum {
    pub(super) fn exact(&self) -> Option<Exact<'_>> {
        match &self.parts[..] {
            [(count, loss)] if *count == 1.0 => Some(Exact::Single(loss)),
            parts => listed(parts).map(Exact::Listed),
        }
    }
}

/// The net number of plusses over minuses in `count` uses: masses of −count, …, count.
pub(super) fn net(count: usize, plus: f64, minus: f64) -> Vec<f64> {
    let one = vec![minus, (1.0 - plus - minus).max(0.0), plus];
    let (mut result, mut power, mut left) = (vec![1.0], one, count);
    while left > 0 {
        if left % 2 == 1 {
            result = convolved(&result, &power);
        }
        left /= 2;
        if left > 0 {
            power = convolved(&power, &power);
        }
    }
    result
}

fn convolved(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            sum[i + j] += x * y;
        }
    }
    sum
}

fn listed(parts: &[(f64, PrivacyLoss)]) -> Option<Listed> {
    // Convolution squares the number of uses: a thousand at most.
    let mut total = 1.0;
    for (count, loss) in parts {
        let PrivacyLoss::Response { .. } = loss else { return None };
        total *= 2.0 * count + 1.0;
        if *count > 1000.0 || total > MOST_OUTCOMES as f64 {
            return None;
        }
    }
    let (mut sums, mut uses, mut reach) = (vec![(0.0, 1.0)], 0.0, 0.0);
    for (count, loss) in parts {
        let PrivacyLoss::Response { epsilon, plus, minus } = loss else { return None };
        let net = net(*count as usize, *plus, *minus);
        let mut next = Vec::with_capacity(sums.len() * net.len());
        for (at, mass) in &sums {
            for (i, share) in net.iter().enumerate().filter(|(_, share)| **share > 0.0) {
                next.push((at + (i as f64 - count) * epsilon, mass * share));
            }
        }
        sums = next;
        uses += count;
        reach += count * epsilon;
    }
    sums.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut p_sum, mut q_sum) = (0.0, 0.0);
    let mut outcomes: Vec<(f64, f64, f64)> = Vec::with_capacity(sums.len());
    for (loss, mass) in sums.into_iter().rev() {
        p_sum += mass;
        q_sum += mass * libm::exp(-loss);
        outcomes.push((loss, p_sum, q_sum));
    }
    outcomes.reverse();
    let doubt = (16.0 * uses + outcomes.len() as f64) * f64::EPSILON + 1e-14;
    Some(Listed { outcomes, doubt, drift: 16.0 * f64::EPSILON * reach })
}

impl Exact<'_> {
    /// Upper and lower bounds on δ at ε.
    pub(super) fn delta(&self, epsilon: f64) -> Bounds {
        match self {
            Self::Single(loss) => loss.delta(epsilon),
            Self::Listed(listed) => {
                let value = |epsilon: f64| {
                    let first = listed.outcomes.partition_point(|(loss, _, _)| *loss <= epsilon);
                    let (_, p, q) = listed.outcomes.get(first).copied().unwrap_or_default();
                    (p, libm::exp(epsilon) * q)
                };
                let (p, q) = value(epsilon - listed.drift);
                let upper = bounds(p - q, listed.doubt * (p + q)).upper;
                let (p, q) = value(epsilon + listed.drift);
                Bounds { lower: bounds(p - q, listed.doubt * (p + q)).lower, upper }
            }
        }
    }
}

fn bounds(value: f64, error: f64) -> Bounds {
    if value.is_nan() || !error.is_finite() {
        return Bounds { lower: 0.0, upper: 1.0 };
    }
    Bounds { lower: (value - error).max(0.0), upper: (value + error).clamp(0.0, 1.0) }
}
