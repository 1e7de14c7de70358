//! ε against the number of steps, for every accountant.

use super::{NoBounds, no_bounds};
use crate::account::case::Case;
use crate::account::words;
use crate::digits;
use reticent::accounting::{Accountant, Method};
use reticent::core::Delta;
use reticent::report::plot::{Axis, Chart, Curve, Labels, Stroke};
use serde::Serialize;

/// Numbers of steps at which curves are drawn.
const DRAWN: usize = 20;
/// Repetitions of a list of events that are drawn.
const REPETITIONS: u64 = 1000;

/// Everything that is drawn: one ε for every number of steps, nothing where there is none.
#[derive(Serialize)]
pub(super) struct Curves {
    steps: Vec<u64>,
    pld: Vec<Option<f64>>,
    rdp: Vec<Option<f64>>,
    moments: Vec<Option<f64>>,
    optimal: Vec<Option<f64>>,
    advanced: Vec<Option<f64>>,
    basic: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    clt_estimate: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    strong_composition_as_published: Vec<Option<f64>>,
}

/// Works the curves out.
pub(super) fn curves(case: &Case, delta: Delta, with_estimates: bool) -> Curves {
    let most = case.source.training().map_or(REPETITIONS, |training| training.steps());
    let steps = steps(most);
    let accounts: Vec<Option<Accountant>> =
        steps.iter().map(|count| case.source.with_steps(*count, case.method).ok()).collect();
    let by = |method: Method| -> Vec<Option<f64>> {
        let at = |account: &Accountant| account.by(method).epsilon(delta).ok().map(|answer| answer.upper);
        let found = accounts.iter().map(|account| account.as_ref().and_then(at));
        found.map(|value| value.filter(|value| value.is_finite())).collect()
    };
    let by = &by;
    let [pld, rdp, moments, optimal, advanced, basic] = std::thread::scope(|scope| {
        let started = Method::ALL.map(|method| scope.spawn(move || by(method)));
        // A curve whose thread failed is not drawn.
        started.map(|thread| thread.join().unwrap_or_else(|_| vec![None; accounts.len()]))
    });
    let estimates: Vec<Option<NoBounds>> = if with_estimates {
        accounts
            .iter()
            .map(|account| account.as_ref().and_then(|account| no_bounds(account, delta)))
            .collect()
    } else {
        Vec::new()
    };
    let estimate = |of: fn(NoBounds) -> Option<f64>| estimates.iter().map(|one| one.and_then(of)).collect();
    Curves {
        pld,
        rdp,
        moments,
        optimal,
        advanced,
        basic,
        clt_estimate: estimate(|one| one.clt_estimate),
        strong_composition_as_published: estimate(|one| one.strong_composition_as_published),
        steps,
    }
}

/// Whole numbers from 1 to `most`, evenly spaced in their logarithm.
fn steps(most: u64) -> Vec<u64> {
    let growth = (most as f64).ln() / (DRAWN - 1) as f64;
    let mut steps: Vec<u64> =
        (0..DRAWN).map(|i| ((growth * i as f64).exp().round() as u64).clamp(1, most)).collect();
    if let Some(last) = steps.last_mut() {
        *last = most;
    }
    steps.dedup();
    steps
}

/// The picture of the curves.
pub(super) fn chart(case: &Case, account: &Accountant, delta: Delta, curves: &Curves) -> Chart {
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
    let drawn: Vec<Curve> = drawn
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
            Some(Curve {
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
    let x = if case.source.training().is_some() { "steps" } else { "repetitions of the list of events" };
    let what = match case.source.training() {
        Some(training) => {
            let noise = digits::exactly(training.noise.get());
            format!("{}, noise multiplier {noise}", words::batches(&training.batches))
        }
        None => words::happened(&case.source, account),
    };
    Chart {
        title: "Privacy loss by accountant".to_owned(),
        subtitle: format!("{what}, {}, δ = {}", account.neighboring(), digits::exactly(delta.get())),
        x: Axis::log(x, 1.0, most),
        y: Axis::log("ε (smaller is more private)", low, high),
        labels: Labels::Ends("ε at the end"),
        curves: drawn,
    }
}
