//! Columns on one scale.

/// The mean and spread of every column.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    columns: Vec<(f32, f32)>,
}

impl Scale {
    /// Of these rows. A constant column has spread 1.
    pub(super) fn of(values: &[f32], columns: usize, rows: &[usize]) -> Self {
        let count = rows.len().max(1) as f64;
        let mut sums = vec![(0.0_f64, 0.0_f64); columns];
        for row in rows {
            for (sum, value) in sums.iter_mut().zip(&values[row * columns..]) {
                sum.0 += f64::from(*value);
            }
        }
        sums.iter_mut().for_each(|sum| sum.0 /= count);
        for row in rows {
            for (sum, value) in sums.iter_mut().zip(&values[row * columns..]) {
                sum.1 += (f64::from(*value) - sum.0).powi(2);
            }
        }
        let column = |(mean, squares): (f64, f64)| {
            let spread = (squares / count).sqrt();
            (mean as f32, if spread > 1e-12 { spread as f32 } else { 1.0 })
        };
        Self { columns: sums.into_iter().map(column).collect() }
    }

    /// How many columns there are.
    pub(super) fn columns(&self) -> usize {
        self.columns.len()
    }

    /// No change.
    pub(super) fn none(columns: usize) -> Self {
        Self { columns: vec![(0.0, 1.0); columns] }
    }

    /// Mean 0 and spread 1. What is farther out than anything that was seen is cut off.
    pub(super) fn apply(&self, values: &[f32]) -> Vec<f32> {
        let all =
            values.chunks_exact(self.columns.len().max(1)).flat_map(|row| row.iter().zip(&self.columns));
        all.map(|(value, (mean, spread))| ((value - mean) / spread).clamp(-FAR, FAR)).collect()
    }

    /// The values that [`apply`](Self::apply) changed.
    pub(super) fn undo(&self, values: &mut [f32]) {
        for row in values.chunks_exact_mut(self.columns.len().max(1)) {
            row.iter_mut()
                .zip(&self.columns)
                .for_each(|(value, (mean, spread))| *value = *value * spread + mean);
        }
    }
}

/// How many spreads from the mean a value may be.
const FAR: f32 = 30.0;
