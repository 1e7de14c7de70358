//! `account noise`, `account steps` and `account rate`: the one unknown of a budget.

use super::case::{Case, budget};
use super::source::Unknown;
use super::warn::{Claim, warnings};
use super::words;
use crate::Output;
use crate::args::account as args;
use crate::digits::{self, Side};
use crate::explain::Code;
use crate::fail::Fail;
use crate::text::{aligned, json_line};
use reticent::accounting::{Accountant, AccountingError, calibrate};
use reticent::core::{Guarantee, Neighboring};
use serde::Serialize;

/// More steps than this are not looked for.
const MOST_STEPS: u64 = 1 << 40;

#[derive(Serialize)]
struct Solved {
    #[serde(skip_serializing_if = "Option::is_none")]
    noise_multiplier: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sampling_rate: Option<f64>,
    epsilon: f64,
    delta: f64,
    accountant: &'static str,
    neighboring: Neighboring,
    achieved: Achieved,
}

/// What ε the answer comes to.
#[derive(Serialize)]
struct Achieved {
    lower: f64,
    upper: f64,
}

/// One number found.
enum Found {
    Noise(f64),
    Steps(u64),
    Rate(f64),
}

/// The least noise.
pub(super) fn noise(arguments: &args::Budget) -> Result<Output, Fail> {
    solved(arguments, Unknown::Noise, |case, budget| {
        let plan = |noise: f64| case.source.with_noise(noise, case.method);
        let found = calibrate::noise_multiplier(budget, plan)?;
        Ok((Found::Noise(found), plan(found)?))
    })
}

/// The most steps.
pub(super) fn steps(arguments: &args::Budget) -> Result<Output, Fail> {
    solved(arguments, Unknown::Steps, |case, budget| {
        let plan = |steps: u64| case.source.with_steps(steps, case.method);
        let found = calibrate::steps(budget, plan)?;
        Ok((Found::Steps(found), plan(found)?))
    })
}

/// The largest sampling rate.
pub(super) fn rate(arguments: &args::Budget) -> Result<Output, Fail> {
    solved(arguments, Unknown::Rate, |case, budget| {
        let plan = |rate: f64| case.source.with_rate(rate, case.method);
        let found = calibrate::sampling_rate(budget, plan)?;
        Ok((Found::Rate(found), plan(found)?))
    })
}

fn solved(
    arguments: &args::Budget,
    unknown: Unknown,
    solve: impl FnOnce(&Case, Guarantee) -> Result<(Found, Accountant), AccountingError>,
) -> Result<Output, Fail> {
    let budget = budget(arguments)?;
    let case = Case::read(&arguments.ask, unknown)?;
    let (found, account) = solve(&case, budget).map_err(|error| {
        let is_unreachable =
            matches!(&error, AccountingError::Invalid(invalid) if invalid.field == "epsilon");
        let failure = case.refused(error);
        if is_unreachable { failure.coded(Code::Unreachable) } else { failure }
    })?;
    let answer = account.epsilon(budget.delta).map_err(|error| case.refused(error))?;
    let (epsilon, delta) = (budget.epsilon.get(), budget.delta.get());
    let claim = Claim { epsilon: Some(epsilon), delta: Some(delta), lower: Some(answer.lower) };
    let mut warnings = warnings(&case.source, claim);
    if matches!(found, Found::Steps(steps) if steps >= MOST_STEPS) {
        warnings.push_str("warning: more steps than 2^40 were not looked for\n");
    }
    if matches!(found, Found::Noise(noise) if noise <= calibrate::least_noise_multiplier()) {
        warnings.push_str(
            "warning: hardly any noise meets this budget: a smaller noise multiplier was not looked for\n",
        );
    }
    if case.json {
        let achieved = Achieved { lower: answer.lower, upper: answer.upper };
        let (noise_multiplier, steps, sampling_rate) = match found {
            Found::Noise(noise) => (Some(noise), None, None),
            Found::Steps(steps) => (None, Some(steps), None),
            Found::Rate(rate) => (None, None, Some(rate)),
        };
        let (accountant, neighboring) = (answer.method.name(), account.neighboring());
        let stdout = json_line(&Solved {
            noise_multiplier,
            steps,
            sampling_rate,
            epsilon,
            delta,
            accountant,
            neighboring,
            achieved,
        })?;
        return Ok(Output { stdout, warnings, ..Output::default() });
    }
    let target = format!("epsilon = {} at delta = {}", digits::exactly(epsilon), digits::exactly(delta));
    let headline = match found {
        Found::Noise(noise) => {
            format!("noise multiplier = {} for {target}", digits::significant(noise, 5, Side::Up))
        }
        Found::Steps(steps) if case.source.training().is_some() => format!("steps = {steps} within {target}"),
        Found::Steps(times) => format!("the whole list {times} times within {target}"),
        Found::Rate(rate) => {
            format!("sampling rate = {} within {target}", digits::significant(rate, 5, Side::Down))
        }
    };
    let mut lines = vec![
        (
            "achieved".to_owned(),
            format!("epsilon = {} {}", digits::spent(answer.upper), words::between(&answer)),
        ),
        ("accountant".to_owned(), words::answered(case.method, &answer, account.neighboring())),
        ("neighboring".to_owned(), words::relation(account.neighboring())),
    ];
    if let Some(training) = case.source.training() {
        let batches = match found {
            Found::Noise(_) => training.batches,
            Found::Steps(steps) => training.with_steps(steps).batches,
            Found::Rate(rate) => training.with_rate(rate)?.batches,
        };
        lines.push(("batches".to_owned(), words::sampling(&batches)));
        if let (Found::Rate(rate), Some(records)) = (&found, training.dataset_size) {
            let batch = (rate * records as f64).floor();
            lines.push(("batch size".to_owned(), format!("{batch} of {records} records on average")));
        }
    }
    Ok(Output { stdout: format!("{headline}\n") + &aligned(&lines), warnings, ..Output::default() })
}
