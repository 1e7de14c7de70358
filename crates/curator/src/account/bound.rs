//! ε at δ, and δ at ε.

use super::case::Case;
use super::check;
use super::warning::Stated;
use super::{AccountAnswer, AccountResult, Direction, wire};
use crate::Refusal;
use reticent_accounting::{CertifiedBounds, CompositionMethod};
use reticent_core::Neighboring;
use serde::Serialize;

/// The ε that events add up to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EpsilonBounds {
    /// The claim, rounded up.
    pub epsilon: f64,
    /// What is certainly lost; 0 where nothing is known.
    pub lower: f64,
    /// The claim again.
    pub upper: f64,
    /// The δ of the claim.
    pub delta: f64,
    /// The accountant that gave the claim.
    #[serde(serialize_with = "wire::method")]
    pub accountant: CompositionMethod,
    /// The neighbouring relation.
    pub neighboring: Neighboring,
    /// The direction that decides.
    #[serde(serialize_with = "wire::direction")]
    pub direction: Direction,
}

/// The δ that events add up to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeltaBounds {
    /// The claim, rounded up.
    pub delta: f64,
    /// What is certainly lost; 0 where nothing is known.
    pub lower: f64,
    /// The claim again.
    pub upper: f64,
    /// The ε of the claim.
    pub epsilon: f64,
    /// The accountant that gave the claim.
    #[serde(serialize_with = "wire::method")]
    pub accountant: CompositionMethod,
    /// The neighbouring relation.
    pub neighboring: Neighboring,
    /// The direction that decides.
    #[serde(serialize_with = "wire::direction")]
    pub direction: Direction,
}

/// ε at δ.
pub(super) fn epsilon(case: &Case, delta: f64, width: Option<f64>) -> Result<AccountAnswer, Refusal> {
    let at = check::delta(delta)?;
    let account = case.account_within(width)?;
    let answer = account.epsilon(at).map_err(|error| case.refused(error))?;
    let CertifiedBounds { lower, upper, direction, method: accountant } = answer;
    let (epsilon, neighboring) = (upper, account.neighboring());
    let found = EpsilonBounds { epsilon, lower, upper, delta, accountant, neighboring, direction };
    let stated = Stated { epsilon: Some(upper), delta: Some(delta), lower: Some(lower) };
    Ok(case.answered(AccountResult::Epsilon(found), &account, stated))
}

/// δ at ε.
pub(super) fn delta(case: &Case, epsilon: f64, width: Option<f64>) -> Result<AccountAnswer, Refusal> {
    let at = check::epsilon(epsilon)?;
    let account = case.account_within(width)?;
    let answer = account.delta(at).map_err(|error| case.refused(error))?;
    let CertifiedBounds { lower, upper, direction, method: accountant } = answer;
    let (delta, epsilon, neighboring) = (upper, at.get(), account.neighboring());
    let found = DeltaBounds { delta, lower, upper, epsilon, accountant, neighboring, direction };
    let stated = Stated { epsilon: Some(epsilon), delta: Some(upper), lower: None };
    Ok(case.answered(AccountResult::Delta(found), &account, stated))
}
