//! Several targets of one recipe, each attacked by everything that can be run.

use crate::Place;
use crate::recipe::RecipeName;
use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use reticent_attack::learned::registry;
use reticent_attack::{
    Job, JobSettings, NetworkLearner, Population, ReferenceDesign, ReferencePlan, ReferenceSettings, Store,
    Wanted, WithBackground, as_target,
};
use reticent_audit::attacks::AttackSettings;
use reticent_audit::findings::{AttackFinding, Performance};
use reticent_audit::metrics::MetricSettings;
use reticent_audit::{ExamineSettings, Outputs, Reference, examine, overfitting};
use reticent_train::Targets;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// The most records whose activations are kept.
const MOST_ACTIVATIONS: usize = 10_000;

#[derive(Args)]
pub(crate) struct Asked {
    /// Which network on which data.
    recipe: RecipeName,
    /// Holds `cifar10` and `location30`.
    folder: PathBuf,
    /// Keeps the models' outputs and signals.
    #[arg(long)]
    store: PathBuf,
    /// Models, each trained on half of the records.
    #[arg(long, default_value_t = 12)]
    models: usize,
    /// How many of them are attacked: one of each pair of complementary halves.
    #[arg(long, default_value_t = 6)]
    targets: usize,
    /// Records that are attacked, of which every model has half; all of the data set if absent.
    #[arg(long)]
    records: Option<usize>,
    /// Records besides them that are in every model.
    #[arg(long, default_value_t = 0)]
    background: usize,
    #[arg(long, default_value_t = 2)]
    threads: usize,
    #[arg(long, value_enum, default_value_t = Place::Cpu)]
    device: Place,
    /// Everything random follows from it.
    #[arg(long, default_value = "judged")]
    key: String,
}

pub(crate) fn measure(asked: &Asked) -> Result<Value> {
    let Asked { recipe, models, targets, threads, .. } = *asked;
    ensure!(models >= 4 && models.is_multiple_of(2), "--models {models}: give an even number from 4");
    ensure!((1..=models / 2).contains(&targets), "--targets {targets}: give 1 to {}", models / 2);
    let wanted_records = asked.records.map(|records| records + asked.background);
    let examples = Arc::new(recipe.examples(&asked.folder, wanted_records, &asked.key)?);
    let audited: Vec<usize> = (0..examples.len() - asked.background).collect();
    let background: Vec<usize> = (audited.len()..examples.len()).collect();
    let Targets::Classes(labels) = examples.targets() else { anyhow::bail!("no classes") };
    let labels = labels[..audited.len()].to_vec();
    let training = recipe.training(background.len() + audited.len() / 2);
    // What the last linear layer reads, where that is not too much to keep of all models.
    let before_last = training.description.layers.len().checked_sub(2);
    let activations: Vec<String> =
        before_last.filter(|_| examples.len() <= MOST_ACTIVATIONS).iter().map(usize::to_string).collect();
    let learner = NetworkLearner::new(examples.clone(), training)?
        .computed_on(asked.device.into(), (asked.device == Place::Cuda).then_some(1024));
    let learner = WithBackground::new(&learner, audited, background)?;
    let design = ReferenceSettings {
        key: asked.key.clone(),
        references: models,
        design: ReferenceDesign::Half,
        wanted: Wanted { gradients: true, activations, ..Wanted::default() },
    };
    let plan = ReferencePlan::new(&design, &learner)?;
    let (store, halt) = (Store::open(&asked.store)?, AtomicBool::new(false));
    let begun = Instant::now();
    plan.fit(&store, Job::WHOLE, JobSettings { threads, progress: &|_| {}, halt: &halt })?;
    let trained = begun.elapsed().as_secs_f64();
    // For the peer, which attacks the same models.
    std::fs::write(asked.store.join("labels.json"), json!(labels).to_string())?;
    let found = plan.collect(&store)?;
    let population = Population::of_labels(labels.clone());
    let settings = || ExamineSettings {
        metrics: MetricSettings::default(),
        bound: None,
        registry: registry(),
        attacks: None,
        attack: AttackSettings { key: asked.key.clone(), ..AttackSettings::default() },
        worst: 0,
        key: asked.key.clone(),
        expects_baseline: false,
    };
    let attacked: Vec<usize> = (0..targets).map(|place| 2 * place).collect();
    let row = |target: usize| -> Result<Value> {
        let study = as_target(&population, &found, target)?;
        let started = Instant::now();
        let told = examine(&study, &settings(), &|_| {})?.findings;
        let attack = |own: &AttackFinding| {
            let Performance { auc, balanced_accuracy, rates, .. } = &own.performance;
            json!({"name": own.name, "access": own.threat.access, "auc": auc, "accuracy": balanced_accuracy, "rates": rates})
        };
        Ok(json!({
            "target": target, "headline": told.headline, "how": told.headline_chosen, "by_access": told.by_access,
            "attacks": told.attacks.iter().map(attack).collect::<Vec<_>>(), "not_run": told.not_run,
            "seconds": started.elapsed().as_secs_f64(),
        }))
    };
    let mut rows = Vec::new();
    for some in attacked.chunks(threads.max(1)) {
        let found: Vec<Result<Value>> = std::thread::scope(|scope| {
            let row = &row;
            let started: Vec<_> = some.iter().map(|target| scope.spawn(move || row(*target))).collect();
            started
                .into_iter()
                .map(|own| own.join().unwrap_or_else(|_| Err(anyhow!("an attack panicked"))))
                .collect()
        });
        rows.extend(found.into_iter().collect::<Result<Vec<_>>>()?);
    }
    let models_attacked: Vec<Reference> = attacked.iter().map(|place| found[*place].clone()).collect();
    let gaps = overfitting(&models_attacked, &labels)?;
    let outputs = found.first().and_then(|model| model.outputs.as_ref()).map(Outputs::classes);
    Ok(json!({
        "recipe": recipe.word(), "records": labels.len(), "background": asked.background, "models": models, "classes": outputs.context("no outputs")?,
        "training_seconds": trained, "targets": rows, "key": asked.key,
        "train_accuracy": gaps.iter().map(|gap| gap.train_accuracy).collect::<Vec<_>>(),
        "test_accuracy": gaps.iter().map(|gap| gap.test_accuracy).collect::<Vec<_>>(),
    }))
}
