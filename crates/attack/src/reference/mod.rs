//! Models trained like the target on known halves of the records.

mod fit;
mod store;

pub use fit::{Job, JobProgress, JobReport, JobSettings};
pub use store::Store;

use crate::{AttackError, Learner, Wanted};
use reticent_audit::Reference;
use reticent_data::keyed_hash;
use reticent_train::digest::digest;
use serde::{Deserialize, Serialize};

/// What files hold; a file of another format is another file.
const FORMAT: u32 = 1;

/// Which records each reference is trained on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReferenceDesign {
    /// Pairs of references split the records into halves: one of them is trained on the one, the other on the rest. With
    /// an even number of references, every record is in exactly half of them; with an odd number, the last has no
    /// partner.
    Half,
    /// Every record is in every reference with probability ½, independently.
    Bernoulli,
}

impl ReferenceDesign {
    /// Who is in: a function of the key, the reference's number and the number of records alone.
    pub fn mask(self, key: &str, index: usize, records: usize) -> Vec<bool> {
        match self {
            Self::Half => {
                let pair = index as u64 / 2;
                let mut order: Vec<(u64, usize)> = (0..records)
                    .map(|record| (keyed_hash(key, &words(b"half", pair, record as u64)), record))
                    .collect();
                order.sort_unstable();
                // The first half of the order is in the even reference of the pair, the rest in the odd one.
                let mut inside = vec![index % 2 == 1; records];
                order[..records / 2].iter().for_each(|(_, record)| inside[*record] = index.is_multiple_of(2));
                inside
            }
            Self::Bernoulli => (0..records)
                .map(|record| keyed_hash(key, &words(b"coin", index as u64, record as u64)) >> 63 == 1)
                .collect(),
        }
    }
}

fn words(kind: &[u8; 4], first: u64, second: u64) -> [u8; 20] {
    let mut bytes = [0; 20];
    bytes[..4].copy_from_slice(kind);
    bytes[4..12].copy_from_slice(&first.to_le_bytes());
    bytes[12..].copy_from_slice(&second.to_le_bytes());
    bytes
}

/// How many references there are, and on what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceSettings {
    /// Splits, starting weights and batches are functions of it.
    pub key: String,
    /// How many references, at least 1.
    pub references: usize,
    /// Who is in which.
    pub design: ReferenceDesign,
    /// What is kept of every reference besides its outputs.
    #[serde(default)]
    pub wanted: Wanted,
}

/// Reference models of a population. Which record is in which reference is fixed before any is trained.
///
/// A reference's file is named after everything that determines it, and never after how many others there are or which
/// job trained it. With a learner that is repeatable, all jobs together give the same references to the last bit however
/// they were split, and more references can be asked for later. Models with a guarantee draw fresh noise: they are kept
/// like others, but trained again they are other models. They are for the auditor only: no budget is charged for them.
#[derive(Clone, Copy)]
pub struct ReferencePlan<'a> {
    settings: &'a ReferenceSettings,
    learner: &'a dyn Learner,
}

impl<'a> ReferencePlan<'a> {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`AttackError::Invalid`] for an empty key, no references, more than 65536, or fewer than 2 records;
    /// [`AttackError::NotOffered`] when the learner cannot give what is wanted.
    pub fn new(settings: &'a ReferenceSettings, learner: &'a dyn Learner) -> Result<Self, AttackError> {
        if settings.key.is_empty() {
            return Err(AttackError::invalid("key", "\"\"", "give any text, and keep it to repeat the work"));
        }
        if settings.references == 0 || settings.references > 1 << 16 {
            return Err(AttackError::invalid("references", settings.references, "give 1 to 65536"));
        }
        if learner.records() < 2 {
            return Err(AttackError::invalid("records", learner.records(), "give at least 2 to split"));
        }
        settings.wanted.check(learner)?;
        Ok(Self { settings, learner })
    }

    /// How many references there are.
    pub fn len(&self) -> usize {
        self.settings.references
    }

    /// Whether there are none; never so.
    pub fn is_empty(&self) -> bool {
        self.settings.references == 0
    }

    /// Who is in a reference.
    pub fn mask(&self, index: usize) -> Vec<bool> {
        self.settings.design.mask(&self.settings.key, index, self.learner.records())
    }

    /// The key from which a reference draws.
    fn training_key(&self, index: usize) -> String {
        format!("{}: reference {index}", self.settings.key)
    }

    /// A short name for everything that determines a reference.
    pub fn digest(&self, index: usize) -> String {
        let ReferenceSettings { key, design, wanted, .. } = self.settings;
        let version = (FORMAT, env!("CARGO_PKG_VERSION"));
        let usual = (version, self.learner.identity(), key, design, self.learner.records(), index);
        if wanted.is_empty() { digest(&usual) } else { digest(&(usual, wanted)) }
    }

    /// All references.
    ///
    /// # Errors
    /// [`AttackError::Missing`] with the numbers of those that are not there or whose files are broken.
    pub fn collect(&self, store: &Store) -> Result<Vec<Reference>, AttackError> {
        let (mut references, mut indices, mut broken) = (Vec::new(), Vec::new(), Vec::new());
        for index in 0..self.len() {
            match store.load(self, index) {
                Ok(Some(reference)) => references.push(reference),
                Ok(None) => indices.push(index),
                Err(error) => {
                    indices.push(index);
                    broken.push(error.to_string());
                }
            }
        }
        if indices.is_empty() {
            return Ok(references);
        }
        Err(AttackError::Missing { indices, of: self.len(), broken })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_halves_and_every_record_is_in_half_of_them() {
        for records in [2, 9, 100] {
            let masks: Vec<Vec<bool>> =
                (0..6).map(|index| ReferenceDesign::Half.mask("k", index, records)).collect();
            for record in 0..records {
                assert_eq!(masks.iter().filter(|mask| mask[record]).count(), 3);
            }
            for (index, mask) in masks.iter().enumerate() {
                let inside = mask.iter().filter(|inside| **inside).count();
                assert_eq!(inside, if index % 2 == 0 { records / 2 } else { records.div_ceil(2) });
            }
        }
        assert_ne!(ReferenceDesign::Half.mask("k", 0, 100), ReferenceDesign::Half.mask("k", 2, 100));
        assert_ne!(ReferenceDesign::Half.mask("k", 0, 100), ReferenceDesign::Half.mask("l", 0, 100));
    }

    #[test]
    fn coins_are_fair_and_their_own() {
        let masks: Vec<Vec<bool>> =
            (0..40).map(|index| ReferenceDesign::Bernoulli.mask("k", index, 500)).collect();
        let heads = masks.iter().flatten().filter(|inside| **inside).count() as f64;
        // Six standard deviations.
        assert!((heads - 10_000.0).abs() < 6.0 * 70.8, "{heads}");
        let agree = masks[0].iter().zip(&masks[1]).filter(|(a, b)| a == b).count() as f64;
        assert!((agree - 250.0).abs() < 6.0 * 11.2, "{agree}");
    }
}
