//! A random number of runs, of which the best is kept.

use super::convert::least_over_orders;
use super::curve::RdpCurve;
use super::poisson_selection::poisson_and_select;
use reticent_core::special::bisect;

/// The curve of keeping the best of K runs, K ~ truncated negative binomial with this mean and shape η.
///
/// D_α ≤ ε(α) + (1 + η)·min over α̂ ≥ 1 of ((1 − 1/α̂)ε(α̂) + ln(1/γ)/α̂) + ln(mean)/(α − 1), and no more
/// than the same at any higher α. γ is the parameter that gives the mean. Shape 1 is the geometric
/// distribution, shape 0 the logarithmic one; mean 1 is a single run. An infinite shape is a Poisson number of runs, which
/// has a bound of its own.
///
/// # Guarantee
/// Under the relation of the inner curve ε, both directions. The runs are independent, K does not depend
/// on the data, and what is released is the output of the best run in any fixed order of outputs. Rounded up.
///
/// # Reference
/// Papernot, Steinke, *Hyperparameter tuning with Rényi differential privacy* (2022), theorem 2.
pub fn repeat_and_select(inner: RdpCurve, mean: f64, shape: f64) -> RdpCurve {
    if shape == f64::INFINITY {
        return poisson_and_select(inner, mean);
    }
    if mean <= 1.0 {
        return inner;
    }
    let log_inverse = log_inverse_parameter_up(mean, shape);
    let guarded = |value: f64| if value.is_nan() { f64::INFINITY } else { value };
    let (least, _) =
        least_over_orders(|order| guarded((order - 1.0) / order * inner.at(order) + log_inverse / order));
    // α̂ = 1 asks nothing of the inner curve.
    let switched = (1.0 + shape) * least.min(log_inverse) * (1.0 + 1e-14);
    let log_mean = libm::log(mean);
    let plain = move |epsilon: f64, order: f64| {
        guarded((epsilon + switched + log_mean / (order - 1.0)) * (1.0 + 1e-14))
    };
    let (lowest, lowest_at) = least_over_orders(|order| plain(inner.at(order), order));
    RdpCurve::new(move |order| {
        let own = plain(inner.at(order), order);
        // Divergences grow with the order: a lower bound at a higher order holds here too.
        if order <= lowest_at { own.min(lowest) } else { own }
    })
}

/// ln(1/γ) of the truncated negative binomial with this mean above 1, rounded up.
fn log_inverse_parameter_up(mean: f64, shape: f64) -> f64 {
    let below = |t: f64| mean_down(t, shape) < mean;
    let mut high = 1.0;
    while below(high) {
        high *= 2.0;
        if !f64::is_finite(high) {
            return f64::INFINITY;
        }
    }
    bisect(0.0, high, below)
}

/// η(1 − γ)/(γ(1 − γ^η)) at γ = e^{−t}, rounded down; it grows with t from 1.
///
/// Written as e^{(1 + min(η, 0))t}·(1 − e^{−t})/((1 − e^{−|η|t})/|η|): nothing cancels or overflows early.
fn mean_down(t: f64, shape: f64) -> f64 {
    if t == 0.0 {
        return 1.0;
    }
    let size = shape.abs();
    let below = if size * t < 1e-17 { t } else { -libm::expm1(-size * t) / size };
    let growth = (1.0 + shape.min(0.0)) * t;
    libm::exp(growth) * (-libm::expm1(-t) / below) * (1.0 - 2e-15 * (1.0 + growth)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_at_extreme_means_and_shapes() {
        // 40-digit roots; each is met from above, to what the mean's own rounding allows.
        let cases = [
            (1.000_000_001, -0.9, 2.000_000_158_147_408e-8),
            (1.000_000_001, 0.0, 2.000_000_164_147_408_5e-9),
            (1.000_000_001, 1.0, 1.000_000_082_240_371e-9),
            (1.000_000_001, 50.0, 3.921_568_950_590_203e-11),
            (1.5, -0.9, 5.066_306_571_456_89),
            (1.5, 0.0, 0.762_688_560_850_339),
            (1.5, 1.0, 0.405_465_108_108_164_4),
            (1.5, 50.0, 0.017_085_391_870_856_62),
            (10.0, -0.9, 24.079_456_082_993_2),
            (10.0, 50.0, 0.182_303_225_695_814_9),
            (1e6, -0.9, 139.208_710_736_221_04),
            (1e6, 0.0, 16.626_508_965_366_29),
            (1e6, 1.0, 13.815_510_557_964_274),
            (1e6, 50.0, 9.903_537_551_286_17),
        ];
        for (mean, shape, exact) in cases {
            let ours = log_inverse_parameter_up(mean, shape);
            let room = 1e-13 + 1e-14 / (mean - 1.0);
            assert!(
                ours >= exact * (1.0 - 1e-15) && ours <= exact * (1.0 + 10.0 * room),
                "{mean} {shape}: {ours} {exact}"
            );
        }
        for shape in [-1.0 + f64::EPSILON, -1e-300, 1e-300, 1e300] {
            assert!(log_inverse_parameter_up(3.0, shape) > 0.0, "{shape}");
        }
    }
}
