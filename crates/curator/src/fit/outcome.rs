//! The outcome of a fit.

use super::request::LinearModel;
use crate::bill::Sizing;
use reticent_core::Certificate;
use reticent_erm::{AnyModel, FitMethod};
use serde::Serialize;
use std::path::PathBuf;

/// A linear model that was trained.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fitted {
    /// Accuracy on the test rows; none if it is too noisy, or if a number is predicted.
    pub accuracy: Option<f64>,
    /// The half-width of its 95 % interval due to the noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy_doubt: Option<f64>,
    /// The half-width of its 95 % interval due to sampling the test rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy_sampling: Option<f64>,
    /// The proportion of the largest class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub majority: Option<f64>,
    /// The root of the mean squared error, in the label's own unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rmse: Option<f64>,
    /// Its 95 % interval due to the noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rmse_interval: Option<[f64; 2]>,
    /// Its 95 % interval due to sampling the test rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rmse_sampling: Option<[f64; 2]>,
    /// How the model was tested.
    pub tested: Test,
    /// Which model it is.
    pub model: LinearModel,
    /// The private method.
    pub method: FitMethod,
    /// How many features it has.
    pub features: usize,
    /// The L2 regularization strength: the coefficient of |w|² / 2 in the objective.
    pub regularization: f64,
    /// The public number of training rows.
    pub dataset_size: u64,
    /// The certificate; none without privacy.
    pub certificate: Option<Certificate>,
    /// The folder that the model is in.
    pub out: Option<PathBuf>,
    /// Caveats.
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
    /// How the number of training rows was determined.
    #[serde(skip)]
    pub sizing: Sizing,
    /// The model itself.
    #[serde(skip)]
    pub weights: AnyModel,
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
