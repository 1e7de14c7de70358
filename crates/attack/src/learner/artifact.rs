//! What a learner returns of a model: its outputs, and on request what a white-box attacker would have.

use super::Learner;
use crate::AttackError;
use reticent_audit::{Outputs, Signals};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The name of the signal with the outputs of a layer.
pub fn activations_of(layer: &str) -> String {
    format!("activations {layer}")
}

/// The name of the signal with the log-probability of the true class at each snapshot.
pub const LOSS_TRAJECTORY: &str = "loss-trajectory";

/// What is wanted of a model besides its outputs; by default nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wanted {
    /// The weights after training.
    pub weights: bool,
    /// Signals of the gradient of the loss at every record.
    pub gradients: bool,
    /// Names of layers whose outputs on every record are wanted as signals.
    pub activations: Vec<String>,
    /// The model after each of these steps, counted from 1 and increasing.
    pub snapshots: Vec<u64>,
    /// A signal of the predicted classes of noisy copies of every record.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub labels: bool,
}

impl Wanted {
    /// Whether outputs are enough.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The parts that are wanted.
    pub fn parts(&self) -> impl Iterator<Item = ArtifactPart> {
        let wanted = [
            self.weights,
            self.gradients,
            !self.activations.is_empty(),
            !self.snapshots.is_empty(),
            self.labels,
        ];
        ArtifactPart::ALL.into_iter().zip(wanted).filter(|(_, is_wanted)| *is_wanted).map(|(part, _)| part)
    }

    /// Checks that a learner can give all of it.
    ///
    /// # Errors
    /// [`AttackError::NotOffered`] with the first part that it cannot give; [`AttackError::Invalid`] for snapshots at step 0 or
    /// out of order.
    pub fn check(&self, learner: &dyn Learner) -> Result<(), AttackError> {
        if let Some(part) = self.parts().find(|part| !learner.offers(*part)) {
            return Err(AttackError::NotOffered { part, learner: learner.kind() });
        }
        let is_rising = self.snapshots.windows(2).all(|pair| pair[0] < pair[1]);
        if !is_rising || self.snapshots.first() == Some(&0) {
            let remedy = "give the numbers of steps from 1, each larger than the one before";
            return Err(AttackError::invalid("snapshots", format!("{:?}", self.snapshots), remedy));
        }
        Ok(())
    }
}

/// A part of an artifact besides the outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArtifactPart {
    /// The weights after training.
    Weights,
    /// Signals of gradients.
    Gradients,
    /// Signals of activations.
    Activations,
    /// The model at steps of its training.
    Snapshots,
    /// Predicted classes of noisy copies.
    Labels,
}

impl ArtifactPart {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Weights, Self::Gradients, Self::Activations, Self::Snapshots, Self::Labels];
}

impl fmt::Display for ArtifactPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Weights => "weights",
            Self::Gradients => "gradients",
            Self::Activations => "activations",
            Self::Snapshots => "snapshots",
            Self::Labels => "classes of noisy copies",
        })
    }
}

/// The model after some step of its training.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// How many steps were taken, from 1.
    pub step: u64,
    /// The weights that training would have ended with here.
    pub weights: Vec<f32>,
    /// What it said about every record.
    pub outputs: Outputs,
}

/// What a learner returns of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Artifact {
    /// What the model says about every record; none where a record is not one input, as with authors.
    pub outputs: Option<Outputs>,
    /// All weights after training, in single precision.
    pub weights: Option<Vec<f32>>,
    /// Signals of gradients, activations and snapshots, one row per record.
    pub signals: Signals,
    /// The model at the requested steps, in order.
    pub snapshots: Vec<Snapshot>,
}

impl From<Outputs> for Artifact {
    fn from(outputs: Outputs) -> Self {
        Self { outputs: Some(outputs), weights: None, signals: Signals::none(), snapshots: Vec::new() }
    }
}

impl From<Signals> for Artifact {
    fn from(signals: Signals) -> Self {
        Self { outputs: None, weights: None, signals, snapshots: Vec::new() }
    }
}

impl Artifact {
    /// The same for some of the records, in the given order.
    pub fn some(&self, records: &[usize]) -> Self {
        let snapshot = |own: &Snapshot| Snapshot {
            step: own.step,
            weights: own.weights.clone(),
            outputs: own.outputs.some(records),
        };
        Self {
            outputs: self.outputs.as_ref().map(|outputs| outputs.some(records)),
            weights: self.weights.clone(),
            signals: self.signals.some(records),
            snapshots: self.snapshots.iter().map(snapshot).collect(),
        }
    }

    /// Checks that everything is about so many records.
    pub(crate) fn check(&self, records: usize) -> Result<(), AttackError> {
        let of_snapshots = self.snapshots.iter().map(|snapshot| snapshot.outputs.len());
        let of_signals = self.signals.iter().map(|(_, values)| values.len());
        let of_outputs = self.outputs.iter().map(Outputs::len);
        match of_outputs.chain(of_snapshots).chain(of_signals).find(|n| *n != records) {
            None => Ok(()),
            Some(other) => {
                let remedy = format!("give outputs for all {records} records");
                Err(AttackError::invalid("outputs", other, remedy))
            }
        }
    }
}
