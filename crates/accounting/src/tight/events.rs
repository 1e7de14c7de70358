//! From events to privacy losses.

use super::balls::{Epoch, epoch};
use super::lattice;
use super::loss::{Direction, Loss};
use super::shuffle::Shuffle;
use crate::AccountingError;
use crate::rdp::{binomial_tail_up, response_loss};
use reticent_core::{Event, Neighboring};

/// Which end of the truth is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Losses that are never less than those of any mechanism the event allows.
    Ceiling,
    /// Losses of a mechanism that the event allows; nothing where none is known.
    Floor,
}

/// What a list of events consists of.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) neighboring: Neighboring,
    pub(super) end: End,
    pub(super) parts: Vec<(f64, Pair)>,
    /// ln of the probability that nothing is revealed outright.
    pub(super) log_kept: f64,
    /// Shuffled epochs, for the floor.
    pub(super) shuffled: Vec<Shuffle>,
    /// Uses of events on disjoint parts: what a record may meet in each.
    pub(super) parallels: Vec<(f64, Vec<Found>)>,
}

/// A loss that is the same both ways, or one that is not.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Pair {
    Same(Loss),
    Mixture {
        shifts: Vec<f64>,
        weights: Vec<f64>,
        sigma: f64,
    },
    Sampled {
        rate: f64,
        inner: Loss,
    },
    Truncated {
        spilled: f64,
        rate: f64,
        sigma: f64,
    },
    /// The worst of several at every ε: see [`Loss::Envelope`]. For each one both directions.
    Envelope {
        leak: f64,
        branches: Vec<((f64, Loss), (f64, Loss))>,
    },
    Epoch {
        remove: Loss,
        add: Loss,
    },
}

pub(super) fn unsupported(event: &'static str, why: &str) -> AccountingError {
    AccountingError::Unsupported { event, accountant: "pld", why: why.into() }
}

/// The worst ε-private pair.
fn pure(epsilon: f64) -> Loss {
    let minus = 1.0 / (1.0 + libm::exp(epsilon));
    Loss::Response { epsilon, plus: 1.0 - minus, minus }
}

fn mixture(shifts: Vec<f64>, weights: Vec<f64>, sigma: f64, direction: Direction) -> Loss {
    Loss::Mixture { shifts, weights, sigma, direction }
}

impl Pair {
    fn loss(&self, direction: Direction) -> Loss {
        match self {
            Self::Same(loss) => loss.clone(),
            Self::Mixture { shifts, weights, sigma } => {
                mixture(shifts.clone(), weights.clone(), *sigma, direction)
            }
            Self::Sampled { rate, inner } => {
                Loss::Sampled { rate: *rate, inner: Box::new(inner.clone()), direction }
            }
            Self::Epoch { remove, add } => match direction {
                Direction::Remove => remove.clone(),
                Direction::Add => add.clone(),
            },
            Self::Truncated { spilled, rate, sigma } => Loss::Blend(vec![
                (1.0 - spilled, mixture(vec![0.0, 1.0], vec![1.0 - rate, *rate], *sigma, direction)),
                (*spilled, mixture(vec![0.0, 2.0], vec![1.0 - rate, *rate], *sigma, direction)),
            ]),
            Self::Envelope { leak, branches } => {
                let chosen = |(remove, add): &((f64, Loss), (f64, Loss))| match direction {
                    Direction::Remove => remove.clone(),
                    Direction::Add => add.clone(),
                };
                Loss::Envelope { leak: *leak, branches: branches.iter().map(chosen).collect() }
            }
        }
    }
}

impl Found {
    pub(super) fn new(neighboring: Neighboring, end: End) -> Self {
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
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.log_kept == 0.0 && self.shuffled.is_empty() && self.parallels.is_empty()
    }

    /// Whether one use of events on disjoint parts is all there is.
    pub(super) fn is_only_parallel(&self) -> bool {
        self.parts.is_empty() && self.log_kept == 0.0 && self.shuffled.is_empty() && self.parallels.len() == 1
    }

    /// Adds so many uses of another list.
    pub(super) fn absorb(&mut self, other: &Self, count: f64) {
        self.parts.extend(other.parts.iter().map(|(times, pair)| (count * times, pair.clone())));
        self.log_kept += count * other.log_kept;
        self.shuffled.extend(&other.shuffled);
        self.parallels.extend(other.parallels.iter().map(|(times, parts)| (count * times, parts.clone())));
    }

