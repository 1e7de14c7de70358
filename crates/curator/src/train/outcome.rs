//! The outcome of a training.

use super::evaluations::HeldOutEvaluation;
use super::federated::{FederatedMethod, FederatedUnit};
use super::held_out::HeldOutScore;
use crate::bill::Sizing;
use crate::watch::Metrics;
use reticent_core::Certificate;
use reticent_report::digits;
use reticent_train::{CyclicBatches, Denoising, Device, NoiseLaw, PrivacyPlan, Progress};
use serde::{Serialize, Serializer};
use std::path::PathBuf;

/// How a training ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Trained {
    /// With a model.
    Finished(Box<Finished>),
    /// Before its last step, because it was asked to stop.
    Interrupted(Box<InterruptedTraining>),
}

/// A training that took all its steps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finished {
    /// Accuracy on public validation examples.
    pub accuracy: Option<f64>,
    /// The training against an inference network; none for other trainings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adversarial: Option<AdversarialSummary>,
    /// How batches grow during the run; none where all have one expected size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_growth: Option<GrowthSummary>,
    /// The expected batch size in units; of the first stage, where batches grow.
    pub batch_size: u64,
    /// The certificate; none without privacy.
    #[serde(serialize_with = "sorted")]
    pub certificate: Option<Certificate>,
    /// The steps that are charged: those taken, and those of earlier attempts that may have been observed.
    pub counted_steps: u64,
    /// Batches that come round in every epoch, with correlated noise; none where batches are sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cyclic: Option<CyclicBatches>,
    /// The public number of units.
    pub dataset_size: u64,
    /// The device that computed the network. The guarantee does not depend on it.
    pub device: Device,
    /// The expected number of epochs.
    pub epochs: f64,
    /// The scores on held-out units during the run, which it may have ended by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evaluations: Vec<HeldOutEvaluation>,
    /// Only without privacy: how long private steps take is not covered by a certificate.
    pub examples_per_second: Option<f64>,
    /// How parties trained together; none for a training by one party.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub federated: Option<FederatedSummary>,
    /// The score on held-out units; none where none are held out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_out: Option<HeldOutScore>,
    /// The loss on public validation examples.
    pub loss: Option<f64>,
    /// e to the loss per token on public validation texts; only for language models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perplexity: Option<f64>,
    /// The network's name.
    pub model: Option<String>,
    /// The noise multiplier, σ / clipping norm; none without privacy.
    pub noise_multiplier: Option<f64>,
    /// The run's folder.
    pub out: Option<PathBuf>,
    /// What the weights started from; none for a random start, and for a run that went on from a checkpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<StartSummary>,
    /// The steps that led to the weights.
    pub steps: u64,
    /// How the network was tested.
    pub tested: &'static str,
    /// How many of the weights are trained; none if all are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trained_weights: Option<usize>,
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
    /// The scale of the noise; none without privacy.
    #[serde(skip)]
    pub noise: Option<NoiseSummary>,
}

/// How batches grow during a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GrowthSummary {
    /// The last stage's expected batch size over that of the first.
    pub factor: u64,
    /// The planned stages, in sequence.
    pub stages: Vec<StageSummary>,
}

/// A stage of a run whose batches grow.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StageSummary {
    /// The expected batch size in units.
    pub batch_size: u64,
    /// The planned number of steps.
    pub steps: u64,
}

/// What the weights of a run started from.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StartSummary {
    /// Weights of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub init: Option<InitSummary>,
    /// A training on public data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pretrain: Option<PretrainSummary>,
    /// Word vectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vectors: Option<VectorsSummary>,
}

/// What became of the weights of a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InitSummary {
    /// The file.
    pub file: PathBuf,
    /// Parameters that stayed at their random start.
    pub random: Vec<String>,
    /// The arrays that were taken, each with the parameter it went to.
    pub taken: Vec<(String, String)>,
    /// Arrays that have no part in the network.
    pub unused: Vec<String>,
}

/// A training on public data before the private one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PretrainSummary {
    /// The data, as messages name them.
    pub data: String,
    /// The number of epochs.
    pub epochs: f64,
    /// The number of public examples.
    pub examples: u64,
}

