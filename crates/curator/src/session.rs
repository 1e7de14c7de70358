//! Whose data are asked about, and who pays.

use crate::refusal::Refusal;
use crate::watch::{Unwatched, Watch};
use reticent_core::{Ledger, Permit, Plan, Unlimited, charge};
use reticent_noise::Entropy;

/// What a request runs in: the ledger that its cost is charged to, the entropy of its noise, and who watches.
pub struct Session {
    ledger: Box<dyn Ledger>,
    entropy: Entropy,
    watch: Box<dyn Watch>,
}

impl Session {
    /// A session that charges this ledger.
    ///
    /// # Errors
    /// [`Refusal`] when the operating system gives no randomness.
    pub fn new(ledger: Box<dyn Ledger>) -> Result<Self, Refusal> {
        Ok(Self { ledger, entropy: Entropy::new()?, watch: Box::new(Unwatched::new()) })
    }

    /// A session that keeps a record and refuses nothing: whoever runs it keeps the budget elsewhere.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn without_limit() -> Result<Self, Refusal> {
        Self::new(Box::new(Unlimited::new()))
    }

    /// The same session under somebody's eyes.
    pub fn watched(self, watch: Box<dyn Watch>) -> Self {
        Self { watch, ..self }
    }

    /// Charges a plan to the ledger; what it costs is on record when this returns.
    ///
    /// # Errors
    /// [`Refusal`] when the budget does not cover it or the ledger cannot be written.
    pub fn charge(&mut self, plan: &Plan) -> Result<Permit, Refusal> {
        Ok(charge(&mut *self.ledger, plan)?)
    }

    /// The generator behind every release.
    pub fn entropy(&mut self) -> &mut Entropy {
        &mut self.entropy
    }

    /// The generator and who watches, for work that needs both at once.
    pub fn entropy_and_watch(&mut self) -> (&mut Entropy, &dyn Watch) {
        (&mut self.entropy, &*self.watch)
    }

    /// Who watches.
    pub fn watch(&self) -> &dyn Watch {
        &*self.watch
    }
}