    /// The losses in one direction.
    pub(super) fn losses(&self, direction: Direction) -> impl Iterator<Item = (f64, Loss)> {
        self.parts.iter().map(move |(count, pair)| (*count, pair.loss(direction)))
    }

    pub(super) fn collect(&mut self, event: &Event, count: u64) -> Result<(), AccountingError> {
        let times = |n: u64, field: &'static str| {
            count
                .checked_mul(n)
                .ok_or_else(|| AccountingError::invalid(field, n, "give less: the total is beyond 2^64"))
        };
        if count == 0 {
            return Ok(());
        }
        let floor = self.end == End::Floor;
        let whole = event;
        let pair = match event {
            Event::Repeated { count: n, event } => return self.collect(event, times(*n, "count")?),
            Event::Composed { events } => return events.iter().try_for_each(|e| self.collect(e, count)),
            Event::Shuffled { steps_per_epoch, epochs, event } if floor => {
                // With sensitivity 1 under replace-one no two records are 2 apart, as the example needs.
                if let (Event::Gaussian { noise_multiplier }, 1.., Neighboring::AddRemove) =
                    (&**event, *epochs, self.neighboring)
                {
                    let (steps, sigma) = (*steps_per_epoch as f64, noise_multiplier.get());
                    self.shuffled.push(Shuffle { steps, sigma });
                }
                return Ok(());
            }
            Event::BallsInBins { .. } | Event::TruncatedPoisson { .. } if floor => return Ok(()),
            Event::Shuffled { epochs, event, .. } | Event::BallsInBins { epochs, event, .. } => {
                let count = times(*epochs, "epochs")?;
                if let Some(epoch) = self.thrown(whole).filter(|_| count > 0) {
                    self.log_kept += count as f64 * libm::log1p(-epoch.revealed);
                    let (remove, add) = (Loss::Atoms(epoch.remove), Loss::Atoms(epoch.add));
                    self.parts.push((count as f64, Pair::Epoch { remove, add }));
                    return Ok(());
                }
                // Each record is in one batch an epoch: without amplification this is the event once an epoch.
                return self.collect(event, count);
            }
            Event::TreeAggregation { noise_multiplier, steps } => {
                // A record is in one node of each level.
                let levels = u64::from(u64::BITS - steps.leading_zeros());
                let node = Event::Gaussian { noise_multiplier: *noise_multiplier };
                return self.collect(&node, times(levels, "steps")?);
            }
            Event::Approximate { epsilon, delta } => {
                self.log_kept += count as f64 * libm::log1p(-delta.get());
                Pair::Same(pure(epsilon.get()))
            }
            Event::MixtureOfGaussians { .. } if self.neighboring == Neighboring::ReplaceOne => {
                return Err(unsupported(
                    "mixture_of_gaussians",
                    "the loss is known for add-remove: state the events under that relation",
                ));
            }
            Event::MixtureOfGaussians { sensitivities, probabilities, noise_multiplier } => {
                // The probabilities are known to about 1e-9: made to add up exactly.
                let total: f64 = probabilities.iter().sum();
                let mut shifts = Vec::new();
                let mut weights = Vec::new();
                for (s, p) in sensitivities.iter().zip(probabilities).filter(|(_, p)| **p > 0.0) {
                    shifts.push(*s);
                    weights.push(p / total);
                }
                if shifts.iter().all(|s| *s == 0.0) {
                    return Ok(());
                }
                Pair::Mixture { shifts, weights, sigma: noise_multiplier.get() }
            }
            Event::PoissonSampled { rate, event } if rate.get() == 1.0 => return self.collect(event, count),
            Event::PoissonSampled { rate, .. } if rate.get() == 0.0 => return Ok(()),
            Event::PoissonSampled { rate, event } => match **event {
                // Only what is replaced is left as a clipped sum.
                Event::ClippedSum { noise_multiplier } => {
                    Pair::Same(Loss::Replaced { rate: rate.get(), sigma: noise_multiplier.get() })
                }
                _ => match self.sampled(rate.get(), event, "poisson_sampled")? {
                    Some(pair) => pair,
                    None => return Ok(()),
                },
            },
            Event::SampledWithoutReplacement { dataset_size, batch_size, event } => {
                match (self.neighboring, batch_size) {
                    (_, 0) => return Ok(()),
                    (Neighboring::AddRemove, _) => {
                        return Err(unsupported(
                            "sampled_without_replacement",
                            "the bound is for replace-one: state the events under that relation",
                        ));
                    }
                    (_, batch) if batch == dataset_size => return self.collect(event, count),
                    _ => {
                        let rate = *batch_size as f64 / *dataset_size as f64;
                        match self.sampled(rate, event, "sampled_without_replacement")? {
                            Some(pair) => pair,
                            None => return Ok(()),
                        }
                    }
                }
            }
            Event::TruncatedPoisson { dataset_size, rate, max_batch, event } => {
                match (&**event, self.neighboring) {
                    (Event::Gaussian { noise_multiplier }, Neighboring::AddRemove) if rate.get() < 1.0 => {
                        let q = rate.get();
                        Pair::Truncated {
                            spilled: binomial_tail_up(*dataset_size, q, *max_batch),
                            rate: q,
                            sigma: noise_multiplier.get(),
                        }
                    }
                    _ => {
                        return Err(unsupported(
                            "truncated_poisson",
                            "the bound is for Gaussian noise, a rate below 1 and add-remove",
                        ));
                    }
                }
            }
            Event::Parallel { events } => {
                let mut parts = self.possibilities(events)?;
                match (parts.pop(), parts.is_empty()) {
                    (None, _) => {}
                    (Some(only), true) => self.absorb(&only, count as f64),
                    (Some(last), false) => {
                        parts.push(last);
                        self.parallels.push((count as f64, parts));
                    }
                }
                return Ok(());
            }
            Event::Rdp { .. } | Event::StudentT { .. } | Event::RepeatAndSelect { .. } if floor => {
                return Ok(());
            }
            simple => match self.simple(simple)? {
                Some(loss) => Pair::Same(loss),
                None => return Ok(()),
            },
        };
        self.parts.push((count as f64, pair));
        Ok(())
    }

    /// One epoch of balls in bins, where its loss is known.
    fn thrown(&self, event: &Event) -> Option<Epoch> {
        match (event, self.neighboring) {
            (Event::BallsInBins { bins, event, .. }, Neighboring::AddRemove) => match **event {
                Event::Gaussian { noise_multiplier } => epoch(*bins, noise_multiplier.get()),
                _ => None,
            },
            _ => None,
        }
    }

    /// The loss of an event without a sampler, at the end that is asked for; none where there is no loss at all.
    fn simple(&self, event: &Event) -> Result<Option<Loss>, AccountingError> {
        let loss = match (event, self.end) {
            // Two candidates: randomized response of half the range.
            (Event::Exponential { epsilon }, End::Floor) => pure(0.5 * epsilon.get()),
            // Gaussian noise is a ρ-zCDP mechanism.
            (Event::Zcdp { rho }, End::Floor) if rho.get() > 0.0 => {
                Loss::Gaussian(1.0 / (2.0 * rho.get()).sqrt() * (1.0 + 4.0 * f64::EPSILON))
            }
            (Event::Zcdp { .. }, End::Floor) => return Ok(None),
            // On ever finer integers this is continuous Laplace noise, which a coarser grid never betters: see the proof.
            (Event::DiscreteLaplace { noise_multiplier, sensitivity: Some(many) }, End::Floor)
                if *many > FINE =>
            {
                Loss::Laplace(1.0 / noise_multiplier.get())
            }
            (other, _) => return self.either_end(other),
        };
        Ok(Some(loss).filter(|loss| !is_nothing(loss)))
    }

    /// The same where the worst that the event allows is a mechanism of its kind, or where only that is known.
    fn either_end(&self, event: &Event) -> Result<Option<Loss>, AccountingError> {
        let loss = match event {
            Event::Gaussian { noise_multiplier } => Loss::Gaussian(noise_multiplier.get()),
            Event::Gdp { mu } if mu.get() > 0.0 => Loss::Gaussian(1.0 / mu.get()),
            Event::Gdp { .. } => return Ok(None),
            Event::Laplace { noise_multiplier } => Loss::Laplace(1.0 / noise_multiplier.get()),
            Event::DiscreteLaplace { noise_multiplier, sensitivity } => {
                lattice::discrete_laplace(noise_multiplier.get(), sensitivity.unwrap_or(1))
            }
            Event::Pure { epsilon } | Event::Exponential { epsilon } => pure(epsilon.get()),
            Event::RandomizedResponse { keep_probability, categories } => {
                let keep = keep_probability.get();
                let stray = (1.0 - keep) / (*categories as f64 - 1.0);
                Loss::Response { epsilon: response_loss(keep, *categories), plus: keep, minus: stray }
            }
            Event::DiscreteGaussian { noise_multiplier, sensitivity } => {
                // Of integers that move by nobody knows how much, one may move by one.
                let known = sensitivity.map(|own| own.get()).or((self.end == End::Floor).then_some(1.0));
                let why = "state the sensitivity of the integers: without it only a Rényi bound is known";
                let sensitivity = known.ok_or_else(|| unsupported("discrete_gaussian", why))?;
                lattice::discrete_gaussian(noise_multiplier.get(), sensitivity, self.end)
                    .map(Loss::Atoms)
                    .ok_or_else(|| {
                        unsupported("discrete_gaussian", "there are too many ways to move so far")
                    })?
            }
            Event::StudentT { .. } => return Err(unsupported("student_t", "its loss is not known here")),
            Event::Zcdp { .. } => return Err(unsupported("zcdp", "a zCDP claim has no loss distribution")),
            Event::Rdp { .. } => return Err(unsupported("rdp", "a Rényi claim has no loss distribution")),
            Event::RepeatAndSelect { .. } => {
                return Err(unsupported("repeat_and_select", "only a Rényi bound is known"));
            }
            _ => return Err(unsupported("this event", "it is not known inside a sampler or beside others")),
        };
        Ok(Some(loss).filter(|loss| !is_nothing(loss)))
    }

    /// The loss of what is run on a sample.
    fn inner(&self, event: &Event) -> Result<Option<Loss>, AccountingError> {
        match event {
            Event::Repeated { .. } | Event::Composed { .. } | Event::Parallel { .. } => {
                let mut list = Self::new(self.neighboring, self.end);
                list.collect(event, 1)?;
                list.single()
            }
            simple => self.simple(simple),
        }
    }

    /// An event on a random part of the data.
    fn sampled(
        &self,
        rate: f64,
        event: &Event,
        sampler: &'static str,
    ) -> Result<Option<Pair>, AccountingError> {
        let inner = self.inner(event).map_err(|_| {
            unsupported(sampler, "the loss of what is run on the sample is not known: use rdp")
        })?;
        let Some(inner) = inner else { return Ok(None) };
        Ok(Some(match (self.neighboring, inner, self.end) {
            // One way of replacing a record: it has no effect before, its full effect after.
            (Neighboring::AddRemove, Loss::Gaussian(sigma), _)
            | (Neighboring::ReplaceOne, Loss::Gaussian(sigma), End::Floor) => {
                Pair::Mixture { shifts: vec![0.0, 1.0], weights: vec![1.0 - rate, rate], sigma }
            }
            // What is left out of a Poisson sample may say more than what is replaced in it, but for sums.
            (Neighboring::ReplaceOne, inner, _)
                if sampler == "poisson_sampled"
                    && !(is_noise(event) && matches!(inner, Loss::Gaussian(_) | Loss::Laplace(_))) =>
            {
                return Err(unsupported(
                    sampler,
                    "under replace-one only gaussian and laplace noise on clipped sums is covered",
                ));
            }
            (Neighboring::ReplaceOne, inner, End::Ceiling) => {
                Pair::Same(Loss::Swapped { rate, inner: Box::new(inner) })
            }
            (_, inner, _) => Pair::Sampled { rate, inner },
        }))
    }
}

/// Integers that move so far are taken for real numbers where a lower end is asked for.
const FINE: u64 = 100_000;

/// Whether an event is noise on numbers, and not a claim about any mechanism: one that publishes who is in the sample may be
/// as private as Gaussian noise where a record is replaced, and gains nothing by the sample.
fn is_noise(event: &Event) -> bool {
    match event {
        Event::Gaussian { .. } | Event::Laplace { .. } | Event::ClippedSum { .. } => true,
        Event::Repeated { event, .. } => is_noise(event),
        Event::Composed { events } | Event::Parallel { events } => events.iter().all(is_noise),
        _ => false,
    }
}

fn is_nothing(loss: &Loss) -> bool {
    matches!(loss, Loss::Response { epsilon, .. } | Loss::Laplace(epsilon) if *epsilon == 0.0)
}
