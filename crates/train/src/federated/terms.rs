//! What the parties of a federation agree to.

use crate::cyclic::refuse_cyclic;
use crate::growth::refuse_growth;
use crate::trainer::{Baseline, Recipe};
use crate::{Batching, Examples, PrivacyPlan, TrainError, Units};
use reticent_core::Neighboring;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The privacy unit of a plan that protects whole parties.
pub const PARTY: &str = "party";

/// What a party does with its data in a round of FedAvg.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalTraining {
    /// Passes over the party's data, at least 1.
    pub epochs: u64,
    /// Records in a batch, at least 1.
    pub batch: usize,
    /// How the party moves its weights; its schedule runs over the rounds. An average of weights has no effect.
    pub recipe: Recipe,
}

impl LocalTraining {
    /// Checks the numbers.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] for no epochs or empty batches, and from the recipe.
    pub fn check(&self) -> Result<(), TrainError> {
        if self.epochs == 0 || self.epochs > 1 << 20 {
            return Err(TrainError::invalid("local_epochs", self.epochs, "give a number from 1 to 2^20"));
        }
        if self.batch == 0 {
            return Err(TrainError::invalid("local_batch", 0, "give at least 1"));
        }
        if let Some(rule) = self.recipe.denoise {
            return Err(TrainError::invalid(
                "denoise",
                rule,
                "a party's own steps have no noise: leave it out",
            ));
        }
        self.recipe.check()
    }
}

/// How parties train, and whose data are protected. FedAvg protects whole parties or nobody.
#[derive(Debug, Clone, PartialEq)]
pub enum FederatedTerms {
    /// FedSGD that protects each record. The plan's rate is that of a record, its size the number of all records together.
    Records(PrivacyPlan),
    /// FedAvg that protects each party with all its records: the plan's unit is [`PARTY`], its rate the probability of a party to take
    /// part in a round, its size the number of parties, its clipping norm the longest change of a party.
    Parties(PrivacyPlan, LocalTraining),
    /// FedSGD without a guarantee; batches are of the records of all parties together.
    Gradients(Baseline),
    /// FedAvg without a guarantee; batches are of parties. A party counts by the number of its records.
    Averages(Baseline, LocalTraining),
}

impl FederatedTerms {
    /// The plan; none without a guarantee.
    pub fn plan(&self) -> Option<&PrivacyPlan> {
        match self {
            Self::Records(plan) | Self::Parties(plan, _) => Some(plan),
            Self::Gradients(_) | Self::Averages(..) => None,
        }
    }

    /// Rounds and batches of a run without a guarantee.
    pub(super) fn baseline(&self) -> Baseline {
        match self {
            Self::Gradients(baseline) | Self::Averages(baseline, _) => *baseline,
            Self::Records(plan) | Self::Parties(plan, _) => {
                let rate = plan.settings().sampling_rate;
                Baseline::new(Batching::Poisson { rate }, plan.steps())
            }
        }
    }

    /// Refuses a plan for another unit than the method protects, and numbers without meaning.
    pub(super) fn check(&self, parties: &[Arc<Examples>]) -> Result<(), TrainError> {
        if let Some(plan) = self.plan() {
            refuse_cyclic(plan, "parties sample their batches: leave it out")?;
            refuse_growth(plan, "parties sample at one rate in every round: leave it out")?;
        }
        match self {
            Self::Records(plan) if plan.settings().unit == PARTY => {
                let remedy = "FedSGD clips the gradients of records: give a plan whose unit is the record";
                Err(TrainError::invalid("unit", PARTY, remedy))
            }
            Self::Records(plan) if plan.settings().neighboring == Neighboring::ReplaceOne => {
                let remedy = "give add-remove: no party knows how many records there are in all";
                Err(TrainError::invalid("neighboring", Neighboring::ReplaceOne, remedy))
            }
            Self::Records(_) => Ok(()),
            Self::Parties(plan, local) => {
                let settings = plan.settings();
                if settings.unit != PARTY {
                    let remedy = "FedAvg bounds what a party changes, not what a record does: give a plan whose unit is the party, \
                                  or use FedSGD";
                    return Err(TrainError::invalid("unit", &settings.unit, remedy));
                }
                if settings.neighboring == Neighboring::ReplaceOne {
                    let remedy = "give add-remove: a party takes part or not";
                    return Err(TrainError::invalid("neighboring", Neighboring::ReplaceOne, remedy));
                }
                local.check()
            }
            Self::Gradients(baseline) => {
                baseline.check(&Units::examples(parties.iter().map(|own| own.len()).sum()))
            }
            Self::Averages(baseline, local) => {
                baseline.check(&Units::examples(parties.len()))?;
                local.check()
            }
        }
    }
}
