//! Events in sequence, sorted into kinds with their numbers.

use crate::AccountingError;
use crate::rdp::response_loss;
use reticent_core::{Delta, Epsilon, Event, Mu, NoiseMultiplier, Rho, SamplingRate};
use std::borrow::Cow;
use std::collections::HashMap;

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
        let keys: Vec<String> = found.iter().map(|(_, event)| format!("{event:?}")).collect();
        // Check everything, then change.
        let mut totals: HashMap<&str, u64> = HashMap::new();
        for ((times, _), key) in found.iter().zip(&keys) {
            let known = match totals.get(key.as_str()) {
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
            let mut tally = Self::default();
            for (count, event) in &self.parts {
                tally.add(&worse(event, ratio)?, *count)?;
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

/// An event that is never better, with its parameters on a geometric grid: less noise, a larger rate, a larger claim.
fn worse(event: &Event, ratio: f64) -> Result<Event, AccountingError> {
    let step = libm::log(ratio);
    let down =
        |x: f64| (libm::exp((libm::log(x) / step).floor() * step) * (1.0 - 1e-12)).max(f64::MIN_POSITIVE);
    let up = |x: f64| {
        if x == 0.0 { x } else { libm::exp((libm::log(x) / step).ceil() * step) * (1.0 + 1e-12) }
    };
    let mut rounded = event.clone();
    match &mut rounded {
        Event::Gaussian { noise_multiplier }
        | Event::ClippedSum { noise_multiplier }
        | Event::Laplace { noise_multiplier }
        | Event::TreeAggregation { noise_multiplier, .. } => {
            *noise_multiplier = NoiseMultiplier::new(down(noise_multiplier.get()))?;
        }
        Event::Pure { epsilon } | Event::Exponential { epsilon } | Event::Rdp { epsilon, .. } => {
            *epsilon = Epsilon::new(up(epsilon.get()))?;
        }
        Event::Approximate { epsilon, delta } => {
            *epsilon = Epsilon::new(up(epsilon.get()))?;
            // At the same grid where there is room below 1.
            *delta = Delta::new(up(delta.get())).unwrap_or(*delta);
        }
        Event::Zcdp { rho } => *rho = Rho::new(up(rho.get()))?,
        Event::Gdp { mu } => *mu = Mu::new(up(mu.get()))?,
        Event::PoissonSampled { rate, event } => {
            *rate = SamplingRate::new(up(rate.get()).min(1.0))?;
            **event = worse(event, ratio)?;
        }
        _ => {}
    }
    Ok(rounded)
}
