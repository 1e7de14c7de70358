//! Canaries: records planted by coin flips, for an audit of a single run.
//!
//! Each of m canaries is in the training data with probability ½, independently. After the run each has a score, larger
//! for those that look like members; how well scores tell the coins bounds the run's ε from below.
//!
//! | kind | what is planted | score |
//! |---|---|---|
//! | [`Mislabelled`](CanaryKind::Mislabelled) | records of the data with a wrong label | how far training lowered its loss |
//! | [`Blank`](CanaryKind::Blank) | zeros with a mark of its own and a random label | the same |
//! | [`Dirac`](CanaryKind::Dirac) | a gradient at a coordinate of its own, of the full clipping norm | how far the coordinate moved against it |
//!
//! Secrets in texts ([`SecretFormat`], [`exposure`]) are planted as often as asked, without coins, and ranked among all others of their
//! format.

mod dirac;
mod exposure;
mod run;
mod secret;

pub use dirac::Dirac;
pub use exposure::{ExposedGroup, ExposureRun, ExposureSettings, TrainingTexts, exposure};
pub use run::{CanaryRun, run};
pub use secret::{Secret, SecretFormat};

use crate::AttackError;
use crate::population::classes_of;
use reticent_data::keyed_hash;
use reticent_noise::Entropy;
use reticent_noise::entropy::Bits;
use reticent_train::{Examples, Inputs, Targets};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What is planted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CanaryKind {
    /// Records of the data itself, chosen by the key, each with a wrong label chosen by the key. The other records are
    /// always in.
    Mislabelled,
    /// Inputs that are 0 but for one or two places of their own, with a label chosen by the key, beside all records.
    Blank,
    /// Gradients at coordinates of their own, beside all records: an attacker who takes part in training.
    Dirac,
}

/// Where coins come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coins {
    /// The operating system's randomness.
    #[default]
    Fresh,
    /// The key, for work that must be repeatable. A bound holds only if nobody chose the key by its coins.
    Keyed,
}

/// What to plant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CanarySettings {
    /// The kind.
    pub kind: CanaryKind,
    /// m, at least 2.
    pub count: usize,
    /// Choices that need not be secret are functions of it.
    pub key: String,
    /// Where coins come from.
    #[serde(default)]
    pub coins: Coins,
}

/// Planted canaries and their coins.
#[derive(Debug, Clone)]
pub struct Canaries {
    settings: CanarySettings,
    /// The records that are always in.
    ordinary: Examples,
    /// All canaries, in or not.
    planted: Examples,
    coins: Vec<bool>,
}

impl Canaries {
    /// Plants canaries among these records and flips their coins.
    ///
    /// # Errors
    /// [`AttackError::Invalid`] for fewer than 2 canaries or classes, more canaries than there are places or records,
    /// texts where blanks are asked for, and targets that are numbers; when there is no randomness.
    pub fn plant(examples: &Examples, classes: u32, settings: CanarySettings) -> Result<Self, AttackError> {
        let labels = classes_of(examples)?;
        if classes < 2 {
            return Err(AttackError::premise("classes", classes, "give at least 2"));
        }
        if settings.count < 2 || settings.count > 1 << 24 {
            return Err(AttackError::invalid("canaries", settings.count, "give 2 to 2^24"));
        }
        let hash = |what: &str, place: usize| keyed_hash(&settings.key, format!("{what} {place}").as_bytes());
        let label = |place: usize| (hash("label", place) % u64::from(classes)) as u32;
        let everything: Vec<usize> = (0..examples.len()).collect();
        let (ordinary, planted) = match settings.kind {
            CanaryKind::Mislabelled => {
                if settings.count > examples.len() {
                    let remedy = format!("give at most one for each of the {} records", examples.len());
                    return Err(AttackError::invalid("canaries", settings.count, remedy));
                }
                let mut order = everything;
                order.sort_by_cached_key(|record| (hash("record", *record), *record));
                let rest = order.split_off(settings.count);
                let wrong = |record: &usize| {
                    let step = 1 + hash("label", *record) % u64::from(classes - 1);
                    ((u64::from(labels[*record]) + step) % u64::from(classes)) as u32
                };
                let wrong = order.iter().map(wrong).collect();
                (examples.subset(&rest), relabelled(&examples.subset(&order), wrong)?)
            }
            CanaryKind::Blank => {
                let planted = blanks(examples, settings.count, (0..settings.count).map(label).collect())?;
                (examples.clone(), planted)
            }
            CanaryKind::Dirac => {
                let inputs = zeros(examples.inputs(), settings.count * examples.size());
                let targets = Targets::Classes((0..settings.count).map(label).collect());
                (examples.clone(), Examples::new(examples.shape(), inputs, targets)?)
            }
        };
        let coins = match settings.coins {
            Coins::Fresh => {
                let mut entropy = Entropy::new()?;
                (0..settings.count).map(|_| entropy.bit()).collect()
            }
            Coins::Keyed => (0..settings.count).map(|place| hash("coin", place) >> 63 == 1).collect(),
        };
        Ok(Self { settings, ordinary, planted, coins })
    }

