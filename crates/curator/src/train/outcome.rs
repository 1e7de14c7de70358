//! What a training gives.

use crate::bill::Sizing;
use crate::watch::Metrics;
use reticent_core::Certificate;
use reticent_report::digits;
use reticent_train::{PrivacyPlan, Progress};
use serde::{Serialize, Serializer};
use std::path::PathBuf;

/// How a training ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Trained {
    /// With a model.
    Finished(Box<Finished>),
    /// Before its last step, because it was asked to stop.
    Interrupted(Box<Interrupted>),
}

/// A training that took all its steps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finished {
    /// Share of the public validation examples that were predicted right.
    pub accuracy: Option<f64>,
    /// The expected number of units in a step.
    pub batch_size: u64,
    /// What is guaranteed; none without privacy.
    #[serde(serialize_with = "sorted")]
    pub certificate: Option<Certificate>,
    /// Steps that count: those taken, and those of earlier attempts that may have been seen.
    pub counted_steps: u64,
    /// The number of units, as far as it is public.
    pub dataset_size: u64,
    /// Passes over the data, on average.
    pub epochs: f64,
    /// Only without privacy: how long private steps take is not covered by a certificate.
    pub examples_per_second: Option<f64>,
    /// The loss on public validation examples.
    pub loss: Option<f64>,
    /// The network's name.
    pub model: Option<String>,
    /// Noise of a step, σ / clipping norm; none without privacy.
    pub noise_multiplier: Option<f64>,
    /// The run's folder.
    pub out: Option<PathBuf>,
    /// Steps on the way to the weights.
    pub steps: u64,
    /// How the network was tested.
    pub tested: &'static str,
    /// What a reader should know.
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
    /// How the number of units is known.
    #[serde(skip)]
    pub sizing: Sizing,
    /// What the noise is relative to; none without privacy.
    #[serde(skip)]
    pub noise: Option<Noise>,
}

/// What the noise of a step is relative to.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    /// The clipping norm.
    pub norm: f64,
    /// The rule of clipping.
    pub clipping: String,
}

/// A training that was asked to stop.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Interrupted {
    /// What is guaranteed for all that was seen; none without privacy.
    #[serde(serialize_with = "sorted")]
    pub certificate: Option<Certificate>,
    /// Always true.
    pub interrupted: bool,
    /// How many steps there were to be.
    pub of: u64,
    /// The run's folder; none if nothing was stored.
    pub out: Option<PathBuf>,
    /// How many steps were taken.
    pub steps: u64,
}

impl Interrupted {
    pub(super) fn new(progress: Progress, certificate: Option<Certificate>, out: Option<PathBuf>) -> Self {
        let (steps, of) = (progress.taken, progress.steps);
        Self { certificate, interrupted: true, of, out, steps }
    }
}

/// A value whose keys stand in the order of the alphabet, as all keys of a training's JSON do.
fn sorted<S: Serializer>(value: &impl Serialize, serializer: S) -> Result<S::Ok, S::Error> {
    serde_json::to_value(value).map_err(serde::ser::Error::custom)?.serialize(serializer)
}

/// How many times as long as a batch's gradients the noise may be before it is said.
const DROWNED: f64 = 8.0;

/// Says that noise is much longer than all gradients of a batch together can be: from public numbers alone.
pub(super) fn drowned(plan: &PrivacyPlan, batch: u64) -> Option<String> {
    let times = plan.noise_multiplier() * (plan.settings().dimension as f64).sqrt() / batch.max(1) as f64;
    (times > DROWNED).then(|| {
        format!(
            "the noise of a step is about {} times as long as all gradients of a batch together can be: score the model on data it \
             has not seen before you rely on it; larger batches (⟦batch_size⟧), a smaller network or a linear model need less noise",
            digits::brief(times.round())
        )
    })
}

/// Says that weights or scores are not finite numbers: the training has diverged.
pub(super) fn exploded(weights: &[f32], metrics: &Metrics) -> Option<String> {
    let is_broken = weights.iter().any(|weight| !weight.is_finite());
    (is_broken || metrics.validation_loss.is_some_and(|loss| !loss.is_finite())).then(|| {
        "the training has diverged: weights or scores are not finite numbers, and the model is of no use; give a smaller \
         learning rate (⟦lr⟧)"
            .to_owned()
    })
}

/// What can be said against a run without looking at data.
pub(super) fn lost(progress: Progress) -> Option<String> {
    let lost = progress.counted.saturating_sub(progress.taken);
    (lost > 0).then(|| {
        format!(
            "{lost} steps were seen but lost when the run was stopped: they are paid for, and the model has fewer steps"
        )
    })
}
