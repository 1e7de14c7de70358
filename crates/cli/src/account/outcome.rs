//! `account outcome`: how much likelier a bad outcome becomes for a person whose record is used.

use super::case::{self, Case, probability};
use super::source::Unknown;
use super::warn::{Claim, warnings};
use super::words;
use crate::Output;
use crate::args::account as args;
use crate::digits;
use crate::fail::Fail;
use crate::text::{aligned, json_line};
use reticent::accounting::posterior::greatest_loss;
use reticent::accounting::rdp::{OutcomeRange, bad_outcome};
use reticent::accounting::tradeoff::false_negative_rate;
use reticent::accounting::{Accountant, AccountingError, Method};
use reticent::core::{Delta, Epsilon, Event, Neighboring, Order, Probability};
use serde::Serialize;

/// Orders of the Rényi curve that are tried.
const ORDERS: usize = 200;

#[derive(Serialize)]
struct Range {
    lower: f64,
    upper: f64,
    probability: f64,
    neighboring: Neighboring,
}

/// A range with the theorems that gave its ends.
struct Known {
    range: OutcomeRange,
    lower_by: &'static str,
    upper_by: &'static str,
}

/// The range of the probability without the record.
pub(super) fn outcome(arguments: &args::Outcome) -> Result<Output, Fail> {
    let probability = probability("--probability", &arguments.probability)?;
    let delta = arguments.delta.as_deref().map(|text| case::delta(Some(text))).transpose()?;
    let case = Case::read(&arguments.ask, Unknown::Nothing)?;
    let account = case.account()?;
    let known = range(&account, probability, delta).map_err(|error| case.refused(error))?;
    let OutcomeRange { lower, upper } = known.range;
    let warnings = warnings(&case.source, Claim { delta: delta.map(Delta::get), ..Claim::default() });
    if case.json {
        let (probability, neighboring) = (probability.get(), account.neighboring());
        return Ok(Output {
            stdout: json_line(&Range { lower, upper, probability, neighboring })?,
            warnings,
            ..Output::default()
        });
    }
    let [least, most] = [(lower, digits::Side::Down), (upper, digits::Side::Up)]
        .map(|(end, side)| digits::significant(end, 4, side));
    let with = digits::exactly(probability.get());
    let by = if known.lower_by == known.upper_by {
        known.upper_by.to_owned()
    } else {
        format!("{} (lower end), {} (upper end)", known.lower_by, known.upper_by)
    };
    let headline = format!("probability {with} with the record: {least} to {most} without it\n");
    let lines = [
        ("by".to_owned(), by),
        ("neighboring".to_owned(), words::relation(account.neighboring())),
        ("events".to_owned(), words::happened(&case.source, &account)),
    ];
    Ok(Output { stdout: headline + &aligned(&lines), warnings, ..Output::default() })
}

/// The tightest range that follows from the events.
fn range(account: &Accountant, p: Probability, delta: Option<Delta>) -> Result<Known, AccountingError> {
    if let [(1, Event::Rdp { order, epsilon })] = account.tally().parts() {
        let range = bad_outcome(*order, *epsilon, p)?;
        let by = "probability preservation at the order of the event";
        return Ok(Known { range, lower_by: by, upper_by: by });
    }
    let mut known =
        Known { range: OutcomeRange { lower: 0.0, upper: 1.0 }, lower_by: "nothing", upper_by: "nothing" };
    let complement = Probability::new((1.0 - p.get()).next_up().min(1.0))?;
    by_loss(account, p.get(), &mut known);
    let tested = by_tradeoff(account, p, complement, &mut known);
    // An exact trade-off implies the rest; one that came from Rényi bounds does not.
    let exact = matches!(account.delta(Epsilon::new(1.0)?), Ok(answer) if answer.method == Method::Pld);
    if !(tested && exact) {
        by_renyi(account, p, complement, &mut known)?;
    }
    if let Some(delta) = delta {
        let claim = account.epsilon(delta)?.upper;
        by_claim(claim, delta.get(), p.get(), "the (epsilon, delta) claim", &mut known);
    }
    // The two ends are bounds of their own; rounding may make them pass each other when p is 0 or 1.
    known.range.lower = known.range.lower.min(known.range.upper);
    Ok(known)
}

impl Known {
    fn narrow(&mut self, lower: f64, upper: f64, by: &'static str) {
        if lower > self.range.lower {
            (self.range.lower, self.lower_by) = (lower.min(1.0), by);
        }
        if upper < self.range.upper {
            (self.range.upper, self.upper_by) = (upper.max(0.0), by);
        }
    }
}

/// P′ ≤ e^ε P + δ, for the outcome and for its absence, in both directions.
fn by_claim(epsilon: f64, delta: f64, p: f64, by: &'static str, known: &mut Known) {
    let (up, down) = ((1.0 + 1e-14, 1.0 - 1e-14), (-epsilon).exp());
    let most = (epsilon.exp() * p + delta) * up.0;
    let most_otherwise = 1.0 - down * (1.0 - p - delta) * up.1 + f64::EPSILON;
    let least = down * (p - delta) * up.1;
    let least_otherwise = 1.0 - (epsilon.exp() * (1.0 - p) + delta) * up.0 - f64::EPSILON;
    known.narrow(least.max(least_otherwise), most.min(most_otherwise), by);
}

/// Where the loss has a largest value.
fn by_loss(account: &Accountant, p: f64, known: &mut Known) {
    if let Some(loss) = greatest_loss(account) {
        by_claim(loss.get(), 0.0, p, "the largest privacy loss", known);
    }
}

/// No test is better than the trade-off allows, and an outcome is a test. Whether the trade-off is known.
fn by_tradeoff(account: &Accountant, p: Probability, complement: Probability, known: &mut Known) -> bool {
    let (miss, otherwise) = (false_negative_rate(account, p), false_negative_rate(account, complement));
    let (Ok(miss), Ok(otherwise)) = (miss, otherwise) else { return false };
    known.narrow(otherwise - f64::EPSILON, 1.0 - miss + f64::EPSILON, "the trade-off curve");
    true
}

/// Every order of the Rényi curve gives a range, for the outcome and for its absence.
fn by_renyi(
    account: &Accountant,
    p: Probability,
    complement: Probability,
    known: &mut Known,
) -> Result<(), AccountingError> {
    let by = "probability preservation at the best Rényi order";
    let Ok(curve) = account.renyi() else { return Ok(()) };
    // α − 1 from 1e-3 to 1e6, and the orders that events state themselves.
    let grid = (0..=ORDERS).map(|step| 1.0 + 10f64.powf(-3.0 + 9.0 * step as f64 / ORDERS as f64));
    let stated = account.tally().parts().iter().filter_map(|(_, event)| match event {
        Event::Rdp { order, .. } if order.get() > 1.0 => Some(order.get()),
        _ => None,
    });
    for order in grid.chain(stated) {
        let divergence = curve.divergence_up(order);
        if !divergence.is_finite() {
            continue;
        }
        let (order, epsilon) = (Order::new(order)?, Epsilon::new(divergence.max(0.0))?);
        let direct = bad_outcome(order, epsilon, p)?;
        let absent = bad_outcome(order, epsilon, complement)?;
        known.narrow(direct.lower, direct.upper, by);
        known.narrow(1.0 - absent.upper - f64::EPSILON, 1.0 - absent.lower + f64::EPSILON, by);
    }
    Ok(())
}
