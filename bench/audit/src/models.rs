//! The network 446-128-30, and how it is trained.

use crate::data::{CLASSES, FEATURES};
use anyhow::Result;
use reticent_attack::{
    Job, JobSettings, NetworkLearner, NetworkTraining, ReferenceDesign, ReferencePlan, ReferenceSettings,
    Store, Wanted,
};
use reticent_audit::Reference;
use reticent_core::{Delta, Epsilon, Guarantee, Neighboring};
use reticent_train::describe::LayerKind;
use reticent_train::{
    Baseline, Batching, Clipping, Description, Examples, OptimizerSettings, PlanSettings, PrivacyPlan,
    Recipe, Schedule, TrainingTerms,
};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Of the networks without privacy, as of the peer's.
const BATCH: usize = 128;
const RATE: f64 = 5e-3;

pub(crate) fn description() -> Description {
    Description::reading(&[FEATURES])
        .then(LayerKind::Linear { out: 128, bias: true })
        .then(LayerKind::Relu)
        .then(LayerKind::Linear { out: CLASSES, bias: true })
}

/// Adam, so many passes over half of the records.
pub(crate) fn plain(records: usize, epochs: usize) -> NetworkTraining {
    let steps = ((records / 2).div_ceil(BATCH) * epochs) as u64;
    NetworkTraining {
        description: description(),
        terms: TrainingTerms::NonPrivate(Baseline::new(Batching::Shuffled { size: BATCH }, steps)),
        recipe: Recipe {
            optimizer: OptimizerSettings::adam(),
            schedule: Schedule::constant(RATE),
            average: None,
            denoise: None,
        },
    }
}

/// DP-SGD on half of the records at this ε and δ = 1e-5.
pub(crate) fn private(records: usize, epsilon: f64) -> Result<NetworkTraining> {
    let description = description();
    let dimension = reticent_train::graph::Graph::new(&description)?.layout().gradients();
    let size = (records / 2) as u64;
    let settings = PlanSettings {
        neighboring: Neighboring::AddRemove,
        unit: "row".to_owned(),
        size,
        sampling_rate: 512.0 / size as f64,
        steps: 300,
        clipping: Clipping::Flat { norm: 1.0 },
        dimension,
        cyclic: None,
        growth: None,
    };
    let budget = Guarantee { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(1e-5)? };
    let recipe = Recipe {
        optimizer: OptimizerSettings::sgd(0.0),
        schedule: Schedule::constant(1.0),
        average: None,
        denoise: None,
    };
    let terms = TrainingTerms::Private(PrivacyPlan::target(settings, budget)?);
    Ok(NetworkTraining { description, terms, recipe })
}

/// Trains networks on halves of the records.
pub(crate) fn references(
    examples: &Arc<Examples>,
    training: NetworkTraining,
    (count, design): (usize, ReferenceDesign),
    threads: usize,
    folder: &Path,
) -> Result<Vec<Reference>> {
    let learner = NetworkLearner::new(examples.clone(), training)?;
    let settings =
        ReferenceSettings { key: "location".into(), references: count, design, wanted: Wanted::default() };
    let plan = ReferencePlan::new(&settings, &learner)?;
    let (store, halt) = (Store::open(folder)?, AtomicBool::new(false));
    plan.fit(&store, Job::WHOLE, JobSettings { threads, progress: &|_| {}, halt: &halt })?;
    Ok(plan.collect(&store)?)
}
