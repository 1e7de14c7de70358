//! Privacy as a learning objective: a classifier is trained against an inference network that reads its outputs.
//!
//! With f the classifier, h the inference network, D the training examples and D′ reference records that f is not trained on,
//!
//! > h maximizes ½·E_D[ln h(f(x), y)] + ½·E_D′[ln(1 − h(f(x), y))],
//! > f minimizes E_D[cross-entropy(f(x), y)] + λ·(E_D[h(f(x), y)] − ½),
//!
//! where f(x) are probabilities and y is the true class. Before every step of f, h takes some steps on fresh batches of both sides.
//! The gradient of λ·h at the outputs of f is added to that of the cross-entropy, example by example.
//!
//! # Guarantee
//! None, whatever λ is. f is fitted against one attacker of one kind; another attacker, who trains such models himself, may still tell
//! members from others. Only training with a [plan](crate::PrivacyPlan) bounds what every attacker can learn.
//!
//! # Reference
//! Nasr, Shokri, Houmansadr, *Machine learning with membership privacy using adversarial regularization* (2018); Aerni, Zhang, Tramèr,
//! *Evaluations of machine learning privacy defenses are misleading* (2024), on what adaptive attacks find.

mod inference;
#[cfg(test)]
mod tests;

use crate::engine::{Engine, Weights};
use crate::native::softmax;
use crate::sampler::Units;
use crate::trainer::{Sampling, repeatable_bits};
use crate::{Baseline, Batching, Examples, Selection, Targets, TrainError};
use inference::InferenceNetwork;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The largest strength.
const MOST_STRENGTH: f64 = 1e6;

/// Examples whose outputs are computed at a time when all are looked at.
const CHUNK: usize = 512;

/// How a classifier is trained against an inference network.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdversarialSettings {
    /// λ: the weight of the inference network's confidence beside the mean cross-entropy. 0 is ordinary training.
    pub strength: f64,
    /// Steps of the inference network before every step of the classifier.
    #[serde(default = "usual_steps")]
    pub inference_steps: u32,
}

fn usual_steps() -> u32 {
    AdversarialSettings::STEPS
}

impl AdversarialSettings {
    /// Steps of the inference network before every step of the classifier, unless others are asked for.
    pub const STEPS: u32 = 3;

    /// Training with this strength.
    pub fn new(strength: f64) -> Self {
        Self { strength, inference_steps: Self::STEPS }
    }

    /// Checks the numbers.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] naming the one that is out of range.
    pub fn check(&self) -> Result<(), TrainError> {
        if !(0.0..=MOST_STRENGTH).contains(&self.strength) {
            let remedy = format!("give a strength from 0 to {MOST_STRENGTH:e}, such as 3");
            return Err(TrainError::invalid("adversarial", self.strength, remedy));
        }
        if !(1..=1000).contains(&self.inference_steps) {
            let remedy = "give a number from 1 to 1000";
            return Err(TrainError::invalid("inference_steps", self.inference_steps, remedy));
        }
        Ok(())
    }
}

/// One side of the inference network's batches: records by themselves, in batches of a shuffle.
struct Side {
    units: Units,
    sampling: Sampling,
    selection: Selection,
}

impl Side {
    fn new(records: usize, size: usize, key: Option<&str>, name: &str) -> Result<Self, TrainError> {
        let batches = Batching::Shuffled { size };
        let sampling = match key {
            Some(key) => Sampling::repeated(batches, repeatable_bits(&format!("{key}, {name}")))?,
            None => Sampling::of(batches)?,
        };
        Ok(Self { units: Units::examples(records), sampling, selection: Selection::default() })
    }

    fn draw(&mut self) -> &[usize] {
        self.sampling.sample(&self.units, &mut self.selection);
        self.selection.examples()
    }
}

/// The inference network of a training, with the reference records it learns from.
pub(crate) struct Adversary {
    settings: AdversarialSettings,
    references: Arc<Examples>,
    network: InferenceNetwork,
    members: Side,
    others: Side,
}

