//! Who was in: models on halves of the speakers, some of them attacked.

use crate::corpus::Corpus;
use crate::recipe::{DELTA, RecipeName};
use crate::{AuthorsAsked, Place};
use anyhow::{Result, anyhow, ensure};
use reticent_attack::{AuthorLearner, Population, ReferenceDesign, as_target};
use reticent_audit::attacks::{AUTHOR_LIKELIHOOD, AttackSettings};
use reticent_audit::findings::{AttackFinding, AuthorSamples};
use reticent_audit::metrics::MetricSettings;
use reticent_audit::{ExamineSettings, Features, Reference, Registry, examine};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

pub(crate) fn measure(asked: &AuthorsAsked, corpus: &Corpus, recipe: RecipeName) -> Result<Value> {
    let AuthorsAsked { models, targets, .. } = *asked;
    ensure!(models >= 4 && models.is_multiple_of(2), "--models {models}: give an even number from 4");
    ensure!((1..=models / 2).contains(&targets), "--targets {targets}: give 1 to {}", models / 2);
    let count = corpus.trained.len();
    let training = recipe.training(corpus, count / 2, corpus.half(), asked.quick)?;
    let learner = |samples: &[Vec<usize>]| -> Result<AuthorLearner> {
        let authors = corpus.authors(samples, recipe.unit());
        let learner = AuthorLearner::new(corpus.examples.clone(), authors, training.clone())?;
        Ok(learner.computed_on(asked.device.into(), (asked.device == Place::Cuda).then_some(1024)))
    };
    let premises = [
        (AuthorSamples::TrainedOn, &corpus.trained, learner(&corpus.trained)?),
        (AuthorSamples::Fresh, &corpus.fresh, learner(&corpus.fresh)?),
    ];
    let masks: Vec<Vec<bool>> =
        (0..models).map(|index| ReferenceDesign::Half.mask(&asked.key, index, count)).collect();
    let begun = Instant::now();
    let everybody: Vec<usize> = (0..count).collect();
    // Both premises are asked of the same models.
    let fit = |index: usize| -> Result<Vec<Reference>> {
        let inside: Vec<usize> = (0..count).filter(|author| masks[index][*author]).collect();
        let key = format!("{}: model {index}", asked.key);
        let weights = premises[0].2.weights(&inside, &key, &|| false)?;
        premises
            .iter()
            .map(|(_, _, learner)| {
                Ok(Reference {
                    name: format!("model {index}"),
                    outputs: None,
                    signals: learner.artifact(&weights, &everybody)?.signals,
                    inside: masks[index].clone(),
                })
            })
            .collect()
    };
    let found = side_by_side(models, asked.threads, &fit)?;
    let trained = begun.elapsed().as_secs_f64();
    let mut by_premise = Vec::new();
    for (place, (premise, samples, _)) in premises.iter().enumerate() {
        let references: Vec<Reference> = found.iter().map(|own| own[place].clone()).collect();
        let rows: Vec<Vec<f32>> = samples.iter().map(|own| corpus.shares(own)).collect();
        let columns = rows.first().map_or(0, Vec::len);
        let ids = (0..count).map(|author| format!("author {author}")).collect();
        let most = samples.iter().map(Vec::len).max().unwrap_or(1) as u64;
        let features = Features { columns, values: rows.concat() };
        let population = Population::of_authors(ids, most, features);
        let row = |target: usize| attacked(&population, &references, 2 * target, &asked.key);
        let targets = side_by_side(targets, asked.threads, &row)?;
        by_premise.push(json!({
            "samples": premise, "premise": premise.premise(), "attacks": summary(&targets), "targets": targets,
            "loss": losses(corpus, &references, samples),
        }));
    }
    eprintln!("authors {}: {trained:.0} s", recipe.word());
    let guarantee =
        recipe.epsilon().map(|epsilon| json!({"unit": "speaker", "epsilon": epsilon, "delta": DELTA}));
    Ok(json!({
        "recipe": recipe.word(), "guarantee": guarantee, "authors": count, "models": models, "training": RecipeName::described(&training)?,
        "training_seconds": trained, "premises": by_premise,
    }))
}

