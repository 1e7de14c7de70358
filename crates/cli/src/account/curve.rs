//! `account rdp`: the Rényi curve of everything together.

use super::case::{self, Case};
use super::source::Source;
use super::warn::{Claim, warnings};
use super::words;
use crate::Output;
use crate::args::account as args;
use crate::digits::{self, Side};
use crate::explain::Code;
use crate::fail::Fail;
use crate::text::{aligned, json_line};
use reticent::accounting::rdp::{RdpAccountant, epsilon_up, kullback_leibler, largest_loss};
use reticent::accounting::{AccountingError, Method};
use reticent::core::{Event, Neighboring};
use serde::Serialize;
use serde_json::{Value, json};

/// More orders than this are a mistake.
const MOST_ORDERS: usize = 10_000;

#[derive(Serialize)]
struct Curve {
    orders: Vec<Value>,
    /// Nothing where the divergence is infinite or has no known bound.
    rdp: Vec<Option<f64>>,
    accountant: &'static str,
    neighboring: Neighboring,
    #[serde(flatten)]
    converted: Option<Converted>,
}

#[derive(Serialize)]
struct Converted {
    epsilon: f64,
    delta: f64,
    best_order: f64,
}

/// Divergences at orders, and ε at the best of all orders.
pub(super) fn rdp(arguments: &args::Rdp) -> Result<Output, Fail> {
    let orders = match &arguments.orders {
        Some(text) => orders(text)?,
        None if arguments.delta.is_some() => Vec::new(),
        None => return Err(Fail::missing("--orders", "give orders of at least 1, e.g. --orders 1.5,2,32")),
    };
    let delta = arguments.delta.as_deref().map(|text| case::delta(Some(text))).transpose()?;
    let case = Case::only(&arguments.ask, Method::Rdp, "'account rdp' gives Rényi divergences")?;
    let account = case.account()?;
    let curve = account.renyi().map_err(|error| case.refused(error))?;
    let values: Vec<f64> = orders.iter().map(|order| divergence(&case.source, &curve, *order)).collect();
    let converted = match delta {
        None => None,
        Some(delta) => {
            let (epsilon, best_order) =
                epsilon_up(|order| curve.divergence_up(order), delta).map_err(|error| case.refused(error))?;
            Some(Converted { epsilon: epsilon.get(), delta: delta.get(), best_order })
        }
    };
    let claim = Claim {
        epsilon: converted.as_ref().map(|found| found.epsilon),
        delta: delta.map(|delta| delta.get()),
        lower: None,
    };
    let warnings = warnings(&case.source, claim);
    if case.json {
        let orders = orders.iter().map(|order| if order.is_finite() { json!(order) } else { json!("inf") });
        let rdp = values.iter().map(|value| value.is_finite().then_some(*value)).collect();
        return Ok(Output {
            stdout: json_line(&Curve {
                orders: orders.collect(),
                rdp,
                accountant: Method::Rdp.name(),
                neighboring: account.neighboring(),
                converted,
            })?,
            warnings,
            ..Output::default()
        });
    }
    let mut lines: Vec<(String, String)> = orders
        .iter()
        .zip(&values)
        .map(|(order, value)| (format!("order {}", digits::exactly(*order)), divergence_text(*value)))
        .collect();
    if let Some(Converted { epsilon, delta, best_order }) = converted {
        let (epsilon, delta) = (digits::spent(epsilon), digits::exactly(delta));
        let order = digits::brief(best_order);
        lines.push(("epsilon".to_owned(), format!("{epsilon} at delta = {delta}, by order {order}")));
    }
    lines.push(("neighboring".to_owned(), words::relation(account.neighboring())));
    lines.push(("events".to_owned(), words::happened(&case.source, &account)));
    Ok(Output { stdout: aligned(&lines), warnings, ..Output::default() })
}

fn divergence_text(value: f64) -> String {
    if value.is_finite() { digits::significant(value, 7, Side::Up) } else { "no finite bound".to_owned() }
}

/// D at an order from 1 to ∞; infinite where no bound is known.
fn divergence(source: &Source, curve: &RdpAccountant, order: f64) -> f64 {
    let ends = |end: fn(&Event) -> Result<f64, AccountingError>| {
        source.log.events.iter().try_fold(0.0, |sum: f64, event| {
            let next = end(event)?;
            Ok::<f64, AccountingError>(if next == 0.0 { sum } else { (sum + next).next_up() })
        })
    };
    let value = if order == 1.0 {
        // Divergences grow with the order: one just above 1 bounds that at 1.
        ends(kullback_leibler).unwrap_or_else(|_| curve.divergence_up(1.0 + 1e-4))
    } else if order.is_infinite() {
        ends(largest_loss).unwrap_or(f64::INFINITY)
    } else {
        curve.divergence_up(order)
    };
    if value.is_nan() { f64::INFINITY } else { value }
}

/// Orders from 1 to inf, with commas between.
fn orders(text: &str) -> Result<Vec<f64>, Fail> {
    let refuse = || {
        Fail::flag("--orders", text, "give orders of at least 1, or inf, such as 1.5,2,32").coded(Code::List)
    };
    let order = |part: &str| match part.trim().parse::<f64>() {
        Ok(order) if order >= 1.0 => Ok(order),
        _ => Err(refuse()),
    };
    let orders = text.split(',').map(order).collect::<Result<Vec<_>, _>>()?;
    if orders.len() > MOST_ORDERS {
        return Err(Fail::flag("--orders", text, format!("give at most {MOST_ORDERS}")).coded(Code::List));
    }
    Ok(orders)
}
