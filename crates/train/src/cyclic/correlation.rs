//! Sums of earlier steps, and what was released of them.

use super::CyclicBatches;
use crate::TrainError;
use std::collections::VecDeque;

/// Makes the rows of C·G from the sums of the steps, and noisy sums from noisy rows: xₜ = (yₜ − Σ_{d>0} c_d·xₜ₋d)/c₀.
///
/// The exact sums of the last steps are private. They are in no file, so a run with them cannot go on in another process.
pub(crate) struct Correlation {
    coefficients: Vec<f64>,
    /// Exact sums of the last steps, the newest first.
    exact: VecDeque<Vec<f32>>,
    /// Noisy sums of the same steps, which are public.
    noisy: VecDeque<Vec<f32>>,
    /// How many rows were released.
    rows: u64,
    /// The first entries of C⁻¹, from the diagonal down; the squares of all of them; the squares of all noisy sums' noise, in units of σ².
    inverse: VecDeque<f64>,
    squares: f64,
    variances: f64,
    /// Whether rows were released that are not known here.
    is_torn: bool,
}

impl Correlation {
    pub(crate) fn new(batches: CyclicBatches, steps: u64) -> Result<Self, TrainError> {
        Ok(Self {
            coefficients: batches.factor(steps)?.coefficients().to_vec(),
            exact: VecDeque::new(),
            noisy: VecDeque::new(),
            rows: 0,
            inverse: VecDeque::new(),
            squares: 0.0,
            variances: 0.0,
            is_torn: false,
        })
    }

    /// How many rows were released: the number of the next step, from 0.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether no row can follow.
    pub(crate) fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// Says that rows were released which are not known here, so none can follow.
    pub(crate) fn tear(&mut self) {
        self.is_torn = true;
    }

    /// The next row of C·G. Until [`release`](Self::release) has it with its noise, no row can follow.
    pub(crate) fn row(&mut self, sum: &[f32]) -> Vec<f32> {
        self.is_torn = true;
        let row = combined(sum, &self.coefficients, &self.exact);
        row.into_iter().map(|value| value as f32).collect()
    }

    /// The noisy sum of a step from its noisy row.
    pub(crate) fn release(&mut self, exact: Vec<f32>, row: &[f32]) -> Vec<f32> {
        let first = self.coefficients[0];
        let mut signed: Vec<f64> = self.coefficients.iter().map(|c| -c).collect();
        signed[0] = 1.0;
        let row = combined(row, &signed, &self.noisy);
        let noisy: Vec<f32> = row.into_iter().map(|value| (value / first) as f32).collect();
        keep(&mut self.exact, exact, self.coefficients.len() - 1);
        keep(&mut self.noisy, noisy.clone(), self.coefficients.len() - 1);
        let own = if self.rows == 0 { 1.0 } else { 0.0 };
        let past: f64 = self.coefficients[1..].iter().zip(&self.inverse).map(|(c, x)| c * x).sum();
        let next = (own - past) / first;
        keep(&mut self.inverse, next, self.coefficients.len() - 1);
        self.squares += next * next;
        self.variances += self.squares;
        self.rows += 1;
        self.is_torn = false;
        noisy
    }

    /// The variance of one number of the noisy sums so far, on average over the steps, in units of σ².
    pub(crate) fn mean_variance(&self) -> f64 {
        self.variances / self.rows.max(1) as f64
    }
}

/// c₀·newest + Σ_{d>0} c_d·past_{d−1}, in double precision.
fn combined(newest: &[f32], coefficients: &[f64], past: &VecDeque<Vec<f32>>) -> Vec<f64> {
    let mut all: Vec<f64> = newest.iter().map(|value| coefficients[0] * f64::from(*value)).collect();
    for (c, before) in coefficients[1..].iter().zip(past) {
        for (value, other) in all.iter_mut().zip(before) {
            *value += c * f64::from(*other);
        }
    }
    all
}

/// Puts one more in front, and forgets what is beyond so many.
fn keep<T>(all: &mut VecDeque<T>, newest: T, most: usize) {
    all.push_front(newest);
    all.truncate(most);
}
