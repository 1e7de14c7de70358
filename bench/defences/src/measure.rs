//! One defence: models with it on halves of the records, some of them attacked with the others as reference models.

use crate::Task;
use crate::recipe::Defence;
use anyhow::{Context, Result, bail};
use reticent_attack::learned::registry;
use reticent_attack::{
    Job, JobSettings, NetworkLearner, Population, ReferenceDesign, ReferencePlan, ReferenceSettings, Store,
    Wanted, as_target,
};
use reticent_audit::attacks::AttackSettings;
use reticent_audit::findings::AttackFinding;
use reticent_audit::metrics::MetricSettings;
use reticent_audit::{ExamineSettings, Reference, Study, examine, overfitting};
use reticent_train::Targets;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The attack in the form of the paper: a network that learned from known members and non-members what outputs on members look like.
pub(crate) const ORIGINAL: &str = "nasr-supervised-outputs";

/// One threshold on confidence.
const PLAIN: &str = "yeom-loss";

/// The attacks: the original one and a threshold, which do not adapt; those that see classes alone; those with reference models of the
/// same defence; those with the weights.
const ATTACKS: [&str; 8] = [
    ORIGINAL,
    PLAIN,
    "label-only",
    "lira-label-only",
    "lira-online",
    "rmia-online",
    "lira-online-gradient",
    "nasr-supervised",
];

/// An attack on one target.
struct Row {
    attack: String,
    accuracy: f64,
    auc: f64,
    /// At a false-positive rate of 1 %.
    tpr: Option<f64>,
}

/// What was found of a defence.
pub(crate) struct Measured {
    pub(crate) dataset: &'static str,
    pub(crate) key: &'static str,
    pub(crate) defence: String,
    pub(crate) strength: f64,
    train: Vec<f64>,
    test: Vec<f64>,
    /// Target by target.
    attacks: Vec<Vec<Row>>,
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}

impl Measured {
    /// Mean test accuracy.
    pub(crate) fn test(&self) -> f64 {
        mean(self.test.iter().copied()).unwrap_or(f64::NAN)
    }

    /// The mean of a figure of an attack over targets.
    pub(crate) fn mean_of(&self, attack: &str, figure: &str) -> Option<f64> {
        let rows = self.attacks.iter().flatten().filter(|row| row.attack == attack);
        mean(rows.filter_map(|row| match figure {
            "accuracy" => Some(row.accuracy),
            "auc" => Some(row.auc),
            _ => row.tpr,
        }))
    }

    pub(crate) fn json(&self) -> Value {
        let row = |row: &Row| json!({"attack": row.attack, "accuracy": row.accuracy, "auc": row.auc, "tpr": row.tpr});
        let attacks: Vec<Vec<Value>> =
            self.attacks.iter().map(|rows| rows.iter().map(row).collect()).collect();
        json!({
            "dataset": self.dataset, "defence": self.defence, "strength": self.strength, "train": self.train,
            "test": self.test, "attacks": attacks,
        })
    }
}

/// Runs attacks on one target.
fn attack(study: &Study, asked: &[&'static str], key: &str) -> Result<Vec<Row>> {
    let settings = ExamineSettings {
        metrics: MetricSettings::default(),
        bound: None,
        registry: registry(),
        attacks: Some(asked.iter().filter_map(|name| registry().find(name)).collect()),
        attack: AttackSettings { key: key.to_owned(), ..AttackSettings::default() },
        worst: 0,
        key: key.to_owned(),
        expects_baseline: false,
    };
    let told = examine(study, &settings, &|_| {})?.findings;
    let row = |own: AttackFinding| {
        let rate = own.performance.rates.iter().find(|rate| rate.fpr == 0.01);
        Row {
            tpr: rate.and_then(|rate| Some(rate.tpr.as_ref()?.value)),
            accuracy: own.performance.balanced_accuracy.value,
            auc: own.performance.auc.value,
            attack: own.name,
        }
    };
    Ok(told.attacks.into_iter().map(row).collect())
}

/// Trains and attacks.
pub(crate) fn measure(task: &Task, store: &Path) -> Result<Measured> {
    let Task { dataset, defence, key, targets, threads, is_whole } = task;
    let Targets::Classes(labels) = dataset.attacked.targets() else { bail!("no classes") };
    let mut learner = NetworkLearner::new(dataset.attacked.clone(), defence.training(dataset)?)?;
    if matches!(defence, Defence::Adversarial(_)) {
        learner = learner.against(dataset.references.clone());
    }
    let models = 2 * targets;
    let settings = ReferenceSettings {
        key: (*key).to_owned(),
        references: models,
        design: ReferenceDesign::Half,
        wanted: Wanted { gradients: true, labels: *is_whole, ..Wanted::default() },
    };
    let plan = ReferencePlan::new(&settings, &learner)?;
    let folder = store.join(format!("{key} {} {}", dataset.name, defence.words()));
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let (kept, halt) = (Store::open(&folder)?, AtomicBool::new(false));
    plan.fit(&kept, Job::WHOLE, JobSettings { threads: *threads, progress: &|_| {}, halt: &halt })?;
    let found = plan.collect(&kept)?;
    std::fs::remove_dir_all(&folder).unwrap_or(());
    let population = Population::of_labels(labels.clone());
    let asked = if *is_whole { &ATTACKS[..] } else { &ATTACKS[..2] };
    let mut attacks = Vec::new();
    // One of each pair of complementary halves.
    let attacked: Vec<usize> = (0..*targets).map(|place| 2 * place).collect();
    for target in &attacked {
        let study = as_target(&population, &found, *target)?;
        attacks.push(match attack(&study, asked, key) {
            Ok(rows) => rows,
            // One of them cannot be run on this target: it has no row, and the others are run without it.
            Err(_) => {
                let alone = |name: &&'static str| match attack(&study, &[*name, PLAIN], key) {
                    Ok(rows) => rows.into_iter().find(|row| row.attack == *name),
                    Err(why) => {
                        eprintln!("{name} on target {target} of {}: {why}", dataset.name);
                        None
                    }
                };
                asked.iter().filter_map(alone).collect()
            }
        });
    }
    let own: Vec<Reference> = attacked.iter().map(|place| found[*place].clone()).collect();
    let gaps = overfitting(&own, labels)?;
    Ok(Measured {
        dataset: dataset.name,
        key,
        defence: defence.name().to_owned(),
        strength: defence.strength(),
        train: gaps.iter().map(|gap| gap.train_accuracy).collect(),
        test: gaps.iter().map(|gap| gap.test_accuracy).collect(),
        attacks,
    })
}
