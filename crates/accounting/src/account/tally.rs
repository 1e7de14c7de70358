//! Events in sequence, sorted into kinds with their numbers.

use crate::AccountingError;
use reticent_core::{Epsilon, Event, NoiseMultiplier, SamplingRate};
use std::collections::HashMap;

/// More different events than this are brought together into fewer, slightly worse ones.
const MOST_KINDS: usize = 48;

/// Simple events with how often each was used.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    parts: Vec<(u64, Event)>,
    places: HashMap<String, usize>,
}

impl Tally {
    /// Adds uses of an event, taken apart into its steps; nothing when it fails.
    pub(super) fn add(&mut self, event: &Event, count: u64) -> Result<(), AccountingError> {
        let mut found = Vec::new();
        take_apart(event, count, &mut found)?;
        // Check everything, then change.
        let mut totals: HashMap<String, u64> = HashMap::new();
        for (times, event) in &found {
            let key = format!("{event:?}");
            let known = match totals.get(&key) {
                Some(total) => *total,
                None => self.places.get(&key).map_or(0, |place| self.parts[*place].0),
            };
            totals.insert(key, known.checked_add(*times).ok_or_else(|| overflow(*times))?);
        }
        for (times, event) in found {
            let key = format!("{event:?}");
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

    /// The same or slightly worse events, of few kinds.
    pub(super) fn bounded(&self) -> Result<Self, AccountingError> {
        if self.parts.len() <= MOST_KINDS {
            return Ok(self.clone());
        }
        // Gaussian noise is one Gaussian event whatever its parts; others are rounded to the worse side of a
        // geometric grid that grows coarser until few kinds are left.
        let mut ratio: f64 = 1.000_01;
        loop {
            let mut tally = Self::default();
            let mut precision = 0.0;
            for (count, event) in &self.parts {
                match event {
                    Event::Gaussian { noise_multiplier } => {
                        precision += *count as f64 / (noise_multiplier.get() * noise_multiplier.get());
                    }
                    other => tally.add(&coarser(other, ratio)?, *count)?,
                }
            }
            if precision > 0.0 {
                let noise = 1.0 / (precision * (1.0 + 1e-9)).sqrt();
                tally.add(&Event::Gaussian { noise_multiplier: NoiseMultiplier::new(noise)? }, 1)?;
            }
            if tally.parts.len() <= MOST_KINDS {
                return Ok(tally);
            }
            if ratio > 1.3 {
                return Err(AccountingError::Unsupported {
                    event: "this list of events",
                    accountant: "every method",
                    why: format!(
                        "it has {} kinds of events that cannot be brought together: split it",
                        tally.parts.len()
                    ),
                });
            }
            ratio = 1.0 + (ratio - 1.0) * 2.0;
        }
    }
}

fn overflow(count: u64) -> AccountingError {
    AccountingError::invalid("count", count, "give fewer repetitions: the total is beyond 2^64")
}

fn take_apart<'a>(
    event: &'a Event,
    count: u64,
    found: &mut Vec<(u64, &'a Event)>,
) -> Result<(), AccountingError> {
    match event {
        _ if count == 0 => Ok(()),
        Event::Repeated { count: times, event } => {
            take_apart(event, count.checked_mul(*times).ok_or_else(|| overflow(*times))?, found)
        }
        Event::Composed { events } => events.iter().try_for_each(|e| take_apart(e, count, found)),
        simple => {
            found.push((count, simple));
            Ok(())
        }
    }
}

/// An event that is no better, with parameters on a geometric grid.
fn coarser(event: &Event, ratio: f64) -> Result<Event, AccountingError> {
    let step = libm::log(ratio);
    let down =
        |x: f64| (libm::exp((libm::log(x) / step).floor() * step) * (1.0 - 1e-12)).max(f64::MIN_POSITIVE);
    let up =
        |x: f64| if x == 0.0 { 0.0 } else { libm::exp((libm::log(x) / step).ceil() * step) * (1.0 + 1e-12) };
    let noise = |z: &NoiseMultiplier| NoiseMultiplier::new(down(z.get()));
    Ok(match event {
        Event::Laplace { noise_multiplier } => Event::Laplace { noise_multiplier: noise(noise_multiplier)? },
        Event::DiscreteLaplace { noise_multiplier } => {
            Event::DiscreteLaplace { noise_multiplier: noise(noise_multiplier)? }
        }
        Event::Pure { epsilon } => Event::Pure { epsilon: Epsilon::new(up(epsilon.get()))? },
        Event::Exponential { epsilon } => Event::Exponential { epsilon: Epsilon::new(up(epsilon.get()))? },
        Event::PoissonSampled { rate, event } => Event::PoissonSampled {
            rate: SamplingRate::new(up(rate.get()).min(1.0))?,
            event: Box::new(match &**event {
                Event::Gaussian { noise_multiplier } => {
                    Event::Gaussian { noise_multiplier: noise(noise_multiplier)? }
                }
                other => coarser(other, ratio)?,
            }),
        },
        other => other.clone(),
    })
}
