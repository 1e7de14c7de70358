//! Batches of fixed size drawn without replacement.

use std::sync::Mutex;

/// Orders above this are not worth their sum.
const MOST_TERMS: u64 = 512;

/// Sums of more points than this are not worth their time.
const MOST_POINTS: f64 = 20_000.0;

/// What the bound needs of the mechanism that is run on a batch, under replace-one.
pub struct Inner<'a> {
    /// ε(j), its Rényi curve.
    pub curve: &'a dyn Fn(f64) -> f64,
    /// ln of the forward difference Σᵢ(−1)^{l−i}C(l,i)e^{(i−1)ε(i)} = E[(r − 1)^l] at even l, if known.
    pub log_difference: Option<&'a dyn Fn(u64) -> f64>,
}

/// D_α of a mechanism run on a batch without replacement, at any order, rounded up.
///
/// With γ = batch/size, ε(j) the mechanism's curve and B(l) its forward differences:
/// (α−1)D_α ≤ ln(1 + γ²C(α,2)·min{4(e^{ε(2)} − 1), 2e^{ε(2)}}
/// + Σ_{j=3}^α γ^j C(α,j)·min{4√(B(2⌊j/2⌋)B(2⌈j/2⌉)), 2e^{(j−1)ε(j)}}) at integer α.
///
/// # Guarantee
/// Replace-one neighbours; the inner curve must be for replace-one too. Rounded up. Between integers
/// (α − 1)D_α is convex, so a chord of it is an upper bound.
///
/// # Reference
/// Wang, Balle, Kasiviswanathan, *Subsampled Rényi Differential Privacy and Analytical Moments
/// Accountant* (2019), theorems 9 and 27.
pub fn without_replacement_rdp(rate: f64, order: f64, inner: &Inner<'_>) -> f64 {
    let whole = order.floor();
    let at = |n: f64| if n <= 1.0 { 0.0 } else { log_moment(rate, n as u64, inner) };
    let chord =
        if whole == order { at(whole) } else { at(whole) + (order - whole) * (at(whole + 1.0) - at(whole)) };
    // Sampling never costs more than not sampling.
    (chord / (order - 1.0) * (1.0 + 1e-13)).min((inner.curve)(order))
}

fn log_moment(rate: f64, order: u64, inner: &Inner<'_>) -> f64 {
    if order > MOST_TERMS {
        return f64::INFINITY;
    }
    let n = order as f64;
    let log_choose = |j: f64| libm::lgamma(n + 1.0) - libm::lgamma(j + 1.0) - libm::lgamma(n - j + 1.0);
    let two = (inner.curve)(2.0);
    let second = libm::log((4.0 * libm::expm1(two)).min(2.0 * libm::exp(two)));
    let mut logs = vec![2.0 * libm::log(rate) + log_choose(2.0) + second];
    for j in 3..=order {
        let plain = std::f64::consts::LN_2 + (j - 1) as f64 * (inner.curve)(j as f64);
        let term = inner.log_difference.map_or(plain, |b| {
            plain.min(2.0 * std::f64::consts::LN_2 + 0.5 * (b(j / 2 * 2) + b(j.div_ceil(2) * 2)))
        });
        logs.push(j as f64 * libm::log(rate) + log_choose(j as f64) + term);
    }
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let log_sum = top + libm::log(logs.iter().map(|l| libm::exp(l - top)).sum());
    let value = if log_sum > 30.0 { log_sum + libm::exp(-log_sum) } else { libm::log1p(libm::exp(log_sum)) };
    value * (1.0 + 1e-11)
}

/// ln E[(r − 1)^l] of the Gaussian at even l, r = e^{(2x−1)/(2σ²)}, x ~ N(0, σ²), remembered.
pub(crate) struct GaussianDifferences {
    sigma: f64,
    known: Mutex<Vec<Option<f64>>>,
}

impl GaussianDifferences {
    pub(crate) fn new(sigma: f64) -> Self {
        Self { sigma, known: Mutex::new(vec![None; MOST_TERMS as usize + 2]) }
    }

    pub(crate) fn log_difference(&self, l: u64) -> f64 {
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Some(slot) = known.get_mut(l as usize) else { return f64::INFINITY };
        *slot.get_or_insert_with(|| even_difference(self.sigma, l as f64))
    }
}

/// By the trapezoid rule, whose error is that of the sampled Gaussian's moments.
fn even_difference(sigma: f64, l: f64) -> f64 {
    let step = (sigma / 8.0).min(0.4 * sigma * sigma);
    let (from, to) = (-13.0 * sigma, l + 13.0 * sigma);
    let points = ((to - from) / step).ceil();
    if points.is_nan() || points > MOST_POINTS {
        return f64::INFINITY;
    }
    let points = points as u64;
    let logs: Vec<f64> = (0..=points)
        .map(|i| {
            let x = from + step * i as f64;
            let rise = libm::expm1((2.0 * x - 1.0) / (2.0 * sigma * sigma)).abs();
            l * libm::log(rise) - 0.5 * (x / sigma) * (x / sigma)
        })
        .collect();
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.iter().map(|l| libm::exp(l - top)).sum();
    top + libm::log(sum * step / (sigma * (2.0 * std::f64::consts::PI).sqrt())) + 1e-12
}
