//! The other formulas.

use super::{
    CompositionFormulas, GaussianFormula, GaussianFormulas, OutcomeFormula, OutputPerturbationFormulas,
    ProjectedSgdFormula, RandomRecordFormula, SampleSizeFormula, SensitivityFormulas, SensitivityRow,
};
use crate::Refusal;
use crate::account::{
    Account, AccountQuestion, AccountResult, Activity, Events, Sampling, TrainingShorthand, check,
};
use reticent_accounting::composition::{advanced, basic, renyi_course};
use reticent_accounting::textbook::{self, ProjectedSgd, composed_outcome_up};
use reticent_core::profile::{gaussian_delta_up, gaussian_noise_multiplier_up};
use reticent_core::rounding::{div_down, div_up, ln_up, mul_up, sqrt_up};
use reticent_core::{
    Delta, Epsilon, Event, EventLog, Guarantee, Neighboring, NoiseMultiplier, Scale, Sensitivity,
};
use reticent_erm::risk::{RiskTarget, SampleSize, minimizer_sensitivity_up};
use reticent_noise::NoiseError;
use reticent_noise::mechanism::{classical_sigma, short_classical_sigma};
use reticent_noise::query::QuerySensitivity;

const RELATIONS: [Neighboring; 2] = [Neighboring::AddRemove, Neighboring::ReplaceOne];

/// A claim with ε > 0 and 0 < δ < 1.
fn budget(epsilon: f64, delta: f64) -> Result<Guarantee, Refusal> {
    crate::account::PrivacyTarget { epsilon, delta }.checked()
}

/// A finite number above 0.
fn positive(field: &str, value: f64) -> Result<Scale, Refusal> {
    Scale::new(value).map_err(|_| Refusal::value(field, value, "give a finite number above 0"))
}

/// Counts, and a sum and a mean where bounds are given.
pub(super) fn sensitivity(
    counts: Option<u64>,
    overlap: Option<u64>,
    bounds: Option<[f64; 2]>,
    dataset_size: Option<u64>,
) -> Result<SensitivityFormulas, Refusal> {
    let row = |query, neighboring, found: QuerySensitivity| SensitivityRow {
        query,
        neighboring,
        l1: found.l1,
        l2: found.l2,
    };
    let mut sensitivities = Vec::new();
    if let Some(counts) = counts {
        for neighboring in RELATIONS {
            let found = QuerySensitivity::of_counts(counts, overlap.unwrap_or(counts), neighboring)?;
            sensitivities.push(row("counts", neighboring, found));
        }
    } else if let Some(overlap) = overlap {
        return Err(Refusal::conflict("overlap", overlap, "goes with ⟦counts⟧: give their number"));
    }
    if let Some(bounds) = bounds {
        for neighboring in RELATIONS {
            sensitivities.push(row("sum", neighboring, QuerySensitivity::of_sum(bounds, neighboring)?));
        }
        if let Some(records) = dataset_size {
            let found = QuerySensitivity::of_mean(bounds, records)?;
            sensitivities.push(row("mean", Neighboring::ReplaceOne, found));
        }
    } else if let Some(records) = dataset_size {
        let remedy = "goes with ⟦bounds⟧: the sensitivity of a mean without bounds is infinite";
        return Err(Refusal::conflict("dataset_size", records, remedy));
    }
    if sensitivities.is_empty() {
        let remedy = "give ⟦counts⟧ for several counts, or ⟦bounds⟧ for a sum and a mean";
        return Err(Refusal::missing("counts", remedy));
    }
    Ok(SensitivityFormulas { sensitivities })
}

