//! From events to privacy losses.

use super::loss::{Direction, PrivacyLoss};
use super::shuffle::Shuffle;
use crate::AccountingError;
use crate::kind::{Kind, of};
use reticent_core::{Event, Neighboring};

/// Which end of the truth is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Losses that are never less than those of any mechanism the event allows.
    Ceiling,
    /// Losses of a mechanism that the event allows; nothing where none is known.
    Floor,
}

/// What a list of events consists of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    pub(crate) neighboring: Neighboring,
    pub(crate) end: End,
    pub(crate) parts: Vec<(f64, Pair)>,
    /// ln of the probability that nothing is revealed outright.
    pub(crate) log_kept: f64,
    /// Shuffled epochs, for the floor.
    pub(crate) shuffled: Vec<Shuffle>,
    /// Uses of events on disjoint parts: what a record may meet in each.
    pub(crate) parallels: Vec<(f64, Vec<Found>)>,
}

/// A loss that is the same both ways, or one that is not.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Pair {
    Same(PrivacyLoss),
    Mixture {
        shifts: Vec<f64>,
        weights: Vec<f64>,
        sigma: f64,
    },
    Sampled {
        rate: f64,
        inner: PrivacyLoss,
    },
    Truncated {
        spilled: f64,
        rate: f64,
        sigma: f64,
    },
    /// The worst of several at every ε: see [`PrivacyLoss::Envelope`]. For each one both directions.
    Envelope {
        leak: f64,
        branches: Vec<((f64, PrivacyLoss), (f64, PrivacyLoss))>,
    },
    Epoch {
        remove: PrivacyLoss,
        add: PrivacyLoss,
    },
}

pub(crate) fn unsupported(event: &'static str, why: &str) -> AccountingError {
    AccountingError::Unsupported { event, accountant: "pld", why: why.into() }
}

/// An event that does not have a single loss.
pub(crate) fn unknown_inside() -> AccountingError {
    unsupported("this event", "it is not known inside a sampler or beside others")
}

/// A loss, if it is one.
pub(crate) fn something(loss: PrivacyLoss) -> Option<PrivacyLoss> {
    let is_nothing = matches!(loss, PrivacyLoss::Response { epsilon, .. } | PrivacyLoss::Laplace(epsilon) if epsilon == 0.0);
    (!is_nothing).then_some(loss)
}

/// So many uses of `n` each.
pub(crate) fn times(count: u64, n: u64, field: &'static str) -> Result<u64, AccountingError> {
    count
        .checked_mul(n)
        .ok_or_else(|| AccountingError::invalid(field, n, "give less: the total is beyond 2^64"))
}

fn mixture(shifts: Vec<f64>, weights: Vec<f64>, sigma: f64, direction: Direction) -> PrivacyLoss {
    PrivacyLoss::Mixture { shifts, weights, sigma, direction }
}

impl Pair {
    fn loss(&self, direction: Direction) -> PrivacyLoss {
        match self {
            Self::Same(loss) => loss.clone(),
            Self::Mixture { shifts, weights, sigma } => {
                mixture(shifts.clone(), weights.clone(), *sigma, direction)
            }
            Self::Sampled { rate, inner } => {
                PrivacyLoss::Sampled { rate: *rate, inner: Box::new(inner.clone()), direction }
            }
            Self::Epoch { remove, add } => match direction {
                Direction::Remove => remove.clone(),
                Direction::Add => add.clone(),
            },
            Self::Truncated { spilled, rate, sigma } => PrivacyLoss::Blend(vec![
                (1.0 - spilled, mixture(vec![0.0, 1.0], vec![1.0 - rate, *rate], *sigma, direction)),
                (*spilled, mixture(vec![0.0, 2.0], vec![1.0 - rate, *rate], *sigma, direction)),
            ]),
            Self::Envelope { leak, branches } => {
                let chosen = |(remove, add): &((f64, PrivacyLoss), (f64, PrivacyLoss))| match direction {
                    Direction::Remove => remove.clone(),
                    Direction::Add => add.clone(),
                };
                PrivacyLoss::Envelope { leak: *leak, branches: branches.iter().map(chosen).collect() }
            }
        }
    }
}

