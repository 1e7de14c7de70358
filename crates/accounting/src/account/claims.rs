//! The older theorems: every event first becomes an (ε, δ) claim of its own, and the claims are added up.
//!
//! Events without a claim of their own (Gaussian noise has one for every δ) share a part of the δ that is asked
//! for; every share gives a true bound and the best of several is taken.

use super::{Method, Tally};
use crate::AccountingError;
use crate::amplification::subsampled;
use crate::clipped::plain;
use crate::composition::parallel;
use crate::rdp::{RdpAccountant, epsilon_at_order, response_loss};
use crate::tight::TightAccountant;
use reticent_core::profile::gaussian_epsilon_up;
use reticent_core::rounding::{add_up, exp_m1_up, ln_down, mul_up, sqrt_up};
use reticent_core::{Delta, Epsilon, Event, Guarantee, Neighboring, NoiseMultiplier, SamplingRate};

/// Claims of a list of events, ready for any δ.
pub(super) struct Claims {
    neighboring: Neighboring,
    method: Method,
    parts: Vec<(u64, Own)>,
    /// Uses that have a different ε for every δ.
    needy: f64,
    /// What the others' own δ add up to.
    given: f64,
}

impl Claims {
    pub(super) fn new(
        tally: &Tally,
        neighboring: Neighboring,
        method: Method,
    ) -> Result<Self, AccountingError> {
        let (mut parts, mut needy, mut given) = (Vec::new(), 0.0, 0.0);
        for (count, event) in tally.parts() {
            let own = Own::new(event, neighboring)?;
            if own.needs_delta() {
                needy = add_up(needy, *count as f64);
            } else {
                given = add_up(given, mul_up(*count as f64, own.at(0.0, neighboring)?.delta.get()));
            }
            parts.push((*count, own));
        }
        Ok(Self { neighboring, method, parts, needy, given })
    }

    /// The ε at a total δ.
    pub(super) fn epsilon(&self, delta: Delta) -> Result<f64, AccountingError> {
        // Shares of δ that go to the events themselves; the rest is what the theorem needs.
        let shares: &[f64] = match self.method {
            _ if self.needy == 0.0 => &[0.0],
            Method::Basic => &[1.0],
            Method::Optimal => &[0.1, 0.3, 0.5, 0.7, 0.9, 1.0],
            _ => &[0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1.0],
        };
        let free = (delta.get() - self.given) * (1.0 - 1e-12);
        if free < 0.0 || (free == 0.0 && self.needy > 0.0) {
            return Err(AccountingError::invalid(
                "delta",
                delta,
                "give a larger delta: the events' own deltas already add up to as much",
            ));
        }
        let mut best = f64::INFINITY;
        for share in shares {
            let each = if self.needy == 0.0 { 0.0 } else { free * share / self.needy };
            let mut claims = Vec::with_capacity(self.parts.len());
            for (count, own) in &self.parts {
                claims.push((*count, own.at(each, self.neighboring)?));
            }
            let total = match self.method {
                Method::Basic => basic(&claims),
                Method::Advanced => advanced(&claims, free * (1.0 - share)).min(basic(&claims)),
                _ => optimal(&claims, self.neighboring, delta)?,
            };
            best = best.min(total);
        }
        if !best.is_finite() {
            return Err(AccountingError::invalid(
                "delta",
                delta,
                "no finite epsilon follows: use the pld accountant",
            ));
        }
        Ok(best)
    }

