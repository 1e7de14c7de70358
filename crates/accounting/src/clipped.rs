//! Clipped sums, as the relation makes them Gaussian noise.

use crate::AccountingError;
use crate::kind::of;
use reticent_core::{Event, Neighboring, NoiseMultiplier};
use std::borrow::Cow;

/// σ over the sensitivity of a sum to which a record adds at most C, from σ/C.
///
/// # Errors
/// [`AccountingError::Invalid`] when half the multiplier is not a positive number.
pub(crate) fn multiplier(
    noise_multiplier: NoiseMultiplier,
    neighboring: Neighboring,
) -> Result<NoiseMultiplier, AccountingError> {
    match neighboring {
        Neighboring::AddRemove => Ok(noise_multiplier),
        // u − u′ is at most 2C long; halving is exact.
        Neighboring::ReplaceOne => Ok(NoiseMultiplier::new(0.5 * noise_multiplier.get())?),
    }
}

/// The event with every clipped sum written as the Gaussian noise it is at worst under the relation, except where more is
/// known of it: a record replaced in a Poisson sample.
///
/// # Errors
/// As [`multiplier`].
pub(crate) fn plain(event: &Event, neighboring: Neighboring) -> Result<Cow<'_, Event>, AccountingError> {
    if !any(event) {
        return Ok(Cow::Borrowed(event));
    }
    let sums = Sums {
        keeps_sampled: neighboring == Neighboring::ReplaceOne,
        rule: &|noise| multiplier(noise, neighboring),
    };
    Ok(Cow::Owned(sums.written(event)?))
}

/// The event with every clipped sum written as Gaussian noise that mechanisms of its kind certainly allow. In a sequence, in
/// batches of a fixed size, in shuffled ones and in bins a replaced record may move the sum by 2C: all other records are alike.
/// Inside Poisson samples and disjoint parts it may only come or go, which moves a sum by C.
///
/// # Errors
/// As [`multiplier`].
pub(crate) fn allowed(event: &Event, neighboring: Neighboring) -> Result<Cow<'_, Event>, AccountingError> {
    if !any(event) || neighboring == Neighboring::AddRemove {
        return plain(event, neighboring);
    }
    Ok(Cow::Owned(of(event, |kind| kind.stronger(event))?))
}

/// The event with each of its events as [`allowed`] writes it where a record is replaced.
pub(crate) fn each_allowed(event: &Event) -> Result<Event, AccountingError> {
    event.try_map(&mut |inner| Ok(allowed(inner, Neighboring::ReplaceOne)?.into_owned()))
}

/// The event with every clipped sum written as Gaussian noise of its own multiplier: a record comes or goes.
pub(crate) fn as_they_are(event: &Event) -> Result<Event, AccountingError> {
    Sums { keeps_sampled: false, rule: &Ok }.written(event)
}

/// How clipped sums are written as Gaussian noise.
pub(crate) struct Sums<'a> {
    /// Whether those in a Poisson sample are left as they are.
    pub(crate) keeps_sampled: bool,
    rule: &'a dyn Fn(NoiseMultiplier) -> Result<NoiseMultiplier, AccountingError>,
}

impl Sums<'_> {
    /// The event with its clipped sums written so.
    pub(crate) fn written(&self, event: &Event) -> Result<Event, AccountingError> {
        of(event, |kind| kind.weaker(event, self))
    }

    /// The event with the clipped sums of the events inside it written so: the weaker form of what only holds events.
    pub(crate) fn inside(&self, event: &Event) -> Result<Event, AccountingError> {
        event.try_map(&mut |inner| self.written(inner))
    }

    /// The multiplier of the Gaussian noise for that of a clipped sum.
    pub(crate) fn noise(
        &self,
        noise_multiplier: NoiseMultiplier,
    ) -> Result<NoiseMultiplier, AccountingError> {
        (self.rule)(noise_multiplier)
    }
}

/// Whether there is a clipped sum anywhere in the event.
fn any(event: &Event) -> bool {
    event.walk().any(|inner| matches!(inner, Event::ClippedSum { .. }))
}

#[cfg(test)]
#[path = "clipped_tests.rs"]
mod tests;
