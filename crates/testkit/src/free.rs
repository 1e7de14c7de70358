//! Draws that nobody limits, for testers that make millions of them.

use reticent_core::{Event, Ledger, LedgerError, Neighboring, Plan};
use reticent_noise::{Draws, Mechanism, NoiseError, NoiseSession, PaidSource, Released, Releaser};

/// A ledger that refuses nothing and keeps nothing.
struct Forgetful;

impl Ledger for Forgetful {
    fn reserve(&mut self, _: &Plan) -> Result<(), LedgerError> {
        Ok(())
    }

    fn neighboring(&self) -> Option<Neighboring> {
        None
    }
}

/// A source of releases under whichever neighbouring relation, in a session whose ledger keeps no record. The data of a tester
/// belong to nobody.
pub struct Free {
    session: NoiseSession,
}

impl Free {
    /// A source with a fresh generator.
    ///
    /// # Errors
    /// [`NoiseError::Entropy`] when the operating system gives no randomness.
    pub fn new() -> Result<Self, NoiseError> {
        let ledger = Box::new(Forgetful);
        Ok(Self { session: NoiseSession::new("data of a tester", "row", Neighboring::AddRemove, ledger)? })
    }

    /// The right to draw an event, as often as the tester likes.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] for an event without meaning.
    pub fn draws(&mut self, event: &Event) -> Result<Draws<'_>, NoiseError> {
        self.session.draws(&Event::Repeated { count: u64::MAX, event: Box::new(event.clone()) })
    }

    /// One draw of a mechanism.
    ///
    /// # Errors
    /// As [`draws`](Self::draws).
    pub fn draw<M: Mechanism>(&mut self, mechanism: &M, input: &M::Input) -> Result<M::Output, NoiseError> {
        Ok(self.session.release(mechanism, input)?.value)
    }
}

impl Releaser for Free {
    fn release<M: Mechanism>(
        &mut self,
        mechanism: &M,
        input: &M::Input,
    ) -> Result<Released<M::Output>, NoiseError>
    where
        M::Input: ToOwned<Owned: 'static>,
        M::Output: Clone + 'static,
    {
        self.session.release(mechanism, input)
    }
}

/// The data of a tester belong to nobody.
impl PaidSource for Free {}
