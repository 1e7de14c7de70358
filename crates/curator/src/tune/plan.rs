//! A request to a checked plan. Files are opened; no example is read.

use super::price::TrialTerms;
use super::request::Tune;
use super::search::Search;
use crate::Request;
use crate::refusal::Refusal;
use crate::train::{Budget, Train, TrainData, TrainPlan, fill};
use reticent_noise::sampler::{TrialCount, TrialLaw};

/// The mean number of trials where none is given.
const TRIALS: f64 = 10.0;

/// The share of units that trials are scored on where none is given.
const HELD_OUT: f64 = 0.1;

/// What trials are scored on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SelectOn {
    /// Held-out units, with noise that is part of a trial's cost.
    HeldOut,
    /// Public data.
    Validation,
}

/// A search with everything checked but its data.
#[derive(Debug, Clone)]
pub struct TunePlan {
    /// What every trial has in common, as it was asked for.
    pub(crate) asked: Train,
    /// The same with its data found and its defaults filled in.
    pub(crate) base: TrainPlan,
    pub(crate) search: Search,
    /// Trainings at the corners of what is searched.
    pub(crate) corners: Vec<Train>,
    pub(crate) trials: TrialTerms,
    pub(crate) count: TrialCount,
    pub(crate) on: SelectOn,
}

pub(super) fn plan(request: &Tune, data: Option<TrainData>) -> Result<TunePlan, Refusal> {
    let mut asked = Train { counted: None, ..request.train.clone() };
    for (field, given) in [
        ("noise_multiplier", asked.noise_multiplier.is_some()),
        ("non_private", asked.non_private == Some(true)),
        ("federated", asked.federated.is_some()),
        ("adversarial", asked.adversarial.is_some()),
        ("checkpoint_every", asked.checkpoint_every.is_some()),
        ("init", asked.init.is_some()),
        ("vectors", asked.vectors.is_some()),
        ("pretrain", asked.pretrain.is_some()),
        ("noise", asked.noise.as_deref().is_some_and(|law| law != "gaussian")),
        ("patience", asked.patience.is_some()),
        ("batching", asked.batching.as_deref() == Some("cyclic")),
        ("bands", asked.bands.is_some()),
        ("batch_growth", asked.batch_growth.is_some()),
    ] {
        if given {
            let remedy = "not for a search, whose trials are private trainings with Gaussian noise within one ⟦epsilon⟧, from random \
                          weights: leave it out";
            return Err(Refusal::about(reticent_core::Code::Conflict, field, remedy));
        }
    }
    fill(&mut asked)?;
    let on = match request.select_on.as_deref().unwrap_or("held-out") {
        "held-out" => SelectOn::HeldOut,
        "validation" => SelectOn::Validation,
        other => return Err(Refusal::unknown("select_on", other, "unknown: give held-out or validation")),
    };
    match (on, asked.held_out) {
        (SelectOn::HeldOut, None) => asked.held_out = Some(HELD_OUT),
        (SelectOn::Validation, Some(share)) => {
            let remedy =
                "trials are scored on public validation data: leave it out, or give ⟦select_on⟧ held-out";
            return Err(Refusal::conflict("held_out", share, remedy));
        }
        _ => {}
    }
    let law = match request.trials_distribution.as_deref().unwrap_or("geometric") {
        "geometric" => TrialLaw::Geometric,
        "logarithmic" => TrialLaw::Logarithmic,
        other => {
            let remedy = "unknown: give geometric or logarithmic";
            return Err(Refusal::unknown("trials_distribution", other, remedy));
        }
    };
    let trials = TrialTerms { law, mean: request.trials.unwrap_or(TRIALS) };
    let count = TrialCount::new(law, trials.mean)
        .map_err(|invalid| Refusal::value("trials", trials.mean, invalid.remedy))?;
    let search = Search::read(&request.search)?;
    let mut corners = search.check(&asked)?;
    for (batch, size) in corners.iter().filter_map(|run| run.batch_size.zip(run.dataset_size)) {
        if batch > size {
            let remedy = format!("the declared size is {size}: give a number from 1 to {size}");
            return Err(Refusal::value("batch_size", batch, remedy).within("⟦search⟧"));
        }
    }
    let base = match data {
        Some(data) => asked.check_data(data)?,
        None => asked.check()?,
    };
    // What is given beside the request is named by it, for what is stored.
    for run in corners.iter_mut().chain([&mut asked]) {
        (run.data, run.validation) = (base.run.data.clone(), base.run.validation.clone());
    }
    if !matches!(base.settings.budget, Budget::Target(_)) {
        return Err(Refusal::missing("epsilon", "give a privacy budget for the whole search"));
    }
    if on == SelectOn::Validation && base.validation.is_none() {
        let remedy = "give ⟦validation⟧ with public labelled data, or ⟦select_on⟧ held-out";
        return Err(Refusal::value("select_on", "validation", remedy));
    }
    Ok(TunePlan { asked, base, search, corners, trials, count, on })
}
