//! `account posterior`: what an output can make somebody believe about one person.

use super::case::{self, Case, probability};
use super::source::Unknown;
use super::warn::{Claim, warnings};
use super::words;
use crate::Output;
use crate::args::account as args;
use crate::digits::{self, Side};
use crate::fail::Fail;
use crate::file::Target;
use crate::read;
use crate::text::{aligned, columns, json_line};
use reticent::accounting::posterior::{greatest_loss, loss_quantile, posterior};
use reticent::core::{Delta, Epsilon, Neighboring, Probability};
use reticent::report::plot::{Axis, Chart, Curve, Labels, Stroke};
use serde::Serialize;

/// Points of a drawn curve.
const DRAWN: usize = 200;

/// What is known about the loss of an output.
struct Known {
    /// The largest loss of each claim.
    losses: Vec<Epsilon>,
    /// The probability of a larger one.
    failure: Option<Delta>,
    neighboring: Option<Neighboring>,
    /// What it was read from.
    about: Vec<(String, String)>,
    warnings: String,
}

#[derive(Serialize)]
struct Belief {
    prior: f64,
    lower: f64,
    upper: f64,
}

#[derive(Serialize)]
struct Moved {
    epsilon: f64,
    beliefs: Vec<Belief>,
}

#[derive(Serialize)]
struct Answer {
    claims: Vec<Moved>,
    failure_probability: f64,
    neighboring: Option<Neighboring>,
}

/// Beliefs after an output, for beliefs before it.
pub(super) fn beliefs(arguments: &args::Posterior) -> Result<Output, Fail> {
    let remedy = "give numbers from 0 to 1 with commas between, such as 0.01,0.5";
    let priors = arguments
        .prior
        .split(',')
        .map(|part| probability("--prior", part).map_err(|_| Fail::flag("--prior", &arguments.prior, remedy)))
        .collect::<Result<Vec<Probability>, _>>()?;
    if let Some(path) = &arguments.plot {
        Target::plot(path).check()?;
    }
    let known = match &arguments.epsilon {
        Some(text) => declared(text, arguments)?,
        None => happened(arguments)?,
    };
    let moved: Vec<Moved> = known
        .losses
        .iter()
        .map(|epsilon| {
            let belief = |prior: &Probability| {
                let range = posterior(*epsilon, *prior);
                Belief { prior: prior.get(), lower: range.lower, upper: range.upper }
            };
            Moved { epsilon: epsilon.get(), beliefs: priors.iter().map(belief).collect() }
        })
        .collect();
    if let Some(path) = &arguments.plot {
        Target::plot(path).write(&chart(&known).svg())?;
    }
    if arguments.ask.json {
        let failure_probability = known.failure.map_or(0.0, Delta::get);
        let answer = Answer { claims: moved, failure_probability, neighboring: known.neighboring };
        return Ok(Output { stdout: json_line(&answer)?, warnings: known.warnings, ..Output::default() });
    }
    let mut lines = known.about;
    if let Some(failure) = known.failure {
        let words = format!("with probability at most {} for each end", digits::exactly(failure.get()));
        lines.push(("may fail".to_owned(), words));
    }
    if let Some(path) = &arguments.plot {
        lines.push(("plot".to_owned(), path.display().to_string()));
    }
    Ok(Output { stdout: table(&moved) + &aligned(&lines), warnings: known.warnings, ..Output::default() })
}

/// Claims that the user gives.
fn declared(text: &str, arguments: &args::Posterior) -> Result<Known, Fail> {
    if let Some(delta) = &arguments.delta {
        let remedy = "goes with events: beliefs under a claim with a delta need to know what happened: give \
                      --events or the flags of a training run instead of --epsilon";
        return Err(Fail::flag("--delta", delta, remedy));
    }
    let epsilon = |part: &str| {
        let value = read::number("--epsilon", part)?;
        Epsilon::new(value).map_err(|invalid| Fail::flag("--epsilon", part, invalid.remedy))
    };
    let losses = text.split(',').map(epsilon).collect::<Result<Vec<_>, _>>()?;
    let about = vec![("claim".to_owned(), "pure epsilon, as given: it holds for every output".to_owned())];
    Ok(Known { losses, failure: None, neighboring: None, about, warnings: String::new() })
}

