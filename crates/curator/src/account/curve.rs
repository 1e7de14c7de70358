//! The Rényi curve of everything together.

use super::case::Case;
use super::check;
use super::warning::Stated;
use super::{AccountAnswer, AccountResult, wire};
use crate::Refusal;
use reticent_accounting::rdp::{RdpAccountant, epsilon_up, kullback_leibler, largest_loss};
use reticent_accounting::{AccountingError, CompositionMethod};
use reticent_core::{Event, Neighboring};
use serde::Serialize;

/// Rényi divergences at orders.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Divergences {
    /// The orders, as they were asked.
    #[serde(with = "wire::orders")]
    pub orders: Vec<f64>,
    /// The divergence at each order, rounded up; nothing where it is infinite or has no known bound.
    pub rdp: Vec<Option<f64>>,
    /// The accountant.
    #[serde(serialize_with = "wire::method")]
    pub accountant: CompositionMethod,
    /// The neighbouring relation.
    pub neighboring: Neighboring,
    /// The ε they give, where a δ was asked about.
    #[serde(flatten)]
    pub converted: Option<Converted>,
}

/// ε at the best of all orders.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Converted {
    /// The claim, rounded up.
    pub epsilon: f64,
    /// The δ of the claim.
    pub delta: f64,
    /// The order that gave it.
    pub best_order: f64,
}

/// Divergences at orders, and ε at the best of all orders.
pub(super) fn rdp(case: &Case, orders: &[f64], delta: Option<f64>) -> Result<AccountAnswer, Refusal> {
    let delta = delta.map(check::delta).transpose()?;
    let account = case.account()?;
    let curve = account.renyi().map_err(|error| case.refused(error))?;
    let events = &case.source.log.events;
    let rdp = orders.iter().map(|order| divergence(events, &curve, *order)).collect();
    let converted = match delta {
        None => None,
        Some(delta) => {
            let (epsilon, best_order) =
                epsilon_up(|order| curve.divergence_up(order), delta).map_err(|error| case.refused(error))?;
            Some(Converted { epsilon: epsilon.get(), delta: delta.get(), best_order })
        }
    };
    let epsilon = converted.map(|found| found.epsilon);
    let stated = Stated { epsilon, delta: delta.map(|delta| delta.get()), lower: None };
    let (orders, accountant, neighboring) = (orders.to_vec(), CompositionMethod::Rdp, account.neighboring());
    let found = Divergences { orders, rdp, accountant, neighboring, converted };
    Ok(case.answered(AccountResult::Rdp(found), &account, stated))
}

/// D at an order from 1 to ∞; nothing where it is infinite or no bound is known.
pub(super) fn divergence(events: &[Event], curve: &RdpAccountant, order: f64) -> Option<f64> {
    let ends = |end: fn(&Event) -> Result<f64, AccountingError>| {
        events.iter().try_fold(0.0, |sum: f64, event| {
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
    value.is_finite().then_some(value)
}
