//! Clipped sums, as the relation makes them Gaussian noise.

use crate::AccountingError;
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
    let replaced = neighboring == Neighboring::ReplaceOne;
    Ok(Cow::Owned(rewritten(event, replaced, &|noise| multiplier(noise, neighboring))?))
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
    let each = |event: &Event| Ok::<_, AccountingError>(allowed(event, neighboring)?.into_owned());
    Ok(Cow::Owned(match event {
        Event::ClippedSum { .. } => plain(event, neighboring)?.into_owned(),
        Event::PoissonSampled { rate, event: inner } if rate.get() == 1.0 => each(inner)?,
        Event::PoissonSampled { event: inner, .. } if matches!(**inner, Event::ClippedSum { .. }) => {
            event.clone()
        }
        Event::Repeated { count, event } => Event::Repeated { count: *count, event: Box::new(each(event)?) },
        Event::Composed { events } => {
            Event::Composed { events: events.iter().map(each).collect::<Result<_, _>>()? }
        }
        Event::SampledWithoutReplacement { dataset_size, batch_size, event } => {
            let (dataset_size, batch_size) = (*dataset_size, *batch_size);
            Event::SampledWithoutReplacement { dataset_size, batch_size, event: Box::new(each(event)?) }
        }
        Event::Shuffled { steps_per_epoch, epochs, event } => {
            let (steps_per_epoch, epochs) = (*steps_per_epoch, *epochs);
            Event::Shuffled { steps_per_epoch, epochs, event: Box::new(each(event)?) }
        }
        Event::BallsInBins { bins, epochs, event } => {
            Event::BallsInBins { bins: *bins, epochs: *epochs, event: Box::new(each(event)?) }
        }
        // There is no other part to cross to.
        Event::Parallel { events } if events.len() == 1 => each(&events[0])?,
        other => rewritten(other, false, &Ok)?,
    }))
}

/// The event with another noise multiplier of Gaussian noise for every clipped sum, except for those in a Poisson sample
/// where these are to be kept.
fn rewritten(
    event: &Event,
    keeps_sampled: bool,
    noise: &dyn Fn(NoiseMultiplier) -> Result<NoiseMultiplier, AccountingError>,
) -> Result<Event, AccountingError> {
    let inside = |event: &Event| Ok::<_, AccountingError>(Box::new(rewritten(event, keeps_sampled, noise)?));
    let all = |events: &[Event]| -> Result<Vec<Event>, AccountingError> {
        events.iter().map(|event| rewritten(event, keeps_sampled, noise)).collect()
    };
    Ok(match event {
        Event::ClippedSum { noise_multiplier } => {
            Event::Gaussian { noise_multiplier: noise(*noise_multiplier)? }
        }
        // Everybody in every batch: no sample.
        Event::PoissonSampled { rate, event: inner } if rate.get() == 1.0 => *inside(inner)?,
        Event::PoissonSampled { rate, event: inner } => match &**inner {
            Event::ClippedSum { .. } if keeps_sampled => event.clone(),
            _ => Event::PoissonSampled { rate: *rate, event: inside(inner)? },
        },
        Event::SampledWithoutReplacement { dataset_size, batch_size, event } => {
            let (dataset_size, batch_size) = (*dataset_size, *batch_size);
            Event::SampledWithoutReplacement { dataset_size, batch_size, event: inside(event)? }
        }
        Event::Repeated { count, event } => Event::Repeated { count: *count, event: inside(event)? },
        Event::TruncatedPoisson { dataset_size, rate, max_batch, event } => {
            let (dataset_size, rate, max_batch) = (*dataset_size, *rate, *max_batch);
            Event::TruncatedPoisson { dataset_size, rate, max_batch, event: inside(event)? }
        }
        Event::Shuffled { steps_per_epoch, epochs, event } => {
            let (steps_per_epoch, epochs) = (*steps_per_epoch, *epochs);
            Event::Shuffled { steps_per_epoch, epochs, event: inside(event)? }
        }
        Event::BallsInBins { bins, epochs, event } => {
            Event::BallsInBins { bins: *bins, epochs: *epochs, event: inside(event)? }
        }
        Event::RepeatAndSelect { mean, shape, event } => {
            Event::RepeatAndSelect { mean: *mean, shape: *shape, event: inside(event)? }
        }
        Event::Composed { events } => Event::Composed { events: all(events)? },
        Event::Parallel { events } => Event::Parallel { events: all(events)? },
        other => other.clone(),
    })
}

/// Whether there is a clipped sum anywhere in the event.
fn any(event: &Event) -> bool {
    match event {
        Event::ClippedSum { .. } => true,
        Event::PoissonSampled { event, .. }
        | Event::SampledWithoutReplacement { event, .. }
        | Event::Repeated { event, .. }
        | Event::TruncatedPoisson { event, .. }
        | Event::Shuffled { event, .. }
        | Event::BallsInBins { event, .. }
        | Event::RepeatAndSelect { event, .. } => any(event),
        Event::Composed { events } | Event::Parallel { events } => events.iter().any(any),
        _ => false,
    }
}

#[cfg(test)]
#[path = "clipped_tests.rs"]
mod tests;