/// One model as the target, by all attacks.
fn attacked(population: &Population, references: &[Reference], target: usize, key: &str) -> Result<Value> {
    let study = as_target(population, references, target)?;
    let settings = ExamineSettings {
        metrics: MetricSettings { rates: vec![0.1, 0.01], ..MetricSettings::default() },
        bound: None,
        registry: Registry::authors(),
        attacks: None,
        attack: AttackSettings { key: key.to_owned(), ..AttackSettings::default() },
        worst: 0,
        key: key.to_owned(),
        expects_baseline: true,
    };
    let told = examine(&study, &settings, &|_| {})?.findings;
    let attack = |own: &AttackFinding| json!({"name": own.name, "auc": own.performance.auc, "rates": own.performance.rates});
    Ok(json!({
        "target": target, "headline": told.headline, "how": told.headline_chosen,
        "attacks": told.attacks.iter().map(attack).collect::<Vec<_>>(),
        "baseline_auc": told.baseline.performance.map(|own| own.auc), "not_run": told.not_run,
    }))
}

/// The mean area of every attack over the targets, with Student's interval.
fn summary(targets: &[Value]) -> Value {
    let mut areas: Vec<(String, Vec<f64>)> = Vec::new();
    for attack in targets.iter().filter_map(|target| target["attacks"].as_array()).flatten() {
        let (Some(name), Some(area)) = (attack["name"].as_str(), attack["auc"]["value"].as_f64()) else {
            continue;
        };
        match areas.iter_mut().find(|(known, _)| known == name) {
            Some((_, own)) => own.push(area),
            None => areas.push((name.to_owned(), vec![area])),
        }
    }
    let row = |(name, own): &(String, Vec<f64>)| {
        let mean = own.iter().sum::<f64>() / own.len() as f64;
        let squares: f64 = own.iter().map(|area| (area - mean) * (area - mean)).sum();
        let deviation = (squares / (own.len() as f64 - 1.0).max(1.0)).sqrt();
        let width = student(own.len().saturating_sub(1)).map(|t| t * deviation / (own.len() as f64).sqrt());
        json!({
            "name": name, "targets": own.len(), "mean_auc": mean, "deviation": deviation,
            "lower": width.map(|width| mean - width), "upper": width.map(|width| mean + width), "confidence": 0.95,
        })
    };
    Value::Array(areas.iter().map(row).collect())
}

/// Student's two-sided quantile at 95 %; none beyond the table.
fn student(freedom: usize) -> Option<f64> {
    [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262].get(freedom.checked_sub(1)?).copied()
}

/// The mean loss of a character over authors that models had and over others, in nats, over all models.
fn losses(corpus: &Corpus, references: &[Reference], samples: &[Vec<usize>]) -> Value {
    let tokens: Vec<f64> = samples.iter().map(|own| corpus.tokens(own) as f64).collect();
    let mut sides = [(0.0, 0.0); 2];
    for reference in references {
        let Some(signal) = reference.signals.get(AUTHOR_LIKELIHOOD) else { continue };
        for ((likelihood, inside), tokens) in signal.values().iter().zip(&reference.inside).zip(&tokens) {
            let side = &mut sides[usize::from(*inside)];
            *side = (side.0 - likelihood * tokens, side.1 + tokens);
        }
    }
    let mean = |(sum, count): (f64, f64)| sum / count.max(1.0);
    json!({"with_author": mean(sides[1]), "without_author": mean(sides[0])})
}

/// Work of numbers below `count`, some at a time, in order.
pub(crate) fn side_by_side<T: Send>(
    count: usize,
    threads: usize,
    work: &(dyn Fn(usize) -> Result<T> + Sync),
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let mut done: Vec<(usize, Result<T>)> = std::thread::scope(|scope| {
        let next = &next;
        let own = move || {
            let mut found = Vec::new();
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                if place >= count {
                    return found;
                }
                found.push((place, work(place)));
            }
        };
        let started: Vec<_> = (0..threads.clamp(1, count.max(1))).map(|_| scope.spawn(own)).collect();
        let joined = started.into_iter().map(|own| own.join());
        joined
            .flat_map(|own| own.unwrap_or_else(|_| vec![(count, Err(anyhow!("a thread panicked")))]))
            .collect()
    });
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, found)| found).collect()
}
