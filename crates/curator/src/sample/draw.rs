//! One token from its scores.

use crate::refusal::Refusal;
use reticent_data::text::UNKNOWN;
use reticent_noise::entropy::Bits;

/// How tokens are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rule {
    pub(super) temperature: f64,
    pub(super) top_k: Option<usize>,
}

impl Rule {
    /// The rule of a request: temperature 1 and all tokens unless it says otherwise.
    ///
    /// # Errors
    /// [`Refusal`] of a temperature below 0, or of no tokens to draw from.
    pub(super) fn new(temperature: Option<f64>, top_k: Option<u64>) -> Result<Self, Refusal> {
        let temperature = temperature.unwrap_or(1.0);
        if !(0.0..=100.0).contains(&temperature) {
            return Err(Refusal::value("temperature", temperature, "give a number from 0 to 100"));
        }
        match top_k {
            Some(0) => Err(Refusal::value("top_k", 0, "give at least 1, or leave it out for all tokens")),
            most => Ok(Self { temperature, top_k: most.map(|most| most.min(1 << 24) as usize) }),
        }
    }

    /// A token with probability proportional to e^(score / temperature), among the likeliest; never an unknown one. None where a score
    /// is not a number.
    pub(super) fn draw(&self, scores: &[f32], bits: &mut impl Bits) -> Option<u32> {
        if scores.iter().any(|score| !score.is_finite()) {
            return None;
        }
        let mut tokens: Vec<u32> = (0..scores.len() as u32).filter(|token| *token != UNKNOWN).collect();
        let score = |token: &u32| f64::from(scores[*token as usize]);
        tokens.sort_by(|a, b| score(b).total_cmp(&score(a)));
        let most = score(tokens.first()?);
        if self.temperature == 0.0 {
            return tokens.first().copied();
        }
        tokens.truncate(self.top_k.unwrap_or(usize::MAX));
        let weight = |token: &u32| ((score(token) - most) / self.temperature).exp();
        let total: f64 = tokens.iter().map(weight).sum();
        // 53 bits: a number from 0 to below 1.
        let mut left = total * (bits.word() >> 11) as f64 / (1u64 << 53) as f64;
        for token in &tokens {
            left -= weight(token);
            if left < 0.0 {
                return Some(*token);
            }
        }
        tokens.last().copied()
    }
}
