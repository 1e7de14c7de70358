//! The defences, and the networks that they are tried on.

use crate::data::Dataset;
use anyhow::Result;
use reticent_attack::NetworkTraining;
use reticent_core::{Delta, Epsilon, Guarantee, Neighboring};
use reticent_train::describe::LayerKind;
use reticent_train::graph::Graph;
use reticent_train::{
    AdversarialSettings, Baseline, Batching, Clipping, Description, OptimizerSettings, PlanSettings,
    PrivacyPlan, Recipe, Schedule, TrainingTerms,
};

/// Units of a hidden layer.
const HIDDEN: usize = 128;
/// Records of a batch without privacy.
const BATCH: usize = 64;
/// The learning rate of Adam.
const RATE: f64 = 2e-3;
/// δ of DP-SGD.
const DELTA: f64 = 1e-5;

/// A defence with its strength.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Defence {
    /// Training to the end.
    None,
    /// So many epochs.
    EarlyStopping(usize),
    /// Dropout before the last layer, at this rate.
    Dropout(f32),
    /// Label smoothing.
    LabelSmoothing(f32),
    /// Adversarial regularisation with this λ.
    Adversarial(f64),
    /// DP-SGD with this ε.
    Private(f64),
}

/// What is measured on Location-30, the slowest first.
pub(crate) fn curves(quick: bool) -> Vec<Defence> {
    if quick {
        return vec![Defence::Private(8.0), Defence::EarlyStopping(2), Defence::LabelSmoothing(0.3)];
    }
    let adversarial = [10.0, 3.0, 2.0, 1.0, 0.3].map(Defence::Adversarial);
    let private = [2.0, 4.0, 8.0, 32.0].map(Defence::Private);
    let dropout = [0.25, 0.5, 0.75].map(Defence::Dropout);
    let smoothing = [0.1, 0.3, 0.6].map(Defence::LabelSmoothing);
    let early = [16, 8, 4, 2].map(Defence::EarlyStopping);
    [&adversarial[..], &private, &[Defence::None], &dropout, &smoothing, &early].concat()
}

impl Defence {
    /// Its name in the results.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::EarlyStopping(_) => "early stopping",
            Self::Dropout(_) => "dropout",
            Self::LabelSmoothing(_) => "label smoothing",
            Self::Adversarial(_) => "adversarial",
            Self::Private(_) => "dp-sgd",
        }
    }

    /// Its strength: epochs, a rate, a share, λ or ε; 0 without a defence.
    pub(crate) fn strength(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::EarlyStopping(epochs) => epochs as f64,
            Self::Dropout(rate) | Self::LabelSmoothing(rate) => (f64::from(rate) * 1e6).round() / 1e6,
            Self::Adversarial(strength) | Self::Private(strength) => strength,
        }
    }

    /// For people.
    pub(crate) fn words(self) -> String {
        format!("{} {}", self.name(), self.strength())
    }

    /// The network and its training on half of the attacked records.
    pub(crate) fn training(self, dataset: &Dataset) -> Result<NetworkTraining> {
        let linear = |out| LayerKind::Linear { out, bias: true };
        let mut description = Description::reading(dataset.attacked.shape());
        if dataset.attacked.shape().len() > 1 {
            description = description.then(LayerKind::Flatten);
        }
        description = description.then(linear(HIDDEN)).then(LayerKind::Relu);
        if let Self::Dropout(rate) = self {
            description = description.then(LayerKind::Dropout { rate });
        }
        description = description.then(linear(dataset.classes));
        if let Self::LabelSmoothing(share) = self {
            description.label_smoothing = share;
        }
        let records = dataset.attacked.len() / 2;
        if let Self::Private(epsilon) = self {
            return private(description, records, epsilon);
        }
        let epochs = if let Self::EarlyStopping(epochs) = self { epochs } else { dataset.epochs };
        let steps = (records.div_ceil(BATCH) * epochs) as u64;
        let adversarial = match self {
            Self::Adversarial(strength) => Some(AdversarialSettings::new(strength)),
            _ => None,
        };
        let baseline = Baseline { adversarial, ..Baseline::new(Batching::Shuffled { size: BATCH }, steps) };
        let (optimizer, schedule) = (OptimizerSettings::adam(), Schedule::constant(RATE));
        let recipe = Recipe { optimizer, schedule, average: None, denoise: None };
        Ok(NetworkTraining { description, terms: TrainingTerms::NonPrivate(baseline), recipe })
    }
}

/// DP-SGD with large batches.
fn private(description: Description, records: usize, epsilon: f64) -> Result<NetworkTraining> {
    let settings = PlanSettings {
        neighboring: Neighboring::AddRemove,
        unit: "row".to_owned(),
        size: records as u64,
        sampling_rate: (512.0 / records as f64).min(1.0),
        steps: 250,
        clipping: Clipping::Flat { norm: 1.0 },
        dimension: Graph::new(&description)?.layout().gradients(),
        cyclic: None,
        growth: None,
    };
    let budget = Guarantee { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(DELTA)? };
    let terms = TrainingTerms::Private(PrivacyPlan::target(settings, budget)?);
    let recipe = Recipe {
        optimizer: OptimizerSettings::sgd(0.0),
        schedule: Schedule::constant(1.0),
        average: None,
        denoise: None,
    };
    Ok(NetworkTraining { description, terms, recipe })
}
