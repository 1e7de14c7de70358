//! What an attacker can achieve.

use super::case::Case;
use super::check::probabilities;
use super::warning::Stated;
use super::{AccountAnswer, AccountResult, wire};
use crate::Refusal;
use reticent_accounting::tradeoff::false_negative_rate;
use reticent_accounting::{Accountant, AccountingError, CompositionMethod};
use reticent_core::{Delta, Epsilon, Neighboring};
use serde::Serialize;

/// Straight lines that outline the drawn curve.
const DRAWN: usize = 48;
/// Where the drawn lines end at the latest.
const LARGEST: f64 = 20.0;

/// Pairs of rates that no attack can beat.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rates {
    /// False-positive rates, as they were asked.
    pub fpr: Vec<f64>,
    /// The least false-negative rate at each of them, rounded down.
    pub fnr: Vec<f64>,
    /// The accountant.
    #[serde(serialize_with = "wire::method")]
    pub accountant: CompositionMethod,
    /// The neighbouring relation.
    pub neighboring: Neighboring,
    /// Points of the whole curve, where they were asked for.
    #[serde(skip)]
    pub curve: Vec<(f64, f64)>,
}

/// Misses at rates of false alarms.
pub(super) fn tradeoff(case: &Case, fpr: &[f64], drawn: bool) -> Result<AccountAnswer, Refusal> {
    let account = case.account()?;
    let rates = probabilities("fpr", fpr, "give numbers from 0 to 1")?;
    let misses: Result<Vec<f64>, _> = rates.iter().map(|rate| false_negative_rate(&account, *rate)).collect();
    let fnr = misses.map_err(|error| case.refused(error))?;
    let curve = match drawn {
        true => whole(&account).map_err(|error| case.refused(error))?,
        false => Vec::new(),
    };
    let (accountant, neighboring) = (CompositionMethod::Pld, account.neighboring());
    let fpr = rates.iter().map(|rate| rate.get()).collect();
    let found = Rates { fpr, fnr, accountant, neighboring, curve };
    Ok(case.answered(AccountResult::Tradeoff(found), &account, Stated::default()))
}

/// The curve under which no attack can be. Every (ε, δ) that holds is a straight line below it; many of them
/// outline it.
fn whole(account: &Accountant) -> Result<Vec<(f64, f64)>, AccountingError> {
    // Steeper lines than at this δ cannot be seen.
    let widest =
        account.epsilon(Delta::new(1e-4)?).map_or(LARGEST, |answer| answer.upper.clamp(0.1, LARGEST));
    let mut lines = Vec::new();
    for step in 0..=DRAWN {
        let epsilon = widest * step as f64 / DRAWN as f64;
        lines.push((epsilon, account.delta(Epsilon::new(epsilon)?)?.upper));
    }
    let least = |rate: f64| {
        let floor = |(epsilon, delta): &(f64, f64)| {
            (1.0 - delta - epsilon.exp() * rate).max((-epsilon).exp() * (1.0 - delta - rate))
        };
        lines.iter().map(floor).fold(0.0, f64::max)
    };
    // Close together near both ends, where the curve bends most.
    let half: Vec<f64> =
        (0..=4 * DRAWN).map(|step| 0.5 * (step as f64 / (4 * DRAWN) as f64).powi(3)).collect();
    let mirrored = half.iter().rev().map(|rate| 1.0 - rate);
    Ok(half.iter().copied().chain(mirrored).map(|rate| (rate, least(rate))).collect())
}
