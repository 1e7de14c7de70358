//! Every accountant on the same events.

use super::case::Case;
use super::check;
use super::warning::Stated;
use super::{AccountAnswer, AccountResult, wire};
use crate::Refusal;
use reticent_accounting::{
    Accountant, AccountingError, CertifiedBounds, CompositionMethod, amplification, moments, tradeoff,
};
use reticent_core::profile::gaussian_epsilon_up;
use reticent_core::{Delta, Neighboring, NoiseMultiplier, SamplingRate};
use serde::Serialize;
use std::panic::resume_unwind;

/// Numbers of steps at which curves are drawn.
const DRAWN: usize = 20;
/// Repetitions of a list of events that are drawn.
const REPETITIONS: u64 = 1000;

/// ε by every accountant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AccountantComparison {
    /// The δ of the claims.
    pub delta: f64,
    /// The neighbouring relation.
    pub neighboring: Neighboring,
    /// What each accountant says, from the tightest to the loosest.
    pub accountants: Vec<AccountantRow>,
    /// Numbers that bound nothing, where the events are sampled Gaussian steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_bounds: Option<NotBounds>,
    /// ε against the number of steps, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curves: Option<Curves>,
}

/// What one accountant says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AccountantRow {
    /// The accountant.
    #[serde(serialize_with = "wire::method")]
    pub accountant: CompositionMethod,
    /// The claim, rounded up; nothing where it cannot say.
    pub epsilon: Option<f64>,
    /// What is certainly lost; 0 where nothing is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// The accountant whose bound was tighter and was taken.
    #[serde(skip_serializing_if = "Option::is_none", with = "wire::method_or_none")]
    pub answered_by: Option<CompositionMethod>,
    /// Why it cannot say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Numbers of sampled Gaussian steps that bound nothing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NotBounds {
    /// The estimate of the central limit theorem.
    pub clt_estimate: Option<f64>,
    /// Strong composition as published by Abadi et al. (2016).
    pub strong_composition_as_published: Option<f64>,
}

/// One ε for every number of steps, nothing where it has no bound.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curves {
    /// Numbers of steps; of repetitions of the whole list, where events were given.
    pub steps: Vec<u64>,
    /// By the accountant of this name.
    pub pld: Vec<Option<f64>>,
    /// By the accountant of this name.
    pub rdp: Vec<Option<f64>>,
    /// By the accountant of this name.
    pub moments: Vec<Option<f64>>,
    /// By the accountant of this name.
    pub optimal: Vec<Option<f64>>,
    /// By the accountant of this name.
    pub advanced: Vec<Option<f64>>,
    /// By the accountant of this name.
    pub basic: Vec<Option<f64>>,
    /// No bound: see [`NotBounds`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clt_estimate: Vec<Option<f64>>,
    /// No bound: see [`NotBounds`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub strong_composition_as_published: Vec<Option<f64>>,
}

/// ε by every accountant.
pub(super) fn compare(case: &Case, delta: f64, with_curves: bool) -> Result<AccountAnswer, Refusal> {
    let at = check::delta(delta)?;
    if with_curves && case.source.run().is_some_and(|run| run.steps() == 1) {
        let remedy = "one step makes no curve: give more with ⟦steps⟧ or ⟦epochs⟧";
        return Err(Refusal::conflict("curves", with_curves, remedy));
    }
    let account = case.account()?;
    let rows: Vec<AccountantRow> =
        CompositionMethod::ALL.into_iter().map(|method| row(&account, method, at)).collect();
    if rows.iter().all(|row| row.epsilon.is_none()) {
        // Nobody can account for the events: the tightest accountant says why.
        account.epsilon(at).map_err(|error| case.refused(error))?;
    }
    let not_bounds = no_bounds(&account, at);
    let curves = with_curves.then(|| curves(case, at, not_bounds.is_some()));
    let best = rows.iter().filter_map(|row| row.epsilon).fold(f64::INFINITY, f64::min);
    let lower = rows.iter().filter_map(|row| row.lower).fold(0.0, f64::max);
    let stated = Stated { epsilon: Some(best), delta: Some(delta), lower: Some(lower) };
    let (neighboring, accountants) = (account.neighboring(), rows);
    let found = AccountantComparison { delta, neighboring, accountants, not_bounds, curves };
    Ok(case.answered(AccountResult::Compare(found), &account, stated))
}

