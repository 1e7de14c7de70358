//! Newton directions through the whole Hessian, for few features and sparse rows.

use crate::problem::Problem;
use std::panic::resume_unwind;

/// Beyond this many weights the matrix is not formed.
const MOST_WEIGHTS: usize = 512;

/// Forming the matrix must not cost more than this many products with it.
const WORTH_PRODUCTS: usize = 24;

/// Whether forming the Hessian pays.
pub(crate) fn pays(problem: &Problem<'_>) -> bool {
    let width = problem.width();
    let (mut pairs, mut entries) = (width * width * width / 6, 1);
    for row in 0..problem.rows.len() {
        let count = problem.rows.row(row).0.len() + 1;
        pairs += count * count / 2;
        entries += 2 * count;
    }
    width <= MOST_WEIGHTS && pairs <= WORTH_PRODUCTS * entries
}

/// Below this many rows, a second thread does not pay.
const WORTH_A_THREAD: usize = 4096;

/// The lower triangle of Σ curvatureᵢxᵢxᵢᵀ over the given features, with Σ curvatureᵢxᵢ below it, and Σ curvatureᵢ. The
/// rows are halved in the same way on every machine, so the sums are the same on every machine.
fn moments(problem: &Problem<'_>, curvatures: &[f64]) -> (Vec<f64>, f64) {
    let rows = curvatures.len();
    if rows < WORTH_A_THREAD {
        return part(problem, curvatures, 0..rows);
    }
    let second = || part(problem, curvatures, rows / 2..rows);
    let (mut whole, other) = std::thread::scope(|scope| {
        let later = std::thread::Builder::new().spawn_scoped(scope, second);
        let whole = part(problem, curvatures, 0..rows / 2);
        (whole, later.ok().map(|later| later.join().unwrap_or_else(|panic| resume_unwind(panic))))
    });
    // Where no thread is to be had, the same halves one after the other.
    let other = other.unwrap_or_else(second);
    whole.0.iter_mut().zip(&other.0).for_each(|(sum, more)| *sum += more);
    (whole.0, whole.1 + other.1)
}

fn part(problem: &Problem<'_>, curvatures: &[f64], rows: std::ops::Range<usize>) -> (Vec<f64>, f64) {
    let (width, dimension) = (problem.width(), problem.rows.dimension());
    let mut lower = vec![0.0; width * width];
    let mut total = 0.0;
    for row in rows {
        let curvature = curvatures[row];
        if curvature == 0.0 {
            continue;
        }
        let (columns, values) = problem.rows.row(row);
        for (index, (column, value)) in columns.iter().zip(values).enumerate() {
            let factor = curvature * value;
            let line = &mut lower[*column as usize * width..][..width];
            for (other, x) in columns[..=index].iter().zip(values) {
                line[*other as usize] += factor * x;
            }
        }
        if width > dimension {
            let line = &mut lower[dimension * width..][..width];
            columns.iter().zip(values).for_each(|(column, x)| line[*column as usize] += curvature * x);
        }
        total += curvature;
    }
    (lower, total)
}

/// The Cholesky factor of Σ curvatureᵢxᵢxᵢᵀ + λI, row by row of the lower triangle.
pub(crate) struct Factor {
    width: usize,
    lower: Vec<f64>,
}

impl Factor {
    /// None when rounding leaves a pivot that is not positive.
    pub(crate) fn new(problem: &Problem<'_>, curvatures: &[f64], lambda: f64) -> Option<Self> {
        let (width, dimension) = (problem.width(), problem.rows.dimension());
        let (mut lower, total) = moments(problem, curvatures);
        let (scale, constant) = problem.factors();
        lower[..dimension * width].iter_mut().for_each(|entry| *entry *= scale * scale);
        if width > dimension {
            lower[dimension * width..].iter_mut().for_each(|entry| *entry *= scale * constant);
            lower[width * width - 1] = total * constant * constant;
        }
        (0..width).for_each(|index| lower[index * width + index] += lambda);
        let mut factor = Self { width, lower };
        factor.decompose().then_some(factor)
    }

    fn decompose(&mut self) -> bool {
        let width = self.width;
        for i in 0..width {
            let (above, line) = self.lower.split_at_mut(i * width);
            for j in 0..i {
                let other = &above[j * width..][..j + 1];
                let sum: f64 = other[..j].iter().zip(&line[..j]).map(|(a, b)| a * b).sum();
                line[j] = (line[j] - sum) / other[j];
            }
            let square: f64 = line[..i].iter().map(|a| a * a).sum();
            let pivot = line[i] - square;
            if pivot.is_nan() || pivot <= 0.0 {
                return false;
            }
            line[i] = libm::sqrt(pivot);
        }
        true
    }

    /// x with LLᵀx = b.
    pub(crate) fn solve(&self, mut b: Vec<f64>) -> Vec<f64> {
        let width = self.width;
        for i in 0..width {
            let line = &self.lower[i * width..][..i + 1];
            let sum: f64 = line[..i].iter().zip(&b).map(|(a, x)| a * x).sum();
            b[i] = (b[i] - sum) / line[i];
        }
        for i in (0..width).rev() {
            let line = &self.lower[i * width..][..i + 1];
            b[i] /= line[i];
            let x = b[i];
            b[..i].iter_mut().zip(line).for_each(|(b, a)| *b -= a * x);
        }
        b
    }
}
