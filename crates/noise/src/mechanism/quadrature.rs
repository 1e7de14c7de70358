//! Gauss–Legendre quadrature.

use std::f64::consts::PI;

/// The nodes on [0, 1] and their weights: exact for polynomials of degree below 2·`count`, up to rounding.
pub(super) fn legendre(count: usize) -> Vec<(f64, f64)> {
    let node = |index: usize| {
        let mut x = libm::cos(PI * (index as f64 + 0.75) / (count as f64 + 0.5));
        let mut slope = 1.0;
        for _ in 0..20 {
            let value;
            (value, slope) = polynomial(count, x);
            let step = value / slope;
            x -= step;
            if step.abs() <= f64::EPSILON {
                break;
            }
        }
        (0.5 - 0.5 * x, 1.0 / ((1.0 - x) * (1.0 + x) * slope * slope))
    };
    (0..count).map(node).collect()
}

/// The Legendre polynomial of a degree at a point inside (−1, 1), and its derivative.
fn polynomial(degree: usize, x: f64) -> (f64, f64) {
    let (mut before, mut value) = (0.0, 1.0);
    for k in 0..degree {
        let k = k as f64;
        (before, value) = (value, ((2.0 * k + 1.0) * x * value - k * before) / (k + 1.0));
    }
    (value, degree as f64 * (before - x * value) / ((1.0 - x) * (1.0 + x)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_integrated_exactly() {
        for count in [1, 2, 5, 40, 500] {
            let nodes = legendre(count);
            for power in [0, 1, 2 * count - 1] {
                let sum: f64 = nodes.iter().map(|(x, weight)| weight * x.powi(power as i32)).sum();
                let exact = 1.0 / (power as f64 + 1.0);
                assert!((sum / exact - 1.0).abs() < 1e-11, "{count} nodes, x^{power}: {sum} for {exact}");
            }
        }
    }

    #[test]
    fn a_degree_too_high_is_not() {
        let sum: f64 = legendre(2).iter().map(|(x, weight)| weight * x.powi(4)).sum();
        assert!((sum - 0.2).abs() > 1e-3, "{sum}");
    }
}