    /// What was asked for.
    pub fn settings(&self) -> &CanarySettings {
        &self.settings
    }

    /// Which canaries are in the training data.
    pub fn coins(&self) -> &[bool] {
        &self.coins
    }

    /// The records that are always in.
    pub fn ordinary(&self) -> &Examples {
        &self.ordinary
    }

    /// All canaries, in or not.
    pub fn planted(&self) -> &Examples {
        &self.planted
    }

    /// The canaries that are in.
    pub fn included(&self) -> Vec<usize> {
        (0..self.coins.len()).filter(|place| self.coins[*place]).collect()
    }

    /// What is trained on: the ordinary records, then the canaries that are in.
    ///
    /// # Errors
    /// [`AttackError::Train`] when the two are of different kinds, which never happens.
    pub fn training(&self) -> Result<Arc<Examples>, AttackError> {
        let own = self.planted.subset(&self.included());
        Ok(Arc::new(self.ordinary.clone().followed_by(&own)?))
    }
}

fn relabelled(examples: &Examples, classes: Vec<u32>) -> Result<Examples, AttackError> {
    Ok(Examples::new(examples.shape(), examples.inputs().clone(), Targets::Classes(classes))?)
}

/// Inputs of the same kind, all 0.
fn zeros(like: &Inputs, count: usize) -> Inputs {
    match like {
        Inputs::Real(_) => Inputs::Real(vec![0.0; count]),
        Inputs::Pixels { shift, scale, .. } => {
            Inputs::Pixels { values: vec![0; count], shift: shift.clone(), scale: scale.clone() }
        }
        Inputs::Tokens(_) => Inputs::Tokens(vec![0; count]),
    }
}

/// Zeros with a mark in one place for the first canaries, in two for the others, no two in the same.
fn blanks(like: &Examples, count: usize, classes: Vec<u32>) -> Result<Examples, AttackError> {
    let size = like.size();
    if let Inputs::Tokens(_) = like.inputs() {
        return Err(AttackError::premise("kind", "blank", "texts have no blanks: use `mislabelled`"));
    }
    let room = size.saturating_add(size.saturating_mul((size - 1) / 2));
    if count > room {
        let remedy = format!("give at most {room}: inputs of {size} numbers have no more marks");
        return Err(AttackError::invalid("canaries", count, remedy));
    }
    // A second mark is at most half of the places further on, so that no pair occurs twice.
    let marks = |canary: usize| {
        let (first, apart) = (canary % size, canary / size);
        [canary * size + first, canary * size + (first + apart) % size]
    };
    let mut inputs = zeros(like.inputs(), count * size);
    match &mut inputs {
        Inputs::Real(values) => (0..count).flat_map(marks).for_each(|place| values[place] = 1.0),
        Inputs::Pixels { values, .. } => (0..count).flat_map(marks).for_each(|place| values[place] = u8::MAX),
        Inputs::Tokens(_) => {}
    }
    Ok(Examples::new(like.shape(), inputs, Targets::Classes(classes))?)
}
