use super::Randomness;
use crate::mechanism::released;
use crate::{Entropy, Mechanism, NoiseError, PaidSource, Released, Releaser};
use reticent_core::{Event, Neighboring};

/// What [`Paid::per_record`](super::Paid::per_record) gives: releases about one record each.
///
/// # Guarantee
/// Every release costs exactly the event. Records are told apart by the caller, who must release each of them once: then
/// everything together costs each record the event.
///
/// # Reference
/// McSherry, *Privacy integrated queries* (2009), for composition over disjoint records.
pub struct PerRecord<'a> {
    event: Event,
    entropy: &'a mut Entropy,
    neighboring: Neighboring,
}

impl<'a> PerRecord<'a> {
    pub(super) fn new(event: Event, entropy: &'a mut Entropy, neighboring: Neighboring) -> Self {
        Self { event, entropy, neighboring }
    }
}

impl Releaser for PerRecord<'_> {
    fn release<M: Mechanism>(
        &mut self,
        mechanism: &M,
        input: &M::Input,
    ) -> Result<Released<M::Output>, NoiseError>
    where
        M::Input: ToOwned<Owned: 'static>,
        M::Output: Clone + 'static,
    {
        if mechanism.event() != self.event {
            return Err(NoiseError::Unpaid);
        }
        Ok(released(mechanism, input, &mut Randomness(self.entropy)))
    }

    fn neighboring(&self) -> Option<Neighboring> {
        Some(self.neighboring)
    }
}

impl PaidSource for PerRecord<'_> {}
