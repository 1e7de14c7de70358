//! Models of authors: all training samples of an author are in, or none.

use super::network::{check_plan, start};
use super::tokens::{SampleScore, sample_scores};
use super::{ALONE, Artifact, ArtifactPart, Halt, Learner, NetworkTraining, Wanted, take_steps};
use crate::AttackError;
use reticent_audit::attacks::{AUTHOR_LIKELIHOOD, AUTHOR_RANKS, AUTHOR_SAMPLES};
use reticent_audit::{SignalSource, SignalValues, Signals};
use reticent_train::digest::digest;
use reticent_train::graph::Graph;
use reticent_train::{Device, Examples, Resources, TrainingTerms, Units};
use std::sync::Arc;

/// The most samples of an author of which each by itself is compared; all of them count in the author's mean.
pub const COMPARED_SAMPLES: usize = 512;

/// Whose samples are whose, by their numbers among all examples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authors {
    /// The samples of every author that a model with the author is trained on.
    pub trained: Vec<Vec<usize>>,
    /// The samples of every author that the auditor has: the same, some of them, or others.
    pub asked: Vec<Vec<usize>>,
    /// The unit of a training: an author, who enters a step with so many samples or all; or, if there is none, a sample.
    pub unit: Option<AuthorUnit>,
}

/// An author as the unit of a training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthorUnit {
    /// The most samples of an author in a step; none for all.
    pub samples_per_step: Option<usize>,
}

impl Authors {
    fn check(&self, examples: &Examples) -> Result<(), AttackError> {
        let count = self.trained.len();
        if count != self.asked.len() {
            let remedy = format!("give samples for all {count} authors");
            return Err(AttackError::invalid("authors", self.asked.len(), remedy));
        }
        if count < 2 {
            let remedy = "give samples of at least 2: a model with an author is compared with one without";
            return Err(AttackError::premise("authors", count, remedy));
        }
        let mut owned = vec![false; examples.len()];
        for (author, (trained, asked)) in self.trained.iter().zip(&self.asked).enumerate() {
            if trained.is_empty() || asked.is_empty() {
                let remedy = "give at least one sample to train on and one to ask about for each author";
                return Err(AttackError::invalid("author", author, remedy));
            }
            if let Some(far) = trained.iter().chain(asked).find(|sample| **sample >= examples.len()) {
                let remedy = format!("give numbers below {}", examples.len());
                return Err(AttackError::invalid("sample", far, remedy));
            }
            for sample in trained {
                if std::mem::replace(&mut owned[*sample], true) {
                    return Err(AttackError::invalid("sample", sample, "give every sample to one author"));
                }
            }
        }
        Ok(())
    }
}

/// Described networks trained on authors: a record of this learner is an author with all samples.
///
/// It gives three signals per author in place of outputs: the mean log-probability of a token ([`AUTHOR_LIKELIHOOD`]), the histogram of
/// ranks ([`AUTHOR_RANKS`]) and the mean of every sample ([`AUTHOR_SAMPLES`]).
///
/// # Reference
/// Song, Shmatikov, *Auditing data provenance in text-generation models*, 2019.
#[derive(Debug, Clone)]
pub struct AuthorLearner {
    population: Arc<Examples>,
    authors: Authors,
    training: NetworkTraining,
    identity: String,
    is_repeatable: bool,
    device: Device,
    resources: Resources,
}

impl AuthorLearner {
    /// Checks that the network can read the samples, and that every author has some.
    ///
    /// # Errors
    /// [`AttackError::Train`] when the network cannot, or the recipe has no meaning; [`AttackError::Invalid`] for fewer than 2 authors,
    /// an author without samples, and a sample of two authors.
    pub fn new(
        population: Arc<Examples>,
        authors: Authors,
        training: NetworkTraining,
    ) -> Result<Self, AttackError> {
        authors.check(&population)?;
        training.recipe.check()?;
        let graph = Graph::new(&training.description)?;
        graph.check(&population)?;
        check_plan(&training.terms, &graph)?;
        let Authors { trained, asked, unit } = &authors;
        let unit = unit.map(|unit| unit.samples_per_step);
        let identity = digest(&("authors", &training, population.digest(), trained, asked, unit));
        let is_repeatable = matches!(training.terms, TrainingTerms::NonPrivate(_)) && graph.is_repeatable();
        let (device, resources) = (Device::Cpu, ALONE);
        Ok(Self { population, authors, training, identity, is_repeatable, device, resources })
    }

