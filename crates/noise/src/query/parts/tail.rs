//! How far linear functions of noise go: one at a time, or all at once.
//!
//! | symbol | meaning |
//! |---|---|
//! | wᵢ | weights of the function |
//! | Zᵢ | the noise of the entries, independent |
//! | β | probability of a miss |

use super::release::Law;
use crate::mechanism::Accuracy;
use reticent_core::Confidence;
use reticent_core::special::{bisect, normal_tail_quantile};

/// Covers the rounding of special functions and of the searches.
const SLACK: f64 = 1.0 + 1e-11;
/// Sums of up to this many equal weights have their exact tail.
const EXACT_TERMS: u64 = 500;

/// A weight and how many entries have it.
pub(super) type Weight = (f64, u64);

impl Law {
    /// e with P(|Σ wᵢZᵢ| > e) ≤ β.
    pub(super) fn pointwise(&self, weights: &[Weight], beta: f64) -> f64 {
        let weights: Vec<Weight> =
            weights.iter().filter(|(w, n)| *w != 0.0 && *n > 0).map(|(w, n)| (w.abs(), *n)).collect();
        let terms: u64 = weights.iter().map(|(_, n)| n).sum();
        let total: f64 = weights.iter().map(|(w, n)| w * *n as f64).sum();
        if let [(weight, 1)] = weights[..] {
            return weight * self.single(beta) * SLACK;
        }
        if terms == 0 {
            return 0.0;
        }
        let error = match self {
            Self::Laplace(noise) => {
                let scale = noise.scale().next_up();
                let union = total * self.single(beta / terms as f64);
                union.min(chernoff(&weights, scale, beta)).min(
                    // Continuous Laplace noise is less than 1 away from the discrete one it is coupled to.
                    scale * exact_sum(&weights, terms, beta) + total,
                )
            }
            Self::Gaussian(noise) => {
                let norm = weights.iter().map(|(w, n)| w * w * *n as f64).sum::<f64>().sqrt();
                let union = total * self.single(beta / terms as f64);
                (noise.sigma() * norm * normal_tail_quantile(beta / 2.0) + total * noise.rounding()).min(union)
            }
        };
        error * SLACK
    }

    /// The error of one entry.
    fn single(&self, beta: f64) -> f64 {
        let Ok(confidence) = Confidence::new((1.0 - beta).next_up().clamp(f64::EPSILON, 1f64.next_down())) else {
            return f64::INFINITY;
        };
        match self {
            Self::Laplace(noise) => noise.error(confidence),
            Self::Gaussian(noise) => noise.error(confidence),
        }
    }

    /// A region that the noise of `dimension` entries lies in with probability at least 1 − β.
    pub(super) fn region(&self, dimension: usize, beta: f64) -> Region {
        let dimension = dimension.max(1) as u32;
        let top = f64::from(dimension) + 800.0;
        match self {
            Self::Laplace(noise) => {
                let radius = bisect(0.0, top, |y| upper_gamma(2 * dimension, y) > beta);
                Region { euclidean: false, radius: noise.scale().next_up() * radius * SLACK, rounding: 1.0 }
            }
            Self::Gaussian(noise) => {
                let radius = (2.0 * bisect(0.0, top, |y| upper_gamma(dimension, y) > beta)).sqrt();
                Region { euclidean: true, radius: noise.sigma() * radius * SLACK, rounding: noise.rounding() }
            }
        }
    }
}

/// Where the noise of a group lies: a ball in the norm of its density (ℓ1 for Laplace, ℓ2 for Gaussian noise), widened by what
/// rounding to integers moves each entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Region {
    euclidean: bool,
    radius: f64,
    rounding: f64,
}

impl Region {
    /// The largest |Σ wᵢZᵢ| in the region, for any weights: convex in them.
    pub(super) fn reach(&self, weights: &[f64]) -> f64 {
        let dual = if self.euclidean {
            weights.iter().map(|w| w * w).sum::<f64>().sqrt()
        } else {
            weights.iter().fold(0.0, |most: f64, w| most.max(w.abs()))
        };
        (self.radius * dual + self.rounding * weights.iter().map(|w| w.abs()).sum::<f64>()) * SLACK
    }
}

