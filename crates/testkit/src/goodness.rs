//! Does a sample come from the distribution it claims? Every answer is a p-value.
//!
//! | test | p-value |
//! |---|---|
//! | [`chi_square`], [`two_sample_chi_square`] | asymptotic; cells are pooled to at least [`POOL`] expected draws |
//! | [`binomial`] | exact, two-sided |
//! | [`ks`] | an upper bound for every sample size (Dvoretzky–Kiefer–Wolfowitz with Massart's constant) |

use libm::{exp, sqrt};
use reticent_core::special::{beta_inc, deviance, stirling_error};
use std::f64::consts::PI;

/// Neighbouring cells are merged until each expects at least this many draws.
pub const POOL: f64 = 100.0;

/// The outcome of a chi-square test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// Σ (observed − expected)² / expected.
    pub statistic: f64,
    /// Cells after pooling, less one.
    pub freedom: f64,
    /// Probability of a statistic at least this large if the claim is true.
    pub p_value: f64,
}

impl Fit {
    fn new(statistic: f64, cells: usize) -> Self {
        let freedom = cells.saturating_sub(1) as f64;
        let p_value = if freedom == 0.0 { 1.0 } else { gamma_upper(freedom / 2.0, statistic / 2.0) };
        Self { statistic, freedom, p_value }
    }
}

/// Counts against exact cell probabilities, which must add up to 1.
///
/// # Panics
/// When the lengths differ or the probabilities do not add up to 1.
pub fn chi_square(observed: &[u64], probabilities: &[f64]) -> Fit {
    assert_eq!(observed.len(), probabilities.len(), "one probability per cell");
    let total: f64 = probabilities.iter().sum();
    assert!((total - 1.0).abs() < 1e-9, "probabilities add up to {total}");
    let draws = observed.iter().sum::<u64>() as f64;
    let expected = probabilities.iter().map(|p| p * draws);
    let cells = pool(observed.iter().map(|o| *o as f64).zip(expected), |cell| cell.1 >= POOL);
    Fit::new(cells.iter().map(|(o, e)| (o - e).powi(2) / e).sum(), cells.len())
}

/// Two histograms over the same cells: do they come from the same distribution?
///
/// # Panics
/// When the lengths differ.
pub fn two_sample_chi_square(first: &[u64], second: &[u64]) -> Fit {
    assert_eq!(first.len(), second.len(), "the same cells twice");
    let (n, m) = (first.iter().sum::<u64>() as f64, second.iter().sum::<u64>() as f64);
    let pairs = first.iter().zip(second).map(|(a, b)| (*a as f64, *b as f64));
    let least = POOL / (n.min(m) / (n + m));
    let cells = pool(pairs, |(a, b)| a + b >= least);
    let term = |(a, b): &(f64, f64)| (sqrt(m / n) * a - sqrt(n / m) * b).powi(2) / (a + b);
    Fit::new(cells.iter().map(term).sum(), cells.len())
}

/// Merges neighbours until each cell is full enough; what is left over joins the last one.
fn pool(cells: impl Iterator<Item = (f64, f64)>, full: impl Fn((f64, f64)) -> bool) -> Vec<(f64, f64)> {
    let mut pooled = Vec::new();
    let mut open = (0.0, 0.0);
    for (a, b) in cells {
        open = (open.0 + a, open.1 + b);
        if full(open) {
            pooled.push(open);
            open = (0.0, 0.0);
        }
    }
    match pooled.last_mut() {
        Some(last) => *last = (last.0 + open.0, last.1 + open.1),
        None => pooled.push(open),
    }
    pooled
}

/// Exact two-sided p-value of `successes` out of `trials` at probability `p`.
pub fn binomial(successes: u64, trials: u64, p: f64) -> f64 {
    let (k, n) = (successes as f64, trials as f64);
    let at_least = if successes == 0 { 1.0 } else { beta_inc(k, n - k + 1.0, p) };
    let at_most = if successes >= trials { 1.0 } else { beta_inc(n - k, k + 1.0, 1.0 - p) };
    (2.0 * at_least.min(at_most)).min(1.0)
}

/// Exact p-value of so many or more failures out of `trials` when each has probability at most `p`.
pub fn too_many(failures: u64, trials: u64, p: f64) -> f64 {
    if failures == 0 { 1.0 } else { beta_inc(failures as f64, (trials - failures) as f64 + 1.0, p) }
}

/// Order statistics at which [`ks`] looks: looking at fewer only makes it more lenient, by 1/LOOKS.
const LOOKS: usize = 8192;

/// Kolmogorov–Smirnov: sorts `values` and returns an upper bound on the p-value of their largest
/// distance from the distribution with P(X ≤ v) = `le(v)` and P(X < v) = `lt(v)`.
pub fn ks<T: PartialOrd>(values: &mut [T], le: impl Fn(&T) -> f64, lt: impl Fn(&T) -> f64) -> f64 {
    let n = values.len() as f64;
    values.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Less));
    let last = values.len().saturating_sub(1);
    let mut distance = 0.0f64;
    for index in (0..last).step_by(values.len().div_ceil(LOOKS).max(1)).chain([last]) {
        let Some(value) = values.get(index) else { break };
        let before = values.partition_point(|other| other < value) as f64;
        let upto = values.partition_point(|other| other <= value) as f64;
        distance = distance.max((before / n - lt(value)).abs()).max((upto / n - le(value)).abs());
    }
    (2.0 * exp(-2.0 * n * distance * distance)).min(1.0)
}

