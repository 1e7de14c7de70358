//! The outcome of a search: its best trial, and nothing about the others.

use super::search::Drawn;
use crate::train::{HeldOutScore, Sizing};
use reticent_core::Certificate;
use reticent_train::Device;
use serde::Serialize;
use std::path::PathBuf;

/// The best trial of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tuned {
    /// Accuracy of the best network on public validation examples.
    pub accuracy: Option<f64>,
    /// The expected batch size in units.
    pub batch_size: u64,
    /// The certificate of the whole search.
    pub certificate: Certificate,
    /// The settings that were chosen, of those that were searched.
    pub chosen: Drawn,
    /// The public number of units.
    pub dataset_size: u64,
    /// The device that computed the networks.
    pub device: Device,
    /// The law of the number of trials.
    pub distribution: &'static str,
    /// The score that the trial was chosen by, on held-out units: the largest of several, so it is biased upwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_out: Option<HeldOutScore>,
    /// The loss of the best network on public validation examples.
    pub loss: Option<f64>,
    /// The name of the network.
    pub model: Option<String>,
    /// The noise multiplier of the chosen trial.
    pub noise_multiplier: f64,
    /// The folder of the model.
    pub out: Option<PathBuf>,
    /// What trials were scored on.
    pub select_on: &'static str,
    /// The steps of the chosen trial.
    pub steps: u64,
    /// The mean number of trials. How many there were is private.
    pub trials: f64,
    /// Caveats.
    pub warnings: Vec<String>,
    /// How many weights the network has.
    pub weights: usize,
    /// The training data, as messages name them.
    #[serde(skip)]
    pub data: String,
    /// The validation data, as messages name them.
    #[serde(skip)]
    pub validation: Option<String>,
    /// What the units are: rows, users or images.
    #[serde(skip)]
    pub units: &'static str,
    /// How the number of units was determined.
    #[serde(skip)]
    pub sizing: Sizing,
    /// The clipping norm and mode of the chosen training.
    #[serde(skip)]
    pub clipping: (f64, String),
}
