//! The charts of spending.

use super::{SpendingPage, SpendingPoint, down};
use crate::digits;
use crate::page::section::Figure;
use crate::plot::{Axis, Chart, Labels, Line, Stroke};

/// Points of a curve, at most.
const POINTS: usize = 240;

/// A curve as steps: what held before a charge holds until it.
fn steps(start: f64, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut drawn = Vec::with_capacity(2 * points.len() + 1);
    let mut last = start;
    drawn.push((0.0, start));
    for (x, y) in points {
        drawn.push((*x, last));
        drawn.push((*x, *y));
        last = *y;
    }
    drawn
}

/// Some of the points evenly, the last one among them.
fn some(points: &[SpendingPoint]) -> Vec<SpendingPoint> {
    let apart = points.len().div_ceil(POINTS).max(1);
    let mut kept: Vec<SpendingPoint> = points.iter().step_by(apart).copied().collect();
    let is_kept = points.len().saturating_sub(1).is_multiple_of(apart);
    if let Some(last) = points.last().filter(|_| !is_kept) {
        kept.push(*last);
    }
    kept
}

/// What one more question may cost, over time.
pub(super) fn left(page: &SpendingPage) -> Figure {
    let limit = page.limit.epsilon.get();
    let points: Vec<(f64, f64)> = some(&page.points).iter().map(|point| (point.days, point.left)).collect();
    let end = points.last().map_or(1.0, |point| point.0);
    let (unit, scale) = match end {
        days if days < 0.1 => ("minutes", 1440.0),
        days if days < 2.0 => ("hours", 24.0),
        _ => ("days", 1.0),
    };
    let points: Vec<(f64, f64)> = points.into_iter().map(|(days, left)| (days * scale, left)).collect();
    let end = (end * scale).max(1e-6);
    let line = |label: &str, value: String, stroke, points| Line {
        label: label.to_owned(),
        value,
        stroke,
        points,
        marks: Vec::new(),
        fill: false,
    };
    let chart = Chart {
        title: "What is left".to_owned(),
        subtitle: page.name.clone(),
        x: Axis::linear(&format!("{unit} since the budget was created"), 0.0, end),
        y: Axis::linear("ε", 0.0, limit),
        labels: Labels::Below,
        curves: vec![
            line(
                "left for one more question",
                format!("ε = {}", down(page.left)),
                Stroke::Solid(0),
                steps(limit, &points),
            ),
            line(
                "limit",
                format!("ε = {}", digits::brief(limit)),
                Stroke::Guide,
                vec![(0.0, limit), (end, limit)],
            ),
        ],
    };
    let caption =
        "The largest ε of one more question without δ that the budget admits, after each charge.".to_owned();
    Figure { drawing: chart.page("left-chart", &caption), caption }
}

/// The sum of what was asked, by the number of charges.
pub(super) fn sum(page: &SpendingPage) -> Figure {
    let limit = page.limit.epsilon.get();
    let kept: Vec<SpendingPoint> =
        some(&page.points).into_iter().filter(|point| point.sum.is_finite()).collect();
    let points: Vec<(f64, f64)> = kept.iter().map(|point| (point.charges as f64, point.sum)).collect();
    let used: Vec<(f64, f64)> =
        kept.iter().map(|point| (point.charges as f64, (limit - point.left).max(0.0))).collect();
    let end = points.last().map_or(1.0, |point| point.0);
    let most = points.iter().map(|point| point.1).fold(limit, f64::max);
    let text = |points: &[(f64, f64)]| points.last().map_or_else(String::new, |last| digits::spent(last.1));
    let chart = Chart {
        title: "The sum of what was asked".to_owned(),
        subtitle: page.name.clone(),
        x: Axis::linear("number of charges", 0.0, end),
        y: Axis::linear("ε", 0.0, most),
        labels: Labels::Below,
        curves: vec![
            Line {
                label: "ε added up one by one".to_owned(),
                value: text(&points),
                stroke: Stroke::Solid(1),
                points: steps(0.0, &points),
                marks: Vec::new(),
                fill: false,
            },
            Line {
                label: "used of the limit by the filter".to_owned(),
                value: text(&used),
                stroke: Stroke::Solid(0),
                points: steps(0.0, &used),
                marks: Vec::new(),
                fill: false,
            },
            Line {
                label: "limit".to_owned(),
                value: digits::brief(limit),
                stroke: Stroke::Guide,
                points: vec![(0.0, limit), (end, limit)],
                marks: Vec::new(),
                fill: false,
            },
        ],
    };
    let caption = "The costs of the charges added up one by one, and how much of the limit the filter counts as used: the limit less \
                   what is left for one more question."
        .to_owned();
    Figure { drawing: chart.page("sum-chart", &caption), caption }
}