/// Two-sided p-value of a correlation found in `n` independent pairs, by the normal approximation.
pub fn correlation(r: f64, n: usize) -> f64 {
    (2.0 * reticent_core::special::normal_tail(r.abs() * sqrt(n as f64))).min(1.0)
}

/// How often each of −reach…reach was drawn; the two end cells also hold everything beyond.
pub fn histogram(draws: u64, reach: i128, mut draw: impl FnMut() -> i128) -> Vec<u64> {
    let mut cells = vec![0; 2 * reach as usize + 1];
    for _ in 0..draws {
        cells[(draw().clamp(-reach, reach) + reach) as usize] += 1;
    }
    cells
}

/// Upper regularised incomplete gamma function Q(a, x), a > 0, to a relative 1e-12 or so in its tail.
pub fn gamma_upper(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    // x^a e^{−x} / Γ(a + 1), by Loader's saddle-point form: no large terms cancel.
    let front = exp(-stirling_error(a) - deviance(a, x)) / sqrt(2.0 * PI * a);
    if x < a + 1.0 {
        let (mut term, mut sum, mut k) = (1.0, 1.0, a);
        while term > sum * 1e-17 {
            k += 1.0;
            term *= x / k;
            sum += term;
        }
        return (1.0 - front * sum).clamp(0.0, 1.0);
    }
    // Lentz's method on the continued fraction of Γ(a, x)·x^{−a}·e^x.
    let mut b = x + 1.0 - a;
    let mut c = 1e300;
    let mut d = 1.0 / b;
    let mut h = d;
    for i in 1..100_000 {
        let i = f64::from(i);
        let an = -i * (i - a);
        b += 2.0;
        d = 1.0 / (an * d + b);
        c = b + an / c;
        h *= d * c;
        if (d * c - 1.0).abs() < 1e-16 {
            break;
        }
    }
    (front * a * h).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use libm::{lgamma, log};

    /// Q(k, x) = e^{−x} Σ_{i<k} xⁱ/i! for a whole k.
    fn poisson_sum(k: u32, x: f64) -> f64 {
        let terms = (0..k).map(|i| exp(f64::from(i) * log(x) - x - lgamma(f64::from(i) + 1.0)));
        terms.sum()
    }

    #[test]
    fn gamma_is_accurate_in_the_tail() {
        let cases = [(1u32, 0.5), (1, 40.0), (5, 3.0), (5, 60.0), (50, 40.0), (50, 130.0), (500, 700.0)];
        for (k, x) in cases {
            let (value, exact) = (gamma_upper(f64::from(k), x), poisson_sum(k, x));
            assert!((value / exact - 1.0).abs() < 1e-11, "Q({k}, {x}) = {value:e}, exactly {exact:e}");
        }
        // Half a degree of freedom: Q(½, x) = erfc(√x).
        for x in [0.01, 0.7, 4.0, 30.0, 200.0] {
            assert!((gamma_upper(0.5, x) / libm::erfc(sqrt(x)) - 1.0).abs() < 1e-11, "{x}");
        }
    }

    #[test]
    fn a_perfect_fit_and_a_bad_one() {
        let fit = chi_square(&[1000, 2000, 1000], &[0.25, 0.5, 0.25]);
        assert_eq!((fit.statistic, fit.freedom, fit.p_value), (0.0, 2.0, 1.0));
        assert!(chi_square(&[1200, 1800, 1000], &[0.25, 0.5, 0.25]).p_value < 1e-9);
        assert!(two_sample_chi_square(&[5000, 5000], &[500, 500]).p_value > 0.99);
        assert!(two_sample_chi_square(&[5000, 5000], &[400, 600]).p_value < 1e-7);
    }

    #[test]
    fn small_cells_are_pooled() {
        let fit = chi_square(&[1, 3, 996, 0], &[0.001, 0.002, 0.996, 0.001]);
        assert_eq!(fit.freedom, 0.0);
        assert_eq!(fit.p_value, 1.0);
    }

    #[test]
    fn binomial_is_exact() {
        assert!((binomial(0, 10, 0.5) - 2.0 / 1024.0).abs() < 1e-15);
        assert!((binomial(10, 10, 0.5) - 2.0 / 1024.0).abs() < 1e-15);
        assert_eq!(binomial(5, 10, 0.5), 1.0);
        assert!((too_many(10, 10, 0.5) - 1.0 / 1024.0).abs() < 1e-15 && too_many(0, 10, 0.5) == 1.0);
        assert!(binomial(1_000_000, 2_000_000, 0.5) == 1.0);
    }

    #[test]
    fn ks_sees_distance_in_discrete_and_continuous_values() {
        let mut even: Vec<f64> = (0..10_000).map(|i| (f64::from(i) + 0.5) / 10_000.0).collect();
        assert!(ks(&mut even, |v| *v, |v| *v) > 0.99);
        assert!(ks(&mut even, |v| v * v, |v| v * v) < 1e-100);
        let mut dice: Vec<i128> = (0..6000).map(|i| i % 6).collect();
        assert!(ks(&mut dice, |v| (*v + 1) as f64 / 6.0, |v| *v as f64 / 6.0) > 0.99);
    }
}
