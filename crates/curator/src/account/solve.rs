//! The one unknown of a budget: noise, steps or the sampling rate.

use super::case::Case;
use super::warning::{Stated, Warning, warnings};
use super::{AccountAnswer, AccountResult, Direction, PrivacyTarget, TrainingRun, wire};
use crate::Refusal;
use reticent_accounting::{Accountant, AccountingError, CompositionMethod, calibrate};
use reticent_core::{Code, Guarantee, Neighboring};
use serde::Serialize;

/// More steps than this are not looked for.
const MOST_STEPS: u64 = 1 << 40;

/// A number that meets a budget; one of the first three.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Solved {
    /// The least noise multiplier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_multiplier: Option<f64>,
    /// The most steps; how often the whole list, where events were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// The largest sampling rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling_rate: Option<f64>,
    /// The ε of the budget.
    pub epsilon: f64,
    /// The δ of the budget.
    pub delta: f64,
    /// The accountant that gave what is achieved.
    #[serde(serialize_with = "wire::method")]
    pub accountant: CompositionMethod,
    /// The neighbouring relation.
    pub neighboring: Neighboring,
    /// What ε the answer comes to.
    pub achieved: Achieved,
    /// The direction that decides.
    #[serde(skip)]
    pub direction: Direction,
    /// The training run with the number in it, where one was described.
    #[serde(skip)]
    pub run: Option<TrainingRun>,
}

/// Upper and lower bounds on the ε of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Achieved {
    /// What is certainly lost; 0 where nothing is known.
    pub lower: f64,
    /// The claim, rounded up.
    pub upper: f64,
}

/// One number found.
#[derive(Clone, Copy)]
enum Number {
    Noise(f64),
    Steps(u64),
    Rate(f64),
}

/// The least noise.
pub(super) fn noise(case: &Case, budget: PrivacyTarget) -> Result<AccountAnswer, Refusal> {
    solved(case, budget, |budget| {
        let plan = |noise: f64| case.source.with_noise(noise, case.method);
        let found = calibrate::noise_multiplier(budget, plan)?;
        Ok((Number::Noise(found), plan(found)?))
    })
}

/// The most steps.
pub(super) fn steps(case: &Case, budget: PrivacyTarget) -> Result<AccountAnswer, Refusal> {
    solved(case, budget, |budget| {
        let plan = |steps: u64| case.source.with_steps(steps, case.method);
        let found = calibrate::steps(budget, plan)?;
        Ok((Number::Steps(found), plan(found)?))
    })
}

/// The largest sampling rate.
pub(super) fn rate(case: &Case, budget: PrivacyTarget) -> Result<AccountAnswer, Refusal> {
    solved(case, budget, |budget| {
        let plan = |rate: f64| case.source.with_rate(rate, case.method);
        let found = calibrate::sampling_rate(budget, plan)?;
        Ok((Number::Rate(found), plan(found)?))
    })
}

fn solved(
    case: &Case,
    budget: PrivacyTarget,
    solve: impl FnOnce(Guarantee) -> Result<(Number, Accountant), AccountingError>,
) -> Result<AccountAnswer, Refusal> {
    let budget = budget.checked()?;
    let (found, account) = solve(budget).map_err(|error| {
        let is_unreachable =
            matches!(&error, AccountingError::Invalid(invalid) if invalid.field == "epsilon");
        let refusal = case.refused(error);
        if is_unreachable { refusal.coded(Code::Unreachable) } else { refusal }
    })?;
    let answer = account.epsilon(budget.delta).map_err(|error| case.refused(error))?;
    let (epsilon, delta) = (budget.epsilon.get(), budget.delta.get());
    let stated = Stated { epsilon: Some(epsilon), delta: Some(delta), lower: Some(answer.lower) };
    let mut warnings = warnings(&case.source, stated);
    if matches!(found, Number::Steps(steps) if steps >= MOST_STEPS) {
        warnings.push(Warning::MostSteps);
    }
    if matches!(found, Number::Noise(noise) if noise <= calibrate::least_noise_multiplier()) {
        warnings.push(Warning::LeastNoise);
    }
    let run = case.source.run().map(|run| match found {
        Number::Noise(noise) => run.with_noise(noise),
        Number::Steps(steps) => Ok(run.with_steps(steps)),
        Number::Rate(rate) => run.with_rate(rate),
    });
    let (noise_multiplier, steps, sampling_rate) = match found {
        Number::Noise(noise) => (Some(noise), None, None),
        Number::Steps(steps) => (None, Some(steps), None),
        Number::Rate(rate) => (None, None, Some(rate)),
    };
    let found = Solved {
        noise_multiplier,
        steps,
        sampling_rate,
        epsilon,
        delta,
        accountant: answer.method,
        neighboring: account.neighboring(),
        // The number was accepted because delta at the budget's epsilon is within the budget. So that epsilon is a bound at the
        // budget's delta, also where the account bounds epsilon at that delta less tightly.
        achieved: Achieved { lower: answer.lower, upper: answer.upper.min(epsilon) },
        direction: answer.direction,
        run: run.transpose()?,
    };
    Ok(case.told(AccountResult::Solved(found), &account, warnings))
}
