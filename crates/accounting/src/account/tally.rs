//! Events in sequence, sorted into kinds with their numbers.

use crate::AccountingError;
use crate::kind::of;
use reticent_core::{Epsilon, Event, EventKey, NoiseMultiplier};
use std::borrow::Cow;
use std::collections::HashMap;

/// Simple events with how often each was used.
#[derive(Debug, Clone, Default)]
pub struct EventTally {
    parts: Vec<(u64, Event)>,
    places: HashMap<EventKey, usize>,
}

impl EventTally {
    /// Adds uses of an event, taken apart into its steps; nothing when it fails.
    pub(super) fn add(&mut self, event: &Event, count: u64) -> Result<(), AccountingError> {
        let mut found = Vec::new();
        take_apart(event, count, &mut found)?;
        let keys: Vec<EventKey> = found.iter().map(|(_, event)| event.key()).collect();
        // Check everything, then change.
        let mut totals: HashMap<&EventKey, u64> = HashMap::new();
        for ((times, _), key) in found.iter().zip(&keys) {
            let known = match totals.get(key) {
                Some(total) => *total,
                None => self.places.get(key).map_or(0, |place| self.parts[*place].0),
            };
            totals.insert(key, known.checked_add(*times).ok_or_else(|| overflow(*times))?);
        }
        for ((times, event), key) in found.into_iter().zip(keys) {
            match self.places.get(&key) {
                Some(place) => self.parts[*place].0 += times,
                None => {
                    self.places.insert(key, self.parts.len());
                    self.parts.push((times, event.clone()));
                }
            }
        }
        Ok(())
    }

    /// The events that are left when repetitions and sequences are taken apart, each with its number.
    pub fn parts(&self) -> &[(u64, Event)] {
        &self.parts
    }

    /// The same events, or slightly worse ones of about so many kinds, for questions that are asked many times. Events
    /// that cannot be rounded are kept as they are, however many they are.
    pub(super) fn fewer(&self, most: usize) -> Result<Cow<'_, Self>, AccountingError> {
        if self.parts.len() <= most {
            return Ok(Cow::Borrowed(self));
        }
        // Rounded to the worse side of a geometric grid that grows coarser until few kinds are left.
        let mut ratio: f64 = 1.000_1;
        loop {
            let (mut tally, grid) = (Self::default(), Grid::new(ratio));
            for (count, event) in &self.parts {
                tally.add(&worse(event, &grid)?, *count)?;
            }
            if tally.parts.len() <= most || ratio > COARSEST {
                return Ok(Cow::Owned(tally));
            }
            ratio = 1.0 + (ratio - 1.0) * 2.0;
        }
    }
}

/// Parameters of events that are brought together differ by less than about this factor.
const COARSEST: f64 = 1.1;

fn overflow(count: u64) -> AccountingError {
    AccountingError::invalid("count", count, "give fewer repetitions: the total is beyond 2^64")
}

/// Whether an event certainly loses nothing.
pub(crate) fn is_idle(event: &Event) -> bool {
    of(event, |kind| kind.is_idle())
}

fn take_apart<'a>(
    event: &'a Event,
    count: u64,
    found: &mut Vec<(u64, &'a Event)>,
) -> Result<(), AccountingError> {
    if count == 0 || is_idle(event) {
        return Ok(());
    }
    match of(event, |kind| kind.in_sequence()) {
        Some(times) => {
            let count = count.checked_mul(times).ok_or_else(|| overflow(times))?;
            event.children().iter().try_for_each(|inner| take_apart(inner, count, found))
        }
        None => {
            found.push((count, event));
            Ok(())
        }
    }
}

/// A geometric grid to whose worse side parameters are rounded.
pub(crate) struct Grid {
    /// ln of the ratio of two neighbours.
    step: f64,
}

impl Grid {
    fn new(ratio: f64) -> Self {
        Self { step: libm::log(ratio) }
    }

    /// The next number of the grid below.
    fn down(&self, x: f64) -> f64 {
        (libm::exp((libm::log(x) / self.step).floor() * self.step) * (1.0 - 1e-12)).max(f64::MIN_POSITIVE)
    }

    /// The next number of the grid above; 0 for 0.
    pub(crate) fn up(&self, x: f64) -> f64 {
        if x == 0.0 { x } else { libm::exp((libm::log(x) / self.step).ceil() * self.step) * (1.0 + 1e-12) }
    }

    pub(crate) fn less_noise(&self, noise: NoiseMultiplier) -> Result<NoiseMultiplier, AccountingError> {
        Ok(NoiseMultiplier::new(self.down(noise.get()))?)
    }

    pub(crate) fn more_loss(&self, epsilon: Epsilon) -> Result<Epsilon, AccountingError> {
        Ok(Epsilon::new(self.up(epsilon.get()))?)
    }
}

/// An event that is never better, with its parameters on a grid: less noise, a larger rate, a larger claim.
pub(crate) fn worse(event: &Event, grid: &Grid) -> Result<Event, AccountingError> {
    Ok(of(event, |kind| kind.coarser(grid))?.unwrap_or_else(|| event.clone()))
}
