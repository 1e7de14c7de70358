//! `account group`: what several together are promised.

use super::case::{self, Case};
use super::source::{Unknown, count};
use super::warn::{Claim, warnings};
use super::words;
use crate::Output;
use crate::args::account as args;
use crate::digits;
use crate::fail::Fail;
use crate::text::{aligned, json_line};
use reticent::accounting::rdp::largest_loss;
use reticent::accounting::{Accountant, AccountingError, Answer, Method, composition, group as theorem};
use reticent::core::rounding::{add_up, mul_up};
use reticent::core::{Delta, Epsilon, Event, Guarantee, Neighboring, Order};
use serde::Serialize;

#[derive(Serialize)]
struct Claimed {
    epsilon: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper: Option<f64>,
    delta: f64,
    size: u64,
    accountant: &'static str,
    neighboring: Neighboring,
}

#[derive(Serialize)]
struct Divergence {
    order: f64,
    rdp: f64,
    size: u64,
    accountant: &'static str,
    neighboring: Neighboring,
}

/// The promise to a group.
pub(super) fn group(arguments: &args::Group) -> Result<Output, Fail> {
    let size = count("--size", &arguments.size)?;
    let delta = arguments.delta.as_deref().map(|text| case::delta(Some(text))).transpose()?;
    let case = Case::read(&arguments.ask, Unknown::Nothing)?;
    let account = case.account()?;
    let refused = |error| case.refused(error);
    if let Some(delta) = delta {
        return accounted(&case, size, delta);
    }
    if let Some((order, epsilon)) = one_order(&account).map_err(refused)? {
        // What holds for a larger group holds for a smaller one.
        let doubled = size.checked_next_power_of_two().unwrap_or(size);
        let (order, epsilon) = theorem::renyi(order, epsilon, doubled).map_err(refused)?;
        let (order, rdp, neighboring) = (order.get(), epsilon.get(), account.neighboring());
        if case.json {
            let accountant = Method::Rdp.name();
            return printed(json_line(&Divergence { order, rdp, size, accountant, neighboring })?);
        }
        let (divergence, order) = (digits::spent(rdp), digits::exactly(order));
        let theorem = format!("Rényi group privacy, for {doubled}");
        return told(
            &case,
            &account,
            format!("rdp = {divergence} at order {order} for a group of {size}"),
            &theorem,
            "",
        );
    }
    let Some(one) = claims(&account).map_err(refused)? else {
        let remedy = "these events have no epsilon without one: give e.g. --delta 1e-6";
        return Err(Fail::missing("--delta", remedy));
    };
    let together: Result<Vec<Guarantee>, AccountingError> =
        one.iter().map(|(uses, claim)| repeated(theorem::approximate(*claim, size)?, *uses)).collect();
    let claim = composition::basic(&together.map_err(refused)?).map_err(refused)?;
    let (epsilon, delta) = (claim.epsilon.get(), claim.delta.get());
    let warnings = warnings(&case.source, Claim { epsilon: Some(epsilon), delta: Some(delta), lower: None });
    if case.json {
        let (lower, upper, accountant, neighboring) = (None, None, "basic", account.neighboring());
        let stdout = json_line(&Claimed { epsilon, lower, upper, delta, size, accountant, neighboring })?;
        return Ok(Output { stdout, warnings, ..Output::default() });
    }
    let (epsilon, delta) = (digits::spent(epsilon), digits::spent(delta));
    let headline = format!("epsilon = {epsilon} at delta = {delta} for a group of {size}");
    told(&case, &account, headline, "group privacy, basic composition", &warnings)
}

/// The events as the group meets them, added up at δ.
fn accounted(case: &Case, size: u64, delta: Delta) -> Result<Output, Fail> {
    let refused = |error| case.refused(error);
    let log = theorem::log(&case.source.log, size).map_err(refused)?;
    let account = Accountant::of_log(&log, case.method).map_err(refused)?;
    let answer = account.epsilon(delta).map_err(refused)?;
    let Answer { lower, upper, .. } = answer;
    let claim = Claim { epsilon: Some(upper), delta: Some(delta.get()), lower: Some(lower) };
    let warnings = warnings(&case.source, claim);
    if case.json {
        let stdout = json_line(&Claimed {
            epsilon: upper,
            lower: Some(lower),
            upper: Some(upper),
            delta: delta.get(),
            size,
            accountant: answer.method.name(),
            neighboring: account.neighboring(),
        })?;
        return Ok(Output { stdout, warnings, ..Output::default() });
    }
    let (epsilon, at) = (digits::spent(upper), digits::exactly(delta.get()));
    let headline =
        format!("epsilon = {epsilon} at delta = {at} for a group of {size} {}", words::between(&answer));
    let how = words::answered(case.method, &answer, account.neighboring());
    told(case, &case.account()?, headline, &how, &warnings)
}

fn printed(stdout: String) -> Result<Output, Fail> {
    Ok(Output { stdout, ..Output::default() })
}

fn told(
    case: &Case,
    account: &Accountant,
    headline: String,
    how: &str,
    warnings: &str,
) -> Result<Output, Fail> {
    let lines = [
        ("by".to_owned(), how.to_owned()),
        ("neighboring".to_owned(), words::relation(account.neighboring())),
        ("events".to_owned(), words::happened(&case.source, account)),
    ];
    Ok(Output {
        stdout: format!("{headline}\n{}", aligned(&lines)),
        warnings: warnings.to_owned(),
        ..Output::default()
    })
}

/// The divergence at one order, where that is all that is known.
fn one_order(account: &Accountant) -> Result<Option<(Order, Epsilon)>, AccountingError> {
    let mut found: Option<(Order, f64)> = None;
    for (count, event) in account.tally().parts() {
        let Event::Rdp { order, epsilon } = event else { return Ok(None) };
        let (known, sum) = found.unwrap_or((*order, 0.0));
        if known != *order {
            return Ok(None);
        }
        found = Some((known, add_up(sum, mul_up(*count as f64, epsilon.get()))));
    }
    found.map(|(order, sum)| Ok((order, Epsilon::new(sum)?))).transpose()
}

/// The events' own (ε, δ) with their numbers, where all have one.
fn claims(account: &Accountant) -> Result<Option<Vec<(u64, Guarantee)>>, AccountingError> {
    let mut found = Vec::new();
    for (count, event) in account.tally().parts() {
        let Some(claim) = own(event, account.neighboring())? else { return Ok(None) };
        found.push((*count, claim));
    }
    Ok(Some(found))
}

/// The (ε, δ) that an event states, or that its largest loss amounts to.
fn own(event: &Event, neighboring: Neighboring) -> Result<Option<Guarantee>, AccountingError> {
    match event {
        Event::Approximate { epsilon, delta } => Ok(Some(Guarantee { epsilon: *epsilon, delta: *delta })),
        Event::Parallel { events } => {
            let mut parts = Vec::new();
            for part in events {
                let Some(claim) = own(part, neighboring)? else { return Ok(None) };
                parts.push(claim);
            }
            composition::parallel(&parts, neighboring).map(Some)
        }
        other => match largest_loss(other) {
            Ok(loss) if loss.is_finite() => Ok(Some(Guarantee::pure(Epsilon::new(loss)?))),
            _ => Ok(None),
        },
    }
}

/// So many uses of a claim, by basic composition.
fn repeated(one: Guarantee, uses: u64) -> Result<Guarantee, AccountingError> {
    let times = |value: f64| mul_up(uses as f64, value);
    Ok(Guarantee {
        epsilon: Epsilon::new(times(one.epsilon.get()))?,
        delta: Delta::new(times(one.delta.get()))?,
    })
}