    /// The same on a device, so many examples at once or as many as fit.
    #[must_use]
    pub fn computed_on(self, device: Device, chunk: Option<usize>) -> Self {
        let is_repeatable = self.is_repeatable && device == Device::Cpu;
        Self { device, resources: Resources { chunk, ..ALONE }, is_repeatable, ..self }
    }

    /// The weights of a model trained on these authors.
    ///
    /// # Errors
    /// As [`Learner::fit`].
    pub fn weights(&self, inside: &[usize], key: &str, halt: Halt<'_>) -> Result<Vec<f32>, AttackError> {
        let (mut samples, mut owners) = (Vec::new(), Vec::new());
        for author in inside {
            samples.extend_from_slice(&self.authors.trained[*author]);
            owners.extend(std::iter::repeat_n(*author, self.authors.trained[*author].len()));
        }
        let examples = Arc::new(self.population.subset(&samples));
        let units = match self.authors.unit {
            Some(AuthorUnit { samples_per_step }) => Units::users(&owners, samples_per_step)?,
            None => Units::examples(samples.len()),
        };
        let key = self.is_repeatable.then_some(key);
        let mut trainer = start(&self.training, examples, units, (self.device, self.resources), key)?;
        take_steps(&mut trainer, halt)?;
        Ok(trainer.final_weights()?)
    }

    /// What a network gives about some of the authors: everything that follows from its weights.
    ///
    /// # Errors
    /// [`AttackError::Invalid`] for an author none of whose samples has a token to score; otherwise as [`Learner::fit`].
    pub fn artifact(&self, weights: &[f32], asked: &[usize]) -> Result<Artifact, AttackError> {
        let own: Vec<&[usize]> = asked.iter().map(|author| self.authors.asked[*author].as_slice()).collect();
        let samples: Vec<usize> = own.iter().flat_map(|samples| samples.iter()).copied().collect();
        let how = (self.device, self.resources);
        let scores = sample_scores(&self.training.description, weights, &self.population, &samples, how)?;
        Ok(signals(&own.iter().map(|samples| samples.len()).collect::<Vec<_>>(), &scores)?.into())
    }
}

/// The signals of authors, of whose samples these are the scores, author by author.
fn signals(counts: &[usize], scores: &[SampleScore]) -> Result<Signals, AttackError> {
    let width = counts.iter().copied().max().unwrap_or(1).min(COMPARED_SAMPLES);
    let (mut likelihood, mut ranks, mut samples) = (Vec::new(), Vec::new(), Vec::new());
    let mut rest = scores;
    for (author, count) in counts.iter().enumerate() {
        let (own, later) = rest.split_at(*count);
        rest = later;
        let all = own.iter().fold(SampleScore::default(), |sum, score| sum.and(score));
        if all.tokens == 0 {
            let remedy = "its samples have no token that a model is asked about: leave the author out";
            return Err(AttackError::invalid("author", author, remedy));
        }
        likelihood.push(all.mean());
        ranks.extend(all.ranks.iter().map(|count| f64::from(*count) / all.tokens as f64));
        samples.extend(own.iter().take(width).map(SampleScore::mean));
        samples.extend(std::iter::repeat_n(0.0, width - own.len().min(width)));
    }
    let bins = ranks.len() / counts.len().max(1);
    Ok(Signals::none()
        .with(AUTHOR_LIKELIHOOD, SignalValues::scalar(SignalSource::Loss, likelihood))
        .with(AUTHOR_RANKS, SignalValues::rows(SignalSource::Outputs, bins, ranks)?)
        .with(AUTHOR_SAMPLES, SignalValues::rows(SignalSource::Loss, width, samples)?))
}

impl Learner for AuthorLearner {
    fn records(&self) -> usize {
        self.authors.trained.len()
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn is_repeatable(&self) -> bool {
        self.is_repeatable
    }

    fn kind(&self) -> &'static str {
        "models of authors"
    }

    fn offers(&self, part: ArtifactPart) -> bool {
        part == ArtifactPart::Weights
    }

    fn fit(
        &self,
        inside: &[usize],
        key: &str,
        wanted: &Wanted,
        halt: Halt<'_>,
    ) -> Result<Artifact, AttackError> {
        let all: Vec<usize> = (0..self.records()).collect();
        self.fit_about(inside, &all, key, wanted, halt)
    }

    fn fit_about(
        &self,
        inside: &[usize],
        asked: &[usize],
        key: &str,
        wanted: &Wanted,
        halt: Halt<'_>,
    ) -> Result<Artifact, AttackError> {
        wanted.check(self)?;
        let weights = self.weights(inside, key, halt)?;
        let found = self.artifact(&weights, asked)?;
        Ok(Artifact { weights: wanted.weights.then_some(weights), ..found })
    }
}
