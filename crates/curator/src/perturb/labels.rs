//! Labels that are found in the data.

use super::{add_remove, ninety_five};
use crate::refusal::Refusal;
use crate::session::{Payment, Session};
use reticent_core::{Confidence, Delta, Epsilon, Event, Guarantee, Neighboring};
use reticent_noise::mechanism::{Accuracy, StableHistogram};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Counts of rows by labels that are found in the data: only labels whose noisy count reaches a threshold come out.
///
/// # Guarantee
/// For counts of which one row is part of one label at most: (ε, δ), charged before the counts are looked at.
///
/// # Reference
/// [`StableHistogram`].
///
/// # Errors
/// [`Refusal`] naming the field, and where the session refuses the cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindLabels {
    /// The privacy budget ε.
    pub epsilon: f64,
    /// The δ: the probability that a label of a single row comes out.
    pub delta: f64,
    /// The confidence of the stated error.
    #[serde(default = "ninety_five")]
    pub confidence: f64,
    /// The neighboring relation.
    #[serde(default = "add_remove")]
    pub neighboring: Neighboring,
}

/// Labels with their noisy counts, in the order of their text.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundLabels {
    /// What may be published.
    pub counts: BTreeMap<String, i128>,
    /// The least noisy count that comes out.
    pub threshold: u64,
    /// What an accountant is told.
    pub event: Event,
    /// The claim of the mechanism.
    pub guarantee: Guarantee,
    /// The error that one count exceeds with probability at most 1 − confidence.
    pub error: f64,
}

impl FindLabels {
    /// The labels that reach the threshold.
    ///
    /// # Errors
    /// As of [`FindLabels`].
    pub fn of(&self, counts: &BTreeMap<String, u64>, session: &mut Session) -> Result<FoundLabels, Refusal> {
        let (epsilon, delta) = (Epsilon::new(self.epsilon)?, Delta::new(self.delta)?);
        let noise = StableHistogram::new(self.neighboring, epsilon, delta)?;
        let confidence = Confidence::new(self.confidence)?;
        let unit = session.unit().to_owned();
        let Payment { payer, .. } = session.payment(&unit, self.neighboring)?;
        let released = payer.release(&noise, counts)?;
        Ok(FoundLabels {
            counts: released.value,
            threshold: noise.threshold(),
            event: released.event,
            guarantee: released.guarantee,
            error: noise.error(confidence),
        })
    }
}
