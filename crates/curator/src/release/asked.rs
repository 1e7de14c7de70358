//! The question as it stands in an answer.

use super::plan::PlannedRelease;
use super::query::{Cells, Query};
use serde::Serialize;

/// Which question it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
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

/// A question with everything that was settled about it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Asked {
    /// Which question.
    pub kind: Kind,
    /// The column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// The conditions on rows.
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
    /// The value whose share is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Which quantile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantile: Option<f64>,
    /// How many candidates there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<usize>,
}

/// The question of a plan.
pub(super) fn asked(plan: &PlannedRelease) -> Asked {
    let common = Asked {
        column: plan.query.column().map(str::to_owned),
        filter: plan.filter.as_ref().map(ToString::to_string),
        ..Asked::default()
    };
    match &plan.query {
        Query::Count { .. } => Asked { kind: Kind::Count, ..common },
        Query::Sum { bounds, .. } => Asked { kind: Kind::Sum, bounds: Some(*bounds), ..common },
        Query::Mean { bounds, .. } => Asked { kind: Kind::Mean, bounds: Some(*bounds), ..common },
        Query::Histogram { cells, .. } => {
            let bins = if let Cells::Bins(edges) = cells { Some(edges.clone()) } else { None };
            Asked { kind: Kind::Histogram, bins, categories: Some(cells.labels()), ..common }
        }
        Query::Quantile { bounds, level, candidates, .. } => {
            let (quantile, candidates) = (Some(*level), Some(candidates.len()));
            Asked { kind: Kind::Quantile, bounds: Some(*bounds), quantile, candidates, ..common }
        }
        Query::Mode { categories, .. } => {
            Asked { kind: Kind::Mode, categories: Some(categories.clone()), ..common }
        }
        Query::Proportion { value, .. } => {
            Asked { kind: Kind::Proportion, value: Some(value.clone()), ..common }
        }
    }
}
