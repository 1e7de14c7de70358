//! How often a record or an attribute can be recovered.

use super::case::Case;
use super::check::probabilities;
use super::warning::Stated;
use super::{AccountAnswer, AccountResult, wire};
use crate::Refusal;
use reticent_accounting::CompositionMethod;
use reticent_accounting::reconstruction::ReconstructionBound;
use reticent_core::Neighboring;
use serde::Serialize;

/// Points of the drawn curve in every decade.
const DRAWN: i32 = 12;

/// Probabilities of success that no attack can exceed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReconstructionRates {
    /// Probabilities of success against a release without the record, as they were asked.
    pub prior: Vec<f64>,
    /// The largest probability of success against the release at each of them, rounded up.
    pub success: Vec<f64>,
    /// The largest advantage at each of them: success less prior, rounded up.
    pub advantage: Vec<f64>,
    /// The largest advantage at any prior, rounded up.
    pub largest_advantage: f64,
    /// The accountant.
    #[serde(serialize_with = "wire::method")]
    pub accountant: CompositionMethod,
    /// The neighbouring relation.
    pub neighboring: Neighboring,
    /// Points of the whole curve, where they were asked for.
    #[serde(skip)]
    pub curve: Vec<(f64, f64)>,
}

/// Success with the record, by success without it.
pub(super) fn reconstruction(case: &Case, prior: &[f64], drawn: bool) -> Result<AccountAnswer, Refusal> {
    let account = case.account()?;
    let priors = probabilities("prior", prior, "give numbers from 0 to 1")?;
    let bound = ReconstructionBound::of(&account).map_err(|error| case.refused(error))?;
    let success = priors.iter().map(|prior| bound.success(*prior)).collect::<Result<Vec<f64>, _>>();
    let success = success.map_err(|error| case.refused(error))?;
    let largest_advantage = bound.advantage().map_err(|error| case.refused(error))?;
    let prior: Vec<f64> = priors.iter().map(|prior| prior.get()).collect();
    let gained = |(success, prior): (&f64, &f64)| (success - prior).next_up().clamp(0.0, largest_advantage);
    let advantage = success.iter().zip(&prior).map(gained).collect();
    let curve = match drawn {
        true => {
            let places = places(&prior);
            let heights = bound.curve(&places).map_err(|error| case.refused(error))?;
            places.into_iter().zip(heights).collect()
        }
        false => Vec::new(),
    };
    let (accountant, neighboring) = (CompositionMethod::Pld, account.neighboring());
    let found =
        ReconstructionRates { prior, success, advantage, largest_advantage, accountant, neighboring, curve };
    Ok(case.answered(AccountResult::Reconstruction(found), &account, Stated::default()))
}

/// Priors of the drawn curve: from two decades below the least that was asked to 1, closer together near 1.
fn places(asked: &[f64]) -> Vec<f64> {
    let least = asked.iter().copied().filter(|prior| *prior > 0.0).fold(1e-2, f64::min).log10();
    let first = (least.floor() as i32 - 2).max(-300) * DRAWN;
    let rising = (first..-DRAWN / 3).map(|step| 10f64.powf(f64::from(step) / f64::from(DRAWN)));
    rising.chain((0..=20).map(|step| 0.5 + 0.025 * f64::from(step))).collect()
}
