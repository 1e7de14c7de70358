//! One training with planted secrets, and what the model makes of them.

use super::secret::{Secret, SecretFormat};
use crate::AttackError;
use crate::learner::{AuthorUnit, Halt, NetworkTraining, scores_of, start, take_steps};
use reticent_audit::exposure::{MOST_RANKED, SecretExposure};
use reticent_core::Certificate;
use reticent_data::keyed_hash;
use reticent_train::{Device, Engine, Examples, Inputs, Resources, Targets, Units, Weights, engine};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Candidates that are ranked at a time.
const BATCH: usize = 4096;

/// The most scores of continuations that are held at a time.
const MOST_SCORES: usize = 1 << 22;

/// What to plant, and how to look for it.
#[derive(Debug, Clone, PartialEq)]
pub struct ExposureSettings {
    /// What secrets look like.
    pub format: SecretFormat,
    /// How often a secret is repeated in the training data, one group of secrets for each number; a group that is never planted is added.
    pub repetitions: Vec<u64>,
    /// How many secrets a group has.
    pub secrets: usize,
    /// How many candidates are drawn where there are more than [`MOST_RANKED`].
    pub drawn: usize,
    /// How many continuations of what stands before the secret are drawn from the model.
    pub continuations: usize,
    /// Confidence of the intervals of estimated ranks.
    pub confidence: f64,
    /// Secrets, candidates and continuations are functions of it.
    pub key: String,
}

impl ExposureSettings {
    fn check(&self) -> Result<(), AttackError> {
        if self.repetitions.is_empty() || self.repetitions.iter().any(|times| *times == 0 || *times > 1 << 16)
        {
            let value = format!("{:?}", self.repetitions);
            return Err(AttackError::invalid("repetitions", value, "give numbers from 1 to 65536"));
        }
        if self.secrets == 0 || self.secrets > 1 << 12 {
            return Err(AttackError::invalid("secrets", self.secrets, "give 1 to 4096 of each group"));
        }
        if self.drawn == 0 {
            return Err(AttackError::invalid("drawn", self.drawn, "give at least 1"));
        }
        Ok(())
    }
}

/// What a model made of the secrets of one group.
#[derive(Debug, Clone, PartialEq)]
pub struct ExposedGroup {
    /// How often each was in the training data; 0 for those that never were.
    pub repetitions: u64,
    /// The exposure of each.
    pub secrets: Vec<SecretExposure>,
    /// How many of them occur among the continuations.
    pub extracted: usize,
}

/// A finished run with secrets in it.
#[derive(Debug, Clone)]
pub struct ExposureRun {
    /// The groups: never planted first, then by repetitions as asked.
    pub groups: Vec<ExposedGroup>,
    /// The number of candidates that ranks are among, as a base-2 logarithm.
    pub bits: f64,
    /// How many continuations were drawn.
    pub continuations: usize,
    /// What the run claims; none without privacy.
    pub certificate: Option<Certificate>,
}

/// The texts of a training, and to which unit each belongs.
#[derive(Debug, Clone, Copy)]
pub struct TrainingTexts<'a> {
    /// The texts.
    pub examples: &'a Examples,
    /// The unit of every example, and how it enters a step; none where every example is a unit.
    pub owners: Option<(&'a [u32], AuthorUnit)>,
    /// Whether all repetitions of a secret belong to one unit.
    pub is_shared: bool,
}

