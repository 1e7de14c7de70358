//! What a fit gives.

use super::request::LinearModel;
use crate::bill::Sizing;
use reticent_core::Certificate;
use reticent_erm::{Method, Model};
use serde::Serialize;
use std::path::PathBuf;

/// A linear model that was trained.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fitted {
    /// Share of the tested rows that were predicted right; none where noise drowned it, or where a number is predicted.
    pub accuracy: Option<f64>,
    /// What noise may have added to it or taken, about 95 % of the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy_doubt: Option<f64>,
    /// By how much fresh rows may differ from the tested ones because those are only so many, about 95 % of the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy_sampling: Option<f64>,
    /// Share of the largest class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub majority: Option<f64>,
    /// The root of the mean squared error, in the label's own unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rmse: Option<f64>,
    /// Where it would be without noise, about 95 % of the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rmse_interval: Option<[f64; 2]>,
    /// Where it would be on fresh rows, about 95 % of the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rmse_sampling: Option<[f64; 2]>,
    /// How the model was tested.
    pub tested: Test,
    /// Which model it is.
    pub model: LinearModel,
    /// How it was made private.
    pub method: Method,
    /// How many features it has.
    pub features: usize,
    /// The weight of |w|² / 2 beside the mean loss.
    pub regularization: f64,
    /// The number of training rows, as far as it is public.
    pub dataset_size: u64,
    /// What is guaranteed; none without privacy.
    pub certificate: Option<Certificate>,
    /// The folder that the model is in.
    pub out: Option<PathBuf>,
    /// What a reader should know.
    pub warnings: Vec<String>,
    /// The largest class among the tested rows.
    #[serde(skip)]
    pub majority_class: Option<String>,
    /// Whether the method was chosen by its bound.
    #[serde(skip)]
    pub is_method_chosen: bool,
    /// The table, as messages name it.
    #[serde(skip)]
    pub data: String,
    /// Whether rows of the table were held out.
    #[serde(skip)]
    pub is_split: bool,
    /// Whether a user's rows are one unit.
    #[serde(skip)]
    pub is_by_user: bool,
    /// How the number of training rows is known.
    #[serde(skip)]
    pub sizing: Sizing,
    /// The model itself.
    #[serde(skip)]
    pub weights: Model,
}

/// How a model was tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Test {
    /// On rows that were held out, with noise.
    #[serde(rename = "held-out rows, with noise")]
    Released,
    /// Exactly: no certificate covers the score.
    #[serde(rename = "exactly, not covered by any certificate")]
    Exact,
    /// Not at all.
    #[serde(rename = "not at all")]
    None,
}
