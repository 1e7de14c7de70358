//! Special functions in plain double precision, with the accuracy each one states.

use libm::{erfc, exp, fma, lgamma, log};
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Scaled complementary error function e^{x²} erfc(x) for x ≥ 0, to a relative 1e-15 or so.
pub fn erfcx(x: f64) -> f64 {
    debug_assert!(x >= 0.0);
    if x < 2.0 {
        let square = x * x;
        let rest = fma(x, x, -square);
        return exp(square) * (1.0 + rest) * erfc(x);
    }
    // Continued fraction √π·erfcx(x) = 1/(x + (1/2)/(x + (2/2)/(x + (3/2)/(x + …)))), from the bottom.
    let depth = if x < 3.0 {
        160
    } else if x < 6.0 {
        80
    } else {
        40
    };
    let tail = (1..=depth).rev().fold(x, |tail, k| x + 0.5 * f64::from(k) / tail);
    1.0 / (tail * PI.sqrt())
}

/// Mills ratio (1 − Φ(t)) / φ(t) for t ≥ 0.
pub fn mills(t: f64) -> f64 {
    (PI / 2.0).sqrt() * erfcx(t * FRAC_1_SQRT_2)
}

/// Standard normal density.
pub fn normal_pdf(t: f64) -> f64 {
    exp(-0.5 * t * t) / (2.0 * PI).sqrt()
}

/// Standard normal distribution function Φ.
pub fn normal_cdf(t: f64) -> f64 {
    0.5 * erfc(-t * FRAC_1_SQRT_2)
}

/// Standard normal upper tail 1 − Φ(t), accurate in the far tail.
pub fn normal_tail(t: f64) -> f64 {
    0.5 * erfc(t * FRAC_1_SQRT_2)
}

/// The t with upper tail `p`, 0 < p < 1, to a relative 1e-12 or so; infinite at the ends.
pub fn normal_tail_quantile(p: f64) -> f64 {
    if p > 0.5 {
        return -normal_tail_quantile_small(1.0 - p);
    }
    normal_tail_quantile_small(p)
}

fn normal_tail_quantile_small(p: f64) -> f64 {
    if p <= 0.0 {
        return f64::INFINITY;
    }
    if p == 0.5 {
        return 0.0;
    }
    bisect(0.0, 39.0, |t| normal_tail(t) > p)
}

/// The point of [low, high] where a predicate that is true below it turns false, to adjacent doubles.
pub fn bisect(mut low: f64, mut high: f64, below: impl Fn(f64) -> bool) -> f64 {
    loop {
        let middle = low + 0.5 * (high - low);
        if middle <= low || middle >= high {
            return high;
        }
        if below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// Regularised incomplete beta function I_x(a, b), a and b positive, to an absolute 1e-12 or so.
pub fn beta_inc(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast below the mean; above it the other tail is taken.
    if x > (a + 1.0) / (a + b + 2.0) { 1.0 - beta_lower(b, a, 1.0 - x) } else { beta_lower(a, b, x) }
}

fn beta_lower(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    (beta_density_times(a, b, x) / a * beta_fraction(a, b, x)).clamp(0.0, 1.0)
}

/// x^a (1−x)^b / B(a, b), by Loader's saddle-point form: no large terms cancel.
fn beta_density_times(a: f64, b: f64, x: f64) -> f64 {
    let n = a + b;
    let exponent = stirling_error(n)
        - stirling_error(a)
        - stirling_error(b)
        - deviance(a, n * x)
        - deviance(b, n * (1.0 - x));
    (a * b / (2.0 * PI * n)).sqrt() * exp(exponent)
}

/// ln Γ(n + 1) − (n + ½) ln n + n − ½ ln 2π.
pub fn stirling_error(n: f64) -> f64 {
    if n < 16.0 {
        return lgamma(n + 1.0) - (n + 0.5) * log(n) + n - 0.5 * log(2.0 * PI);
    }
    let s = 1.0 / (n * n);
    (1.0 / 12.0 - s * (1.0 / 360.0 - s * (1.0 / 1260.0 - s * (1.0 / 1680.0 - s / 1188.0)))) / n
}

/// k ln(k/m) + m − k, accurately when k is close to m.
pub fn deviance(k: f64, m: f64) -> f64 {
    let v = (k - m) / (k + m);
    if v.abs() >= 0.1 {
        return k * log(k / m) + m - k;
    }
    let series = (1..12).rev().fold(0.0, |sum, j| (sum + 1.0 / f64::from(2 * j + 1)) * v * v);
    (k - m) * v + 2.0 * k * v * series
}

/// The continued fraction of the incomplete beta function, by the modified Lentz method.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const FLOOR: f64 = 1e-300;
    let guard = |v: f64| if v.abs() < FLOOR { FLOOR } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / guard(1.0 - (a + b) * x / (a + 1.0));
    let mut h = d;
    for m in 1..10_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / guard(1.0 + even * d);
        c = guard(1.0 + even / c);
        h *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / guard(1.0 + odd * d);
        c = guard(1.0 + odd / c);
        let step = d * c;
        h *= step;
        if (step - 1.0).abs() < 1e-16 {
            break;
        }
    }
    h
}

/// Clopper–Pearson bounds for a proportion: each side errs with probability at most `alpha_side`.
///
/// # Guarantee
/// For `successes` drawn from Binomial(trials, p), `p < lower` has probability at most `alpha_side`,
/// and so has `p > upper`.
///
/// # Reference
/// Clopper, Pearson, *The use of confidence or fiducial limits illustrated in the case of the
/// binomial*, Biometrika 26 (1934).
pub fn clopper_pearson(successes: u64, trials: u64, alpha_side: f64) -> (f64, f64) {
    let (k, n) = (successes.min(trials) as f64, trials as f64);
    // The incomplete beta function keeps about 11 digits in its small tail: move each end outward.
    let slack = 1e-10;
    let lower = if k == 0.0 {
        0.0
    } else {
        bisect(0.0, 1.0, |p| beta_inc(k, n - k + 1.0, p) < alpha_side) * (1.0 - slack)
    };
    let upper = if k == n {
        1.0
    } else {
        bisect(0.0, 1.0, |p| beta_inc(n - k, k + 1.0, 1.0 - p) > alpha_side) * (1.0 + slack)
    };
    (lower.max(0.0), upper.min(1.0))
}

#[cfg(test)]
#[path = "special_tests.rs"]
mod tests;
