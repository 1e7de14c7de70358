//! The older theorems: every event first becomes an (ε, δ) claim of its own, and the claims are added up.
//!
//! Events without a claim of their own (Gaussian noise has one for every δ) share a part of the δ that is asked
//! for; every share gives a true bound and the best of several is taken.

use super::{Method, Tally};
use crate::AccountingError;
use crate::amplification::subsampled;
use crate::composition::parallel;
use crate::rdp::RdpAccountant;
use crate::tight::TightAccountant;
use reticent_core::profile::gaussian_epsilon_up;
use reticent_core::rounding::{add_up, exp_m1_up, ln_down, mul_up, sqrt_up};
use reticent_core::{Delta, Epsilon, Event, Guarantee, Neighboring, SamplingRate};

/// The ε at a total δ.
pub(super) fn epsilon(
    tally: &Tally,
    neighboring: Neighboring,
    method: Method,
    delta: Delta,
) -> Result<f64, AccountingError> {
    let needy: u64 = tally.parts().iter().filter(|(_, e)| needs_delta(e)).map(|(n, _)| n).sum();
    // Shares of δ that go to the events themselves; the rest is what the theorem needs.
    let shares: &[f64] = match (method, needy) {
        (_, 0) => &[0.0],
        (Method::Basic, _) => &[1.0],
        (Method::Optimal, _) => &[0.1, 0.3, 0.5, 0.7, 0.9, 1.0],
        _ => &[0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1.0],
    };
    let mut given = 0.0;
    for (n, event) in tally.parts().iter().filter(|(_, event)| !needs_delta(event)) {
        given = add_up(given, mul_up(*n as f64, own(event, neighboring, 0.0)?.delta.get()));
    }
    let free = (delta.get() - given) * (1.0 - 1e-12);
    if free < 0.0 || (free == 0.0 && needy > 0) {
        return Err(AccountingError::invalid(
            "delta",
            delta,
            "give a larger delta: the events' own deltas already add up to as much",
        ));
    }
    let mut best: Result<f64, AccountingError> =
        Err(AccountingError::invalid("delta", delta, "no finite epsilon follows: use the pld accountant"));
    for share in shares {
        let each = if needy == 0 { 0.0 } else { free * share / needy as f64 };
        let mut claims = Vec::new();
        for (count, event) in tally.parts() {
            claims.push((*count, own(event, neighboring, each)?));
        }
        let slack = free * (1.0 - share);
        let total = match method {
            Method::Basic => basic(&claims),
            Method::Advanced => advanced(&claims, slack).min(basic(&claims)),
            _ => optimal(&claims, neighboring, delta)?,
        };
        if total.is_finite() && best.as_ref().map_or(true, |known| total < *known) {
            best = Ok(total);
        }
    }
    best
}

/// The least δ whose ε is within the one given.
pub(super) fn delta(
    tally: &Tally,
    neighboring: Neighboring,
    method: Method,
    target: Epsilon,
) -> Result<f64, AccountingError> {
    let within = |log: f64| -> Result<bool, AccountingError> {
        match epsilon(tally, neighboring, method, Delta::new(libm::exp(log))?) {
            Ok(epsilon) => Ok(epsilon <= target.get()),
            Err(AccountingError::Invalid(_)) => Ok(false),
            Err(error) => Err(error),
        }
    };
    let (mut low, mut high) = (-690.0, -1e-9);
    if within(low)? {
        return Ok(libm::exp(low));
    }
    if !within(high)? {
        return Ok(1.0);
    }
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if within(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(libm::exp(high) * (1.0 + 1e-12))
}

/// Whether the event has a different ε for every δ.
fn needs_delta(event: &Event) -> bool {
    match event {
        Event::Laplace { .. }
        | Event::RandomizedResponse { .. }
        | Event::Exponential { .. }
        | Event::DiscreteLaplace { .. }
        | Event::Pure { .. }
        | Event::Approximate { .. } => false,
        Event::PoissonSampled { event, .. } | Event::SampledWithoutReplacement { event, .. } => {
            needs_delta(event)
        }
        Event::Parallel { events } => events.iter().any(needs_delta),
        _ => true,
    }
}

/// The event's own claim, at a δ of its own where it needs one.
fn own(event: &Event, neighboring: Neighboring, delta: f64) -> Result<Guarantee, AccountingError> {
    let pure = |epsilon: f64| Ok(Guarantee::pure(Epsilon::new(epsilon)?));
    match event {
        Event::Laplace { noise_multiplier } | Event::DiscreteLaplace { noise_multiplier } => {
            pure((1.0 / noise_multiplier.get()).next_up())
        }
        Event::RandomizedResponse { keep_probability, categories } => {
            let keep = keep_probability.get();
            pure(libm::log(keep * (*categories as f64 - 1.0) / (1.0 - keep)).max(0.0) * (1.0 + 1e-14))
        }
        Event::Exponential { epsilon } | Event::Pure { epsilon } => Ok(Guarantee::pure(*epsilon)),
        Event::Approximate { epsilon, delta } => Ok(Guarantee { epsilon: *epsilon, delta: *delta }),
        Event::Gaussian { noise_multiplier } => {
            let delta = Delta::new(delta)?;
            Ok(Guarantee { epsilon: gaussian_epsilon_up(*noise_multiplier, delta)?, delta })
        }
        Event::Parallel { events } => {
            // Under replace-one the two largest deltas are added up.
            let share = if neighboring == Neighboring::ReplaceOne { 0.5 * delta } else { delta };
            let parts = events.iter().map(|e| own(e, neighboring, share));
            parallel(&parts.collect::<Result<Vec<Guarantee>, AccountingError>>()?, neighboring)
        }
        Event::PoissonSampled { rate, event } if neighboring == Neighboring::AddRemove => {
            amplified(event, *rate, neighboring, delta)
        }
        Event::SampledWithoutReplacement { dataset_size, batch_size, event }
            if neighboring == Neighboring::ReplaceOne =>
        {
            let rate = SamplingRate::new(*batch_size as f64 / *dataset_size as f64)?;
            amplified(event, rate, neighboring, delta)
        }
        other => {
            // Whatever has a Rényi curve has a claim at every δ.
            let mut account = RdpAccountant::new(neighboring);
            account.compose(other, 1)?;
            let delta = Delta::new(delta)?;
            Ok(Guarantee { epsilon: account.epsilon_up(delta)?, delta })
        }
    }
}

/// ln(1 + q(e^ε − 1)) and qδ, so that the amplified δ is the one given.
fn amplified(
    event: &Event,
    rate: SamplingRate,
    neighboring: Neighboring,
    delta: f64,
) -> Result<Guarantee, AccountingError> {
    if rate.get() == 0.0 {
        return Ok(Guarantee::pure(Epsilon::new(0.0)?));
    }
    let inner = own(event, neighboring, (delta / rate.get()).min(0.5))?;
    let outer = subsampled(inner, rate)?;
    Ok(Guarantee { epsilon: outer.epsilon, delta: Delta::new(outer.delta.get().max(delta))? })
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
