//! Texts drawn from a stored language model, token by token.
//!
//! ```
//! use reticent_curator::sample::Sample;
//! use reticent_curator::train::Train;
//! use reticent_curator::{Planned, Request, Session};
//!
//! # let folder = tempfile::tempdir().map_err(reticent_curator::Refusal::internal)?;
//! # let (model, data) = (folder.path().join("run"), folder.path().join("texts.csv"));
//! # std::fs::write(&data, "text\nto be\nor not\n").map_err(reticent_curator::Refusal::internal)?;
//! # let mut session = Session::without_limit()?;
//! # let words = |text: &str| Some(text.to_owned());
//! # let train = Train { data: Some(data), text_column: words("text"), model: words("lstm-lm"), steps: Some(1), length: Some(4),
//! #     tokens: Some(reticent_curator::train::TokenKind::Characters), non_private: Some(true), out: Some(model.clone()),
//! #     ..Train::default() };
//! # train.check()?.run(&mut session)?;
//! let request = Sample { prompt: Some("to ".to_owned()), tokens: Some(5), ..Sample::new(model) };
//! let sampled = request.check()?.run(&mut session)?;
//! assert!(sampled.texts[0].text.starts_with("to "));
//! # Ok::<(), reticent_curator::Refusal>(())
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `mod` | the request, its plan and its outcome |
//! | `draw` | one token from its scores |

mod draw;

use crate::refusal::Refusal;
use crate::session::Session;
use crate::stored::{Stored, is_proven};
use crate::train::{Computing, Device, Stored as Network};
use crate::{Planned, Request};
use draw::Rule;
use reticent_core::Code;
use reticent_data::text::{PADDING, TokenKind, Vocabulary};
use reticent_noise::Entropy;
use reticent_train::{Examples, Inputs, Targets, UNSCORED, Weights};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Tokens per text unless another number is asked for.
const TOKENS: u64 = 200;

/// The most tokens of all texts together.
const MOST_TOKENS: u64 = 1 << 20;

/// The most texts.
const MOST_TEXTS: u64 = 4096;

/// The most scores that are held at a time.
const MOST_SCORES: usize = 1 << 22;

/// Texts to draw from a stored language model.
///
/// The texts are a function of the released weights and of fresh randomness. A session with a limit therefore takes a model with a
/// certificate, and no other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Sample {
    /// The model's folder.
    pub model: PathBuf,
    /// The beginning of every text.
    #[serde(default)]
    pub prompt: Option<String>,
    /// The maximum number of tokens after the prompt.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// What scores are divided by: below 1 for likelier texts, 0 for the likeliest token at every position.
    #[serde(default)]
    pub temperature: Option<f64>,
    /// Only so many of the likeliest tokens are drawn from; none for all.
    #[serde(default, alias = "top_k")]
    pub top_k: Option<u64>,
    /// The number of texts.
    #[serde(default)]
    pub count: Option<u64>,
    /// The number of threads; none for all processors.
    #[serde(default)]
    pub threads: Option<u64>,
    /// The device that computes the network: `cpu` or `cuda`.
    #[serde(default)]
    pub device: Device,
    /// The number of texts that are computed at once; none for as many as fit.
    #[serde(default)]
    pub chunk: Option<u64>,
}

impl Sample {
    /// One text without a prompt.
    pub fn new(model: impl Into<PathBuf>) -> Self {
        Self {
            model: model.into(),
            prompt: None,
            tokens: None,
            temperature: None,
            top_k: None,
            count: None,
            threads: None,
            device: Device::Cpu,
            chunk: None,
        }
    }
}

/// The texts that were drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sampled {
    /// The beginning of every text.
    pub prompt: String,
    /// What scores were divided by.
    pub temperature: f64,
    /// How many of the likeliest tokens were drawn from; none for all.
    pub top_k: Option<u64>,
    /// The texts.
    pub texts: Vec<SampledText>,
    /// Caveats.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A text that was drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SampledText {
    /// The text with its prompt.
    pub text: String,
    /// The number of tokens after the prompt.
    pub tokens: u64,
    /// Whether the model ended the text, rather than the limit.
    pub ended: bool,
}

/// A stored language model, and what to draw from it.
pub struct SamplePlan {
    folder: PathBuf,
    network: Box<Network>,
    vocabulary: Vocabulary,
    rule: Rule,
    prompt: String,
    tokens: u64,
    count: u64,
}

impl Request for Sample {
    type Planned = SamplePlan;

