//! What several together are promised.

use super::case::Case;
use super::check;
use super::warning::Stated;
use super::{AccountAnswer, AccountResult, Direction, wire};
use crate::Refusal;
use reticent_accounting::{
    Accountant, AccountingError, CertifiedBounds, CompositionMethod, composition, group as theorem, rdp,
};
use reticent_core::rounding::{add_up, mul_up};
use reticent_core::{Delta, Epsilon, Guarantee, Neighboring, Order};
use serde::Serialize;

/// The (ε, δ) that a group is promised.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupClaim {
    /// The ε, rounded up.
    pub epsilon: f64,
    /// What is certainly lost, where the events were added up at a δ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// The claim again, where the events were added up at a δ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    /// The δ.
    pub delta: f64,
    /// How many change together.
    pub size: u64,
    /// The accountant that gave the claim.
    #[serde(serialize_with = "wire::method")]
    pub accountant: CompositionMethod,
    /// The neighbouring relation of the events.
    pub neighboring: Neighboring,
    /// The direction that decides.
    #[serde(skip)]
    pub direction: Direction,
}

/// The Rényi divergence that a group is promised, where that at one order is all that is known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupDivergence {
    /// The order that is left for the group.
    pub order: f64,
    /// The divergence, rounded up.
    pub rdp: f64,
    /// How many change together.
    pub size: u64,
    /// The accountant.
    #[serde(serialize_with = "wire::method")]
    pub accountant: CompositionMethod,
    /// The neighbouring relation of the events.
    pub neighboring: Neighboring,
    /// The size the theorem was used for: a power of 2.
    #[serde(skip)]
    pub doubled: u64,
}

/// The promise to a group.
pub(super) fn group(case: &Case, size: u64, delta: Option<f64>) -> Result<AccountAnswer, Refusal> {
    let account = case.account()?;
    let refused = |error| case.refused(error);
    if let Some(delta) = delta {
        return accounted(case, &account, size, check::delta(delta)?);
    }
    let neighboring = account.neighboring();
    if let Some((order, epsilon)) = one_order(&account).map_err(refused)? {
        // What holds for a larger group holds for a smaller one.
        let doubled = size.checked_next_power_of_two().unwrap_or(size);
        let (order, epsilon) = theorem::renyi(order, epsilon, doubled).map_err(refused)?;
        let (order, rdp, accountant) = (order.get(), epsilon.get(), CompositionMethod::Rdp);
        let found = GroupDivergence { order, rdp, size, accountant, neighboring, doubled };
        return Ok(case.told(AccountResult::GroupDivergence(found), &account, Vec::new()));
    }
    let Some(one) = claims(&account).map_err(refused)? else {
        let remedy = "these events have no epsilon without one: give e.g. ⟦delta⟧ 1e-6";
        return Err(Refusal::missing("delta", remedy));
    };
    let together: Result<Vec<Guarantee>, AccountingError> =
        one.iter().map(|(uses, claim)| repeated(theorem::approximate(*claim, size)?, *uses)).collect();
    let claim = composition::basic(&together.map_err(refused)?).map_err(refused)?;
    let (epsilon, delta) = (claim.epsilon.get(), claim.delta.get());
    let (lower, upper, accountant, direction) = (None, None, CompositionMethod::Basic, Direction::Remove);
    let found = GroupClaim { epsilon, lower, upper, delta, size, accountant, neighboring, direction };
    let stated = Stated { epsilon: Some(epsilon), delta: Some(delta), lower: None };
    Ok(case.answered(AccountResult::Group(found), &account, stated))
}

/// The events as the group meets them, added up at δ.
fn accounted(case: &Case, one: &Accountant, size: u64, delta: Delta) -> Result<AccountAnswer, Refusal> {
    let refused = |error| case.refused(error);
    let log = theorem::log(&case.source.log, size).map_err(refused)?;
    let account = Accountant::of_log(&log, case.method).map_err(refused)?;
    let CertifiedBounds { lower, upper, method: accountant, direction } =
        account.epsilon(delta).map_err(refused)?;
    let (delta, neighboring) = (delta.get(), account.neighboring());
    let stated = Stated { epsilon: Some(upper), delta: Some(delta), lower: Some(lower) };
    let (epsilon, lower, upper) = (upper, Some(lower), Some(upper));
    let found = GroupClaim { epsilon, lower, upper, delta, size, accountant, neighboring, direction };
    Ok(case.answered(AccountResult::Group(found), one, stated))
}

/// The divergence at one order, where that is all that is known.
fn one_order(account: &Accountant) -> Result<Option<(Order, Epsilon)>, AccountingError> {
    let mut found: Option<(Order, f64)> = None;
    for (count, event) in account.tally().parts() {
        let Some((order, epsilon)) = rdp::one_order(event) else { return Ok(None) };
        let (known, sum) = found.unwrap_or((order, 0.0));
        if known != order {
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
        let Some(claim) = composition::stated(event, account.neighboring())? else { return Ok(None) };
        found.push((*count, claim));
    }
    Ok(Some(found))
}

/// So many uses of a claim, by basic composition.
fn repeated(one: Guarantee, uses: u64) -> Result<Guarantee, AccountingError> {
    let times = |value: f64| mul_up(uses as f64, value);
    Ok(Guarantee {
        epsilon: Epsilon::new(times(one.epsilon.get()))?,
        delta: Delta::new(times(one.delta.get()))?,
    })
}