/// Trains once with secrets among the texts, and ranks each among all others of its format.
///
/// Where authors are the units of a training, all repetitions of a secret may be one author's; elsewhere each is a unit of its own.
/// Secrets that were planted are left out of each other's candidates. Candidates of equal loss count as before the secret.
///
/// # Guarantee
/// None is made. Everything here is post-processing of the run's weights.
///
/// # Reference
/// Carlini et al., *The secret sharer* (2019).
///
/// # Errors
/// [`AttackError::Invalid`] for settings without meaning and texts that do not fit the network; [`AttackError::Interrupted`]; what the
/// network refuses.
pub fn exposure(
    settings: &ExposureSettings,
    texts: TrainingTexts<'_>,
    training: &NetworkTraining,
    how: (Device, Resources),
    halt: Halt<'_>,
) -> Result<ExposureRun, AttackError> {
    settings.check()?;
    let TrainingTexts { examples, owners, is_shared } = texts;
    if !matches!(examples.targets(), Targets::Next(_)) {
        let remedy = "secrets are for language models, which predict the next token";
        return Err(AttackError::premise("targets", "classes or numbers", remedy));
    }
    let (format, length) = (&settings.format, examples.size());
    let groups: Vec<u64> = std::iter::once(0).chain(settings.repetitions.iter().copied()).collect();
    let secrets = format.distinct(&settings.key, groups.len() * settings.secrets)?;
    let times = |place: usize| groups[place / settings.secrets];
    let planted: Vec<usize> =
        (0..secrets.len()).flat_map(|place| std::iter::repeat_n(place, times(place) as usize)).collect();
    let own: Vec<Secret> = planted.iter().map(|place| secrets[*place].clone()).collect();
    let all = examples.clone().followed_by(&format.examples(&own, length)?)?;
    let units = match owners {
        Some((owners, unit)) => {
            let first = owners.iter().max().map_or(0, |last| last + 1);
            let owner =
                |(number, place): (usize, &usize)| first + if is_shared { *place } else { number } as u32;
            let added = planted.iter().enumerate().map(owner);
            Units::users(&owners.iter().copied().chain(added).collect::<Vec<_>>(), unit.samples_per_step)?
        }
        None => Units::examples(all.len()),
    };
    let mut trainer = start(training, Arc::new(all), units, how, None)?;
    take_steps(&mut trainer, halt)?;
    let (weights, certificate) = (trainer.final_weights()?, trainer.certificate()?);
    drop(trainer);
    let mut network = engine(&training.description, how.0, how.1)?;
    network.load_weights(&weights)?;
    let mut model = Asked { network, device: how.0, format, length };
    let ranks = model.ranks(&secrets, settings, halt)?;
    let continuations = model.continuations(settings)?;
    let group = |(place, repetitions): (usize, &u64)| {
        let range = place * settings.secrets..(place + 1) * settings.secrets;
        ExposedGroup {
            repetitions: *repetitions,
            secrets: ranks[range.clone()].to_vec(),
            extracted: secrets[range]
                .iter()
                .filter(|secret| continuations.contains(&format.symbols(secret)))
                .count(),
        }
    };
    Ok(ExposureRun {
        groups: groups.iter().enumerate().map(group).collect(),
        bits: format.bits(),
        continuations: settings.continuations,
        certificate,
    })
}

/// A trained model that is asked about secrets.
struct Asked<'a> {
    network: Box<dyn Engine>,
    device: Device,
    format: &'a SecretFormat,
    length: usize,
}