    fn check(&self) -> Result<SamplePlan, Refusal> {
        let within = |field: &str, value: Option<u64>, usual: u64, most: u64| match value.unwrap_or(usual) {
            value if (1..=most).contains(&value) => Ok(value),
            value => Err(Refusal::value(field, value, format!("give a number from 1 to {most}"))),
        };
        let count = within("count", self.count, 1, MOST_TEXTS)?;
        let tokens = within("tokens", self.tokens, TOKENS, MOST_TOKENS / count)?;
        let rule = Rule::new(self.temperature, self.top_k)?;
        let computing = Computing::new(self.device, self.threads, self.chunk);
        let other = "not a language model: train one with ⟦model⟧ lstm-lm or transformer-lm";
        let refuse = || Refusal::new(Code::Misfit, format!("{}: {other}", self.model.display()));
        let Stored::Network(network) = Stored::read(&self.model, &computing)? else { return Err(refuse()) };
        let vocabulary = network.reader.vocabulary.clone().filter(|_| network.reader.is_language());
        let vocabulary = vocabulary.ok_or_else(refuse)?;
        let (folder, prompt) = (self.model.clone(), self.prompt.clone().unwrap_or_default());
        Ok(SamplePlan { folder, network, vocabulary, rule, prompt, tokens, count })
    }
}

impl Planned for SamplePlan {
    type Outcome = Sampled;

    fn run(mut self, session: &mut Session) -> Result<Sampled, Refusal> {
        if let Err(refusal) = session.unprotected("texts of a model without a certificate")
            && !is_proven(&self.folder)
        {
            return Err(refusal);
        }
        let mut entropy = Entropy::new().map_err(Refusal::internal)?;
        let given = self.vocabulary.positions_of(&self.prompt);
        let mut texts = vec![Text { positions: given.clone(), ended: false }; self.count as usize];
        for _ in 0..self.tokens {
            let open: Vec<usize> = (0..texts.len()).filter(|text| !texts[*text].ended).collect();
            if open.is_empty() {
                break;
            }
            let scores = self.next(&open.iter().map(|text| &texts[*text]).collect::<Vec<_>>())?;
            for (text, scores) in open.into_iter().zip(scores.chunks_exact(self.vocabulary.size())) {
                match self.rule.draw(scores, &mut entropy) {
                    Some(PADDING) => texts[text].ended = true,
                    Some(token) => texts[text].positions.push(token),
                    None => {
                        let text = "the network's scores are not finite, so no token can be drawn: its training has diverged; train \
                                    again with a smaller learning rate";
                        return Err(Refusal::new(Code::Broken, text));
                    }
                }
            }
        }
        let unknown = self.vocabulary.text_of(&given).matches('\u{fffd}').count();
        let warnings = match unknown > self.prompt.matches('\u{fffd}').count() {
            true => vec![
                "the prompt has tokens that the vocabulary does not have: the model reads them as unknown"
                    .to_owned(),
            ],
            false => Vec::new(),
        };
        let texts = texts.into_iter().map(|text| {
            let own = self.vocabulary.text_of(&text.positions[given.len()..]);
            let gap = match self.vocabulary.kind() {
                TokenKind::Words if !self.prompt.is_empty() && !own.is_empty() => " ",
                _ => "",
            };
            SampledText {
                text: format!("{}{gap}{own}", self.prompt),
                tokens: (text.positions.len() - given.len()) as u64,
                ended: text.ended,
            }
        });
        let (temperature, top_k) = (self.rule.temperature, self.rule.top_k.map(|most| most as u64));
        Ok(Sampled { texts: texts.collect(), prompt: self.prompt, temperature, top_k, warnings })
    }
}

/// A text so far.
#[derive(Debug, Clone)]
struct Text {
    positions: Vec<u32>,
    ended: bool,
}

impl SamplePlan {
    /// The scores of the next token of each text, from as many tokens before it as the network reads.
    fn next(&mut self, texts: &[&Text]) -> Result<Vec<f32>, Refusal> {
        let (length, size) = (self.network.description.input[0], self.vocabulary.size());
        let mut inputs = Vec::with_capacity(texts.len() * length);
        let mut places = Vec::with_capacity(texts.len());
        for text in texts {
            // A text begins after padding.
            let seen: Vec<u32> = std::iter::once(PADDING).chain(text.positions.iter().copied()).collect();
            let window = &seen[seen.len().saturating_sub(length)..];
            inputs.extend_from_slice(window);
            inputs.extend(std::iter::repeat_n(PADDING, length - window.len()));
            places.push(window.len() - 1);
        }
        let targets = Targets::Next(vec![UNSCORED; inputs.len()]);
        let examples = Examples::new(&[length], Inputs::Tokens(inputs), targets)?;
        let mut scores = Vec::with_capacity(texts.len() * size);
        // Scores come for all positions: a few texts at a time.
        let most = (MOST_SCORES / (length * size)).max(1);
        for (part, places) in places.chunks(most).enumerate() {
            let which: Vec<usize> = (0..places.len()).map(|text| part * most + text).collect();
            let all = self.network.network.outputs(Weights::Current, &examples, &which)?;
            for (all, place) in all.chunks_exact(length * size).zip(places) {
                scores.extend_from_slice(&all[place * size..(place + 1) * size]);
            }
        }
        Ok(scores)
    }
}

#[cfg(test)]
mod tests;
