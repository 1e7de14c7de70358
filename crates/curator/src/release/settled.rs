//! The statistic as stated in an answer.

use super::plan::PlannedRelease;
use super::query::{Cells, Query};
use serde::{Deserialize, Serialize};

/// The kind of statistic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StatisticKind {
    /// How many rows.
    #[default]
    Count,
    /// A clamped sum.
    Sum,
    /// A clamped mean.
    Mean,
    /// Rows per category or bin.
    Histogram,
    /// A clamped quantile.
    Quantile,
    /// The most common category.
    Mode,
    /// The share of rows with a value.
    Proportion,
}

/// A statistic with all its parameters settled.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SettledQuestion {
    /// The kind.
    pub kind: StatisticKind,
    /// The column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// The filter.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// The bounds that values are clamped to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<[f64; 2]>,
    /// The edges of bins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bins: Option<Vec<f64>>,
    /// The categories, or the names of the bins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub categories: Option<Vec<String>>,
    /// The value of a proportion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Which quantile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantile: Option<f64>,
    /// The number of candidates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<usize>,
}

/// The question of a plan.
pub(super) fn settled(plan: &PlannedRelease) -> SettledQuestion {
    let common = SettledQuestion {
        column: plan.query.column().map(str::to_owned),
        filter: plan.filter.as_ref().map(ToString::to_string),
        ..SettledQuestion::default()
    };
    match &plan.query {
        Query::Count { .. } => SettledQuestion { kind: StatisticKind::Count, ..common },
        Query::Sum { bounds, .. } => {
            SettledQuestion { kind: StatisticKind::Sum, bounds: Some(*bounds), ..common }
        }
        Query::Mean { bounds, .. } => {
            SettledQuestion { kind: StatisticKind::Mean, bounds: Some(*bounds), ..common }
        }
        Query::Histogram { cells, .. } => {
            let bins = if let Cells::Bins(edges) = cells { Some(edges.clone()) } else { None };
            SettledQuestion {
                kind: StatisticKind::Histogram,
                bins,
                categories: Some(cells.labels()),
                ..common
            }
        }
        Query::Quantile { bounds, level, candidates, .. } => {
            let (quantile, candidates) = (Some(*level), Some(candidates.len()));
            SettledQuestion {
                kind: StatisticKind::Quantile,
                bounds: Some(*bounds),
                quantile,
                candidates,
                ..common
            }
        }
        Query::Mode { categories, .. } => {
            SettledQuestion { kind: StatisticKind::Mode, categories: Some(categories.clone()), ..common }
        }
        Query::Proportion { value, .. } => {
            SettledQuestion { kind: StatisticKind::Proportion, value: Some(value.clone()), ..common }
        }
    }
}
