//! How the models are trained.

use crate::corpus::{Corpus, LENGTH};
use anyhow::Result;
use clap::ValueEnum;
use reticent_attack::{AuthorUnit, NetworkTraining};
use reticent_core::{Delta, Epsilon, Guarantee, Neighboring};
use reticent_train::describe::{LayerKind, Objective};
use reticent_train::graph::Graph;
use reticent_train::{
    Baseline, Batching, Clipping, Description, OptimizerSettings, PlanSettings, PrivacyPlan, Recipe,
    Schedule, TrainingTerms,
};
use serde_json::{Value, json};

/// How many settings were tried with the key `tuning` before these were fixed.
pub(crate) const TRIES: u64 = 0;
/// The δ of private models: below 1/123, one over the speakers of a model.
pub(crate) const DELTA: f64 = 1e-3;
/// Pieces of a speaker in a private step.
const SAMPLES_PER_STEP: usize = 8;
/// The share of speakers in a private step: with so few speakers, all of them in few steps need the least noise.
const SAMPLING_RATE: f64 = 1.0;
const PRIVATE_STEPS: u64 = 60;
const PRIVATE_RATE: f64 = 1.0;
const CLIPPING_NORM: f64 = 1.0;

/// A model of characters.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecipeName {
    /// An LSTM that is trained far beyond its best.
    Overfitted,
    /// The same with dropout and weight decay, stopped early.
    Regularized,
    /// Author-level differential privacy at ε = 8.
    Private8,
    /// Author-level differential privacy at ε = 2.
    Private2,
}

impl RecipeName {
    /// The name in the results.
    pub(crate) fn word(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// The ε of its guarantee; none without one.
    pub(crate) fn epsilon(self) -> Option<f64> {
        match self {
            Self::Private8 => Some(8.0),
            Self::Private2 => Some(2.0),
            Self::Overfitted | Self::Regularized => None,
        }
    }

    pub(crate) fn has_secrets(self) -> bool {
        true
    }

    /// Whether speakers are the units of its training.
    pub(crate) fn unit(self) -> Option<AuthorUnit> {
        self.epsilon().map(|_| AuthorUnit { samples_per_step: Some(SAMPLES_PER_STEP) })
    }

    /// What was trained how, for the results.
    pub(crate) fn described(training: &NetworkTraining) -> Result<Value> {
        let NetworkTraining { description, terms, recipe } = training;
        let weights = Graph::new(description)?.layout().gradients();
        let terms = match terms {
            TrainingTerms::NonPrivate(baseline) => json!({"steps": baseline.steps, "batch": 64}),
            TrainingTerms::Private(plan) => json!({
                "steps": plan.settings().steps, "sampling_rate": plan.settings().sampling_rate,
                "noise_multiplier": plan.noise_multiplier(), "clipping_norm": CLIPPING_NORM, "pieces_per_speaker": SAMPLES_PER_STEP,
            }),
        };
        Ok(json!({"weights": weights, "terms": terms, "recipe": recipe}))
    }

    /// The training on so many speakers, with so many pieces.
    pub(crate) fn training(
        self,
        corpus: &Corpus,
        authors: usize,
        pieces: usize,
        quick: bool,
    ) -> Result<NetworkTraining> {
        let tokens = corpus.vocabulary.size();
        // Noise grows with the number of weights, so private models are small.
        let (width, hidden) = if self.epsilon().is_some() { (16, 32) } else { (32, 128) };
        let mut description = Description { loss: Objective::NextToken, ..Description::reading(&[LENGTH]) }
            .then(LayerKind::Embedding { vocabulary: tokens, out: width })
            .then(LayerKind::Lstm { hidden });
        if self == Self::Regularized {
            description = description.then(LayerKind::Dropout { rate: 0.5 });
        }
        let description = description.then(LayerKind::Linear { out: tokens, bias: true });
        let size = 64;
        let baseline = |epochs: usize| {
            let steps = if quick { 3 } else { (pieces.div_ceil(size) * epochs) as u64 };
            TrainingTerms::NonPrivate(Baseline {
                batches: Batching::Shuffled { size },
                steps,
                adversarial: None,
            })
        };
        let (terms, optimizer, rate) = match self {
            Self::Overfitted => (baseline(30), OptimizerSettings::adam(), 5e-3),
            Self::Regularized => (baseline(6), OptimizerSettings::adamw(1e-2), 5e-3),
            Self::Private8 | Self::Private2 => {
                let settings = PlanSettings {
                    neighboring: Neighboring::AddRemove,
                    unit: "speaker".to_owned(),
                    size: authors as u64,
                    sampling_rate: SAMPLING_RATE,
                    steps: if quick { 3 } else { PRIVATE_STEPS },
                    clipping: Clipping::Flat { norm: CLIPPING_NORM },
                    dimension: Graph::new(&description)?.layout().gradients(),
                    cyclic: None,
                    growth: None,
                };
                let epsilon = Epsilon::new(self.epsilon().unwrap_or(1.0))?;
                let budget = Guarantee { epsilon, delta: Delta::new(DELTA)? };
                let plan = PrivacyPlan::target(settings, budget)?;
                (TrainingTerms::Private(plan), OptimizerSettings::sgd(0.0), PRIVATE_RATE)
            }
        };
        Ok(NetworkTraining {
            description,
            terms,
            recipe: Recipe { optimizer, schedule: Schedule::constant(rate), average: None, denoise: None },
        })
    }
}
