//! The same model without privacy, and with DP-SGD at ε = 8 and ε = 1: accuracy, attacks, and ε from both sides. Records are put
//! in by coins, as the one-run bound asks.

use crate::audit::at;
use crate::data;
use crate::models::{plain, private, references};
use anyhow::Result;
use reticent_attack::canary::{Canaries, CanaryKind, CanarySettings, Coins, run};
use reticent_attack::{NetworkTraining, Population, ReferenceDesign, as_target};
use reticent_audit::attacks::{AttackSettings, LIRA_ONLINE};
use reticent_audit::bound::{self, BoundSettings, ThresholdSelection};
use reticent_audit::metrics::{MetricSettings, measure};
use reticent_audit::{Membership, overfitting};
use reticent_train::{Device, Examples, Resources, TrainingTerms};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

const CANARIES: usize = 1000;
const TARGETS: usize = 5;
const RUNS: usize = 9;

pub(crate) fn tell(folder: &Path, references: usize) -> Result<Value> {
    let (examples, labels) = data::read(folder)?;
    let examples = Arc::new(examples);
    let records = labels.len();
    let models = [
        ("without privacy", plain(records, 100)),
        ("DP-SGD, ε = 8", private(records, 8.0)?),
        ("DP-SGD, ε = 1", private(records, 1.0)?),
    ];
    let rows = models.into_iter().map(|(name, training)| row(name, training, &examples, &labels, references));
    Ok(json!(rows.collect::<Result<Vec<_>>>()?))
}

fn row(
    name: &str,
    training: NetworkTraining,
    examples: &Arc<Examples>,
    labels: &[u32],
    count: usize,
) -> Result<Value> {
    let store = tempfile::tempdir()?;
    let models =
        references(examples, training.clone(), (count + 1, ReferenceDesign::Bernoulli), 2, store.path())?;
    let gaps = overfitting(&models, labels)?;
    let population = Population::of_labels(labels.to_vec());
    let (mut auc, mut at_percent, mut at_permille, mut lower) = (0.0, 0.0, 0.0, Vec::new());
    let settings = BoundSettings::new(1e-5, "story");
    for target in 0..TARGETS {
        let study = as_target(&population, &models, target)?;
        let scores = LIRA_ONLINE.run(&study, &AttackSettings::default())?.scores;
        let membership = Membership::new(scores, study.parts().members.clone())?;
        let found = measure(&membership, &MetricSettings::default())?;
        auc += found.auc.value / TARGETS as f64;
        at_percent += at(&membership, 0.01) / TARGETS as f64;
        at_permille += at(&membership, 0.001) / TARGETS as f64;
        lower.push(bound::lower(&membership, bound::BoundMethod::OneRun, &settings)?.value);
    }
    lower.sort_by(f64::total_cmp);
    let certified = match &training.terms {
        TrainingTerms::Private(plan) => Some(plan.certificate(plan.steps())?.guarantee.epsilon.get()),
        TrainingTerms::NonPrivate(_) => None,
    };
    let average = |value: fn(&reticent_audit::Overfitting) -> f64| {
        gaps.iter().map(value).sum::<f64>() / gaps.len() as f64
    };
    Ok(json!({
        "model": name, "references": count, "targets": TARGETS, "certificate": certified,
        "train_accuracy": average(|gap| gap.train_accuracy), "test_accuracy": average(|gap| gap.test_accuracy),
        "auc": auc, "tpr_at_1_percent": at_percent, "tpr_at_0.1_percent": at_permille, "epsilon_lower_records": lower[lower.len() / 2],
        "epsilon_lower_mislabelled": planted(&training, examples, CanaryKind::Mislabelled, &settings)?,
        "epsilon_lower_dirac": match certified {
            Some(_) => Some(planted(&training, examples, CanaryKind::Dirac, &settings)?),
            None => None,
        },
    }))
}

/// The median of bounds, each from one run with canaries.
fn planted(
    training: &NetworkTraining,
    examples: &Examples,
    kind: CanaryKind,
    settings: &BoundSettings,
) -> Result<f64> {
    let half: Vec<usize> = (0..examples.len() / 2).collect();
    let settings =
        BoundSettings { selection: ThresholdSelection::Declared { share: 0.05 }, ..settings.clone() };
    let mut found = Vec::new();
    for _ in 0..RUNS {
        let how = CanarySettings { kind, count: CANARIES, key: "story".to_owned(), coins: Coins::Fresh };
        let canaries = Canaries::plant(&examples.subset(&half), data::CLASSES as u32, how)?;
        let ran = run(&canaries, training, Device::Cpu, Resources::default(), &|| false)?;
        found.push(bound::lower(&ran.membership, bound::BoundMethod::OneRun, &settings)?.value);
    }
    found.sort_by(f64::total_cmp);
    Ok(found[RUNS / 2])
}
