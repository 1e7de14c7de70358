//! `account epsilon` and `account delta`.

use super::case::{self, Case};
use super::source::Unknown;
use super::warn::{Claim, warnings};
use super::words;
use crate::Output;
use crate::args::account as args;
use crate::digits;
use crate::fail::Fail;
use crate::text::{aligned, json_line};
use reticent::accounting::{Accountant, Answer};
use reticent::core::Neighboring;
use serde::Serialize;

#[derive(Serialize)]
struct EpsilonFound {
    epsilon: f64,
    lower: f64,
    upper: f64,
    delta: f64,
    accountant: &'static str,
    neighboring: Neighboring,
    direction: &'static str,
}

#[derive(Serialize)]
struct DeltaFound {
    delta: f64,
    lower: f64,
    upper: f64,
    epsilon: f64,
    accountant: &'static str,
    neighboring: Neighboring,
    direction: &'static str,
}

/// ε at δ.
pub(super) fn epsilon(arguments: &args::Epsilon) -> Result<Output, Fail> {
    let delta = case::delta(arguments.delta.as_deref())?;
    let case = Case::read(&arguments.ask, Unknown::Nothing)?;
    let account = case.account_within(arguments.width.as_deref())?;
    let answer = account.epsilon(delta).map_err(|error| case.refused(error))?;
    let Answer { lower, upper, .. } = answer;
    let claim = Claim { epsilon: Some(upper), delta: Some(delta.get()), lower: Some(lower) };
    let warnings = warnings(&case.source, claim);
    let stdout = if case.json {
        json_line(&EpsilonFound {
            epsilon: upper,
            lower,
            upper,
            delta: delta.get(),
            accountant: answer.method.name(),
            neighboring: account.neighboring(),
            direction: words::direction(answer.direction),
        })?
    } else {
        let (shown, at) = (digits::spent(upper), digits::exactly(delta.get()));
        format!("epsilon = {shown} at delta = {at} {}\n", words::between(&answer))
            + &how(&case, &account, &answer)
    };
    Ok(Output { stdout, warnings, ..Output::default() })
}

/// δ at ε.
pub(super) fn delta(arguments: &args::Delta) -> Result<Output, Fail> {
    let epsilon = case::epsilon(arguments.epsilon.as_deref())?;
    let case = Case::read(&arguments.ask, Unknown::Nothing)?;
    let account = case.account_within(arguments.width.as_deref())?;
    let answer = account.delta(epsilon).map_err(|error| case.refused(error))?;
    let Answer { lower, upper, .. } = answer;
    let claim = Claim { epsilon: Some(epsilon.get()), delta: Some(upper), lower: None };
    let warnings = warnings(&case.source, claim);
    let stdout = if case.json {
        json_line(&DeltaFound {
            delta: upper,
            lower,
            upper,
            epsilon: epsilon.get(),
            accountant: answer.method.name(),
            neighboring: account.neighboring(),
            direction: words::direction(answer.direction),
        })?
    } else {
        let (shown, at) = (digits::spent(upper), digits::exactly(epsilon.get()));
        format!("delta = {shown} at epsilon = {at} {}\n", words::between(&answer))
            + &how(&case, &account, &answer)
    };
    Ok(Output { stdout, warnings, ..Output::default() })
}

/// The lines about how the answer came about.
fn how(case: &Case, account: &Accountant, answer: &Answer) -> String {
    aligned(&[
        ("accountant".to_owned(), words::answered(case.method, answer, account.neighboring())),
        ("neighboring".to_owned(), words::relation(account.neighboring())),
        ("events".to_owned(), words::happened(&case.source, account)),
    ])
}
