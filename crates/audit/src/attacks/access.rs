use crate::SignalSource;
use serde::{Deserialize, Serialize};

/// How much of a model an attacker sees. Each level includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessLevel {
    /// What it answers to queries: classes, probabilities, losses.
    Predictions,
    /// Its weights, by what inner layers compute.
    Activations,
    /// Its weights, by gradients.
    Gradients,
    /// Several states of its training.
    Snapshots,
}

impl AccessLevel {
    /// All of them, from what an attacker sees most easily.
    pub const ALL: [Self; 4] = [Self::Predictions, Self::Activations, Self::Gradients, Self::Snapshots];

    /// The level at which a signal is known; none for a score of which nothing is known.
    pub fn of(source: SignalSource) -> Option<Self> {
        match source {
            SignalSource::Given => None,
            SignalSource::LabelOnly | SignalSource::Outputs | SignalSource::Loss => Some(Self::Predictions),
            SignalSource::Activations => Some(Self::Activations),
            SignalSource::Gradients => Some(Self::Gradients),
            SignalSource::Snapshots => Some(Self::Snapshots),
        }
    }

    /// Its name in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Predictions => "predictions (black-box)",
            Self::Activations => "weights, by activations",
            Self::Gradients => "weights, by gradients",
            Self::Snapshots => "several states of the training",
        }
    }
}
