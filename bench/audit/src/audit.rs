//! The audit that the peer runs too, and how strong its attacks are.

use crate::data;
use crate::models::{plain, references};
use anyhow::{Context, Result, ensure};
use reticent_attack::{Population, ReferenceDesign, as_target};
use reticent_audit::attacks::{
    Attack, AttackSettings, BASE, LIRA_OFFLINE, LIRA_OFFLINE_TWO_TAILED, LIRA_ONLINE, MODIFIED_ENTROPY,
    RMIA_OFFLINE, RMIA_ONLINE, SHOKRI, Variance, YEOM_LOSS,
};
use reticent_audit::metrics::{MetricSettings, measure as strength};
use reticent_audit::{Membership, Reference, Signal, Signals, Study, overfitting};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const TARGETS: usize = 10;

/// How far an attack comes against one target.
#[derive(Clone, Copy)]
struct Strength {
    auc: f64,
    at_percent: f64,
    at_permille: f64,
}

/// The attack on one study. TPR is read off the curve also where there are too few records to state it, as averages over targets.
fn attacked(study: &Study, attack: &'static dyn Attack, settings: &AttackSettings) -> Result<Strength> {
    let scores = attack.run(study, settings)?.scores;
    let membership = Membership::new(scores, study.parts().members.clone())?;
    let auc = strength(&membership, &MetricSettings::default())?.auc.value;
    Ok(Strength { auc, at_percent: at(&membership, 0.01), at_permille: at(&membership, 0.001) })
}

/// The true-positive rate at the least strict threshold that keeps to a false-positive rate.
pub(crate) fn at(membership: &Membership, rate: f64) -> f64 {
    let mut order: Vec<usize> = (0..membership.len()).collect();
    let (scores, members) = (membership.scores(), membership.members());
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    let (mut hits, mut alarms, mut best) = (0usize, 0usize, 0usize);
    for (place, record) in order.iter().enumerate() {
        match members[*record] {
            true => hits += 1,
            false => alarms += 1,
        }
        if alarms as f64 > rate * membership.non_member_count() as f64 {
            break;
        }
        let ends = order.get(place + 1).is_none_or(|next| scores[*next] != scores[*record]);
        if ends {
            best = hits;
        }
    }
    best as f64 / membership.member_count() as f64
}

/// The models with the logits of their true classes in place of all outputs: what LiRA looks at, computed once.
fn signals(models: &[Reference], labels: &[u32]) -> Result<Vec<Reference>> {
    let slim = |model: &Reference| -> Result<Reference> {
        let outputs = model.outputs.as_ref().context("a model without outputs")?;
        let signals = Signals::of_scores(Signal::Logit.compute(outputs, labels)?);
        Ok(Reference { name: model.name.clone(), outputs: None, signals, inside: model.inside.clone() })
    };
    models.iter().map(slim).collect()
}

/// The mean over targets, each with so many references that had or had not a record.
fn mean(
    population: &Population,
    models: &[Reference],
    attack: &'static dyn Attack,
    settings: &AttackSettings,
    keep: impl Fn(usize, &Reference) -> bool,
) -> Result<Value> {
    let mut total = [0.0; 3];
    let targets = TARGETS.min(models.len());
    for target in 0..targets {
        let mut parts = as_target(population, models, target)?.into_parts();
        let mut place = 0;
        parts.references.retain(|reference| {
            place += 1;
            keep(place - 1, reference)
        });
        let found = attacked(&Study::new(parts)?, attack, settings)?;
        for (sum, value) in total.iter_mut().zip([found.auc, found.at_percent, found.at_permille]) {
            *sum += value / targets as f64;
        }
    }
    Ok(
        json!({"attack": attack.name(), "auc": total[0], "tpr_at_1_percent": total[1], "tpr_at_0.1_percent": total[2]}),
    )
}

