//! How far an output can move a belief about one person.

use super::case::Case;
use super::check::{self, probabilities};
use super::curve::divergence;
use super::warning::Stated;
use super::{AccountAnswer, AccountResult};
use crate::Refusal;
use reticent_accounting::Accountant;
use reticent_accounting::posterior::{greatest_loss, loss_quantile, posterior};
use reticent_accounting::rdp::odds_moment_up;
use reticent_core::{Delta, Epsilon, Neighboring, Order, Probability};
use serde::Serialize;

/// Points of a drawn curve.
const DRAWN: usize = 200;

/// Beliefs after an output, for beliefs before it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Beliefs {
    /// For each claim, or for what happened.
    pub claims: Vec<PosteriorBound>,
    /// The probability with which each end may fail; 0 where it holds for every output.
    pub failure_probability: f64,
    /// The neighbouring relation; nothing where claims were given.
    pub neighboring: Option<Neighboring>,
    /// Means over outputs, for the orders that were asked.
    pub odds: Vec<OddsMoment>,
}

/// How far the odds move on average over outputs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OddsMoment {
    /// The order α.
    pub order: f64,
    /// The Rényi divergence at this order, rounded up; nothing where it is infinite or has no known bound.
    pub rdp: Option<f64>,
    /// For α > 1, the mean of (posterior odds / prior odds)^(α−1), at most; for α = 1, that of the change of the log-odds. Rounded
    /// up; nothing where no finite bound is known.
    pub mean: Option<f64>,
}

/// What a largest loss does to beliefs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PosteriorBound {
    /// The largest loss of an output, rounded up.
    pub epsilon: f64,
    /// The beliefs.
    pub beliefs: Vec<Belief>,
    /// The largest belief after against the belief before, where the curve was asked for.
    #[serde(skip)]
    pub curve: Vec<(f64, f64)>,
}

/// A belief before an output, and the range of those after it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Belief {
    /// The belief before.
    pub prior: f64,
    /// The least belief after.
    pub lower: f64,
    /// The largest belief after.
    pub upper: f64,
}

/// Beliefs under pure claims that are given.
pub(super) fn declared(prior: &[f64], claims: &[f64], drawn: bool) -> Result<Beliefs, Refusal> {
    let losses = claims.iter().map(|claim| check::epsilon(*claim)).collect::<Result<Vec<_>, _>>()?;
    let claims = losses.iter().map(|loss| moved(*loss, prior, drawn)).collect::<Result<Vec<_>, _>>()?;
    Ok(Beliefs { claims, failure_probability: 0.0, neighboring: None, odds: Vec::new() })
}

/// Beliefs under what happened.
pub(super) fn happened(
    case: &Case,
    prior: &[f64],
    failure: Option<f64>,
    orders: &[f64],
    drawn: bool,
) -> Result<AccountAnswer, Refusal> {
    let failure = failure.map(check::delta).transpose()?;
    let account = case.account()?;
    let odds = odds(case, &account, orders)?;
    let loss = match failure {
        Some(failure) => loss_quantile(&account, failure).map_err(|error| case.refused(error))?,
        None => greatest_loss(&account).ok_or_else(|| {
            let remedy = "some outputs can tell any amount here: give the probability with which the bound may fail, \
                          e.g. ⟦delta⟧ 1e-6";
            Refusal::missing("delta", remedy)
        })?,
    };
    let failure = failure.map(Delta::get);
    let found = Beliefs {
        claims: vec![moved(loss, prior, drawn)?],
        failure_probability: failure.unwrap_or(0.0),
        neighboring: Some(account.neighboring()),
        odds,
    };
    let stated = Stated { delta: failure, ..Stated::default() };
    Ok(case.answered(AccountResult::Posterior(found), &account, stated))
}

/// The means over outputs.
fn odds(case: &Case, account: &Accountant, orders: &[f64]) -> Result<Vec<OddsMoment>, Refusal> {
    if orders.is_empty() {
        return Ok(Vec::new());
    }
    let curve = account.renyi().map_err(|error| case.refused(error))?;
    let moment = |order: &f64| -> Result<OddsMoment, Refusal> {
        let rdp = divergence(&case.source.log.events, &curve, *order);
        let mean = match rdp {
            Some(rdp) if *order > 1.0 => {
                let moment = odds_moment_up(Order::new(*order)?, Epsilon::new(rdp.max(0.0))?);
                Some(moment.map_err(|error| case.refused(error))?).filter(|mean| mean.is_finite())
            }
            rdp => rdp,
        };
        Ok(OddsMoment { order: *order, rdp, mean })
    };
    orders.iter().map(moment).collect()
}

fn moved(loss: Epsilon, prior: &[f64], drawn: bool) -> Result<PosteriorBound, Refusal> {
    let belief = |prior: Probability| {
        let range = posterior(loss, prior);
        Belief { prior: prior.get(), lower: range.lower, upper: range.upper }
    };
    let priors = probabilities("prior", prior, "give numbers from 0 to 1")?;
    let point = |step: usize| {
        let prior = step as f64 / DRAWN as f64;
        (prior, Probability::new(prior).map_or(1.0, |prior| posterior(loss, prior).upper))
    };
    let curve = if drawn { (0..=DRAWN).map(point).collect() } else { Vec::new() };
    Ok(PosteriorBound { epsilon: loss.get(), beliefs: priors.into_iter().map(belief).collect(), curve })
}
