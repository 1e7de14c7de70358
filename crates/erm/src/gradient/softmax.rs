//! Sums of softmax gradients: one weight vector a class, all in one descent.

use super::sums::{Coins, Sample, rounded, step};
use crate::multiclass::Classes;
use crate::problem::Problem;
use crate::rows::NORM_SLACK;
use reticent_noise::entropy::Bits;

/// A bound on the norm of one record's gradient of −ln softmax: (p − e_y) ⊗ x, and ‖p − e_y‖² = (1 − p_y)² + Σ p² over the
/// others ≤ 2(1 − p_y)² ≤ 2. Rounded up, the slack of the rows' norms included.
pub const SOFTMAX_LIPSCHITZ: f64 = std::f64::consts::SQRT_2 * (1.0 + 8.0 * NORM_SLACK);

/// Σ (p − e_y) ⊗ x over the sampled rows, class after class. Every summand is rounded to the step by itself, and the sum
/// is exact. Probabilities come from weights by a rule that gives numbers from 0 to 1 of sum 1 for any weights, so that no
/// weights can make a summand larger than the bound.
pub(super) fn softmax_sum<B: Bits>(
    problem: &Problem<'_>,
    classes: Classes<'_>,
    weights: &[f64],
    sample: &Sample,
    bits: &mut B,
) -> Vec<f64> {
    let rows = &problem.rows;
    let (scale, constant) = problem.factors();
    let (width, dimension) = (problem.width(), rows.dimension());
    let unit = 1.0 / step(SOFTMAX_LIPSCHITZ);
    let mut sums = vec![0i64; weights.len()];
    let mut random = Coins::default();
    let parts: Vec<_> = weights.chunks_exact(width).map(|part| problem.unscaled(part)).collect();
    let mut shares = vec![0.0; parts.len()];
    for (row, class) in classes.of.iter().enumerate() {
        if !random.takes(sample, bits) {
            continue;
        }
        let (columns, values) = rows.row(row);
        for (share, (given, intercept)) in shares.iter_mut().zip(&parts) {
            *share = columns.iter().zip(values).map(|(c, x)| given[*c as usize] * x).sum::<f64>() + intercept;
        }
        softmax(&mut shares);
        if let Some(own) = shares.get_mut(*class as usize) {
            *own -= 1.0;
        }
        for (slope, sums) in shares.iter().zip(sums.chunks_exact_mut(width)) {
            let factor = slope * scale * unit;
            for (column, value) in columns.iter().zip(values) {
                sums[*column as usize] += rounded(factor * value);
            }
            if let Some(last) = sums.get_mut(dimension) {
                *last += rounded(slope * constant * unit);
            }
        }
    }
    sums.iter().map(|sum| *sum as f64 / unit).collect()
}

/// Margins to shares; equal shares where a margin is not finite.
fn softmax(margins: &mut [f64]) {
    let largest = margins.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if margins.iter().any(|margin| !margin.is_finite()) {
        margins.fill(1.0 / margins.len() as f64);
        return;
    }
    margins.iter_mut().for_each(|margin| *margin = libm::exp(*margin - largest));
    let total: f64 = margins.iter().sum();
    margins.iter_mut().for_each(|margin| *margin /= total);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MarginLoss;
    use crate::tests::Table;
    use reticent_noise::Entropy;

    #[test]
    fn the_sum_is_the_gradient_of_the_mean_loss() {
        let table = Table::dense(2, &[(vec![0.6, 0.7], -1.0), (vec![-0.3, 0.2], -1.0)]);
        let problem = Problem::new(table.rows(), MarginLoss::Logistic, 0.3).unwrap();
        let of = [2, 0];
        let classes = Classes { of: &of, count: 3 };
        let weights: Vec<f64> = (0..9).map(|k| 0.3 * f64::from(k) - 1.0).collect();
        let loss = |weights: &[f64]| -> f64 {
            let margins = |row: usize| -> Vec<f64> {
                let parts = weights.chunks_exact(3).map(|part| {
                    let (given, intercept) = problem.unscaled(part);
                    let (columns, values) = problem.rows.row(row);
                    columns.iter().zip(values).map(|(c, x)| given[*c as usize] * x).sum::<f64>() + intercept
                });
                parts.collect()
            };
            (0..2)
                .map(|row| {
                    let margins = margins(row);
                    margins.iter().map(|m| m.exp()).sum::<f64>().ln() - margins[of[row] as usize]
                })
                .sum()
        };
        let mut entropy = Entropy::new().unwrap();
        let sum = softmax_sum(&problem, classes, &weights, &Sample::All, &mut entropy);
        for (index, found) in sum.iter().enumerate() {
            let at = |shift: f64| {
                let mut moved = weights.clone();
                moved[index] += shift;
                loss(&moved)
            };
            let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((found - expected).abs() < 1e-5, "{index}: {found} {expected}");
        }
    }

    #[test]
    fn no_weights_make_a_record_larger_than_its_bound() {
        let table = Table::dense(2, &[(vec![0.6, 0.8], -1.0)]);
        let problem = Problem::new(table.rows(), MarginLoss::Logistic, 0.3).unwrap();
        let mut entropy = Entropy::new().unwrap();
        let mut largest = 0.0f64;
        for bad in [f64::NAN, f64::INFINITY, f64::MAX, 1e300, -1e300, 50.0, -50.0, 0.0] {
            for class in [0, 1] {
                let of = [class];
                let classes = Classes { of: &of, count: 2 };
                let weights = [bad, bad, bad, -bad, -bad, 0.0];
                let sum = softmax_sum(&problem, classes, &weights, &Sample::All, &mut entropy);
                largest = largest.max(sum.iter().map(|s| s * s).sum::<f64>().sqrt());
            }
        }
        let room = 3.0 * step(SOFTMAX_LIPSCHITZ);
        assert!((1.4..=SOFTMAX_LIPSCHITZ + room).contains(&largest), "{largest}");
    }
}
