//! The Poisson-sampled Gaussian and Gaussian mixtures, by quadrature at any real order.
//!
//! | name | symbol | meaning |
//! |---|---|---|
//! | `rate` | q | probability of a record to be in the sample |
//! | `sigma` | σ | noise multiplier |
//! | | r(x) | 1 − q + q·e^{(2x−1)/(2σ²)}, the likelihood ratio at x ~ N(0, σ²) |
//! | | A_α | E[r(x)^α] = e^{(α−1)D_α} |
//!
//! The trapezoid rule with step h on an integrand that is analytic for |Im x| < a errs by at most
//! 2M/(e^{2πa/h} − 1), M bounding its integral along the edge of the strip. On |Im x| ≤ a < πσ² the ratio
//! satisfies |r(x + ia)| ≤ r(Re x), so M ≤ e^{a²/2σ²}·A_α: with h ≤ min(σ/8, 0.4σ²) the relative error is
//! below 10⁻²⁰. Both the lower direction and sampling without the record are dominated by A_α (Mironov,
//! Talwar, Zhang 2019, theorem 5).

/// The sum is cut where the density of every component is below e^{−13²/2}.
pub(super) const TAILS: f64 = 13.0;

/// More points than this are refused (the order is simply not used).
pub(super) const MOST_POINTS: f64 = 400_000.0;

/// ln A_α of the sampled Gaussian, rounded up; infinite when the order is out of reach.
///
/// # Guarantee
/// An upper bound on (α − 1)·D_α in both directions, for add-remove neighbours and Poisson sampling.
///
/// # Reference
/// Mironov, Talwar, Zhang, *Rényi differential privacy of the sampled Gaussian mechanism* (2019).
pub fn sampled_gaussian_log_moment(rate: f64, sigma: f64, order: f64) -> f64 {
    let quadratic = order * (order - 1.0) / (2.0 * sigma * sigma);
    if rate == 0.0 {
        return 0.0;
    }
    if rate == 1.0 {
        return quadratic * (1.0 + 1e-15);
    }
    let log_moment = mixture_log_moment(&[0.0, 1.0], &[1.0 - rate, rate], sigma, order);
    // Sampling never costs more than not sampling.
    log_moment.min(quadratic * (1.0 + 1e-15))
}

/// ln E[r^power] for r(x) = Σ pᵢ e^{(2sᵢx − sᵢ²)/(2σ²)}, x ~ N(0, σ²), and power > 1 or < 0, rounded up.
///
/// # Guarantee
/// At power α an upper bound on (α − 1)·D_α of the mixture of N(sᵢ, σ²) from N(0, σ²); at power 1 − α,
/// of N(0, σ²) from the mixture.
///
/// # Reference
/// As [`sampled_gaussian_log_moment`].
pub fn mixture_log_moment(sensitivities: &[f64], probabilities: &[f64], sigma: f64, power: f64) -> f64 {
    let parts: Vec<(f64, f64)> =
        sensitivities.iter().copied().zip(probabilities.iter().copied()).filter(|(_, p)| *p > 0.0).collect();
    let largest = parts.iter().map(|(s, _)| *s).fold(0.0, f64::max);
    if largest == 0.0 {
        return 0.0;
    }
    let scale = sigma * sigma / largest;
    let step = (sigma / 8.0).min(0.4 * scale);
    let (from, to) = (power.min(0.0) * largest - TAILS * sigma, power.max(1.0) * largest + TAILS * sigma);
    let points = ((to - from) / step).ceil();
    if points.is_nan() || points > MOST_POINTS {
        return f64::INFINITY;
    }
    // The probabilities are known to about 1e-9: made to add up exactly.
    let total: f64 = parts.iter().map(|(_, p)| p).sum();
    // Excess of r^α over 1 + α(r − 1): positive, and E[r − 1] = 0, so nothing cancels in the sum.
    let mut logs = Vec::with_capacity(points as usize + 1);
    for i in 0..=points as u64 {
        let x = from + step * i as f64;
        let exponent = |s: f64| s * (2.0 * x - s) / (2.0 * sigma * sigma);
        let top = parts.iter().map(|(s, _)| exponent(*s)).fold(f64::NEG_INFINITY, f64::max);
        let rise = parts.iter().map(|(s, p)| p / total * libm::expm1(exponent(*s).min(30.0))).sum::<f64>();
        // ln r, relative to the largest exponent where r is not close to 1.
        let excess = if top < 30.0 && rise > -0.5 {
            log_excess(rise, power)
        } else {
            let scaled: f64 = parts.iter().map(|(s, p)| p / total * libm::exp(exponent(*s) - top)).sum();
            log_excess_far(top + libm::log(scaled), power)
        };
        logs.push(excess - 0.5 * (x / sigma) * (x / sigma));
    }
    log_one_plus(&logs, step, sigma)
}

/// ln(1 + E[F]), from ln of F times the density of N(0, σ²) without its factor at points that far apart, rounded up.
pub(super) fn log_one_plus(logs: &[f64], step: f64, sigma: f64) -> f64 {
    if logs.iter().any(|log| log.is_nan()) {
        return f64::INFINITY;
    }
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.iter().map(|l| libm::exp(l - top)).sum();
    let log_excess = top + libm::log(sum * step / (sigma * (2.0 * std::f64::consts::PI).sqrt()));
    // ln(1 + e^l), with what rounding of a sum of positive terms can add.
    let size = 1.0 + top.abs() * 1e-3;
    let value = if log_excess > 30.0 {
        log_excess + libm::exp(-log_excess)
    } else {
        libm::log1p(libm::exp(log_excess))
    };
    value * (1.0 + 1e-11) + (value.min(1.0)) * 1e-12 * size
}

/// ln(r^α − 1 − α(r − 1)) from ln r, for r away from 1; where it is large, from above.
pub(super) fn log_excess_far(log_ratio: f64, power: f64) -> f64 {
    let log_power = power * log_ratio;
    if log_power > 30.0 {
        // α(r − 1) is positive for large r and α > 1, and for small r and α < 0: at most r^α.
        return log_power;
    }
    if power < 0.0 && log_ratio > 30.0 {
        return log_ratio + libm::log(-power);
    }
    let rise = libm::expm1(log_ratio);
    libm::log((libm::expm1(log_power) - power * rise).max(f64::MIN_POSITIVE))
}

/// ln((1 + y)^α − 1 − αy) for y > −1 and α outside [0, 1], where it is convex; −∞ when y = 0.
pub(super) fn log_excess(y: f64, power: f64) -> f64 {
    if y == 0.0 {
        return f64::NEG_INFINITY;
    }
    if (power * y).abs() < 1e-3 && y.abs() < 1e-3 {
        // α(α−1)/2·y²·(1 + (α−2)/3·y·(1 + (α−3)/4·y·(1 + (α−4)/5·y)))
        let series =
            1.0 + (power - 2.0) / 3.0 * y * (1.0 + (power - 3.0) / 4.0 * y * (1.0 + (power - 4.0) / 5.0 * y));
        return libm::log(power * (power - 1.0) / 2.0 * series) + 2.0 * libm::log(y.abs());
    }
    let log_power = power * libm::log1p(y);
    if log_power > 30.0 {
        return log_power + libm::log1p(-(1.0 + power * y) * libm::exp(-log_power));
    }
    // What cancellation may have taken is given back.
    let (grown, linear) = (libm::expm1(log_power), power * y);
    libm::log((grown - linear + 4.0 * f64::EPSILON * (grown.abs() + linear.abs())).max(f64::MIN_POSITIVE))
}
