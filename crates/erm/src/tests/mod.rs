mod audit;
mod bounds;
mod constants;
mod densities;
mod guards;
mod input;
mod sensitivity;
mod whole;

use crate::problem::Problem;
use crate::rows::SparseRows;
use crate::{MarginLoss, Scope, Settings};
use reticent_core::{Delta, Epsilon, Guarantee};

/// Owned arrays behind a [`SparseRows`].
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) dimension: usize,
    pub(crate) offsets: Vec<usize>,
    pub(crate) columns: Vec<u32>,
    pub(crate) values: Vec<f64>,
    pub(crate) labels: Vec<f64>,
}

impl Table {
    /// Dense rows; zeros are left out.
    pub(crate) fn dense(dimension: usize, rows: &[(Vec<f64>, f64)]) -> Self {
        let mut table = Self { dimension, offsets: vec![0], columns: vec![], values: vec![], labels: vec![] };
        for (x, y) in rows {
            for (column, value) in x.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                table.columns.push(column as u32);
                table.values.push(*value);
            }
            table.offsets.push(table.values.len());
            table.labels.push(*y);
        }
        table
    }

    pub(crate) fn rows(&self) -> SparseRows<'_> {
        SparseRows::new(self.dimension, &self.offsets, &self.columns, &self.values, &self.labels).unwrap()
    }
}

pub(crate) fn budget(epsilon: f64, delta: f64) -> Guarantee {
    Guarantee { epsilon: Epsilon::new(epsilon).unwrap(), delta: Delta::new(delta).unwrap() }
}

/// Settings without an intercept.
pub(crate) fn plain(mut settings: Settings, regularization: f64) -> Settings {
    settings.intercept = 0.0;
    settings.regularization = Some(regularization);
    settings
}

pub(crate) fn scope(rows: SparseRows<'_>, loss: MarginLoss, settings: &Settings) -> Scope {
    Scope::of(&Problem::new(rows, loss, settings.intercept).unwrap(), settings).unwrap()
}

/// A repeatable stream of numbers in [0, 1).
pub(crate) struct Numbers(pub(crate) reticent_noise::entropy::SeededForTests);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(reticent_noise::entropy::SeededForTests::new(seed))
    }

    pub(crate) fn next(&mut self) -> f64 {
        use reticent_noise::entropy::Bits;
        (self.0.word() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A row of norm at most 1 and a label.
    pub(crate) fn row(&mut self, dimension: usize) -> (Vec<f64>, f64) {
        let x: Vec<f64> = (0..dimension).map(|_| 2.0 * self.next() - 1.0).collect();
        let norm = x.iter().map(|v| v * v).sum::<f64>().sqrt().max(1e-9);
        let length = if self.next() < 0.5 { 1.0 } else { self.next() };
        let label = if self.next() < 0.5 { -1.0 } else { 1.0 };
        (x.iter().map(|v| v / norm * length * (1.0 - 1e-13)).collect(), label)
    }
}

/// A session without limit under the settings' relation.
fn session(settings: &crate::Settings) -> reticent_noise::NoiseSession {
    reticent_noise::NoiseSession::without_limit("row", settings.neighboring).unwrap()
}
