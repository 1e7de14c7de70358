//! What an output can make somebody believe about one person.

use super::case::Case;
use super::check::{self, probabilities};
use super::warning::Stated;
use super::{Answered, Found};
use crate::Refusal;
use reticent_accounting::posterior::{greatest_loss, loss_quantile, posterior};
use reticent_core::{Delta, Epsilon, Neighboring, Probability};
use serde::Serialize;

/// Points of a drawn curve.
const DRAWN: usize = 200;

/// Beliefs after an output, for beliefs before it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Beliefs {
    /// For each claim, or for what happened.
    pub claims: Vec<Claim>,
    /// The probability with which each end may fail; 0 where it holds for every output.
    pub failure_probability: f64,
    /// The neighbouring relation; nothing where claims were given.
    pub neighboring: Option<Neighboring>,
}

/// What a largest loss does to beliefs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Claim {
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
    Ok(Beliefs { claims, failure_probability: 0.0, neighboring: None })
}

/// Beliefs under what happened.
pub(super) fn happened(
    case: &Case,
    prior: &[f64],
    failure: Option<f64>,
    drawn: bool,
) -> Result<Answered, Refusal> {
    let failure = failure.map(check::delta).transpose()?;
    let account = case.account()?;
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
    };
    let stated = Stated { delta: failure, ..Stated::default() };
    Ok(case.answered(Found::Posterior(found), &account, stated))
}

fn moved(loss: Epsilon, prior: &[f64], drawn: bool) -> Result<Claim, Refusal> {
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
    Ok(Claim { epsilon: loss.get(), beliefs: priors.into_iter().map(belief).collect(), curve })
}
