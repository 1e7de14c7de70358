//! The distributions that samplers and mechanisms claim, from their formulas and not from their code.

use libm::{exp, expm1, tanh};
use reticent_core::special::{beta_inc, normal_cdf, normal_tail};
use std::f64::consts::PI;

/// P(X = x) of the discrete Laplace distribution.
pub fn discrete_laplace_pmf(x: i128, scale: f64) -> f64 {
    tanh(0.5 / scale) * exp(-(x.unsigned_abs() as f64) / scale)
}

/// P(X ≤ x) of the discrete Laplace distribution.
pub fn discrete_laplace_cdf(x: i128, scale: f64) -> f64 {
    let tail = |distance: f64| exp(-distance / scale) / (1.0 + exp(-1.0 / scale));
    if x < 0 { tail(x.unsigned_abs() as f64) } else { 1.0 - tail(x as f64 + 1.0) }
}

/// P(X ≥ x) of the geometric distribution with ratio e^{−1/t}, for x ≥ 0.
pub fn geometric_tail(x: u128, t: f64) -> f64 {
    exp(-(x as f64) / t)
}

/// P(X = x) of the geometric distribution with ratio e^{−1/t}.
pub fn geometric_pmf(x: u128, t: f64) -> f64 {
    -expm1(-1.0 / t) * geometric_tail(x, t)
}

/// P(X = x) of the discrete Gaussian for every |x| ≤ reach, in order.
pub fn discrete_gaussian_pmf(reach: i64, sigma: f64) -> Vec<f64> {
    let weight = |x: i64| exp(-0.5 * (x as f64 / sigma).powi(2));
    // By Poisson summation the whole weight is σ√2π to within e^{−2π²σ²}.
    let whole = if sigma > 4.0 {
        sigma * (2.0 * PI).sqrt()
    } else {
        let reach = (40.0 * sigma).ceil() as i64 + 1;
        (-reach..=reach).map(weight).sum()
    };
    (-reach..=reach).map(|x| weight(x) / whole).collect()
}

/// P(X ≤ x) of the discrete Gaussian with a σ so large that its midpoint rule is exact to 1/(24σ²).
pub fn discrete_gaussian_cdf_wide(x: i128, sigma: f64) -> f64 {
    normal_cdf((x as f64 + 0.5) / sigma)
}

/// P(⌊σZ⌋ = k) for a standard normal Z, accurate in both tails.
pub fn rounded_normal_mass(k: i128, sigma: f64) -> f64 {
    let (near, far) = if k >= 0 { (k, k + 1) } else { (-k - 1, -k) };
    normal_tail(near as f64 / sigma) - normal_tail(far as f64 / sigma)
}

/// P(⌊σZ⌋ ≤ k).
pub fn rounded_normal_cdf(k: i128, sigma: f64) -> f64 {
    normal_cdf((k as f64 + 1.0) / sigma)
}

/// P(T ≤ x) of Student's distribution with ν degrees of freedom.
pub fn student_cdf(x: f64, nu: f64) -> f64 {
    let tail = 0.5 * beta_inc(nu / 2.0, 0.5, nu / (nu + x * x));
    if x < 0.0 { tail } else { 1.0 - tail }
}

/// Reports of k-ary randomized response for one true category.
pub fn randomized_response(categories: usize, keep: f64, category: usize) -> Vec<f64> {
    let stray = (1.0 - keep) / (categories as f64 - 1.0);
    (0..categories).map(|reported| if reported == category { keep } else { stray }).collect()
}

/// The exponential mechanism with P(i) ∝ e^{rate·score}.
pub fn exponential_mechanism(scores: &[f64], rate: f64) -> Vec<f64> {
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = scores.iter().map(|score| exp(rate * (score - best))).collect();
    let whole: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / whole).collect()
}

