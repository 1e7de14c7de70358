//! A Poisson number of runs, of which the best is kept.

use super::convert::{delta_at_order, least_over_orders, orders};
use super::curve::{RdpCurve, log_sum_exp};
use reticent_core::Epsilon;

/// The curve of keeping the best of K runs, K ~ Poisson with this mean μ; where K = 0 that is all that is released.
///
/// (α − 1)·D_α ≤ ln(e^{−μ} + μ·e^{(α−1)(ε(α) + μδ̂)}), δ̂ being a δ of one run at e^{ε̂} = α/(α − 1), and no more than the same
/// at any higher α.
///
/// # Guarantee
/// Under the relation of the inner curve ε, both directions. The runs are independent, K does not depend
/// on the data, and what is released is the output of the best run in any fixed order of outputs. Rounded up.
///
/// # Reference
/// Papernot, Steinke, *Hyperparameter tuning with Rényi differential privacy* (2022), theorem 6, with the term for K = 0.
pub(super) fn poisson_and_select(inner: RdpCurve, mean: f64) -> RdpCurve {
    let table: Vec<(f64, f64)> = orders().map(|order| (order, inner.at(order))).collect();
    let spread = move |order: f64| -> f64 {
        // ln(α/(α − 1)), rounded down.
        let Ok(at) = Epsilon::new(-libm::log1p(-1.0 / order) * (1.0 - 1e-14)) else { return 1.0 };
        table.iter().map(|(order, divergence)| delta_at_order(*divergence, *order, at)).fold(1.0, f64::min)
    };
    let log_mean = libm::log(mean);
    let plain = move |divergence: f64, order: f64| {
        let exponent = (order - 1.0) * (divergence + mean * spread(order));
        let total = log_sum_exp(-mean, log_mean + exponent);
        let bound = (total + 1e-13 * (1.0 + mean + exponent.abs() + log_mean.abs())) / (order - 1.0);
        if bound.is_nan() { f64::INFINITY } else { bound }
    };
    let (lowest, lowest_at) = least_over_orders(|order| plain(inner.at(order), order));
    RdpCurve::new(move |order| {
        let own = plain(inner.at(order), order);
        // Divergences grow with the order: a lower bound at a higher order holds here too.
        if order <= lowest_at { own.min(lowest) } else { own }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D_α of two discrete laws, the larger of both directions.
    fn divergence(order: f64, p: &[f64], q: &[f64]) -> f64 {
        let one = |p: &[f64], q: &[f64]| -> f64 {
            let log = |(p, q): (&f64, &f64)| order * libm::log(*p) + (1.0 - order) * libm::log(*q);
            p.iter().zip(q).map(log).fold(f64::NEG_INFINITY, |sum, next| log_sum_exp(next, sum))
        };
        one(p, q).max(one(q, p)) / (order - 1.0)
    }

    /// The best of a Poisson number of runs, the outputs in increasing order; first the probability of no run.
    fn best(law: &[f64], mean: f64) -> Vec<f64> {
        let generating = |x: f64| libm::exp(mean * (x - 1.0));
        let mut below = 0.0;
        let mut masses = vec![libm::exp(-mean)];
        for mass in law {
            masses.push(generating(below + mass) - generating(below));
            below += mass;
        }
        masses
    }

    #[test]
    fn never_below_the_exact_divergence_of_small_mechanisms() {
        let pairs: [(&[f64], &[f64]); 5] = [
            (&[0.5, 0.5], &[0.4, 0.6]),
            (&[0.9, 0.1], &[0.8, 0.2]),
            (&[0.2, 0.3, 0.5], &[0.25, 0.35, 0.4]),
            (&[0.98, 0.01, 0.01], &[0.97, 0.01, 0.02]),
            (&[0.25, 0.25, 0.25, 0.25], &[0.24, 0.26, 0.25, 0.25]),
        ];
        for (p, q) in pairs {
            for mean in [1.0, 2.5, 10.0, 40.0] {
                let (first, second) = (p.to_vec(), q.to_vec());
                let inner = RdpCurve::new(move |order| divergence(order, &first, &second));
                let bound = poisson_and_select(inner, mean);
                for order in [1.05, 1.5, 2.0, 4.0, 16.0, 64.0] {
                    let exact = divergence(order, &best(p, mean), &best(q, mean));
                    assert!(bound.at(order) >= exact, "{p:?} {mean} {order}: {} {exact}", bound.at(order));
                }
            }
        }
    }

    /// δ̂ = 0 while e^ε is below α/(α − 1): the cost is then that of one run and ln μ/(α − 1).
    #[test]
    fn a_pure_run_costs_little_more() {
        let bound = poisson_and_select(RdpCurve::new(|_| 0.1), 20.0).at(10.0);
        let plain = 0.1 + libm::log(20.0) / 9.0;
        assert!(bound > 0.1 && bound <= plain + 1e-9, "{bound} {plain}");
    }
}