fn row(account: &Accountant, method: CompositionMethod, delta: Delta) -> AccountantRow {
    let accountant = method;
    let reason = |reason: String| AccountantRow {
        accountant,
        epsilon: None,
        lower: None,
        answered_by: None,
        reason: Some(reason),
    };
    match account.by(method).epsilon(delta) {
        Ok(CertifiedBounds { lower, upper, method: by, .. }) if upper.is_finite() => AccountantRow {
            accountant,
            epsilon: Some(upper),
            lower: Some(lower),
            answered_by: (by != method).then_some(by),
            reason: None,
        },
        Ok(_) => reason("no finite epsilon".to_owned()),
        Err(AccountingError::Unsupported { event, why, .. }) => reason(format!("{event}: {why}")),
        Err(AccountingError::Invalid(invalid) | AccountingError::Impossible(invalid)) => {
            reason(invalid.remedy)
        }
    }
}

/// The one kind of step whose ε has been estimated and published without being bounded.
pub(super) fn sampled_gaussian(account: &Accountant) -> Option<(SamplingRate, NoiseMultiplier, u64)> {
    let (Neighboring::AddRemove, [(steps, event)]) = (account.neighboring(), account.tally().parts()) else {
        return None;
    };
    let (rate, noise) = amplification::sampled_gaussian(event, account.neighboring())?;
    Some((rate, noise, *steps))
}

fn no_bounds(account: &Accountant, delta: Delta) -> Option<NotBounds> {
    let (rate, noise, steps) = sampled_gaussian(account)?;
    let estimate = || {
        let mu = tradeoff::clt_estimate(rate, noise, steps).ok()?;
        Some(gaussian_epsilon_up(NoiseMultiplier::new(1.0 / mu.get()).ok()?, delta).ok()?.get())
    };
    let published = moments::strong_composition_as_published(rate, noise, steps, delta).ok();
    Some(NotBounds {
        clt_estimate: estimate(),
        strong_composition_as_published: published.filter(|value| value.is_finite()),
    })
}

/// Works the curves out.
fn curves(case: &Case, delta: Delta, with_estimates: bool) -> Curves {
    let most = case.source.run().map_or(REPETITIONS, |run| run.steps());
    let steps = steps(most);
    let accounts: Vec<Option<Accountant>> =
        steps.iter().map(|count| case.source.with_steps(*count, case.method).ok()).collect();
    let by = |method: CompositionMethod| -> Vec<Option<f64>> {
        let at = |account: &Accountant| account.by(method).epsilon(delta).ok().map(|answer| answer.upper);
        let found = accounts.iter().map(|account| account.as_ref().and_then(at));
        found.map(|value| value.filter(|value| value.is_finite())).collect()
    };
    let by = &by;
    let [pld, rdp, moments, optimal, advanced, basic] = std::thread::scope(|scope| {
        let started = CompositionMethod::ALL.map(|method| scope.spawn(move || by(method)));
        started.map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    let estimates: Vec<Option<NotBounds>> = if with_estimates {
        accounts
            .iter()
            .map(|account| account.as_ref().and_then(|account| no_bounds(account, delta)))
            .collect()
    } else {
        Vec::new()
    };
    let estimate = |of: fn(NotBounds) -> Option<f64>| estimates.iter().map(|one| one.and_then(of)).collect();
    Curves {
        pld,
        rdp,
        moments,
        optimal,
        advanced,
        basic,
        clt_estimate: estimate(|one| one.clt_estimate),
        strong_composition_as_published: estimate(|one| one.strong_composition_as_published),
        steps,
    }
}

/// Whole numbers from 1 to `most`, evenly spaced in their logarithm.
fn steps(most: u64) -> Vec<u64> {
    let growth = (most as f64).ln() / (DRAWN - 1) as f64;
    let mut steps: Vec<u64> =
        (0..DRAWN).map(|i| ((growth * i as f64).exp().round() as u64).clamp(1, most)).collect();
    if let Some(last) = steps.last_mut() {
        *last = most;
    }
    steps.dedup();
    steps
}
