//! A question about which nothing is left to check.

use crate::refusal::Refusal;
use reticent_noise::mechanism::SelectionRule;
use reticent_noise::query::{BoundedSum, Quantile};
use reticent_report::digits::exactly;

/// The statistic.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Query {
    Count {
        column: Option<String>,
    },
    Sum {
        column: String,
        bounds: [f64; 2],
        integers: bool,
    },
    Mean {
        column: String,
        bounds: [f64; 2],
        integers: bool,
    },
    Histogram {
        column: String,
        cells: Cells,
    },
    Quantile {
        column: String,
        bounds: [f64; 2],
        level: f64,
        quantile: Quantile,
        candidates: Vec<f64>,
        integers: bool,
    },
    Mode {
        column: String,
        categories: Vec<String>,
        rule: SelectionRule,
    },
    Proportion {
        column: String,
        value: String,
    },
}

/// The cells of a histogram.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cells {
    Categories(Vec<String>),
    Bins(Vec<f64>),
}

impl Query {
    /// The column asked about.
    pub(super) fn column(&self) -> Option<&str> {
        match self {
            Self::Count { column } => column.as_deref(),
            Self::Sum { column, .. }
            | Self::Mean { column, .. }
            | Self::Histogram { column, .. }
            | Self::Quantile { column, .. }
            | Self::Mode { column, .. }
            | Self::Proportion { column, .. } => Some(column),
        }
    }
}

impl Cells {
    /// What each cell is called.
    pub(super) fn labels(&self) -> Vec<String> {
        match self {
            Self::Categories(names) => names.clone(),
            Self::Bins(edges) => {
                let last = edges.len() - 2;
                let label = |(index, pair): (usize, &[f64])| {
                    let close = if index == last { ']' } else { ')' };
                    format!("[{},{}{close}", exactly(pair[0]), exactly(pair[1]))
                };
                edges.windows(2).enumerate().map(label).collect()
            }
        }
    }
}

/// A sum over these bounds with nothing in it.
pub(super) fn empty_sum([low, high]: [f64; 2], integers: bool) -> Result<BoundedSum, Refusal> {
    BoundedSum::new(low, high, integers).map_err(Refusal::noise("bounds"))
}

/// Whether the library sums these values as whole numbers, without a finer grid.
pub(super) fn whole_sums(bounds: [f64; 2], integers: bool) -> bool {
    integers && bounds.iter().all(|end| end.fract() == 0.0 && end.abs() <= (1u64 << 52) as f64)
}
