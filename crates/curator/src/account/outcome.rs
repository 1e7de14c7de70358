//! How much likelier a bad outcome becomes for a person whose record is used.

use super::case::Case;
use super::check;
use super::warning::Stated;
use super::{AccountAnswer, AccountResult};
use crate::Refusal;
use reticent_accounting::posterior::greatest_loss;
use reticent_accounting::rdp::{OutcomeRange, bad_outcome, one_order};
use reticent_accounting::tradeoff::false_negative_rate;
use reticent_accounting::{Accountant, AccountingError, CompositionMethod};
use reticent_core::{Delta, Epsilon, Neighboring, Order, Probability};
use serde::Serialize;

/// Orders of the Rényi curve that are tried.
const ORDERS: usize = 200;

/// The range of the probability of an outcome without the record.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutcomeBounds {
    /// Its least value, rounded down.
    pub lower: f64,
    /// Its largest value, rounded up.
    pub upper: f64,
    /// The probability with the record.
    pub probability: f64,
    /// The neighbouring relation.
    pub neighboring: Neighboring,
    /// What gave the lower end.
    #[serde(skip)]
    pub lower_by: Theorem,
    /// What gave the upper end.
    #[serde(skip)]
    pub upper_by: Theorem,
}

/// What an end of the range follows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theorem {
    /// Probabilities are between 0 and 1.
    Nothing,
    /// Probability preservation at the order that the event states.
    OrderOfTheEvent,
    /// Probability preservation at the best Rényi order.
    BestOrder,
    /// The largest privacy loss.
    LargestLoss,
    /// The trade-off curve.
    Tradeoff,
    /// The (ε, δ) claim.
    Claim,
}

/// A range with the theorems that gave its ends.
struct Known {
    range: OutcomeRange,
    lower_by: Theorem,
    upper_by: Theorem,
}

/// The range of the probability without the record.
pub(super) fn outcome(case: &Case, probability: f64, delta: Option<f64>) -> Result<AccountAnswer, Refusal> {
    let p = check::probability("probability", probability)?;
    let delta = delta.map(check::delta).transpose()?;
    let account = case.account()?;
    let Known { range, lower_by, upper_by } =
        self::range(&account, p, delta).map_err(|error| case.refused(error))?;
    let (OutcomeRange { lower, upper }, neighboring) = (range, account.neighboring());
    let found = OutcomeBounds { lower, upper, probability, neighboring, lower_by, upper_by };
    let stated = Stated { delta: delta.map(Delta::get), ..Stated::default() };
    Ok(case.answered(AccountResult::Outcome(found), &account, stated))
}

/// The tightest range that follows from the events.
fn range(account: &Accountant, p: Probability, delta: Option<Delta>) -> Result<Known, AccountingError> {
    if let [(1, event)] = account.tally().parts()
        && let Some((order, epsilon)) = one_order(event)
    {
        let range = bad_outcome(order, epsilon, p)?;
        let by = Theorem::OrderOfTheEvent;
        return Ok(Known { range, lower_by: by, upper_by: by });
    }
    let mut known = Known {
        range: OutcomeRange { lower: 0.0, upper: 1.0 },
        lower_by: Theorem::Nothing,
        upper_by: Theorem::Nothing,
    };
    let complement = Probability::new((1.0 - p.get()).next_up().min(1.0))?;
    by_loss(account, p.get(), &mut known);
    let tested = by_tradeoff(account, p, complement, &mut known);
    // An exact trade-off implies the rest; one that came from Rényi bounds does not.
    let exact =
        matches!(account.delta(Epsilon::new(1.0)?), Ok(answer) if answer.method == CompositionMethod::Pld);
    if !(tested && exact) {
        by_renyi(account, p, complement, &mut known)?;
    }
    if let Some(delta) = delta {
        let claim = account.epsilon(delta)?.upper;
        by_claim(claim, delta.get(), p.get(), Theorem::Claim, &mut known);
    }
    // The two ends are bounds of their own; rounding may make them pass each other when p is 0 or 1.
    known.range.lower = known.range.lower.min(known.range.upper);
    Ok(known)
}

impl Known {
    fn narrow(&mut self, lower: f64, upper: f64, by: Theorem) {
        if lower > self.range.lower {
            (self.range.lower, self.lower_by) = (lower.min(1.0), by);
        }
        if upper < self.range.upper {
            (self.range.upper, self.upper_by) = (upper.max(0.0), by);
        }
    }
}

/// P′ ≤ e^ε P + δ, for the outcome and for its absence, in both directions.
fn by_claim(epsilon: f64, delta: f64, p: f64, by: Theorem, known: &mut Known) {
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
        by_claim(loss.get(), 0.0, p, Theorem::LargestLoss, known);
    }
}

/// No test is better than the trade-off allows, and an outcome is a test. Whether the trade-off is known.
fn by_tradeoff(account: &Accountant, p: Probability, complement: Probability, known: &mut Known) -> bool {
    let (miss, otherwise) = (false_negative_rate(account, p), false_negative_rate(account, complement));
    let (Ok(miss), Ok(otherwise)) = (miss, otherwise) else { return false };
    known.narrow(otherwise - f64::EPSILON, 1.0 - miss + f64::EPSILON, Theorem::Tradeoff);
    true
}

/// Every order of the Rényi curve gives a range, for the outcome and for its absence.
fn by_renyi(
    account: &Accountant,
    p: Probability,
    complement: Probability,
    known: &mut Known,
) -> Result<(), AccountingError> {
    let by = Theorem::BestOrder;
    let Ok(curve) = account.renyi() else { return Ok(()) };
    // α − 1 from 1e-3 to 1e6, and the orders that events state themselves.
    let grid = (0..=ORDERS).map(|step| 1.0 + 10f64.powf(-3.0 + 9.0 * step as f64 / ORDERS as f64));
    let stated = account.tally().parts().iter().filter_map(|(_, event)| one_order(event));
    let stated = stated.map(|(order, _)| order.get()).filter(|order| *order > 1.0);
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
