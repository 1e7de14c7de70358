//! The question and the mechanism, in words and for programs.

use super::plan::{Cells, Plan, Query};
use crate::digits;
use reticent::core::Event;
use reticent::noise::mechanism::Rule;
use reticent::noise::query::Noise;
use serde::Serialize;

/// The question in words.
pub(super) fn title(plan: &Plan) -> String {
    let text = match &plan.query {
        Query::Count { column: None } => "count of rows".to_owned(),
        Query::Count { column: Some(column) } => format!("count of {column}"),
        Query::Sum { column, .. } => format!("clamped sum of {column}"),
        Query::Mean { column, .. } => format!("clamped mean of {column}"),
        Query::Histogram { column, .. } => format!("histogram of {column}"),
        Query::Quantile { column, level: 0.5, .. } => format!("clamped median of {column}"),
        Query::Quantile { column, level, .. } => format!("clamped {level}-quantile of {column}"),
        Query::Mode { column, .. } => format!("mode of {column}"),
        Query::Proportion { column, value } => format!("share of {column} = {value}"),
    };
    plan.filter.as_ref().map_or(text.clone(), |filter| format!("{text} where {filter}"))
}

/// The question for programs.
#[derive(Default, Serialize)]
pub(super) struct Asked<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#where: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bounds: Option<[f64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<&'a [f64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    categories: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quantile: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    candidates: Option<usize>,
}

/// The question for programs.
pub(super) fn asked(plan: &Plan) -> Asked<'_> {
    let common = Asked {
        column: plan.query.column(),
        r#where: plan.filter.as_ref().map(ToString::to_string),
        ..Asked::default()
    };
    match &plan.query {
        Query::Count { .. } => Asked { kind: "count", ..common },
        Query::Sum { bounds, .. } => Asked { kind: "sum", bounds: Some(*bounds), ..common },
        Query::Mean { bounds, .. } => Asked { kind: "mean", bounds: Some(*bounds), ..common },
        Query::Histogram { cells, .. } => {
            let bins = if let Cells::Bins(edges) = cells { Some(edges.as_slice()) } else { None };
            Asked { kind: "histogram", bins, categories: Some(cells.labels()), ..common }
        }
        Query::Quantile { bounds, level, candidates, .. } => {
            let (quantile, candidates) = (Some(*level), Some(candidates.len()));
            Asked { kind: "quantile", bounds: Some(*bounds), quantile, candidates, ..common }
        }
        Query::Mode { categories, .. } => {
            Asked { kind: "mode", categories: Some(categories.clone()), ..common }
        }
        Query::Proportion { value, .. } => Asked { kind: "proportion", value: Some(value), ..common },
    }
}

/// How the answer was made, in words; events are there once it has been.
pub(super) fn mechanism(plan: &Plan, events: &[Event]) -> String {
    let name = match (&plan.query, plan.terms.noise) {
        (Query::Mode { rule: Rule::Exponential, .. }, _) => return "exponential mechanism".to_owned(),
        (Query::Mode { rule: Rule::PermuteAndFlip, .. }, _) => return "permute-and-flip".to_owned(),
        (Query::Mode { rule: Rule::ReportNoisyMax, .. }, _) => return "report noisy max".to_owned(),
        (Query::Quantile { .. }, _) => {
            return "permute-and-flip (half of ε); interval by two more choices and two noisy counts"
                .to_owned();
        }
        (_, Noise::Laplace) => "discrete Laplace",
        (_, Noise::Gaussian) => "Gaussian",
        (_, Noise::DiscreteGaussian) => "discrete Gaussian",
    };
    match events {
        [
            Event::DiscreteLaplace { noise_multiplier, .. }
            | Event::Gaussian { noise_multiplier }
            | Event::DiscreteGaussian { noise_multiplier, .. },
        ] => format!("{name}, noise multiplier {}", digits::brief(noise_multiplier.get())),
        _ => name.to_owned(),
    }
}