/// The tail of Σ wᵢLᵢ by its moment generating function: Π 1/(1 − c(λwᵢ)) with c(x) = (cosh x − 1)/(cosh(1/scale) − 1).
fn chernoff(weights: &[Weight], scale: f64, beta: f64) -> f64 {
    let largest = weights.iter().fold(0.0, |most: f64, (w, _)| most.max(*w));
    // (cosh x − 1) = 2 sinh²(x/2).
    let square = |x: f64| libm::sinh(x / 2.0) * libm::sinh(x / 2.0);
    let whole = square(1.0 / scale);
    let at = |share: f64| {
        let rate = share / (largest * scale);
        let logs: f64 =
            weights.iter().map(|(w, n)| -libm::log1p(-(square(rate * w) / whole).min(1.0)) * *n as f64).sum();
        (libm::log(2.0 / beta) + logs) / rate
    };
    // Every rate is valid; the bound has one minimum, which a ternary search finds well enough.
    let (mut low, mut high) = (1e-6, 1.0 - 1e-9);
    for _ in 0..60 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        *(if at(a) < at(b) { &mut high } else { &mut low }) = if at(a) < at(b) { b } else { a };
    }
    at(low).min(at(high))
}

/// x with P(|Σ wᵢLᵢ| > x) ≤ β for Laplace noise of scale 1: the weights are raised until the tail has a closed form.
fn exact_sum(weights: &[Weight], terms: u64, beta: f64) -> f64 {
    let largest = weights.iter().fold(0.0, |most: f64, (w, _)| most.max(*w));
    let top = terms as f64 * (libm::log(terms as f64 / beta) + 1.0);
    let equal = if terms <= EXACT_TERMS {
        largest * bisect(0.0, top, |x| equal_tail(terms, x) > beta)
    } else {
        f64::INFINITY
    };
    if terms > 3 {
        return equal;
    }
    let mut apart: Vec<f64> =
        weights.iter().flat_map(|(w, n)| std::iter::repeat_n(*w, *n as usize)).collect();
    apart.sort_by(f64::total_cmp);
    for i in 1..apart.len() {
        apart[i] = apart[i].max(apart[i - 1] * 1.05);
    }
    let tail = |x: f64| -> f64 {
        let term = |i: usize| {
            let others = apart.iter().enumerate().filter(|(j, _)| *j != i);
            let factor: f64 = others.map(|(_, w)| 1.0 / (1.0 - (w / apart[i]) * (w / apart[i]))).product();
            factor * libm::exp(-x / apart[i])
        };
        (0..apart.len()).map(term).sum::<f64>() + 1e-12
    };
    equal.min(bisect(0.0, top * apart[apart.len() - 1], |x| tail(x) > beta))
}

/// P(|L₁ + … + Lᵣ| > x) for independent Laplace noise of scale 1.
fn equal_tail(terms: u64, x: f64) -> f64 {
    let r = terms as f64;
    // hᵢ = C(r + i − 1, i)·2^−(r + i), summed up to i.
    let mut step = libm::exp(-r * std::f64::consts::LN_2);
    let mut sums = vec![step];
    for i in 1..terms {
        step *= (r + i as f64 - 1.0) / i as f64 / 2.0;
        sums.push(sums[sums.len() - 1] + step);
    }
    let (mut power, mut tail) = (libm::exp(-x), 0.0);
    for j in 0..terms {
        tail += power * sums[(terms - 1 - j) as usize];
        power *= x / (j as f64 + 1.0);
    }
    2.0 * tail
}

/// The regularized upper incomplete gamma function Q(a, y) for 2a = `twice`.
fn upper_gamma(twice: u32, y: f64) -> f64 {
    let (mut tail, mut term, mut a) = if twice.is_multiple_of(2) {
        (0.0, libm::exp(-y), 1.0)
    } else {
        // √y·e^−y/Γ(3/2) is the first term after erfc(√y).
        (libm::erfc(y.sqrt()), libm::exp(-y) * (4.0 * y / std::f64::consts::PI).sqrt(), 1.5)
    };
    let count = twice / 2;
    for _ in 0..count {
        tail += term;
        term *= y / a;
        a += 1.0;
    }
    tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_the_distributions() {
        // By mpmath, 30 digits.
        let known = [(1, 3.0, 0.049_787_068_367_863_944), (2, 4.0, 0.054_946_916_666_202_55)];
        for (terms, x, tail) in known {
            assert!((equal_tail(terms, x) / tail - 1.0).abs() < 1e-12, "{terms}");
        }
    }
}
