//! Events in sequence, sorted into kinds with their numbers.

use crate::AccountingError;
use crate::rdp::response_loss;
use reticent_core::{Epsilon, Event, NoiseMultiplier, SamplingRate};
use std::collections::HashMap;

/// More different events than this are brought together into fewer, slightly worse ones.
const MOST_KINDS: usize = 32;

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

    /// Whether there are few enough kinds of events to account for each on its own.
    pub(super) fn is_short(&self) -> bool {
        self.parts.len() <= MOST_KINDS
    }

    /// The same events, or slightly worse (better) ones of few kinds.
    pub(super) fn bounded(&self, side: Side) -> Result<Self, AccountingError> {
        if self.is_short() {
            return Ok(self.clone());
        }
        // Gaussian noise is one Gaussian event whatever its parts; others are rounded to one side of a geometric
        // grid that grows coarser until few kinds are left.
        let mut ratio: f64 = 1.000_5;
        loop {
            let mut tally = Self::default();
            let mut precision = 0.0;
            for (count, event) in &self.parts {
                if !tally.is_short() {
                    break;
                }
                match event {
                    Event::Gaussian { noise_multiplier } => {
                        precision += *count as f64 / (noise_multiplier.get() * noise_multiplier.get());
                    }
                    other => tally.add(&coarser(other, ratio, side)?, *count)?,
                }
            }
            if precision > 0.0 {
                let margin = if side == Side::Worse { 1e-9 } else { -1e-9 };
                let noise = 1.0 / (precision * (1.0 + margin)).sqrt();
                tally.add(&Event::Gaussian { noise_multiplier: NoiseMultiplier::new(noise)? }, 1)?;
            }
            if tally.is_short() {
                return Ok(tally);
            }
            if ratio > 1.3 {
                return Err(AccountingError::Unsupported {
                    event: "this list of events",
                    accountant: "every method",
                    why: "it has too many different events that cannot be brought together: split it".into(),
                });
            }
            ratio = 1.0 + (ratio - 1.0) * 2.0;
        }
    }
}

fn overflow(count: u64) -> AccountingError {
    AccountingError::invalid("count", count, "give fewer repetitions: the total is beyond 2^64")
}

/// Whether an event certainly loses nothing.
fn is_idle(event: &Event) -> bool {
    match event {
        Event::Pure { epsilon } | Event::Exponential { epsilon } | Event::Rdp { epsilon, .. } => {
            epsilon.get() == 0.0
        }
        Event::Approximate { epsilon, delta } => epsilon.get() == 0.0 && delta.get() == 0.0,
        Event::Zcdp { rho } => rho.get() == 0.0,
        Event::Gdp { mu } => mu.get() == 0.0,
        Event::MixtureOfGaussians { sensitivities, probabilities, .. } => {
            sensitivities.iter().zip(probabilities).all(|(s, p)| *s == 0.0 || *p == 0.0)
        }
        Event::RandomizedResponse { keep_probability, categories } => {
            response_loss(keep_probability.get(), *categories) == 0.0
        }
        Event::PoissonSampled { rate, event } | Event::TruncatedPoisson { rate, event, .. } => {
            rate.get() == 0.0 || is_idle(event)
        }
        Event::SampledWithoutReplacement { batch_size, event, .. } => *batch_size == 0 || is_idle(event),
        Event::Shuffled { epochs, event, .. } | Event::BallsInBins { epochs, event, .. } => {
            *epochs == 0 || is_idle(event)
        }
        Event::Repeated { count, event } => *count == 0 || is_idle(event),
        Event::RepeatAndSelect { event, .. } => is_idle(event),
        Event::Composed { events } | Event::Parallel { events } => events.iter().all(is_idle),
        _ => false,
    }
}

fn take_apart<'a>(
    event: &'a Event,
    count: u64,
    found: &mut Vec<(u64, &'a Event)>,
) -> Result<(), AccountingError> {
    match event {
        _ if count == 0 || is_idle(event) => Ok(()),
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

/// On which side of the given events the rounded ones must lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// They lose no less.
    Worse,
    /// They lose no more.
    Better,
}

/// An event that is no better (no worse), with parameters on a geometric grid.
fn coarser(event: &Event, ratio: f64, side: Side) -> Result<Event, AccountingError> {
    let step = libm::log(ratio);
    let down =
        |x: f64| (libm::exp((libm::log(x) / step).floor() * step) * (1.0 - 1e-12)).max(f64::MIN_POSITIVE);
    let up = |x: f64| libm::exp((libm::log(x) / step).ceil() * step) * (1.0 + 1e-12);
    let (less, more): (&dyn Fn(f64) -> f64, &dyn Fn(f64) -> f64) =
        if side == Side::Worse { (&down, &up) } else { (&up, &down) };
    let noise = |z: &NoiseMultiplier| NoiseMultiplier::new(less(z.get()));
    let cost = |epsilon: &Epsilon| {
        if epsilon.get() == 0.0 { Ok(*epsilon) } else { Epsilon::new(more(epsilon.get())) }
    };
    Ok(match event {
        Event::ClippedSum { noise_multiplier } => {
            Event::ClippedSum { noise_multiplier: noise(noise_multiplier)? }
        }
        Event::Laplace { noise_multiplier } => Event::Laplace { noise_multiplier: noise(noise_multiplier)? },
        Event::DiscreteLaplace { noise_multiplier, sensitivity } => {
            Event::DiscreteLaplace { noise_multiplier: noise(noise_multiplier)?, sensitivity: *sensitivity }
        }
        Event::Pure { epsilon } => Event::Pure { epsilon: cost(epsilon)? },
        Event::Exponential { epsilon } => Event::Exponential { epsilon: cost(epsilon)? },
        Event::PoissonSampled { rate, event } if rate.get() > 0.0 => Event::PoissonSampled {
            rate: SamplingRate::new(more(rate.get()).min(1.0))?,
            event: Box::new(match &**event {
                Event::Gaussian { noise_multiplier } => {
                    Event::Gaussian { noise_multiplier: noise(noise_multiplier)? }
                }
                other => coarser(other, ratio, side)?,
            }),
        },
        other => other.clone(),
    })
}
