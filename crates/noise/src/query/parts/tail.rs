//! How far linear functions of noise go.
//!
//! | symbol | meaning |
//! |---|---|
//! | wᵢ | weights of the function |
//! | Zᵢ | the noise of the entries, independent |
//! | β | probability of a miss |

use super::release::Law;
use crate::mechanism::Accuracy;
use reticent_core::Confidence;
use reticent_core::rounding::mul_up;
use reticent_core::special::{bisect, normal_tail_quantile};

/// Covers the rounding of special functions and of the searches.
const SLACK: f64 = 1.0 + 1e-11;
/// Sums of up to this many equal weights have their exact tail. For more of them e^−x would underflow before the tail is small.
const EXACT_TERMS: u64 = 500;

/// A weight and how many entries have it.
pub(super) type Weight = (f64, u64);

impl Law {
    /// e with P(|Σ wᵢZᵢ| > e) ≤ β.
    pub(super) fn pointwise(&self, weights: &[Weight], beta: f64) -> f64 {
        let mut weights: Vec<Weight> =
            weights.iter().filter(|(w, n)| *w != 0.0 && *n > 0).map(|(w, n)| (w.abs(), *n)).collect();
        weights.sort_by(|a, b| a.0.total_cmp(&b.0));
        weights.dedup_by(|next, kept| {
            next.0 == kept.0 && {
                kept.1 += next.1;
                true
            }
        });
        let terms: u64 = weights.iter().map(|(_, n)| n).sum();
        let total: f64 = weights.iter().map(|(w, n)| w * *n as f64).sum();
        if let [(weight, 1)] = weights[..] {
            return mul_up(weight, self.single(beta));
        }
        if terms == 0 {
            return 0.0;
        }
        let error = match self {
            Self::Laplace(noise) => {
                let scale = noise.scale().next_up();
                let union = total * self.single(beta / terms as f64);
                // Continuous Laplace noise is less than 1 away from the discrete one it is coupled to.
                let exact = scale * exact_sum(&weights, terms, beta) + total;
                let least = union.min(exact);
                // Of few terms, these know more than the moments do, unless a whole step is much.
                if terms <= 3 && scale > 16.0 { least } else { least.min(chernoff(&weights, scale, beta)) }
            }
            Self::Gaussian(noise) => {
                let norm = weights.iter().map(|(w, n)| w * w * *n as f64).sum::<f64>().sqrt();
                let union = total * self.single(beta / terms as f64);
                (noise.sigma() * norm * normal_tail_quantile(beta / 2.0) + total * noise.rounding())
                    .min(union)
            }
        };
        error * SLACK
    }

    /// The error of one entry.
    fn single(&self, beta: f64) -> f64 {
        let Ok(confidence) = Confidence::new((1.0 - beta).next_up().clamp(f64::EPSILON, 1f64.next_down()))
        else {
            return f64::INFINITY;
        };
        match self {
            Self::Laplace(noise) => noise.error(confidence),
            Self::Gaussian(noise) => noise.error(confidence),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::{DiscreteLaplace, IntegerGaussian, Mechanism};
    use reticent_core::{Delta, Scale, Sensitivity};

    /// Tails by mpmath with 30 digits.
    #[test]
    fn tails_are_those_of_the_distributions() {
        let sums = [
            (1, 3.0, 0.049_787_068_367_863_94),
            (2, 4.0, 0.054_946_916_666_202_54),
            (3, 5.0, 0.048_850_115_743_369_64),
            (10, 9.0, 0.046_797_267_205_914_64),
            (40, 20.0, 0.026_238_848_825_155_99),
        ];
        for (terms, x, tail) in sums {
            assert!((equal_tail(terms, x) / tail - 1.0).abs() < 1e-12, "{terms}: {}", equal_tail(terms, x));
        }
    }

    fn laplace(scale: f64) -> Law {
        Law::Laplace(DiscreteLaplace::with_scale(1, Scale::new(scale).unwrap()).unwrap())
    }

    /// P(|Σ wᵢZᵢ| > e) for discrete Laplace noise, summed over all outcomes; weights are multiples of 1/20.
    fn exact_miss(weights: &[Weight], scale: f64, error: f64) -> f64 {
        let a = (-1.0 / scale).exp();
        let mass = |k: i64| (1.0 - a) / (1.0 + a) * a.powi(k.unsigned_abs() as i32);
        let window = (30.0 * scale) as i64;
        let mut law = std::collections::BTreeMap::from([(0i64, 1.0)]);
        for (weight, count) in weights {
            let twentieths = (weight * 20.0).round() as i64;
            for _ in 0..*count {
                let mut next = std::collections::BTreeMap::new();
                for (at, p) in &law {
                    for k in -window..=window {
                        *next.entry(at + twentieths * k).or_insert(0.0) += p * mass(k);
                    }
                }
                law = next;
            }
        }
        law.iter().filter(|(at, _)| (**at as f64 / 20.0).abs() > error).map(|(_, p)| p).sum()
    }

    #[test]
    fn pointwise_errors_hold_for_all_outcomes() {
        let cases: [&[Weight]; 7] = [
            &[(1.0, 1)],
            &[(1.0, 2)],
            &[(0.3, 1), (0.7, 1)],
            &[(0.5, 1), (-0.5, 1), (0.05, 1)],
            &[(1.0, 3)],
            &[(0.1, 2), (0.9, 2)],
            &[(0.5, 4)],
        ];
        for weights in cases {
            for scale in [0.5, 2.0, 5.0] {
                for beta in [0.5, 0.05, 0.001] {
                    let error = laplace(scale).pointwise(weights, beta);
                    let miss = exact_miss(weights, scale, error);
                    assert!(miss <= beta + 1e-9, "{weights:?} {scale} {beta}: {error} is missed with {miss}");
                    // Half of it would not do.
                    let half = exact_miss(weights, scale, error / 2.5);
                    assert!(
                        half > beta || error < 4.0 || beta > 0.1,
                        "{weights:?} {scale} {beta}: {error} is too wide"
                    );
                }
            }
        }
    }

    #[test]
    fn many_terms_do_better_than_one_by_one() {
        let law = laplace(1000.0);
        let union = |terms: u64| terms as f64 * law.single(0.05 / terms as f64);
        for terms in [2, 10, 100, 400] {
            let error = law.pointwise(&[(1.0, terms)], 0.05);
            assert!(error < 0.75 * union(terms), "{terms}: {error} {}", union(terms));
            // The normal limit: 1.96·√(2·terms) scales.
            let normal = 1.96 * (2.0 * terms as f64).sqrt() * 1000.0;
            assert!(
                error > 0.9 * normal && error < 1.1 * normal + 1.5 * terms as f64,
                "{terms}: {error} {normal}"
            );
        }
        assert!(law.pointwise(&[(1.0, 5000)], 0.05) < 1.5 * 1.96 * (10_000f64).sqrt() * 1000.0);
        let delta = Delta::new(1e-6).unwrap();
        let normal =
            IntegerGaussian::with_sigma(Sensitivity::new(1.0).unwrap(), Scale::new(100.0).unwrap(), delta, 9)
                .unwrap();
        assert!(normal.guarantee().epsilon.get() > 0.0);
        let law = Law::Gaussian(normal);
        let error = law.pointwise(&[(1.0, 4)], 0.05);
        assert!((392.0..395.0).contains(&error), "{error}");
        assert_eq!(law.pointwise(&[(0.0, 3)], 0.05), 0.0);
    }
}
