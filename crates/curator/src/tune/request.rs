//! The request for a search.

use super::plan::{TunePlan, plan};
use crate::Request;
use crate::budget::{BUNDLED, Budgeted};
use crate::refusal::Refusal;
use crate::train::{Train, TrainData};
use reticent_data::Reading;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A search for the settings of a network, within one budget.
///
/// # Guarantee
/// The model, the settings that were chosen and its score are (ε, δ)-private for the ε and δ of `train`, whatever was searched: the
/// certificate has the event. How long the search takes is not covered: it tells how many trials there were.
///
/// # Reference
/// Papernot, Steinke, *Hyperparameter tuning with Rényi differential privacy* (2022); Liu, Talwar, *Private selection from private
/// candidates* (2019).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Tune {
    /// The training of every trial, with the budget of the whole search.
    pub train: Train,
    /// What is searched: `learning-rate=0.1..4 log, clip=0.1|0.5|1`.
    pub search: String,
    /// The mean number of trials; 10 if none is given.
    pub trials: Option<f64>,
    /// The law of the number of trials: `geometric` or `logarithmic`.
    #[serde(alias = "trials_distribution")]
    pub trials_distribution: Option<String>,
    /// What trials are scored on: `held-out` units with noise, as part of the cost, or public `validation` data.
    #[serde(alias = "select_on")]
    pub select_on: Option<String>,
}

impl Request for Tune {
    type Planned = TunePlan;

    fn check(&self) -> Result<TunePlan, Refusal> {
        plan(self, None)
    }
}

impl Tune {
    /// As [`check`](Request::check), about data that are given beside the request.
    ///
    /// # Errors
    /// As [`check`](Request::check), and if the request names data.
    pub fn check_data(&self, data: TrainData) -> Result<TunePlan, Refusal> {
        plan(self, Some(data))
    }
}

impl Budgeted for Tune {
    fn about(&self) -> String {
        let data =
            self.train.data.as_ref().map_or_else(|| BUNDLED.to_owned(), |data| data.display().to_string());
        format!("search for the settings of a network, {data}")
    }

    fn reading(&self, _: &TunePlan) -> Option<Reading> {
        Some(self.train.reading.clone())
    }

    fn data(&self, planned: &TunePlan) -> Vec<PathBuf> {
        planned.base.private()
    }
}
