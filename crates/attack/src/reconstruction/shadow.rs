//! An informed adversary against networks: a reconstruction network learns the way from weights to the one unknown record.
//!
//! Somebody who knows all records but one, the recipe and the initial weights trains many models, each with another candidate in the
//! unknown place, and learns to tell the candidate from the weights.
//!
//! Balle, Cherubin, Hayes, *Reconstructing training data with informed adversaries* (2022), section IV.

use super::gradients::read;
use super::space::{MOST_DECIBELS, RecordSpace};
use super::{Reconstructed, Reconstruction, measure, threat};
use crate::learner::{Halt, Learner, NetworkLearner, Wanted};
use crate::perceptron::{Perceptron, PerceptronSettings};
use crate::{AttackError, NetworkTraining};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use reticent_audit::attacks::AttackKind;
use reticent_audit::disclosure::Disclosure;
use reticent_data::keyed_hash;
use reticent_train::Examples;
use reticent_train::graph::Graph;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most weights that a reconstruction network reads.
const MOST_WEIGHTS: usize = 50_000;

/// How a reconstruction network is made.
#[derive(Debug, Clone, PartialEq)]
pub struct ShadowSettings {
    /// Models that it learns from.
    pub shadows: usize,
    /// Further models by which it is judged.
    pub targets: usize,
    /// The confidence of intervals.
    pub confidence: f64,
    /// The key of the models and of the choice of records.
    pub key: String,
}

impl ShadowSettings {
    /// Checks that so many records allow so many models, and that a network can read so many weights.
    ///
    /// # Errors
    /// [`AttackError::Invalid`] for fewer records than models, and for more than 50 000 weights.
    pub fn check(&self, records: usize, weights: usize) -> Result<(), AttackError> {
        let Self { shadows, targets, .. } = self;
        if *shadows < 10 || *targets == 0 || records <= shadows + targets {
            let remedy = format!(
                "give at least 10 models to learn from, one to judge by, and fewer in all than the {records} training records"
            );
            return Err(AttackError::invalid("shadows", format!("{shadows} and {targets}"), remedy));
        }
        if weights > MOST_WEIGHTS {
            let remedy = format!(
                "a reconstruction network reads at most {MOST_WEIGHTS} weights: leave out `shadows`, or train a smaller network"
            );
            return Err(AttackError::premise("weights", weights, remedy));
        }
        Ok(())
    }
}

/// Trains models with one unknown record each, learns from some of them to rebuild it, and is judged by the others.
///
/// The candidates are drawn from the records by the key; all other records are known and in every model.
///
/// # Errors
/// [`AttackError::Invalid`] for fewer records than models, for more than 50 000 weights and for records that are not numbers or images;
/// [`AttackError::Interrupted`] when `halt` says so; what training refuses.
pub fn informed_by_shadows(
    records: &Examples,
    training: &NetworkTraining,
    settings: &ShadowSettings,
    halt: Halt<'_>,
) -> Result<Reconstruction, AttackError> {
    settings.check(records.len(), Graph::new(&training.description)?.layout().weights())?;
    let ShadowSettings { shadows, targets, confidence, key } = settings;
    let models = shadows + targets;
    let mut order: Vec<usize> = (0..records.len()).collect();
    order.sort_by_cached_key(|record| (keyed_hash(key, format!("candidate {record}").as_bytes()), *record));
    let (candidates, known) = order.split_at(models);
    let population = Arc::new(records.subset(&[known, candidates].concat()));
    let learner = NetworkLearner::new(population.clone(), training.clone())?;
    let weights = |candidate: &usize| -> Result<Vec<f32>, AttackError> {
        let inside: Vec<usize> = (0..known.len()).chain([known.len() + candidate]).collect();
        let wanted = Wanted { weights: true, ..Wanted::default() };
        Ok(learner.fit(&inside, key, &wanted, halt)?.weights.unwrap_or_default())
    };
    let numbers: Vec<usize> = (0..models).collect();
    let first = weights(&0)?;
    let rest: Vec<Vec<f32>> = numbers[1..].par_iter().map(weights).collect::<Result<_, _>>()?;
    let rows: Vec<f32> = first.iter().copied().chain(rest.into_iter().flatten()).collect();
    let (width, own) =
        (first.len(), population.subset(&numbers.iter().map(|n| known.len() + n).collect::<Vec<_>>()));
    // The space of the candidates that the attacker chose; judged are others.
    let space = RecordSpace::of(&own.subset(&numbers[..*shadows]))?;
    let truth = read(&own, &space);
    let (learned, judged) = truth.split_at(shadows * space.size());
    let perceptron = PerceptronSettings {
        trunk: vec![256],
        epochs: 300,
        batch: 32,
        patience: 30,
        key: format!("{key}, reconstruction network"),
        ..PerceptronSettings::default()
    };
    let (seen, unseen) = rows.split_at(shadows * width);
    let found = Perceptron::fit(seen, width, learned, &perceptron)?.predict(unseen)?;
    let found: Vec<f32> = found.iter().map(|value| value.clamp(0.0, 1.0)).collect();
    let pairs = judged.chunks_exact(space.size()).zip(found.chunks_exact(space.size()));
    let decibels: Vec<[f64; 2]> = pairs
        .clone()
        .map(|(record, found)| [space.decibels(record, found), space.decibels(record, space.mean())])
        .collect();
    let condition = "one unknown record";
    let mut measures =
        vec![measure(super::DECIBELS, condition, [0.0, MOST_DECIBELS], &decibels, true, *confidence)];
    if space.image().is_some() {
        let similar = |record: &[f32], guess: &[f32]| space.similarity(record, guess).unwrap_or(0.0);
        let similarity: Vec<[f64; 2]> =
            pairs.map(|(record, found)| [similar(record, found), similar(record, space.mean())]).collect();
        measures.push(measure(super::SIMILARITY, condition, [-1.0, 1.0], &similarity, true, *confidence));
    }
    let repeats = match learner.is_repeatable() {
        true => "all training records but one, the recipe, the initial weights and the order of the batches",
        false => "all training records but one, and the recipe",
    };
    let disclosure = Disclosure {
        name: "reconstruction-network".to_owned(),
        kind: AttackKind::Reconstruction,
        about: "a network that learned from models with known candidates rebuilds the one unknown record from the weights".to_owned(),
        settings: BTreeMap::from([
            ("models that it learned from".to_owned(), shadows.to_string()),
            ("models that judge it".to_owned(), targets.to_string()),
            ("known records".to_owned(), known.len().to_string()),
        ]),
        threat: threat("all weights of a model of the same recipe", repeats),
        records: *targets as u64,
        measures,
        bound: None,
        warnings: vec![
            "the attacked models were trained here by the model's recipe on its other records: figures are about the recipe".to_owned(),
        ],
    };
    let some = (4 * space.size()).min(judged.len());
    let shown = vec![Reconstructed::new(condition, &space, judged[..some].to_vec(), found[..some].to_vec())];
    Ok(Reconstruction { disclosure, shown })
}
