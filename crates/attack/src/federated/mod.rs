//! Attacks on parties that train together.
//!
//! | file | the attacker |
//! |---|---|
//! | `passive` | keeps to the protocol and looks at what it sees in some rounds: the server at a party's own models, a party at the server's |
//! | `active` | raises the loss of target records between rounds and watches who brings it down again |
//! | `detection` | what the honest side could have noticed |
//! | `canary` | parties planted by coin flips, for a lower bound on the ε of a run that protects parties |
//!
//! # Guarantee
//! None: everything here looks at exact updates and at the records themselves.

mod active;
mod canary;
mod detection;
mod passive;

pub use active::{ActiveAttack, ActiveAttacker, ActiveRun, ActiveSettings, ObservedLosses, attack};
pub use canary::canary_parties;
pub use detection::Watched;
pub use passive::{ObservedModel, Observer, observe, snapshot_signals};

use crate::AttackError;
use crate::learner::permit_without_limit;
use reticent_train::{Description, Device, Examples, FederatedTerms, Federation, Recipe, Resources, engine};
use std::sync::Arc;

/// A federation that can be trained again and again.
#[derive(Debug, Clone)]
pub struct FederatedSetup {
    /// The network in words.
    pub description: Description,
    /// What each party holds.
    pub parties: Vec<Arc<Examples>>,
    /// How parties train, and whose data are protected.
    pub terms: FederatedTerms,
    /// How the server moves the weights.
    pub recipe: Recipe,
    /// What computes the network.
    pub device: Device,
    /// As many parties at a time as there are threads.
    pub resources: Resources,
    /// Without a guarantee, everything about the run is a function of it.
    pub key: String,
}

impl FederatedSetup {
    /// The federation before its first round.
    ///
    /// # Errors
    /// [`AttackError::Train`] from the parties and the network.
    pub fn federation(&self) -> Result<Federation, AttackError> {
        let single = Resources { threads: 1, ..self.resources };
        let make = || engine(&self.description, self.device, single);
        let permit = self.terms.plan().map(permit_without_limit).transpose()?;
        let is_repeatable = permit.is_none() && self.device == Device::Cpu;
        let key = is_repeatable.then_some(self.key.as_str());
        let federation =
            Federation::new(&make, self.parties.clone(), self.terms.clone(), self.recipe, permit, key)?;
        Ok(federation.on_threads(self.resources)?)
    }

    /// Refuses a party that is not there.
    fn check_party(&self, party: usize) -> Result<(), AttackError> {
        if party < self.parties.len() {
            return Ok(());
        }
        let remedy = format!("give a number below {}, counted from 0", self.parties.len());
        Err(AttackError::invalid("party", party, remedy))
    }
}
