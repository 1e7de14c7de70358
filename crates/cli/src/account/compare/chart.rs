//! ε against the number of steps, for every accountant.

use crate::account::words;
use crate::digits;
use reticent::curator::account::{AccountAnswer, AccountantComparison, Curves, Summary};
use reticent::report::plot::{Axis, Chart, Labels, Line, Stroke};

/// The picture of the curves.
pub(in crate::account) fn chart(
    found: &AccountantComparison,
    curves: &Curves,
    answered: &AccountAnswer,
) -> Chart {
    let drawn = [
        ("pld", &curves.pld, Stroke::Solid(0)),
        ("rdp", &curves.rdp, Stroke::Solid(1)),
        ("moments", &curves.moments, Stroke::Solid(2)),
        ("optimal", &curves.optimal, Stroke::Solid(3)),
        ("advanced", &curves.advanced, Stroke::Solid(4)),
        ("basic", &curves.basic, Stroke::Solid(5)),
        ("CLT estimate, no bound", &curves.clt_estimate, Stroke::Dashed(6)),
        ("published 2016, no bound", &curves.strong_composition_as_published, Stroke::Dashed(7)),
    ];
    let drawn: Vec<Line> = drawn
        .into_iter()
        .filter_map(|(name, values, stroke)| {
            let points: Vec<(f64, f64)> = curves
                .steps
                .iter()
                .zip(values)
                .filter_map(|(steps, value)| value.map(|value| (*steps as f64, value)))
                .filter(|(_, value)| *value > 0.0)
                .collect();
            let (_, last) = points.last()?;
            let shown = match stroke {
                Stroke::Solid(_) => digits::spent(*last),
                _ => digits::brief(*last),
            };
            Some(Line {
                label: name.to_owned(),
                value: shown,
                stroke,
                points,
                marks: Vec::new(),
                fill: false,
            })
        })
        .collect();
    let all = || drawn.iter().flat_map(|curve| curve.points.iter().map(|(_, value)| *value));
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let most = curves.steps.last().copied().unwrap_or(1) as f64;
    let run = answered.happened.as_ref().and_then(Summary::run);
    let x = if run.is_some() { "steps" } else { "repetitions of the list of events" };
    let what = match run {
        Some(run) => {
            let noise = digits::exactly(run.noise.get());
            format!("{}, noise multiplier {noise}", words::batches(&run.batches))
        }
        None => words::happened(answered),
    };
    Chart {
        title: "Privacy loss by accountant".to_owned(),
        subtitle: format!("{what}, {}, δ = {}", found.neighboring, digits::exactly(found.delta)),
        x: Axis::log(x, 1.0, most),
        y: Axis::log("ε (smaller is more private)", low, high),
        labels: Labels::Ends("ε at the end"),
        curves: drawn,
    }
}
