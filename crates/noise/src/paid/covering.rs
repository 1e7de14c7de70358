use super::{Randomness, each};
use crate::mechanism::released;
use crate::{Entropy, Mechanism, NoiseError, PaidSource, Released, Releaser};
use reticent_core::rounding::sub_down;
use reticent_core::{Event, Guarantee, Neighboring};

/// What [`Paid::covering`](super::Paid::covering) gives: releases that one claim covers, whichever way earlier answers lead.
///
/// # Guarantee
/// The claim is taken apart into its events. A release uses up one that equals its own event, or its (ε, δ) is taken off a
/// pure or approximate one that has as much left; with neither it is refused. So each event of the claim
/// bounds what was released in its place, by basic composition, and the claim bounds everything together, also
/// where releases in the place of different events alternate.
///
/// # Reference
/// Rogers, Roth, Ullman, Vadhan, *Privacy odometers and filters* (2016), for sums of ε and δ that are chosen along the way; Lyu,
/// *Composition theorems for interactive differential privacy* (2022), for alternating between them.
pub struct Covering<'a> {
    entropy: &'a mut Entropy,
    neighboring: Neighboring,
    /// Events of the claim in whose place nothing was released, with their numbers.
    whole: Vec<(Event, u64)>,
    /// What is left of the others: ε and δ, rounded down.
    parts: Vec<(f64, f64)>,
}

impl<'a> Covering<'a> {
    /// What a claim that has been spent covers.
    pub(super) fn new(claim: &Event, entropy: &'a mut Entropy, neighboring: Neighboring) -> Self {
        let mut whole = Vec::new();
        open(claim, &mut whole);
        Self { entropy, neighboring, whole, parts: Vec::new() }
    }

    /// Takes a release off what is left.
    fn take(&mut self, own: &Event, cost: Guarantee) -> Result<(), NoiseError> {
        if let Some(place) = self.whole.iter().position(|(event, _)| event == own) {
            self.remove(place);
            return Ok(());
        }
        let (epsilon, delta) = (cost.epsilon.get(), cost.delta.get());
        let fits = |part: &(f64, f64)| part.0 >= epsilon && part.1 >= delta;
        // The smallest that does, so that larger ones stay whole.
        let part = self.parts.iter_mut().filter(|part| fits(part)).min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some(part) = part {
            *part = (sub_down(part.0, epsilon), sub_down(part.1, delta));
            return Ok(());
        }
        let divisible = self.whole.iter().enumerate();
        let (place, part) = divisible
            .filter_map(|(place, (event, _))| Some((place, stated(event)?)))
            .filter(|(_, part)| fits(part))
            .min_by(|(_, a), (_, b)| a.0.total_cmp(&b.0))
            .ok_or(NoiseError::Unpaid)?;
        self.remove(place);
        self.parts.push((sub_down(part.0, epsilon), sub_down(part.1, delta)));
        Ok(())
    }

    fn remove(&mut self, place: usize) {
        let (_, count) = &mut self.whole[place];
        *count -= 1;
        if *count == 0 {
            self.whole.swap_remove(place);
        }
    }
}

/// The events that a claim is composed of, with their numbers.
fn open(claim: &Event, whole: &mut Vec<(Event, u64)>) {
    match each(claim) {
        (_, 0) => {}
        (Event::Composed { events }, 1) => events.iter().for_each(|event| open(event, whole)),
        (event, count) => whole.push((event.clone(), count)),
    }
}

/// The ε and δ of an event that states nothing else.
fn stated(event: &Event) -> Option<(f64, f64)> {
    match event {
        Event::Pure { epsilon } => Some((epsilon.get(), 0.0)),
        Event::Approximate { epsilon, delta } => Some((epsilon.get(), delta.get())),
        _ => None,
    }
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
        self.take(&mechanism.event(), mechanism.guarantee())?;
        Ok(released(mechanism, input, &mut Randomness(self.entropy)))
    }

    fn neighboring(&self) -> Option<Neighboring> {
        Some(self.neighboring)
    }
}

impl PaidSource for Covering<'_> {}