/// Permute-and-flip with coins qᵢ = e^{−rate·(best − scoreᵢ)}: P(i) = qᵢ ∫₀¹ Π_{j≠i} (1 − u·qⱼ) du,
/// by multiplying the polynomial out.
pub fn permute_and_flip(scores: &[f64], rate: f64) -> Vec<f64> {
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let coins: Vec<f64> = scores.iter().map(|score| exp(rate * (score - best))).collect();
    let others = |skip: usize| {
        let mut polynomial = vec![1.0];
        for coin in coins.iter().enumerate().filter(|(j, _)| *j != skip).map(|(_, coin)| coin) {
            polynomial.push(0.0);
            for power in (1..polynomial.len()).rev() {
                polynomial[power] -= coin * polynomial[power - 1];
            }
        }
        polynomial.iter().enumerate().map(|(power, c)| c / (power as f64 + 1.0)).sum::<f64>()
    };
    (0..coins.len()).map(|i| coins[i] * others(i)).collect()
}

/// The first largest of whole scores after discrete Laplace noise of this scale.
pub fn report_noisy_max(scores: &[i128], scale: f64) -> Vec<f64> {
    let (low, high) = scores.iter().fold((i128::MAX, i128::MIN), |(l, h), s| (l.min(*s), h.max(*s)));
    let reach = (45.0 * scale) as i128 + 1;
    let at_most = |v: i128, score: i128| discrete_laplace_cdf(v - score, scale);
    let wins = |i: usize| {
        (low - reach..=high + reach)
            .map(|v| {
                let others = scores.iter().enumerate().filter(|(j, _)| *j != i);
                let beaten = others.map(|(j, s)| at_most(if j < i { v - 1 } else { v }, *s));
                discrete_laplace_pmf(v - scores[i], scale) * beaten.product::<f64>()
            })
            .sum()
    };
    (0..scores.len()).map(wins).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn masses_add_up() {
        let laplace: f64 = (-400..=400).map(|x| discrete_laplace_pmf(x, 2.5)).sum();
        let normal: f64 = (-40..40).map(|k| rounded_normal_mass(k, 3.0)).sum();
        let gaussian: f64 = discrete_gaussian_pmf(100, 2.5).iter().sum();
        let wide: f64 = discrete_gaussian_pmf(4000, 100.0).iter().sum();
        let geometric: f64 = (0..400).map(|x| geometric_pmf(x, 3.0)).sum();
        assert!([laplace, normal, gaussian, wide, geometric].iter().all(|total| close(*total, 1.0)));
        for choice in [
            exponential_mechanism(&[0.0, 1.0, 5.0], 0.7),
            permute_and_flip(&[0.0, 1.0, 5.0, 5.0, -3.0], 0.7),
            report_noisy_max(&[0, 1, 5, 5], 2.0),
            randomized_response(5, 0.4, 2),
        ] {
            assert!(close(choice.iter().sum(), 1.0), "{choice:?}");
        }
    }

    #[test]
    fn cumulative_and_pointwise_agree() {
        for x in -20..20 {
            let step = discrete_laplace_cdf(x, 1.7) - discrete_laplace_cdf(x - 1, 1.7);
            assert!(close(step, discrete_laplace_pmf(x, 1.7)));
            let step = rounded_normal_cdf(x, 1.7) - rounded_normal_cdf(x - 1, 1.7);
            assert!(close(step, rounded_normal_mass(x, 1.7)));
        }
    }

    #[test]
    fn known_values() {
        // Cauchy and the 97.5 % point at five degrees of freedom.
        assert!(close(student_cdf(1.0, 1.0), 0.75));
        assert!((student_cdf(2.570_581_835_636_314, 5.0) - 0.975).abs() < 1e-11);
        // Two candidates one coin-flip q apart: the better one wins with 1 − q/2.
        assert!(close(permute_and_flip(&[0.0, -1.0], 1.0)[0], 1.0 - 0.5 * exp(-1.0)));
        let equal = report_noisy_max(&[3, 3], 1.0);
        let tie: f64 = (-60..=60).map(|x| discrete_laplace_pmf(x, 1.0).powi(2)).sum();
        assert!(close(equal[0], 0.5 + tie / 2.0));
    }
}
