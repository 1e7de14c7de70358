//! What a model says about every token of a sample: how likely it was, and how many others it found likelier.

use crate::AttackError;
use reticent_audit::attacks::{RANK_BINS, rank_bin};
use reticent_train::{Description, Device, Engine, Examples, Resources, Targets, UNSCORED, Weights, engine};

/// The most scores of a network that are held at a time.
const MOST_SCORES: usize = 1 << 22;

/// The same for a GPU, where more at a time is faster.
const MOST_DEVICE_SCORES: usize = 1 << 26;

/// Samples that go through a network at a time.
const CHUNK: usize = 512;

/// What a model says about one sample. A sample of a classifier has one token: its class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleScore {
    /// How many tokens were scored.
    pub tokens: u64,
    /// The sum of their log-probabilities.
    pub likelihood: f64,
    /// How many of them have a rank in each bin; rank 1 is the likeliest token.
    pub ranks: [u32; RANK_BINS],
}

impl Default for SampleScore {
    fn default() -> Self {
        Self { tokens: 0, likelihood: 0.0, ranks: [0; RANK_BINS] }
    }
}

impl SampleScore {
    /// The mean log-probability of a token; 0 where none was scored.
    pub fn mean(&self) -> f64 {
        self.likelihood / self.tokens.max(1) as f64
    }

    /// Both together.
    pub fn and(mut self, other: &Self) -> Self {
        self.tokens += other.tokens;
        self.likelihood += other.likelihood;
        self.ranks.iter_mut().zip(&other.ranks).for_each(|(own, more)| *own += more);
        self
    }

    /// One more token, from the scores of all.
    fn add(&mut self, scores: &[f32], token: usize) {
        let largest = scores.iter().fold(f32::NEG_INFINITY, |most, score| most.max(*score));
        let sum: f64 = scores.iter().map(|score| libm::exp(f64::from(score - largest))).sum();
        let own = scores[token];
        let before = scores.iter().filter(|score| **score > own).count();
        self.tokens += 1;
        self.likelihood += f64::from(own - largest) - libm::log(sum);
        self.ranks[rank_bin(before + 1)] += 1;
    }
}

/// What a network says about some examples.
///
/// # Errors
/// [`AttackError::Train`] when the weights or the examples do not fit the network; [`AttackError::Invalid`] when the targets are numbers.
pub fn sample_scores(
    description: &Description,
    weights: &[f32],
    examples: &Examples,
    which: &[usize],
    (device, resources): (Device, Resources),
) -> Result<Vec<SampleScore>, AttackError> {
    let mut network = engine(description, device, resources)?;
    network.load_weights(weights)?;
    scores_of(&mut *network, examples, which, device)
}

/// The same with a network whose weights are loaded.
pub(crate) fn scores_of(
    network: &mut dyn Engine,
    examples: &Examples,
    which: &[usize],
    device: Device,
) -> Result<Vec<SampleScore>, AttackError> {
    let most = if device == Device::Cpu { MOST_SCORES } else { MOST_DEVICE_SCORES };
    let (mut found, mut rest, mut chunk) = (Vec::with_capacity(which.len()), which, 1);
    while !rest.is_empty() {
        let (now, later) = rest.split_at(chunk.min(rest.len()));
        rest = later;
        let outputs = network.outputs(Weights::Current, examples, now)?;
        let width = (outputs.len() / now.len()).max(1);
        chunk = (most / width).max(1);
        if device == Device::Cpu {
            chunk = chunk.min(CHUNK);
        }
        for (scores, example) in outputs.chunks_exact(width).zip(now) {
            found.push(of_example(examples, *example, scores)?);
        }
    }
    Ok(found)
}

fn of_example(examples: &Examples, example: usize, scores: &[f32]) -> Result<SampleScore, AttackError> {
    let mut own = SampleScore::default();
    match examples.targets() {
        Targets::Classes(classes) => own.add(scores, classes[example] as usize),
        Targets::Next(next) => {
            let length = examples.size();
            let next = &next[example * length..(example + 1) * length];
            for (scores, token) in scores.chunks_exact((scores.len() / length).max(1)).zip(next) {
                if *token != UNSCORED {
                    own.add(scores, *token as usize);
                }
            }
        }
        Targets::Numbers(_) => {
            let remedy = "give classes or next tokens: a number has no probability";
            return Err(AttackError::premise("targets", "numbers", remedy));
        }
    }
    Ok(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_its_probability_and_its_rank() {
        let mut own = SampleScore::default();
        own.add(&[0.0, 2.0, 1.0], 2);
        let sum = 1.0 + 2f64.exp() + 1f64.exp();
        assert!((own.likelihood - (1.0 - sum.ln())).abs() < 1e-6);
        assert_eq!((own.tokens, own.ranks[rank_bin(2)]), (1, 1));
        own.add(&[0.0, 2.0, 1.0], 1);
        let both = own.and(&own);
        assert_eq!((both.tokens, both.ranks[0], both.ranks[1]), (4, 2, 2));
        assert!((both.mean() - own.mean()).abs() < 1e-12);
    }
}
