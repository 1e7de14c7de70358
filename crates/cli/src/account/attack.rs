//! `account tradeoff`: what an attacker can achieve.

use super::case::{Case, probability};
use super::warn::{Claim, warnings};
use super::words;
use crate::Output;
use crate::args::account as args;
use crate::digits::{self, Side};
use crate::explain::Code;
use crate::fail::Fail;
use crate::file::Target;
use crate::text::{aligned, json_line};
use reticent::accounting::tradeoff::false_negative_rate;
use reticent::accounting::{Accountant, AccountingError, Method};
use reticent::core::{Delta, Epsilon, Neighboring};
use reticent::report::plot::{Axis, Chart, Curve, Labels, Stroke};
use serde::Serialize;
use std::path::Path;

/// Straight lines that outline the drawn curve.
const DRAWN: usize = 48;
/// Where the drawn lines end at the latest.
const LARGEST: f64 = 20.0;

/// Pairs of rates.
#[derive(Serialize)]
struct Found<'a> {
    fpr: &'a [f64],
    fnr: &'a [f64],
    accountant: &'static str,
    neighboring: Neighboring,
}

/// Misses at rates of false alarms.
pub(super) fn tradeoff(arguments: &args::Tradeoff) -> Result<Output, Fail> {
    let rates = match &arguments.fpr {
        Some(text) => {
            let rate = |part: &str| {
                probability("--fpr", part).map_err(|_| {
                    Fail::flag(
                        "--fpr",
                        text,
                        "give numbers from 0 to 1 with commas between, such as 0.01,0.1",
                    )
                    .coded(Code::List)
                })
            };
            text.split(',').map(rate).collect::<Result<Vec<_>, _>>()?
        }
        None if arguments.plot.is_some() => Vec::new(),
        None => return Err(Fail::missing("--fpr", "give false-positive rates, e.g. --fpr 0.01,0.1")),
    };
    if let Some(path) = &arguments.plot {
        Target::plot(path).check()?;
    }
    let case = Case::only(&arguments.ask, Method::Pld, "trade-offs come from the pld accountant")?;
    let account = case.account()?;
    let misses = rates
        .iter()
        .map(|rate| false_negative_rate(&account, *rate))
        .collect::<Result<Vec<f64>, _>>()
        .map_err(|error| case.refused(error))?;
    let rates: Vec<f64> = rates.iter().map(|rate| rate.get()).collect();
    if let Some(path) = &arguments.plot {
        draw(&case, &account, &rates, &misses, path)?;
    }
    let warnings = warnings(&case.source, Claim::default());
    let stdout = if case.json {
        let (accountant, neighboring) = (Method::Pld.name(), account.neighboring());
        json_line(&Found { fpr: &rates, fnr: &misses, accountant, neighboring })?
    } else {
        let mut lines: Vec<(String, String)> = rates
            .iter()
            .zip(&misses)
            .map(|(fpr, fnr)| {
                let (least, most) =
                    (digits::significant(*fnr, 4, Side::Down), digits::significant(1.0 - fnr, 4, Side::Up));
                let text = format!("fnr at least {least} (an attack finds at most {most} of the records)");
                (format!("fpr = {}", digits::exactly(*fpr)), text)
            })
            .collect();
        lines.push(("neighboring".to_owned(), words::relation(account.neighboring())));
        lines.push(("events".to_owned(), words::happened(&case.source, &account)));
        if let Some(path) = &arguments.plot {
            lines.push(("plot".to_owned(), path.display().to_string()));
        }
        aligned(&lines)
    };
    Ok(Output { stdout, warnings, ..Output::default() })
}

/// The whole curve, with the line of perfect privacy.
fn draw(case: &Case, account: &Accountant, rates: &[f64], misses: &[f64], path: &Path) -> Result<(), Fail> {
    let points = whole(account).map_err(|error| case.refused(error))?;
    let marks = rates.iter().copied().zip(misses.iter().copied()).collect();
    let chart = Chart {
        title: "What an attacker can achieve".to_owned(),
        subtitle: format!("{}, {}", words::happened(&case.source, account), account.neighboring()),
        x: Axis::unit("false-positive rate (alarms about records that were not used)"),
        y: Axis::unit("false-negative rate (records missed)"),
        labels: Labels::Corner,
        curves: vec![
            Curve {
                label: "no attack is below this line".to_owned(),
                value: String::new(),
                stroke: Stroke::Solid(0),
                points,
                marks,
                fill: false,
            },
            Curve {
                label: "perfect privacy: guessing".to_owned(),
                value: String::new(),
                stroke: Stroke::Guide,
                points: vec![(0.0, 1.0), (1.0, 0.0)],
                marks: Vec::new(),
                fill: false,
            },
        ],
    };
    Target::plot(path).write(&chart.svg())
}

/// The curve under which no attack can be. Every (ε, δ) that holds is a straight line below it; many of them
/// outline it.
fn whole(account: &Accountant) -> Result<Vec<(f64, f64)>, AccountingError> {
    // Steeper lines than at this δ cannot be seen.
    let widest =
        account.epsilon(Delta::new(1e-4)?).map_or(LARGEST, |answer| answer.upper.clamp(0.1, LARGEST));
    let mut lines = Vec::new();
    for step in 0..=DRAWN {
        let epsilon = widest * step as f64 / DRAWN as f64;
        lines.push((epsilon, account.delta(Epsilon::new(epsilon)?)?.upper));
    }
    let least = |rate: f64| {
        let floor = |(epsilon, delta): &(f64, f64)| {
            (1.0 - delta - epsilon.exp() * rate).max((-epsilon).exp() * (1.0 - delta - rate))
        };
        lines.iter().map(floor).fold(0.0, f64::max)
    };
    // Close together near both ends, where the curve bends most.
    let half: Vec<f64> =
        (0..=4 * DRAWN).map(|step| 0.5 * (step as f64 / (4 * DRAWN) as f64).powi(3)).collect();
    let mirrored = half.iter().rev().map(|rate| 1.0 - rate);
    Ok(half.iter().copied().chain(mirrored).map(|rate| (rate, least(rate))).collect())
}
