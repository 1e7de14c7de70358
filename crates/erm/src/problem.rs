//! The objective and its derivatives: F(w) = Σ ℓ(wᵀx, y) + (λ/2)‖w‖² + bᵀw.
//!
//! The sum form contains no 1/n: under add-remove nothing depends on the private number of rows;
//! (1/n)Σℓ + (Λ/2)‖w‖² has the same minimum for λ = nΛ.
//!
//! An intercept is one more feature of constant value c with the other features scaled by a = √(1 − c²):
//! a²‖x‖² + c² ≤ 1, so every proof covers it like any other weight.

use crate::ErmError;
use crate::loss::MarginLoss;
use crate::rows::SparseRows;

/// Rows with a loss and, perhaps, the constant feature.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Problem<'a> {
    pub(crate) rows: SparseRows<'a>,
    pub(crate) loss: MarginLoss,
    /// a, the factor of the given features.
    scale: f64,
    /// c, the value of the constant feature; 0 for none.
    constant: f64,
}

impl<'a> Problem<'a> {
    /// Checks loss, labels and the constant (0 for no intercept).
    pub(crate) fn new(rows: SparseRows<'a>, loss: MarginLoss, constant: f64) -> Result<Self, ErmError> {
        let loss = loss.check()?;
        if loss.is_classification() {
            rows.check_classes()?;
        }
        if !(0.0..1.0).contains(&constant) {
            return Err(ErmError::invalid("intercept", constant, "give a number from 0 to below 1"));
        }
        let scale = if constant == 0.0 { 1.0 } else { libm::sqrt(1.0 - constant * constant) };
        Ok(Self { rows, loss, scale, constant })
    }

    /// Number of weights, the intercept's included.
    pub(crate) fn width(&self) -> usize {
        self.rows.dimension() + usize::from(self.constant > 0.0)
    }

    /// The public bound on the ℓ1 norm of a row, the constant included.
    pub(crate) fn l1_bound(&self) -> f64 {
        (self.scale * self.rows.l1_bound() + self.constant) * (1.0 + 1e-15)
    }

    /// a and c.
    pub(crate) fn factors(&self) -> (f64, f64) {
        (self.scale, self.constant)
    }

    /// Weights in the units of the given features, and the intercept.
    pub(crate) fn unscaled(&self, weights: &[f64]) -> (Vec<f64>, f64) {
        let dimension = self.rows.dimension();
        let given = weights.iter().take(dimension).map(|weight| weight * self.scale).collect();
        (given, weights.get(dimension).map_or(0.0, |weight| weight * self.constant))
    }

    /// Margins of all rows.
    pub(crate) fn margins(&self, weights: &[f64], margins: &mut Vec<f64>) {
        let (given, intercept) = self.unscaled(weights);
        margins.clear();
        margins.extend((0..self.rows.len()).map(|row| {
            let (columns, values) = self.rows.row(row);
            columns.iter().zip(values).map(|(c, x)| given[*c as usize] * x).sum::<f64>() + intercept
        }));
    }

    /// Margins of all rows by compensated dot products: as good as if they were summed in twice the precision and rounded
    /// once, whatever the number of features.
    pub(crate) fn margins_exactly(&self, weights: &[f64], margins: &mut Vec<f64>) {
        let (given, intercept) = self.unscaled(weights);
        margins.clear();
        margins.extend((0..self.rows.len()).map(|row| {
            let (columns, values) = self.rows.row(row);
            let mut sum = Compensated { sum: intercept, error: 0.0 };
            for (column, value) in columns.iter().zip(values) {
                let (product, error) = exact_product(given[*column as usize], *value);
                sum.add(product);
                sum.error += error;
            }
            sum.value()
        }));
    }

    /// Σ slopeᵢ xᵢ by compensated summation.
    pub(crate) fn combine(&self, slopes: &[f64]) -> Vec<f64> {
        let mut sums = vec![Compensated::default(); self.width()];
        let mut total = Compensated::default();
        for (row, slope) in slopes.iter().enumerate() {
            let (columns, values) = self.rows.row(row);
            for (column, value) in columns.iter().zip(values) {
                sums[*column as usize].add(slope * value);
            }
            total.add(*slope);
        }
        let dimension = self.rows.dimension();
        let mut combined: Vec<f64> = sums.iter().map(|sum| sum.value() * self.scale).collect();
        if let Some(last) = combined.get_mut(dimension) {
            *last = total.value() * self.constant;
        }
        combined
    }

    /// Σ curvatureᵢ xᵢ(xᵢᵀv) + λv in one pass over the rows.
    pub(crate) fn hessian_times(&self, curvatures: &[f64], lambda: f64, v: &[f64], out: &mut [f64]) {
        let dimension = self.rows.dimension();
        let (given, intercept) = self.unscaled(v);
        out.fill(0.0);
        let mut last = 0.0;
        for (row, curvature) in curvatures.iter().enumerate() {
            let (columns, values) = self.rows.row(row);
            let dot: f64 = columns.iter().zip(values).map(|(c, x)| given[*c as usize] * x).sum();
            let factor = curvature * (dot + intercept);
            for (column, value) in columns.iter().zip(values) {
                out[*column as usize] += factor * value;
            }
            last += factor;
        }
        if self.constant > 0.0 {
            out[dimension] = last * self.constant;
        }
        for (index, (o, v)) in out.iter_mut().zip(v).enumerate() {
            *o = if index < dimension { *o * self.scale } else { *o } + lambda * v;
        }
    }

