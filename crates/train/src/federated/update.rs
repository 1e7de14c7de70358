//! What parties send, and what each observer sees.

use crate::engine::FixedSum;

/// What a party sends in a round. It is exact, and for the server alone.
#[derive(Debug, Clone, PartialEq)]
pub struct PartyUpdate {
    /// Whose it is, from 0.
    pub party: usize,
    pub(super) values: UpdateValues,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum UpdateValues {
    /// Clipped and rounded to the plan's grid, over the divisor that makes a mean of it.
    Fixed(FixedSum, f64),
    /// The mean of so many records.
    Exact { mean: Vec<f32>, weight: f64 },
}

impl PartyUpdate {
    /// The integers of a run with a plan.
    pub fn fixed(&self) -> Option<&FixedSum> {
        match &self.values {
            UpdateValues::Fixed(sum, _) => Some(sum),
            UpdateValues::Exact { .. } => None,
        }
    }

    /// The party's mean gradient, or the change of the weights that it asks for, negated: what a step at rate 1 subtracts.
    pub fn mean(&self) -> Vec<f32> {
        match &self.values {
            UpdateValues::Fixed(sum, divisor) => {
                sum.to_floats().iter().map(|sum| (f64::from(*sum) / divisor) as f32).collect()
            }
            UpdateValues::Exact { mean, .. } => mean.clone(),
        }
    }

    /// How much it counts beside others, without a plan.
    pub(super) fn weight(&self) -> f64 {
        match &self.values {
            UpdateValues::Fixed(..) => 1.0,
            UpdateValues::Exact { weight, .. } => *weight,
        }
    }
}

/// What every party sees in a round.
///
/// # Guarantee
/// With a plan, the views of all rounds together are covered by the certificate, for the data of all parties but the observer's own.
///
/// # Reference
/// The crate's proof, "Parties as units".
#[derive(Debug, Clone, PartialEq)]
pub struct PartyView {
    /// From 1.
    pub round: u64,
    /// The server's weights before the round.
    pub weights: Vec<f32>,
}

/// What the server sees in a round.
///
/// # Guarantee
/// None, with or without a plan: updates are exact. The certificate's premise is that the server keeps them to itself.
///
/// # Reference
/// The crate's proof, "Parties as units".
#[derive(Debug, Clone, PartialEq)]
pub struct ServerView {
    /// From 1.
    pub round: u64,
    /// The weights that it sent.
    pub weights: Vec<f32>,
    /// The update of every party that took part.
    pub updates: Vec<PartyUpdate>,
}