    /// The least δ whose ε is within the one given.
    pub(super) fn delta(&self, target: Epsilon) -> Result<f64, AccountingError> {
        let within = |log: f64| -> Result<bool, AccountingError> {
            match self.epsilon(Delta::new(libm::exp(log))?) {
                Ok(epsilon) => Ok(epsilon <= target.get()),
                Err(AccountingError::Invalid(_)) => Ok(false),
                Err(error) => Err(error),
            }
        };
        let (mut low, mut high) = (-660.0, -1e-9);
        if within(low)? {
            return Ok(libm::exp(low));
        }
        if !within(high)? {
            return Ok(1.0);
        }
        while high - low > 1e-9 * low.abs() + 1e-9 {
            let middle = 0.5 * (low + high);
            if within(middle)? {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(libm::exp(high) * (1.0 + 1e-12))
    }
}

/// One event's own claim.
enum Own {
    Fixed(Guarantee),
    Gaussian(NoiseMultiplier),
    /// ln(1 + q(e^ε − 1)) and qδ of what is inside.
    Amplified(SamplingRate, Box<Own>),
    Parallel(Vec<Own>),
    /// Orders with Rényi divergences.
    Curve(Vec<(f64, f64)>),
}

impl Own {
    fn new(event: &Event, neighboring: Neighboring) -> Result<Self, AccountingError> {
        let pure = |epsilon: f64| Ok(Self::Fixed(Guarantee::pure(Epsilon::new(epsilon)?)));
        let amplified = |rate: SamplingRate, event: &Event| {
            if rate.get() == 0.0 {
                return pure(0.0);
            }
            Ok(Self::Amplified(rate, Box::new(Self::new(event, neighboring)?)))
        };
        match &*plain(event, neighboring)? {
            Event::Laplace { noise_multiplier } | Event::DiscreteLaplace { noise_multiplier, .. } => {
                pure((1.0 / noise_multiplier.get()).next_up())
            }
            Event::RandomizedResponse { keep_probability, categories } => {
                pure(response_loss(keep_probability.get(), *categories))
            }
            Event::Exponential { epsilon } | Event::Pure { epsilon } => {
                Ok(Self::Fixed(Guarantee::pure(*epsilon)))
            }
            Event::Approximate { epsilon, delta } => {
                Ok(Self::Fixed(Guarantee { epsilon: *epsilon, delta: *delta }))
            }
            Event::Gaussian { noise_multiplier } => Ok(Self::Gaussian(*noise_multiplier)),
            Event::PoissonSampled { rate, event } if neighboring == Neighboring::AddRemove => {
                amplified(*rate, event)
            }
            Event::SampledWithoutReplacement { dataset_size, batch_size, event }
                if neighboring == Neighboring::ReplaceOne =>
            {
                amplified(SamplingRate::new(*batch_size as f64 / *dataset_size as f64)?, event)
            }
            Event::Parallel { events } => {
                let parts = events.iter().map(|event| Self::new(event, neighboring));
                Ok(Self::Parallel(parts.collect::<Result<_, AccountingError>>()?))
            }
            other => {
                // Whatever has a Rényi curve has a claim at every δ.
                let mut account = RdpAccountant::new(neighboring);
                account.compose(other, 1)?;
                Ok(Self::Curve(account.table()))
            }
        }
    }

    /// Whether the event has a different ε for every δ.
    fn needs_delta(&self) -> bool {
        match self {
            Self::Fixed(_) => false,
            Self::Gaussian(_) | Self::Curve(_) => true,
            Self::Amplified(_, inner) => inner.needs_delta(),
            Self::Parallel(parts) => parts.iter().any(Self::needs_delta),
        }
    }

    /// The claim, at a δ of its own where it needs one.
    fn at(&self, delta: f64, neighboring: Neighboring) -> Result<Guarantee, AccountingError> {
        match self {
            Self::Fixed(claim) => Ok(*claim),
            Self::Gaussian(noise) => {
                let delta = Delta::new(delta)?;
                Ok(Guarantee { epsilon: gaussian_epsilon_up(*noise, delta)?, delta })
            }
            Self::Amplified(rate, inner) => {
                // So that the amplified δ is the one given, where it is for the event to choose.
                let outer = subsampled(inner.at((delta / rate.get()).min(0.5), neighboring)?, *rate)?;
                let spent =
                    if inner.needs_delta() { outer.delta.get().max(delta) } else { outer.delta.get() };
                Ok(Guarantee { epsilon: outer.epsilon, delta: Delta::new(spent)? })
            }
            Self::Parallel(parts) => {
                // Under replace-one the two largest deltas are added up.
                let share = if neighboring == Neighboring::ReplaceOne { 0.5 * delta } else { delta };
                let claims = parts.iter().map(|part| part.at(share, neighboring));
                parallel(&claims.collect::<Result<Vec<Guarantee>, AccountingError>>()?, neighboring)
            }
            Self::Curve(table) => {
                let delta = Delta::new(delta)?;
                let least = table
                    .iter()
                    .map(|(order, divergence)| epsilon_at_order(*divergence, *order, delta))
                    .fold(f64::INFINITY, f64::min);
                Ok(Guarantee { epsilon: Epsilon::new(least.min(f64::MAX))?, delta })
            }
        }
    }
}

fn basic(claims: &[(u64, Guarantee)]) -> f64 {
    claims.iter().fold(0.0, |sum, (n, claim)| add_up(sum, mul_up(*n as f64, claim.epsilon.get())))
}

/// √(2 ln(1/δ′) Σε²) + Σε(e^ε − 1).
fn advanced(claims: &[(u64, Guarantee)], slack: f64) -> f64 {
    if slack <= 0.0 {
        return f64::INFINITY;
    }
    let (mut squares, mut drift) = (0.0, 0.0);
    for (n, claim) in claims {
        let (n, e) = (*n as f64, claim.epsilon.get());
        squares = add_up(squares, mul_up(n, mul_up(e, e)));
        drift = add_up(drift, mul_up(n, mul_up(e, exp_m1_up(e))));
    }
    let spread = sqrt_up(mul_up(mul_up(2.0, -ln_down(slack)), squares));
    add_up(spread, drift)
}

/// The exact composition of the claims at a total δ.
fn optimal(
    claims: &[(u64, Guarantee)],
    neighboring: Neighboring,
    delta: Delta,
) -> Result<f64, AccountingError> {
    let mut account = TightAccountant::new(neighboring);
    for (count, claim) in claims {
        account.compose(&Event::Approximate { epsilon: claim.epsilon, delta: claim.delta }, *count)?;
    }
    match account.epsilon(delta) {
        Ok(bracket) => Ok(bracket.upper.min(basic(claims))),
        // Their sum is within the total δ in any case.
        Err(_) => Ok(basic(claims)),
    }
}
