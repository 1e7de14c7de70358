//! The right to draw, once it is paid for.

mod covering;
mod per_record;

pub use covering::Covering;
pub use per_record::PerRecord;

use crate::entropy::Bits;
use crate::mechanism::released;
use crate::{Entropy, Mechanism, NoiseError, PaidSource, Released, Releaser};
use reticent_core::{Event, Neighboring, NoiseMultiplier, Permit, SessionId};

/// A source of releases, each of which uses up its event in a permit.
///
/// # Guarantee
/// What it releases is part of the permit's plan, and nothing is released twice. The permit is looked at before the input is. The
/// permit of another session pays for nothing.
///
/// # Reference
/// [`Permit::spend`].
pub struct Paid<'a> {
    permit: &'a mut Permit,
    entropy: &'a mut Entropy,
    session: &'a SessionId,
}

impl<'a> Paid<'a> {
    pub(crate) fn new(permit: &'a mut Permit, entropy: &'a mut Entropy, session: &'a SessionId) -> Self {
        Self { permit, entropy, session }
    }

    fn spend(&mut self, event: &Event) -> Result<(), NoiseError> {
        if !self.permit.belongs_to(self.session) {
            return Err(NoiseError::Unpaid);
        }
        Ok(self.permit.spend(event)?)
    }

    /// The right to the draws of one event of the plan.
    ///
    /// # Errors
    /// [`NoiseError::Unpaid`] when the plan has no such event, or no more of them.
    pub fn draws(&mut self, event: &Event) -> Result<Draws<'_>, NoiseError> {
        self.spend(event)?;
        Ok(Draws::of(event, self.entropy))
    }

    /// The generator, for one event of the plan whose noise the caller makes from raw randomness.
    ///
    /// # Guarantee
    /// The event is used up. That what the caller makes costs no more is the caller's to prove.
    ///
    /// # Reference
    /// The caller's.
    ///
    /// # Errors
    /// As [`draws`](Self::draws).
    pub fn randomness_for(&mut self, event: &Event) -> Result<&mut Entropy, NoiseError> {
        self.spend(event)?;
        Ok(self.entropy)
    }

    /// Releases that one event of the plan covers together, for steps that earlier answers choose.
    ///
    /// # Errors
    /// As [`draws`](Self::draws).
    pub fn covering(&mut self, claim: &Event) -> Result<Covering<'_>, NoiseError> {
        self.spend(claim)?;
        Ok(Covering::new(claim, self.entropy, self.session.neighboring()))
    }

    /// Releases about one record each, for randomized response, the mechanism of the local model: the event is what each
    /// record pays.
    ///
    /// # Errors
    /// As [`draws`](Self::draws), and [`NoiseError::Unpaid`] for the event of another mechanism.
    pub fn per_record(&mut self, event: &Event) -> Result<PerRecord<'_>, NoiseError> {
        if !matches!(event, Event::RandomizedResponse { .. }) {
            return Err(NoiseError::Unpaid);
        }
        self.spend(event)?;
        Ok(PerRecord::new(event.clone(), self.entropy, self.session.neighboring()))
    }

    /// Checks that a plan's relation is the one that was charged under.
    ///
    /// # Errors
    /// [`NoiseError::Relation`] when it is another.
    pub fn check_relation(&self, neighboring: Neighboring) -> Result<(), NoiseError> {
        NoiseError::check_relation(Some(self.session.neighboring()), neighboring)
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
        self.spend(&mechanism.event())?;
        Ok(released(mechanism, input, &mut Randomness(self.entropy)))
    }

    fn neighboring(&self) -> Option<Neighboring> {
        Some(self.session.neighboring())
    }
}

impl PaidSource for Paid<'_> {}