impl Asked<'_> {
    /// The loss of texts with these secrets.
    fn losses(&mut self, secrets: &[Secret]) -> Result<Vec<f64>, AttackError> {
        let examples = self.format.examples(secrets, self.length)?;
        let all: Vec<usize> = (0..examples.len()).collect();
        let scores = scores_of(&mut *self.network, &examples, &all, self.device)?;
        Ok(scores.iter().map(|score| -score.likelihood).collect())
    }

    /// The exposure of every secret.
    fn ranks(
        &mut self,
        secrets: &[Secret],
        settings: &ExposureSettings,
        halt: Halt<'_>,
    ) -> Result<Vec<SecretExposure>, AttackError> {
        let own = self.losses(secrets)?;
        if let Some(odd) = own.iter().find(|loss| !loss.is_finite()) {
            let remedy = "the training diverged: lower the learning rate";
            return Err(AttackError::invalid("loss", odd, remedy));
        }
        let planted: BTreeSet<&Secret> = secrets.iter().collect();
        let whole = self.format.count().filter(|count| *count <= MOST_RANKED);
        let key = format!("{}: candidates", settings.key);
        let total = whole.unwrap_or(settings.drawn as u64);
        let (mut before, mut counted) = (vec![0_u64; secrets.len()], 0);
        let mut place = 0;
        while place < total {
            if halt() {
                return Err(AttackError::Interrupted);
            }
            let end = total.min(place + BATCH as u64);
            let candidate = |number: u64| match whole {
                Some(_) => self.format.numbered(number),
                None => self.format.drawn(&key, number),
            };
            let batch: Vec<Secret> =
                (place..end).map(candidate).filter(|candidate| !planted.contains(candidate)).collect();
            place = end;
            if batch.is_empty() {
                continue;
            }
            let losses = self.losses(&batch)?;
            counted += batch.len() as u64;
            for (before, loss) in before.iter_mut().zip(&own) {
                *before += losses.iter().filter(|other| **other <= *loss).count() as u64;
            }
        }
        let found = |before: &u64| match whole {
            Some(_) => SecretExposure::exact(before + 1, counted + 1),
            None => SecretExposure::estimated(*before, counted, self.format.bits(), settings.confidence),
        };
        Ok(before.iter().map(found).collect::<Result<_, _>>()?)
    }

    /// What the model says after the text before the secret, drawn token by token: as many tokens as a secret has.
    fn continuations(&mut self, settings: &ExposureSettings) -> Result<BTreeSet<Vec<u32>>, AttackError> {
        let start = self.format.before().len();
        let key = format!("{}: continuations", settings.key);
        let mut found = BTreeSet::new();
        let (mut drawn, mut chunk) = (0, 1);
        while drawn < settings.continuations {
            let count = chunk.min(settings.continuations - drawn);
            let mut inputs = vec![reticent_data::text::PADDING; count * self.length];
            for row in inputs.chunks_exact_mut(self.length) {
                row[1..=start].copy_from_slice(self.format.before());
            }
            let mut said = vec![Vec::with_capacity(self.format.length()); count];
            for at in 0..self.format.length() {
                let targets = Targets::Next(vec![0; inputs.len()]);
                let examples = Examples::new(&[self.length], Inputs::Tokens(inputs.clone()), targets)?;
                let all: Vec<usize> = (0..count).collect();
                let outputs = self.network.outputs(Weights::Current, &examples, &all)?;
                let width = outputs.len() / count;
                let tokens = (width / self.length).max(1);
                chunk = (MOST_SCORES / width.max(1)).max(1);
                for (row, said) in said.iter_mut().enumerate() {
                    let scores = &outputs[row * width + (start + at) * tokens..][..tokens];
                    let word = keyed_hash(&key, format!("{} {at}", drawn + row).as_bytes());
                    let token = pick(scores, word as f64 / 18_446_744_073_709_551_616.0);
                    said.push(token);
                    if let Some(next) = inputs[row * self.length..][..self.length].get_mut(start + at + 1) {
                        *next = token;
                    }
                }
            }
            found.extend(said);
            drawn += count;
        }
        Ok(found)
    }
}

/// The token at a share of the probability.
fn pick(scores: &[f32], share: f64) -> u32 {
    let largest = scores.iter().fold(f32::NEG_INFINITY, |most, score| most.max(*score));
    let weight = |score: &f32| libm::exp(f64::from(score - largest));
    let mut left = share * scores.iter().map(weight).sum::<f64>();
    for (token, score) in scores.iter().enumerate() {
        left -= weight(score);
        if left < 0.0 {
            return token as u32;
        }
    }
    scores.len().saturating_sub(1) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_drawn_by_their_probability() {
        let scores = [0.0, 2f32.ln(), f32::NEG_INFINITY];
        let picked = |share| pick(&scores, share);
        assert_eq!([picked(0.0), picked(0.33), picked(0.34), picked(0.999)], [0, 0, 1, 1]);
    }
}
