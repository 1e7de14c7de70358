//! The right to draw, once it is paid for.

use crate::entropy::Bits;
use crate::mechanism::released;
use crate::{Entropy, Mechanism, NoiseError, Released, Releaser};
use reticent_core::{Event, Neighboring, Permit};

/// A source of releases, each of which uses up its event in a permit.
///
/// # Guarantee
/// What it releases is part of the permit's plan, and nothing is released twice. The permit is looked at before the input is.
///
/// # Reference
/// [`Permit::spend`].
pub struct Paid<'a> {
    permit: &'a mut Permit,
    entropy: &'a mut Entropy,
    /// The relation under which the plan was charged, where it is known.
    neighboring: Option<Neighboring>,
}

impl<'a> Paid<'a> {
    pub(crate) fn new(
        permit: &'a mut Permit,
        entropy: &'a mut Entropy,
        neighboring: Option<Neighboring>,
    ) -> Self {
        Self { permit, entropy, neighboring }
    }

    /// The right to the draws of one event of the plan.
    ///
    /// # Errors
    /// [`NoiseError::Unpaid`] when the plan has no such event, or no more of them.
    pub fn draws(&mut self, event: &Event) -> Result<Draws<'_>, NoiseError> {
        Draws::spend(self.permit, event, self.entropy)
    }

    /// Releases that one event of the plan covers together, for steps that earlier answers choose.
    ///
    /// # Guarantee
    /// The caller has the proof that the steps cost at most the event together, whichever way they go; it is not
    /// checked here.
    ///
    /// # Reference
    /// The caller's.
    ///
    /// # Errors
    /// As [`draws`](Self::draws).
    pub fn covering(&mut self, claim: &Event) -> Result<Covering<'_>, NoiseError> {
        let neighboring = self.neighboring;
        Ok(Covering { draws: self.draws(claim)?, neighboring })
    }

    /// Checks that a plan's relation is the one that was charged under.
    ///
    /// # Errors
    /// [`NoiseError::Relation`] when it is another.
    pub fn check_relation(&self, neighboring: Neighboring) -> Result<(), NoiseError> {
        NoiseError::check_relation(self.neighboring, neighboring)
    }
}

impl Releaser for Paid<'_> {
    fn release<M: Mechanism>(
        &mut self,
        mechanism: &M,
        input: &M::Input,
    ) -> Result<Released<M::Output>, NoiseError>
    where
        M::Input: ToOwned<Owned: 'static>,
        M::Output: Clone + 'static,
    {
        let mut draws = self.draws(&mechanism.event())?;
        Ok(released(mechanism, input, &mut draws))
    }

    fn neighboring(&self) -> Option<Neighboring> {
        self.neighboring
    }
}

/// What [`Paid::covering`] gives.
pub struct Covering<'a> {
    draws: Draws<'a>,
    neighboring: Option<Neighboring>,
}

impl Releaser for Covering<'_> {
    fn release<M: Mechanism>(
        &mut self,
        mechanism: &M,
        input: &M::Input,
    ) -> Result<Released<M::Output>, NoiseError>
    where
        M::Input: ToOwned<Owned: 'static>,
        M::Output: Clone + 'static,
    {
        Ok(released(mechanism, input, &mut self.draws))
    }

    fn neighboring(&self) -> Option<Neighboring> {
        self.neighboring
    }
}

/// The randomness of one paid event: what a mechanism draws with.
///
/// It costs nothing a draw. Whoever holds it makes the draws that the event stands for: one; as many as a repeated event
/// says; one for every record where each record has its own; or those of a claim that covers several steps.
pub struct Draws<'a> {
    entropy: &'a mut Entropy,
}

impl<'a> Draws<'a> {
    /// Uses up the event; there are no draws otherwise.
    pub(crate) fn spend(
        permit: &mut Permit,
        event: &Event,
        entropy: &'a mut Entropy,
    ) -> Result<Self, NoiseError> {
        permit.spend(event)?;
        Ok(Self { entropy })
    }

    /// The generator, for streams of worker threads.
    pub(crate) fn entropy(&mut self) -> &mut Entropy {
        self.entropy
    }
}

impl Bits for Draws<'_> {
    #[inline]
    fn word(&mut self) -> u64 {
        self.entropy.word()
    }
}