/// The right to the draws of one paid event: one; as many as a repeated event says.
///
/// ```
/// use reticent_core::{Epsilon, Event, Neighboring};
/// use reticent_noise::mechanism::{DiscreteLaplace, Mechanism};
/// use reticent_noise::{NoiseError, NoiseSession};
///
/// let mut session = NoiseSession::without_limit("row", Neighboring::AddRemove)?;
/// let noise = DiscreteLaplace::new(1, Epsilon::new(1.0)?)?;
/// let mut draws = session.draws(&Event::Repeated { count: 2, event: Box::new(noise.event()) })?;
/// draws.draw(&noise, &[10])?;
/// draws.draw(&noise, &[20])?;
/// assert_eq!(draws.draw(&noise, &[30]), Err(NoiseError::Unpaid));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
/// Only mechanisms whose own event was paid for draw, and no more often than was paid for. The noise of an event on a sample, or
/// on a clipped sum, is the noise of the event inside; that its input is such a sample or sum is the caller's to prove.
///
/// # Reference
/// [`Permit::spend`].
pub struct Draws<'a> {
    entropy: &'a mut Entropy,
    /// What one draw costs.
    event: Event,
    /// Draws that were paid for and were not made.
    left: u64,
}

impl<'a> Draws<'a> {
    /// The draws of an event that has been spent.
    pub(crate) fn of(event: &Event, entropy: &'a mut Entropy) -> Self {
        let (event, left) = each(event);
        Self { entropy, event: event.clone(), left }
    }

    /// One draw of a mechanism.
    ///
    /// # Errors
    /// [`NoiseError::Unpaid`] when the mechanism is not what was paid for, or all draws were made; the input has not been
    /// looked at then.
    pub fn draw<M: Mechanism>(&mut self, mechanism: &M, input: &M::Input) -> Result<M::Output, NoiseError> {
        self.take(&mechanism.event())?;
        Ok(mechanism.draw(input, &mut Randomness(self.entropy)))
    }

    /// Uses up one draw of a mechanism with this event.
    pub(crate) fn take(&mut self, own: &Event) -> Result<(), NoiseError> {
        if !pays_for(&self.event, own) {
            return Err(NoiseError::Unpaid);
        }
        self.left = self.left.checked_sub(1).ok_or(NoiseError::Unpaid)?;
        Ok(())
    }

    /// The generator, for what is not a release, such as the sample that the next draw is about.
    pub fn entropy(&mut self) -> &mut Entropy {
        self.entropy
    }
}

/// What one draw of an event costs, and how many there are.
pub(crate) fn each(event: &Event) -> (&Event, u64) {
    match event {
        Event::Repeated { count, event } => {
            let (event, inner) = each(event);
            // Rather fewer draws than were paid for.
            (event, count.saturating_mul(inner))
        }
        _ => (event, 1),
    }
}

/// Whether noise with the event `own` is what one draw of `paid` adds.
pub(crate) fn pays_for(paid: &Event, own: &Event) -> bool {
    match paid {
        _ if paid == own => true,
        Event::PoissonSampled { event, .. }
        | Event::SampledWithoutReplacement { event, .. }
        | Event::TruncatedPoisson { event, .. } => pays_for(event, own),
        Event::ClippedSum { noise_multiplier } => {
            *own == Event::Gaussian { noise_multiplier: *noise_multiplier }
        }
        _ => false,
    }
}

/// Whether Gaussian noise of this multiplier is at least what one draw of `paid` adds: more noise costs no more.
pub(crate) fn pays_for_gaussian(paid: &Event, own: NoiseMultiplier) -> bool {
    match paid {
        Event::PoissonSampled { event, .. }
        | Event::SampledWithoutReplacement { event, .. }
        | Event::TruncatedPoisson { event, .. } => pays_for_gaussian(event, own),
        Event::Gaussian { noise_multiplier } | Event::ClippedSum { noise_multiplier } => {
            *noise_multiplier <= own
        }
        _ => false,
    }
}

/// The randomness of one paid draw: what a mechanism draws with. Only what was paid for makes one.
pub struct Randomness<'a>(&'a mut Entropy);

impl Bits for Randomness<'_> {
    #[inline]
    fn word(&mut self) -> u64 {
        self.0.word()
    }
}