/// σ by the analytic calibration and by both textbook formulas.
pub(super) fn gaussian(epsilon: f64, delta: f64, sensitivity: f64) -> Result<GaussianFormulas, Refusal> {
    let claim = budget(epsilon, delta)?;
    let moved = Sensitivity::new(check::finite("sensitivity", sensitivity)?)?;
    let least = gaussian_noise_multiplier_up(claim.epsilon, claim.delta)?;
    let analytic = mul_up(least.get(), sensitivity);
    let true_delta = |sigma: f64| -> Result<f64, Refusal> {
        Ok(gaussian_delta_up(claim.epsilon, NoiseMultiplier::new(div_down(sigma, sensitivity))?))
    };
    let given = |formula, found: Result<f64, NoiseError>| -> Result<GaussianFormula, Refusal> {
        let (sigma, reason) = reasoned(found)?;
        let delta = sigma.map(true_delta).transpose()?;
        Ok(GaussianFormula { formula, sigma, delta, holds: sigma.is_some(), reason })
    };
    let classical = classical_sigma(moved, claim.epsilon, claim.delta).map(Scale::get);
    let mut short = given("short", short_classical_sigma(moved, claim.epsilon, claim.delta).map(Scale::get))?;
    if !short.holds {
        // The value that fails is shown with the δ that it really has.
        let root = sqrt_up(mul_up(2.0, ln_up(div_up(1.0, delta))));
        let sigma = div_up(mul_up(sensitivity, root), epsilon);
        short = GaussianFormula { sigma: Some(sigma), delta: Some(true_delta(sigma)?), ..short };
    }
    let formulas = vec![given("analytic", Ok(analytic))?, given("classical", classical)?, short];
    Ok(GaussianFormulas { epsilon, delta, sensitivity, formulas })
}

/// A value, or the remedy of its refusal.
fn reasoned(found: Result<f64, NoiseError>) -> Result<(Option<f64>, Option<String>), Refusal> {
    match found {
        Ok(value) => Ok((Some(value), None)),
        Err(NoiseError::Invalid(invalid)) if invalid.field == "epsilon" => Ok((None, Some(invalid.remedy))),
        Err(error) => Err(error.into()),
    }
}

/// (0, 1/n).
pub(super) fn random_record(dataset_size: u64) -> Result<RandomRecordFormula, Refusal> {
    let found = textbook::random_record(dataset_size).map_err(invalid)?;
    let (epsilon, delta) = (found.epsilon.get(), found.delta.get());
    Ok(RandomRecordFormula { epsilon, delta, dataset_size, neighboring: Neighboring::ReplaceOne })
}

/// A refused number under the name of its field.
fn invalid(error: reticent_accounting::AccountingError) -> Refusal {
    match error {
        reticent_accounting::AccountingError::Invalid(invalid) => invalid.into(),
        error => error.into(),
    }
}

/// Pure mechanisms by the Rényi form, beside the others.
pub(super) fn composition(
    epsilon: f64,
    count: u64,
    delta: f64,
    probability: Option<f64>,
) -> Result<CompositionFormulas, Refusal> {
    let (claim, count) = (budget(epsilon, delta)?, check::count("count", count)?);
    let (renyi, reason) = match renyi_course(claim.epsilon, count, claim.delta) {
        Ok(found) => (Some(found.get()), None),
        Err(reticent_accounting::AccountingError::Invalid(invalid)) => (None, Some(invalid.remedy)),
        Err(error) => return Err(error.into()),
    };
    let one = Guarantee { epsilon: claim.epsilon, delta: Delta::ZERO };
    let total = Guarantee { epsilon: Epsilon::new(mul_up(epsilon, count as f64))?, ..one };
    let repeated = Event::Repeated { count, event: Box::new(Event::Pure { epsilon: claim.epsilon }) };
    let log = EventLog { neighboring: Neighboring::AddRemove, events: vec![repeated] };
    let ask = |question| {
        Account::new(question, Activity::Events(Events { log: log.clone(), unit: None, file: None })).answer()
    };
    let pld = epsilon_of(ask(AccountQuestion::Epsilon { delta, width: None })?.found)?;
    let outcome = match probability {
        None => None,
        Some(probability) => {
            let q = check::probability("probability", probability)?;
            let renyi = composed_outcome_up(claim.epsilon, count, q).map_err(invalid)?.get();
            let AccountResult::Outcome(found) =
                ask(AccountQuestion::Outcome { probability, delta: None })?.found
            else {
                return Err(Refusal::internal("an outcome was asked for"));
            };
            Some(OutcomeFormula { probability, renyi, tight: found.upper })
        }
    };
    Ok(CompositionFormulas {
        delta,
        renyi,
        reason,
        advanced: advanced(one, count, claim.delta).map_err(invalid)?.epsilon.get(),
        basic: basic(&[total]).map_err(invalid)?.epsilon.get(),
        pld,
        outcome,
    })
}

