//! Whole records from gradients, from models and from differences of models.
//!
//! | module | what is recovered from what |
//! |---|---|
//! | [`from_gradients`] | records from the gradient of a batch: exactly by a first linear layer, by inversion for any network |
//! | [`typical_records`] | a typical record of every class from a network |
//! | [`informed`] | a record from a linear model and all other records, in closed form |
//! | [`informed_by_shadows`] | a record from the weights of a network and all other records, by a network that learned it |
//! | [`record_by_difference`], [`added_by_difference`] | who differs between two models, and their record |
//!
//! Every figure stands beside that of a guess that does not see the gradient or the model. Which records are attacked is drawn by a key
//! from the training data, so intervals are about all of them.
//!
//! # Guarantee
//! None: these are attacks on one's own models, with records one may look at. What they recover is private.

mod classes;
mod difference;
mod first_layer;
mod gradients;
mod informed;
mod inversion;
mod labels;
mod observed;
mod shadow;
mod space;
#[cfg(test)]
mod tests;

pub use classes::typical_records;
pub use difference::{added_by_difference, record_by_difference};
pub use gradients::{GradientSettings, from_gradients};
pub use informed::{InformedSettings, LinearTarget, informed};
pub use inversion::InversionSettings;
pub use observed::GradientRelease;
pub use shadow::{ShadowSettings, informed_by_shadows};
pub use space::{MOST_DECIBELS, RecordSpace};

use reticent_audit::attacks::AttackKind;
use reticent_audit::disclosure::{Disclosure, DisclosureMeasure};
use reticent_audit::findings::{Estimate, Threat};
use reticent_audit::median;

/// The measures of pictures: the peak signal-to-noise ratio and the structural similarity.
const DECIBELS: &str = "median PSNR (dB)";
const SIMILARITY: &str = "median SSIM";

/// What an attack found, and some of the records with what it made of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Reconstruction {
    /// What may be shared.
    pub disclosure: Disclosure,
    /// Examples of it: private.
    pub shown: Vec<Reconstructed>,
}

/// Records beside what was recovered of them, all from 0 to 1: private.
#[derive(Debug, Clone, PartialEq)]
pub struct Reconstructed {
    /// Under which condition.
    pub condition: String,
    /// The shape of a record.
    pub shape: Vec<usize>,
    /// The records, one after the other.
    pub records: Vec<f32>,
    /// What was recovered of each.
    pub recovered: Vec<f32>,
    /// What is guessed of any without the model.
    pub guess: Vec<f32>,
}

impl Reconstructed {
    fn new(condition: &str, space: &RecordSpace, records: Vec<f32>, recovered: Vec<f32>) -> Self {
        let (condition, shape) = (condition.to_owned(), space.shape().to_vec());
        Self { condition, shape, records, recovered, guess: space.mean().to_vec() }
    }
}

/// Who rebuilds records.
fn threat(access: &str, knowledge: &str) -> Threat {
    let goal = AttackKind::Reconstruction.goal().to_owned();
    Threat { access: access.to_owned(), knowledge: knowledge.to_owned(), goal }
}

/// The median of an attack, of the guess without it, and of their difference, from pairs of both.
fn measure(
    what: &str,
    condition: &str,
    bounds: [f64; 2],
    pairs: &[[f64; 2]],
    rises: bool,
    confidence: f64,
) -> DisclosureMeasure {
    let estimate = |of: fn(&[f64; 2]) -> f64, bounds: [f64; 2]| -> Estimate {
        median(&pairs.iter().map(of).collect::<Vec<_>>(), bounds, confidence)
    };
    let width = bounds[1] - bounds[0];
    DisclosureMeasure {
        what: what.to_owned(),
        condition: condition.to_owned(),
        rises,
        attack: estimate(|pair| pair[0], bounds),
        baseline: Some(estimate(|pair| pair[1], bounds)),
        difference: Some(estimate(|pair| pair[0] - pair[1], [-width, width])),
    }
}