/// The claim that follows from what happened.
fn happened(arguments: &args::Posterior) -> Result<Known, Fail> {
    let failure = arguments.delta.as_deref().map(|text| case::delta(Some(text))).transpose()?;
    let case = Case::read(&arguments.ask, Unknown::Nothing)?;
    let account = case.account()?;
    let loss = match failure {
        Some(failure) => loss_quantile(&account, failure).map_err(|error| case.refused(error))?,
        None => greatest_loss(&account).ok_or_else(|| {
            let remedy = "some outputs can tell any amount here: give the probability with which the bound may fail, \
                          e.g. --delta 1e-6";
            Fail::missing("--delta", remedy)
        })?,
    };
    let neighboring = account.neighboring();
    let about = vec![
        ("largest loss".to_owned(), format!("ε = {}", digits::spent(loss.get()))),
        ("neighboring".to_owned(), words::relation(neighboring)),
        ("events".to_owned(), words::happened(&case.source, &account)),
    ];
    let claim = Claim { delta: failure.map(Delta::get), ..Claim::default() };
    let warnings = warnings(&case.source, claim);
    Ok(Known { losses: vec![loss], failure, neighboring: Some(neighboring), about, warnings })
}

/// Beliefs before in the first column, after in the others.
fn table(moved: &[Moved]) -> String {
    let mut rows: Vec<Vec<String>> = vec![vec!["before".to_owned()]];
    rows[0].extend(moved.iter().map(|claim| format!("after, ε = {}", digits::spent(claim.epsilon))));
    for index in 0..moved.first().map_or(0, |claim| claim.beliefs.len()) {
        let mut row = vec![digits::exactly(moved[0].beliefs[index].prior)];
        row.extend(moved.iter().map(|claim| {
            let Belief { lower, upper, .. } = claim.beliefs[index];
            let end = |value, side| digits::significant(value, 3, side);
            format!("{} to {}", end(lower, Side::Down), end(upper, Side::Up))
        }));
        rows.push(row);
    }
    columns(&rows).iter().map(|line| format!("{line}\n")).collect()
}

/// The belief after against the belief before, at most.
fn chart(known: &Known) -> Chart {
    let curve = |(place, epsilon): (usize, &Epsilon)| {
        let point = |step: usize| {
            let prior = step as f64 / DRAWN as f64;
            let after = Probability::new(prior).map_or(1.0, |prior| posterior(*epsilon, prior).upper);
            (prior, after)
        };
        Curve {
            label: format!("ε = {}", digits::spent(epsilon.get())),
            value: String::new(),
            stroke: Stroke::Series(place),
            points: (0..=DRAWN).map(point).collect(),
            marks: Vec::new(),
            fill: false,
        }
    };
    let mut curves: Vec<Curve> = known.losses.iter().enumerate().rev().map(curve).collect();
    curves.push(Curve {
        label: "nothing was released".to_owned(),
        value: String::new(),
        stroke: Stroke::Guide,
        points: vec![(0.0, 0.0), (1.0, 1.0)],
        marks: Vec::new(),
        fill: false,
    });
    let failing = known.failure.map_or(String::new(), |failure| {
        format!(", but with probability {}", digits::exactly(failure.get()))
    });
    Chart {
        title: "What an output can make somebody believe about one person".to_owned(),
        subtitle: format!(
            "belief that one record was used, all others being the same: never above its line{failing}"
        ),
        x: Axis::unit("belief before"),
        y: Axis::unit("belief after, at most"),
        labels: Labels::Below,
        curves,
    }
}