/// RMIA's temperature and a for one reference without each record: those that are best when the last four models are the targets
/// of another pair. None of the ten targets is among them.
fn tuned(population: &Population, models: &[Reference]) -> Result<AttackSettings> {
    let last = models.len();
    let (mut best, mut chosen) = (0.0, AttackSettings::default());
    for temperature in [1.0, 1.5, 2.0, 2.5, 2.75, 3.0, 3.25, 3.5, 4.0, 6.0] {
        for a in [0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0] {
            let settings = AttackSettings {
                rmia_temperature: Some(temperature),
                rmia_a: Some(a),
                ..AttackSettings::default()
            };
            let mut total = 0.0;
            for target in last - 4..last {
                // A pair that is neither the target's own nor among those that are attacked later.
                let pair = if target < last - 2 { last - 2 } else { last - 4 };
                let mut parts = as_target(population, models, target)?.into_parts();
                parts.references = models[pair..pair + 2].to_vec();
                total += attacked(&Study::new(parts)?, RMIA_OFFLINE, &settings)?.auc;
            }
            if total > best {
                (best, chosen) = (total, settings);
            }
        }
    }
    Ok(chosen)
}

pub(crate) fn measure(folder: &Path, models: usize, epochs: usize, threads: usize) -> Result<Value> {
    ensure!(models >= 12 && models.is_multiple_of(2), "--models {models}: give an even number from 12");
    let (examples, labels) = data::read(folder)?;
    let (examples, population) = (Arc::new(examples), Population::of_labels(labels.clone()));
    let store = tempfile::tempdir()?;
    let begun = Instant::now();
    let found = references(
        &examples,
        plain(labels.len(), epochs),
        (models, ReferenceDesign::Half),
        threads,
        store.path(),
    )?;
    let trained = begun.elapsed().as_secs_f64();
    let per_record =
        AttackSettings { lira_variance: Some(Variance::PerExample), ..AttackSettings::default() };
    let lira = mean(&population, &signals(&found, &labels)?, LIRA_ONLINE, &per_record, |_, _| true)?;
    let seconds = begun.elapsed().as_secs_f64();
    let usual = AttackSettings::default();
    let single = tuned(&population, &found)?;
    let mut attacks = vec![(format!("{} references, variance per record", models - 2), lira)];
    for (words, attack, settings, kept) in [
        ("default variance", LIRA_ONLINE, &usual, models),
        ("8 references", LIRA_ONLINE, &usual, 8),
        ("4 references", LIRA_ONLINE, &usual, 4),
        ("all references", LIRA_OFFLINE, &usual, models),
        ("all references", LIRA_OFFLINE_TWO_TAILED, &usual, models),
        ("tuned", RMIA_OFFLINE, &usual, models),
        ("tuned", RMIA_ONLINE, &usual, models),
        ("two references, one without each record", RMIA_OFFLINE, &single, 2),
        ("all references", BASE, &usual, models),
        ("all references", SHOKRI, &usual, models),
        ("no references", YEOM_LOSS, &usual, 0),
        ("no references", MODIFIED_ENTROPY, &usual, 0),
    ] {
        let found = mean(&population, &found, attack, settings, |place, _| place < kept)?;
        attacks.push((words.to_owned(), found));
    }
    let gaps = overfitting(&found, &labels)?;
    let average = |value: fn(&reticent_audit::Overfitting) -> f64| {
        gaps.iter().map(value).sum::<f64>() / gaps.len() as f64
    };
    Ok(json!({
        "mode": "ours", "models": models, "epochs": epochs, "threads": threads, "seconds": seconds, "training_seconds": trained,
        "train_accuracy": average(|gap| gap.train_accuracy), "test_accuracy": average(|gap| gap.test_accuracy),
        "attacks": attacks.iter().map(|(words, found)| {
            let mut found = found.clone();
            found["with"] = json!(words);
            found
        }).collect::<Vec<_>>(),
    }))
}

/// Six networks for every number of passes.
pub(crate) fn overfitted(folder: &Path) -> Result<Value> {
    let (examples, labels) = data::read(folder)?;
    let examples = Arc::new(examples);
    let mut rows = Vec::new();
    for epochs in [1, 2, 3, 4, 6, 8, 12, 20, 40, 100] {
        let store = tempfile::tempdir()?;
        let found =
            references(&examples, plain(labels.len(), epochs), (6, ReferenceDesign::Half), 2, store.path())?;
        for gap in overfitting(&found, &labels)? {
            rows.push(json!({
                "epochs": epochs, "train_accuracy": gap.train_accuracy, "test_accuracy": gap.test_accuracy,
                "attack_accuracy": gap.attack_accuracy,
            }));
        }
    }
    Ok(json!(rows))
}