    /// The diagonal of the Hessian.
    pub(crate) fn diagonal(&self, curvatures: &[f64], lambda: f64) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.width()];
        for (row, curvature) in curvatures.iter().enumerate() {
            let (columns, values) = self.rows.row(row);
            for (column, value) in columns.iter().zip(values) {
                diagonal[*column as usize] += curvature * value * value;
            }
        }
        let square = self.scale * self.scale;
        diagonal.iter_mut().for_each(|entry| *entry = *entry * square + lambda);
        if let Some(last) = diagonal.get_mut(self.rows.dimension()) {
            *last = curvatures.iter().sum::<f64>() * self.constant * self.constant + lambda;
        }
        diagonal
    }

    /// Slopes and curvatures of all rows at these margins.
    pub(crate) fn derivatives(&self, margins: &[f64], slopes: &mut Vec<f64>, curvatures: &mut Vec<f64>) {
        slopes.clear();
        curvatures.clear();
        for (margin, label) in margins.iter().zip(self.rows.labels()) {
            let (slope, curvature) = self.loss.derivatives(*margin, *label);
            slopes.push(slope);
            curvatures.push(curvature);
        }
    }

    /// What the rounding errors of its gradients depend on.
    pub(crate) fn extent(&self) -> Extent {
        Extent { loss: self.loss, rows: self.rows.len() as f64, longest: self.rows.longest() }
    }
}

/// A number of rows with a loss, and how long they are: what bounds the rounding errors of a gradient.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) loss: MarginLoss,
    pub(crate) rows: f64,
    /// The most non-zeros of a row.
    pub(crate) longest: usize,
}

impl Extent {
    /// A bound on the norm of what rounding adds to the gradient that [`combine`](Problem::combine) and the
    /// linear terms give at `weights`, with [exact margins](Problem::margins_exactly); `combined` is the norm of the sum
    /// over rows, `linear` that of b.
    ///
    /// A margin is a compensated sum of at most `longest + 1` products and Σ|wⱼxⱼ| ≤ ‖w‖; a slope is as wrong as β times
    /// its error and its own rounding; products, the compensated sums and the last additions each add
    /// a unit or two in the last place of what they add.
    pub(crate) fn gradient_error_up(&self, weights: f64, lambda: f64, combined: f64, linear: f64) -> f64 {
        let unit = f64::EPSILON;
        let n = self.rows;
        let lipschitz = self.loss.constants().lipschitz;
        let margin_error = margin_error_up(self.longest) * weights;
        let per_row = self.loss.slope_error(margin_error) + 2.0 * unit * lipschitz;
        let last = 8.0 * unit * (combined + lambda * weights + linear);
        (n * per_row + last + (n * unit) * (n * unit) * n * lipschitz) * (1.0 + 1e-9)
    }
}

/// What a margin by [`margins_exactly`](Problem::margins_exactly) is off by for weights of norm 1 and rows of at most so many
/// non-zeros: a rounding of the weights' scale, one of the sum, and terms of second order.
pub(crate) fn margin_error_up(longest: usize) -> f64 {
    let second = (longest + 1) as f64 * (2f64).powi(-26);
    (2.0 + second * second) * f64::EPSILON
}

/// a·b as the sum of two doubles, exactly unless a part overflows or underflows (Dekker's product).
#[inline]
fn exact_product(a: f64, b: f64) -> (f64, f64) {
    /// Splits a double into two of half the digits (Veltkamp).
    #[inline]
    fn halves(value: f64) -> (f64, f64) {
        const FACTOR: f64 = ((1u32 << 27) + 1) as f64;
        let wide = FACTOR * value;
        let high = wide - (wide - value);
        (high, value - high)
    }
    let product = a * b;
    let ((a1, a2), (b1, b2)) = (halves(a), halves(b));
    (product, a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2))
}

/// A running sum with its rounding errors kept beside it (Knuth's two-sum).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Compensated {
    sum: f64,
    error: f64,
}

impl Compensated {
    #[inline]
    pub(crate) fn add(&mut self, term: f64) {
        let sum = self.sum + term;
        let back = sum - self.sum;
        self.error += (self.sum - (sum - back)) + (term - back);
        self.sum = sum;
    }

    pub(crate) fn value(self) -> f64 {
        self.sum + self.error
    }
}

/// ‖v‖₂, rounded up; infinite where an entry is not a number.
pub(crate) fn norm_up(v: &[f64]) -> f64 {
    if v.iter().any(|x| x.is_nan()) {
        return f64::INFINITY;
    }
    let largest = v.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    let squares: f64 = v.iter().map(|x| (x / largest) * (x / largest)).sum();
    libm::sqrt(squares) * largest * (1.0 + (v.len() + 8) as f64 * f64::EPSILON)
}

/// aᵀb.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
