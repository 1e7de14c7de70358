//! Secrets of a stated format, planted in the texts of a language model, and how well the model remembers them.
//!
//! # Reference
//! Carlini, Liu, Erlingsson, Kos, Song, *The secret sharer: evaluating and testing unintended memorization in neural networks*, 2019.

use crate::AttackError;
use reticent_data::keyed_hash;
use reticent_data::text::Sequences;
use reticent_train::{Examples, load};
use std::collections::BTreeSet;

/// The most symbols of a secret.
const MOST_LENGTH: usize = 64;

/// Texts that differ in a secret alone, as tokens: what stands before it, symbols of an alphabet, and what stands after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretFormat {
    before: Vec<u32>,
    alphabet: Vec<u32>,
    length: usize,
    after: Vec<u32>,
}

/// A secret: the places of its symbols in the alphabet.
pub type Secret = Vec<u16>;

impl SecretFormat {
    /// A checked format: `length` symbols of the alphabet between tokens that are the same for all secrets.
    ///
    /// # Errors
    /// [`AttackError::Invalid`] for an alphabet of fewer than 2 symbols or with one twice, and for a length of 0 or above 64.
    pub fn new(
        before: Vec<u32>,
        alphabet: Vec<u32>,
        length: usize,
        after: Vec<u32>,
    ) -> Result<Self, AttackError> {
        let distinct: BTreeSet<u32> = alphabet.iter().copied().collect();
        if alphabet.len() < 2 || distinct.len() < alphabet.len() || alphabet.len() > usize::from(u16::MAX) {
            let value = format!("an alphabet of {} different symbols", distinct.len());
            return Err(AttackError::invalid("format", value, "give at least 2 symbols, each once"));
        }
        if length == 0 || length > MOST_LENGTH {
            let remedy = format!("give 1 to {MOST_LENGTH} symbols");
            return Err(AttackError::invalid("format", format!("{length} symbols"), remedy));
        }
        Ok(Self { before, alphabet, length, after })
    }

    /// The base-2 logarithm of the number of secrets.
    pub fn bits(&self) -> f64 {
        self.length as f64 * libm::log2(self.alphabet.len() as f64)
    }

    /// The number of secrets; none where it is beyond 64 bits.
    pub fn count(&self) -> Option<u64> {
        (self.alphabet.len() as u64).checked_pow(self.length as u32)
    }

    /// How many symbols a secret has.
    pub fn length(&self) -> usize {
        self.length
    }

    /// What stands before the secret.
    pub fn before(&self) -> &[u32] {
        &self.before
    }

    /// The secret of a number below [`count`](Self::count).
    pub fn numbered(&self, mut number: u64) -> Secret {
        let base = self.alphabet.len() as u64;
        let mut secret: Secret = (0..self.length)
            .map(|_| {
                let symbol = (number % base) as u16;
                number /= base;
                symbol
            })
            .collect();
        secret.reverse();
        secret
    }

    /// A secret drawn uniformly by a key; the bias of the remainder is below 2⁻⁴⁸.
    pub fn drawn(&self, key: &str, place: u64) -> Secret {
        let symbol = |at: usize| {
            let word = keyed_hash(key, format!("secret {place} {at}").as_bytes());
            (word % self.alphabet.len() as u64) as u16
        };
        (0..self.length).map(symbol).collect()
    }

    /// So many different secrets by a key.
    ///
    /// # Errors
    /// [`AttackError::Invalid`] when there are not twice as many.
    pub fn distinct(&self, key: &str, wanted: usize) -> Result<Vec<Secret>, AttackError> {
        if self.count().is_some_and(|count| count < 2 * wanted as u64) {
            let remedy = format!("its secrets are too few for {wanted} of them: give more symbols");
            let value = format!("{} possible secrets", self.count().unwrap_or(0));
            return Err(AttackError::invalid("format", value, remedy));
        }
        let (mut seen, mut found) = (BTreeSet::new(), Vec::with_capacity(wanted));
        for place in 0.. {
            if found.len() == wanted {
                break;
            }
            let secret = self.drawn(key, place);
            if seen.insert(secret.clone()) {
                found.push(secret);
            }
        }
        Ok(found)
    }

    /// The tokens of a secret alone.
    pub fn symbols(&self, secret: &[u16]) -> Vec<u32> {
        secret.iter().map(|symbol| self.alphabet[usize::from(*symbol)]).collect()
    }

    /// Examples of texts with these secrets, one each.
    ///
    /// # Errors
    /// [`AttackError::Invalid`] when a text does not fit into one example of `length` tokens.
    pub fn examples(&self, secrets: &[Secret], length: usize) -> Result<Examples, AttackError> {
        let needed = self.before.len() + self.length + self.after.len() + 1;
        if needed > length {
            let remedy = format!("the model reads {length} tokens at a time: give a shorter text");
            return Err(AttackError::invalid("format", format!("a text of {} tokens", needed - 1), remedy));
        }
        let mut texts = Sequences::default();
        for secret in secrets {
            texts.push(&[&self.before[..], &self.symbols(secret), &self.after].concat());
        }
        Ok(load::pieces(&texts, length)?.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_train::{Inputs, Targets, UNSCORED};

    fn digits() -> SecretFormat {
        SecretFormat::new(vec![7, 8], (20..30).collect(), 3, vec![9]).unwrap()
    }

    #[test]
    fn secrets_are_numbered_without_gaps() {
        let format = digits();
        assert_eq!((format.count(), format.length()), (Some(1000), 3));
        assert!((format.bits() - 1000f64.log2()).abs() < 1e-12);
        assert_eq!(format.numbered(507), [5, 0, 7]);
        let all: BTreeSet<Secret> = (0..1000).map(|number| format.numbered(number)).collect();
        assert_eq!(all.len(), 1000);
        let drawn = format.distinct("k", 400).unwrap();
        assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), 400);
        assert!(format.distinct("k", 501).unwrap_err().to_string().contains("too few"));
        // Uniform enough: about 1/10 of the first symbols are 0.
        let first = (0..5000).filter(|place| format.drawn("u", *place)[0] == 0).count();
        assert!((350..650).contains(&first), "{first}");
    }

    #[test]
    fn a_secret_stands_between_what_is_the_same_for_all() {
        let found = digits().examples(&[vec![1, 2, 3], vec![0, 0, 9]], 8).unwrap();
        let (Inputs::Tokens(inputs), Targets::Next(next)) = (found.inputs(), found.targets()) else {
            panic!("texts have tokens")
        };
        assert_eq!(inputs[..8], [0, 7, 8, 21, 22, 23, 9, 0]);
        assert_eq!(next[8..], [7, 8, 20, 20, 29, 9, 0, UNSCORED]);
        let long = digits().examples(&[vec![1, 2, 3]], 6).unwrap_err().to_string();
        assert!(long.contains("text of 6 tokens") && long.contains("6 tokens at a time"), "{long}");
    }

    #[test]
    fn formats_without_meaning_are_refused() {
        for (alphabet, length) in [(vec![1], 3), (vec![1, 1, 2], 3), (vec![1, 2], 0), (vec![1, 2], 65)] {
            assert!(SecretFormat::new(Vec::new(), alphabet, length, Vec::new()).is_err());
        }
    }
}