fn epsilon_of(found: AccountResult) -> Result<f64, Refusal> {
    match found {
        AccountResult::Epsilon(found) => Ok(found.upper),
        _ => Err(Refusal::internal("an epsilon was asked for")),
    }
}

/// Δ₂ and σ.
pub(super) fn output_perturbation(
    epsilon: f64,
    delta: f64,
    dataset_size: u64,
    regularization: f64,
    lipschitz: f64,
) -> Result<OutputPerturbationFormulas, Refusal> {
    let (claim, lipschitz) = (budget(epsilon, delta)?, positive("lipschitz", lipschitz)?);
    let neighboring = Neighboring::ReplaceOne;
    let moved = minimizer_sensitivity_up(lipschitz, dataset_size, regularization, neighboring)?;
    let sigma = mul_up(gaussian_noise_multiplier_up(claim.epsilon, claim.delta)?.get(), moved.get());
    let (classical_sigma, reason) =
        reasoned(classical_sigma(moved, claim.epsilon, claim.delta).map(Scale::get))?;
    Ok(OutputPerturbationFormulas { sensitivity: moved.get(), sigma, classical_sigma, reason, neighboring })
}

/// The target of a sample size, its numbers checked.
pub(super) fn target(
    excess: f64,
    failure: f64,
    dimension: u64,
    radius: f64,
    lipschitz: f64,
) -> Result<RiskTarget, Refusal> {
    let (lipschitz, radius) = (positive("lipschitz", lipschitz)?, positive("radius", radius)?);
    Ok(RiskTarget { lipschitz, radius, width: dimension, excess, failure })
}

/// The records for an excess risk.
pub(super) fn sample_size(
    epsilon: f64,
    delta: f64,
    target: RiskTarget,
) -> Result<SampleSizeFormula, Refusal> {
    let SampleSize { records, regularization } = target.records_needed(budget(epsilon, delta)?)?;
    Ok(SampleSizeFormula {
        dataset_size: records,
        regularization,
        excess: target.excess,
        failure_probability: 2.0 * target.failure,
        neighboring: Neighboring::ReplaceOne,
    })
}

/// The σ of the formula, and what the accountant certifies for it.
pub(super) fn projected_sgd(
    epsilon: f64,
    delta: f64,
    dataset_size: u64,
    steps: u64,
    lipschitz: f64,
) -> Result<ProjectedSgdFormula, Refusal> {
    let (claim, lipschitz) = (budget(epsilon, delta)?, positive("lipschitz", lipschitz)?);
    let descent = ProjectedSgd { lipschitz, records: dataset_size, steps: check::count("steps", steps)? };
    let sigma = descent.sigma_up(claim).map_err(invalid)?.get();
    let run = TrainingShorthand {
        noise_multiplier: Some(div_down(sigma, lipschitz.get())),
        steps: Some(steps),
        dataset_size: Some(dataset_size),
        batch_size: Some(1),
        sampling: Sampling::WithoutReplacement,
        neighboring: Neighboring::ReplaceOne,
        ..TrainingShorthand::default()
    };
    let question = AccountQuestion::Epsilon { delta, width: None };
    let pld = epsilon_of(Account::new(question, Activity::Training(run)).answer()?.found)?;
    Ok(ProjectedSgdFormula { sigma, pld, epsilon, delta, neighboring: Neighboring::ReplaceOne })
}