impl Adversary {
    /// An inference network that has learned nothing.
    pub(crate) fn new(
        engine: &mut dyn Engine,
        examples: &Examples,
        references: Arc<Examples>,
        baseline: &Baseline,
        key: Option<&str>,
    ) -> Result<Self, TrainError> {
        let Some(settings) = baseline.adversarial else {
            return Err(TrainError::invalid("adversarial", "none", "give its strength"));
        };
        settings.check()?;
        if references.is_empty() {
            let remedy = "give records that the model is not trained on: the inference network learns from them what \
                          non-members look like";
            return Err(TrainError::invalid("references", 0, remedy));
        }
        engine.check(examples)?;
        engine.check(&references)?;
        let is_classes = |examples: &Examples| matches!(examples.targets(), Targets::Classes(_));
        let classes = engine.outputs(Weights::Current, &references, &[0])?.len();
        if classes < 2 || !is_classes(examples) || !is_classes(&references) {
            let remedy = "adversarial training is for classifiers: give a network with one output per class";
            return Err(TrainError::invalid("outputs", classes, remedy));
        }
        let size = baseline.batch_size(examples.len()).clamp(1, references.len().max(1));
        Ok(Self {
            settings,
            network: InferenceNetwork::new(classes, key)?,
            members: Side::new(examples.len(), size.min(examples.len()), key, "members")?,
            others: Side::new(references.len(), size, key, "references")?,
            references,
        })
    }

    /// The steps of the inference network, and then what it adds to the gradient at the outputs of every selected example.
    pub(crate) fn step(
        &mut self,
        engine: &mut dyn Engine,
        examples: &Examples,
        selection: &Selection,
    ) -> Result<Vec<f32>, TrainError> {
        let classes = self.network.classes();
        if self.settings.strength == 0.0 {
            return Ok(vec![0.0; selection.examples().len() * classes]);
        }
        for _ in 0..self.settings.inference_steps {
            let own = self.members.draw();
            let mut seen = seen_of(engine, examples, own)?;
            let members = own.len();
            let others = self.others.draw();
            seen.extend(seen_of(engine, &self.references, others)?);
            let is_member = (0..members + others.len()).map(|place| u32::from(place < members)).collect();
            self.network.learn(seen, is_member)?;
        }
        let seen = seen_of(engine, examples, selection.examples())?;
        self.network.slopes(seen, self.settings.strength)
    }

    /// The mean of the hit rates on examples and on references.
    pub(crate) fn accuracy(
        &mut self,
        engine: &mut dyn Engine,
        examples: &Examples,
    ) -> Result<f64, TrainError> {
        let references = Arc::clone(&self.references);
        let mut found = 0.0;
        for (side, is_member) in [(examples, true), (&*references, false)] {
            let all: Vec<usize> = (0..side.len()).collect();
            let mut hits = 0;
            for which in all.chunks(CHUNK) {
                let guesses = self.network.guesses(seen_of(engine, side, which)?)?;
                hits += guesses.into_iter().filter(|guess| *guess == is_member).count();
            }
            found += 0.5 * hits as f64 / side.len().max(1) as f64;
        }
        Ok(found)
    }
}

/// What the inference network reads of these examples: the classifier's probabilities and the true class as zeros and a one.
fn seen_of(engine: &mut dyn Engine, examples: &Examples, which: &[usize]) -> Result<Vec<f32>, TrainError> {
    let mut shares = engine.outputs(Weights::Current, examples, which)?;
    let Targets::Classes(labels) = examples.targets() else { return Ok(Vec::new()) };
    let classes = (shares.len() / which.len().max(1)).max(1);
    softmax(&mut shares, classes, 1.0);
    let mut seen = Vec::with_capacity(2 * shares.len());
    for (row, example) in shares.chunks_exact(classes).zip(which) {
        let start = seen.len();
        seen.extend_from_slice(row);
        seen.resize(start + 2 * classes, 0.0);
        seen[start + classes + labels[*example] as usize] = 1.0;
    }
    Ok(seen)
}