impl Found {
    pub(crate) fn new(neighboring: Neighboring, end: End) -> Self {
        Self {
            neighboring,
            end,
            parts: Vec::new(),
            log_kept: 0.0,
            shuffled: Vec::new(),
            parallels: Vec::new(),
        }
    }

    /// Whether nothing is lost.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.log_kept == 0.0 && self.shuffled.is_empty() && self.parallels.is_empty()
    }

    /// Whether one use of events on disjoint parts is all there is.
    pub(crate) fn is_only_parallel(&self) -> bool {
        self.parts.is_empty() && self.log_kept == 0.0 && self.shuffled.is_empty() && self.parallels.len() == 1
    }

    /// Adds so many uses of another list.
    pub(crate) fn absorb(&mut self, other: &Self, count: f64) {
        self.parts.extend(other.parts.iter().map(|(times, pair)| (count * times, pair.clone())));
        self.log_kept += count * other.log_kept;
        self.shuffled.extend(&other.shuffled);
        self.parallels.extend(other.parallels.iter().map(|(times, parts)| (count * times, parts.clone())));
    }

    /// The losses in one direction.
    pub(crate) fn losses(&self, direction: Direction) -> impl Iterator<Item = (f64, PrivacyLoss)> {
        self.parts.iter().map(move |(count, pair)| (*count, pair.loss(direction)))
    }

    /// Adds `count` uses of an event.
    pub(crate) fn collect(&mut self, event: &Event, count: u64) -> Result<(), AccountingError> {
        if count == 0 {
            return Ok(());
        }
        of(event, |kind| kind.losses(count, self))
    }

    /// Adds so many uses of a loss.
    pub(crate) fn add(&mut self, count: u64, pair: Pair) {
        self.parts.push((count as f64, pair));
    }

    /// Adds so many uses of a loss that is the same both ways, if there is one.
    pub(crate) fn add_same(&mut self, count: u64, loss: Option<PrivacyLoss>) {
        if let Some(loss) = loss {
            self.add(count, Pair::Same(loss));
        }
    }

    /// All losses of an event as a single one, if they are one.
    pub(crate) fn as_one(&self, kind: &dyn Kind) -> Result<Option<PrivacyLoss>, AccountingError> {
        let mut list = Self::new(self.neighboring, self.end);
        kind.losses(1, &mut list)?;
        list.single()
    }

    /// An event on a random part of the data.
    pub(crate) fn sampled(
        &self,
        rate: f64,
        event: &Event,
        sampler: &'static str,
    ) -> Result<Option<Pair>, AccountingError> {
        let inner = of(event, |kind| kind.loss(self)).map_err(|error| {
            if matches!(event, Event::EncodedStudentT { .. }) {
                return error;
            }
            unsupported(sampler, "the loss of what is run on the sample is not known: use rdp")
        })?;
        let Some(inner) = inner else { return Ok(None) };
        Ok(Some(match (self.neighboring, inner, self.end) {
            // One way of replacing a record: it has no effect before, its full effect after.
            (Neighboring::AddRemove, PrivacyLoss::Gaussian(sigma), _)
            | (Neighboring::ReplaceOne, PrivacyLoss::Gaussian(sigma), End::Floor) => {
                Pair::Mixture { shifts: vec![0.0, 1.0], weights: vec![1.0 - rate, rate], sigma }
            }
            // What is left out of a Poisson sample may say more than what is replaced in it, but for sums.
            (Neighboring::ReplaceOne, inner, _)
                if sampler == "poisson_sampled"
                    && !(of(event, |kind| kind.is_noise())
                        && matches!(inner, PrivacyLoss::Gaussian(_) | PrivacyLoss::Laplace(_))) =>
            {
                return Err(unsupported(
                    sampler,
                    "under replace-one only gaussian and laplace noise on clipped sums is covered",
                ));
            }
            (Neighboring::ReplaceOne, inner, End::Ceiling) => {
                Pair::Same(PrivacyLoss::Swapped { rate, inner: Box::new(inner) })
            }
            (_, inner, _) => Pair::Sampled { rate, inner },
        }))
    }
}