/// Word vectors in the first layer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VectorsSummary {
    /// The tokens of the vocabulary that have a vector.
    pub covered: u64,
    /// The file.
    pub file: PathBuf,
    /// All tokens of the vocabulary.
    pub tokens: u64,
    /// The numbers of a vector.
    pub width: u64,
}

/// A training against an inference network. It has no guarantee.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AdversarialSummary {
    /// The mean of the hit rates of the inference network on training and on reference records at the end: 0.5 is guessing.
    pub inference_accuracy: Option<f64>,
    /// The number of reference records, which are not trained on.
    pub references: u64,
    /// λ.
    pub strength: f64,
}

/// How parties trained together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FederatedSummary {
    /// What a party sends in a round.
    pub method: FederatedMethod,
    /// The number of parties.
    pub parties: u64,
    /// The number of rounds.
    pub rounds: u64,
    /// Whom the certificate protects; none without privacy.
    pub unit: Option<FederatedUnit>,
}

/// The scale of the noise of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct NoiseSummary {
    /// The clipping norm.
    pub norm: f64,
    /// The clipping mode.
    pub clipping: String,
    /// The law of the noise.
    pub law: NoiseLaw,
    /// How noisy gradients are denoised.
    pub denoise: Option<Denoising>,
}

/// A training that was interrupted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InterruptedTraining {
    /// The certificate of everything that may have been observed; none without privacy.
    #[serde(serialize_with = "sorted")]
    pub certificate: Option<Certificate>,
    /// Always true.
    pub interrupted: bool,
    /// The number of planned steps.
    pub of: u64,
    /// The run's folder; none if nothing was saved.
    pub out: Option<PathBuf>,
    /// The number of steps taken.
    pub steps: u64,
    /// Whether the run can go on: one with cyclic batches cannot.
    #[serde(skip)]
    pub can_resume: bool,
}

impl InterruptedTraining {
    pub(super) fn new(
        progress: Progress,
        certificate: Option<Certificate>,
        out: Option<PathBuf>,
        can_resume: bool,
    ) -> Self {
        let (steps, of) = (progress.taken, progress.steps);
        Self { certificate, interrupted: true, of, out, steps, can_resume }
    }
}

/// A value whose keys stand in the order of the alphabet, as all keys of a training's JSON do.
fn sorted<S: Serializer>(value: &impl Serialize, serializer: S) -> Result<S::Ok, S::Error> {
    serde_json::to_value(value).map_err(serde::ser::Error::custom)?.serialize(serializer)
}

/// The ratio of noise to gradient norm above which a warning is given.
const DROWNED: f64 = 8.0;

/// Warns if the norm of the noise is much larger than the largest norm of the summed gradients, from public numbers alone. `batch` is the
/// expected size of the first batches; the last ones decide.
pub(super) fn drowned(plan: &PrivacyPlan, batch: u64) -> Option<String> {
    let growth = plan.settings().growth;
    let last = batch.max(1) as f64 * growth.map_or(1.0, |own| own.factor as f64);
    let times = plan.noise_multiplier() * (plan.settings().dimension as f64).sqrt() / last;
    let step = if growth.is_some() { "a step of the last stage" } else { "a step" };
    (times > DROWNED).then(|| {
        format!(
            "the norm of the noise in {step} is about {} times the largest possible norm of the summed gradients: evaluate the model on \
             held-out data before you rely on it; a larger ⟦batch_size⟧, a smaller network or a linear model reduces this",
            digits::brief(times.round())
        )
    })
}

/// Warns if weights or scores are not finite: the training has diverged.
pub(super) fn exploded(weights: &[f32], metrics: &Metrics) -> Option<String> {
    let is_broken = weights.iter().any(|weight| !weight.is_finite());
    (is_broken || metrics.validation_loss.is_some_and(|loss| !loss.is_finite())).then(|| {
        "the training has diverged: weights or scores are not finite, so the model is useless; give a smaller learning \
         rate (⟦lr⟧)"
            .to_owned()
    })
}

/// Warns about observed steps that the model does not contain.
pub(super) fn lost(progress: Progress) -> Option<String> {
    let lost = progress.counted.saturating_sub(progress.taken);
    (lost > 0).then(|| {
        format!(
            "{lost} steps may have been observed but were lost when the run stopped: their privacy cost counts, although the model does not contain them"
        )
    })
}
