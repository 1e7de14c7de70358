//! The older theorems: every event first becomes an (ε, δ) claim of its own, and the claims are added up.
//!
//! Events without a claim of their own (Gaussian noise has one for every δ) share a part of the δ that is asked
//! for; every share gives a true bound and the best of several is taken.

use super::revealed::CheckedDelta;
use super::{CompositionMethod, EventTally};
use crate::AccountingError;
use crate::amplification::subsampled;
use crate::clipped::plain;
use crate::composition::parallel;
use crate::kind::of;
use crate::rdp::{RdpAccountant, epsilon_at_order};
use crate::tight::TightAccountant;
use reticent_core::profile::gaussian_epsilon_up;
use reticent_core::rounding::{add_up, exp_m1_up, ln_down, mul_up, sqrt_up, sub_down};
use reticent_core::{Delta, Epsilon, Event, Guarantee, Neighboring, NoiseMultiplier, SamplingRate};

/// Claims of a list of events, ready for any δ.
pub(super) struct Claims {
    neighboring: Neighboring,
    method: CompositionMethod,
    parts: Vec<(u64, Own)>,
    /// Uses that have a different ε for every δ.
    needy: f64,
    /// What the events take of δ however little they are given.
    given: f64,
}

impl Claims {
    pub(super) fn new(
        tally: &EventTally,
        neighboring: Neighboring,
        method: CompositionMethod,
    ) -> Result<Self, AccountingError> {
        let (mut parts, mut needy, mut given) = (Vec::new(), 0.0, 0.0);
        for (count, event) in tally.parts() {
            let own = Own::new(event, neighboring)?;
            needy = add_up(needy, mul_up(*count as f64, own.needy()));
            given = add_up(given, mul_up(*count as f64, own.least(neighboring)));
            parts.push((*count, own));
        }
        Ok(Self { neighboring, method, parts, needy, given })
    }

    /// The ε at a total δ.
    pub(super) fn epsilon(&self, asked: CheckedDelta) -> Result<f64, AccountingError> {
        self.within(asked.delta())
    }

    fn within(&self, delta: Delta) -> Result<f64, AccountingError> {
        // Shares of δ that go to the events themselves; the rest is what the theorem needs.
        let shares: &[f64] = match self.method {
            _ if self.needy == 0.0 => &[0.0],
            CompositionMethod::Basic => &[1.0],
            CompositionMethod::Optimal => &[0.1, 0.3, 0.5, 0.7, 0.9, 1.0],
            _ => &[0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1.0],
        };
        // What the sums of the shares may be rounded up by.
        let rounding = f64::EPSILON * (4.0 * self.parts.len() as f64 + 16.0);
        let free = if self.needy == 0.0 {
            sub_down(delta.get(), self.given)
        } else {
            (delta.get() - self.given) * (1.0 - 1e-12) - rounding * delta.get()
        };
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
                claims.push((*count, own.at(each * own.needy(), self.neighboring)?));
            }
            let theorem = match self.method {
                CompositionMethod::Basic => None,
                CompositionMethod::Advanced => advanced(&claims, free * (1.0 - share)),
                _ => optimal(&claims, self.neighboring, delta)?,
            };
            let within = |spent: &Spent| spent.delta <= delta.get();
            let found = theorem.into_iter().chain([basic(&claims)]).filter(within);
            best = found.map(|spent| spent.epsilon).fold(best, f64::min);
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
            match self.within(Delta::new(libm::exp(log))?) {
                Ok(epsilon) => Ok(epsilon <= target.get()),
                Err(AccountingError::Invalid(_) | AccountingError::Impossible(_)) => Ok(false),
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

/// Σε, where every event has an (ε, δ) of its own and their deltas add up to no more than the one asked for: the plain
/// sum, which no other method need exceed.
pub(super) fn plain_sum(tally: &EventTally, neighboring: Neighboring, asked: CheckedDelta) -> Option<f64> {
    if !tally.parts().iter().all(|(_, event)| is_plain(event)) {
        return None;
    }
    Claims::new(tally, neighboring, CompositionMethod::Basic).and_then(|claims| claims.epsilon(asked)).ok()
}

/// Whether an event has an (ε, δ) of its own, without a δ to choose.
pub(crate) fn is_plain(event: &Event) -> bool {
    of(event, |kind| kind.is_plain())
}

/// One event's own claim.
pub(crate) enum Own {
    Fixed(Guarantee),
    Gaussian(NoiseMultiplier),
    /// ln(1 + q(e^ε − 1)) and qδ of what is inside.
    Amplified(SamplingRate, Box<Own>),
    Parallel(Vec<Own>),
    /// One after the other, each with its number of uses.
    Sequence(Vec<(u64, Own)>),
    /// Orders with Rényi divergences.
    Curve(Vec<(f64, f64)>),
}

impl Own {
    pub(crate) fn new(event: &Event, neighboring: Neighboring) -> Result<Self, AccountingError> {
        let event = &*plain(event, neighboring)?;
        of(event, |kind| kind.claim(event, neighboring))
    }

    /// A pure claim.
    pub(crate) fn pure(epsilon: f64) -> Result<Self, AccountingError> {
        Ok(Self::Fixed(Guarantee::pure(Epsilon::new(epsilon)?)))
    }

    /// The claim of an event on a random part of the data.
    pub(crate) fn amplified(
        rate: SamplingRate,
        event: &Event,
        neighboring: Neighboring,
    ) -> Result<Self, AccountingError> {
        if rate.get() == 0.0 {
            return Self::pure(0.0);
        }
        Ok(Self::Amplified(rate, Box::new(Self::new(event, neighboring)?)))
    }

    /// The claim of events in sequence.
    pub(crate) fn in_sequence(event: &Event, neighboring: Neighboring) -> Result<Self, AccountingError> {
        let sequence = Self::sequence(event, neighboring)?;
        // A sum is exact where no δ is to be shared out; otherwise a curve adds up better, if there is one.
        if sequence.needy() == 0.0 {
            return Ok(sequence);
        }
        Ok(Self::curve(event, neighboring).unwrap_or(sequence))
    }

    /// Whatever has a Rényi curve has a claim at every δ.
    pub(crate) fn curve(event: &Event, neighboring: Neighboring) -> Result<Self, AccountingError> {
        let mut account = RdpAccountant::new(neighboring);
        account.compose(event, 1)?;
        Ok(Self::Curve(account.table()))
    }

    fn sequence(event: &Event, neighboring: Neighboring) -> Result<Self, AccountingError> {
        let mut tally = EventTally::default();
        tally.add(event, 1)?;
        let each = |(count, event): &(u64, Event)| Ok((*count, Self::new(event, neighboring)?));
        Ok(Self::Sequence(tally.parts().iter().map(each).collect::<Result<_, AccountingError>>()?))
    }

    /// The number of uses in it that have a different ε for every δ. Events of which a record meets only some share a δ
    /// as one.
    fn needy(&self) -> f64 {
        match self {
            Self::Fixed(_) => 0.0,
            Self::Gaussian(_) | Self::Curve(_) => 1.0,
            Self::Amplified(_, inner) => inner.needy().min(1.0),
            Self::Parallel(parts) => parts.iter().map(Self::needy).fold(0.0, f64::max).min(1.0),
            Self::Sequence(parts) => {
                parts.iter().fold(0.0, |sum, (n, own)| add_up(sum, mul_up(*n as f64, own.needy())))
            }
        }
    }

    /// What it takes of δ however little it is given, rounded up.
    fn least(&self, neighboring: Neighboring) -> f64 {
        match self {
            Self::Fixed(claim) => claim.delta.get(),
            Self::Gaussian(_) | Self::Curve(_) => 0.0,
            Self::Amplified(rate, inner) => mul_up(rate.get(), inner.least(neighboring)),
            Self::Parallel(parts) => {
                let [most, second] = two_largest(parts, neighboring);
                if neighboring == Neighboring::ReplaceOne { add_up(most, second) } else { most }
            }
            Self::Sequence(parts) => {
                parts.iter().fold(0.0, |sum, (n, own)| add_up(sum, mul_up(*n as f64, own.least(neighboring))))
            }
        }
    }

    /// The claim, with so much of δ beyond the least it takes where it needs one.
    fn at(&self, extra: f64, neighboring: Neighboring) -> Result<Guarantee, AccountingError> {
        match self {
            Self::Fixed(claim) => Ok(*claim),
            Self::Gaussian(noise) => {
                let delta = Delta::new(extra)?;
                Ok(Guarantee { epsilon: gaussian_epsilon_up(*noise, delta)?, delta })
            }
            Self::Amplified(rate, inner) => {
                // So that the amplified δ is the one given, where it is for the event to choose.
                let most = 0.5 * (1.0 - inner.least(neighboring)).max(0.0);
                subsampled(inner.at((extra / rate.get()).min(most), neighboring)?, *rate)
            }
            Self::Parallel(parts) => {
                // Every part may take as much as the one that takes the most; under replace-one the two largest are
                // added up.
                let [most, second] = two_largest(parts, neighboring);
                let (level, share) = match neighboring {
                    Neighboring::AddRemove => (most, extra),
                    Neighboring::ReplaceOne => (second, 0.5 * extra),
                };
                let claims = parts.iter().map(|part| {
                    let room = (level - part.least(neighboring)).max(0.0);
                    part.at(room + share, neighboring)
                });
                parallel(&claims.collect::<Result<Vec<Guarantee>, AccountingError>>()?, neighboring)
            }
            Self::Sequence(parts) => {
                let needy = self.needy();
                let mut total = Guarantee::pure(Epsilon::new(0.0)?);
                for (count, own) in parts {
                    let share = if needy == 0.0 { 0.0 } else { extra * own.needy() / needy };
                    let Guarantee { epsilon, delta } = own.at(share, neighboring)?;
                    let n = *count as f64;
                    total = total.then(Guarantee {
                        epsilon: Epsilon::new(mul_up(n, epsilon.get()))?,
                        delta: Delta::new(mul_up(n, delta.get()))?,
                    })?;
                }
                Ok(total)
            }
            Self::Curve(table) => {
                let delta = Delta::new(extra)?;
                let least = table
                    .iter()
                    .map(|(order, divergence)| epsilon_at_order(*divergence, *order, delta))
                    .fold(f64::INFINITY, f64::min);
                Ok(Guarantee { epsilon: Epsilon::new(least.min(f64::MAX))?, delta })
            }
        }
    }
}

/// The two largest of what parts take of δ in any case.
fn two_largest(parts: &[Own], neighboring: Neighboring) -> [f64; 2] {
    parts.iter().map(|part| part.least(neighboring)).fold([0.0, 0.0], |[most, second], delta| {
        if delta > most { [delta, most] } else { [most, second.max(delta)] }
    })
}

/// What a theorem proves: ε, and the δ that it takes for it. It answers a question only where that δ is within the one
/// asked for.
struct Spent {
    epsilon: f64,
    delta: f64,
}

fn basic(claims: &[(u64, Guarantee)]) -> Spent {
    let sum = |value: fn(&Guarantee) -> f64| {
        claims.iter().fold(0.0, |sum, (n, claim)| add_up(sum, mul_up(*n as f64, value(claim))))
    };
    Spent { epsilon: sum(|claim| claim.epsilon.get()), delta: sum(|claim| claim.delta.get()) }
}

/// √(2 ln(1/δ′) Σε²) + Σε(e^ε − 1), at δ′ + Σδ.
fn advanced(claims: &[(u64, Guarantee)], slack: f64) -> Option<Spent> {
    if slack <= 0.0 {
        return None;
    }
    let (mut squares, mut drift) = (0.0, 0.0);
    for (n, claim) in claims {
        let (n, e) = (*n as f64, claim.epsilon.get());
        squares = add_up(squares, mul_up(n, mul_up(e, e)));
        drift = add_up(drift, mul_up(n, mul_up(e, exp_m1_up(e))));
    }
    let spread = sqrt_up(mul_up(mul_up(2.0, -ln_down(slack)), squares));
    Some(Spent { epsilon: add_up(spread, drift), delta: add_up(basic(claims).delta, slack) })
}

/// The exact composition of the claims at a total δ; none where it has no bracket.
fn optimal(
    claims: &[(u64, Guarantee)],
    neighboring: Neighboring,
    delta: Delta,
) -> Result<Option<Spent>, AccountingError> {
    let mut account = TightAccountant::new(neighboring);
    for (count, claim) in claims {
        account.compose(&Event::Approximate { epsilon: claim.epsilon, delta: claim.delta }, *count)?;
    }
    match account.epsilon(delta) {
        Ok(bracket) => Ok(Some(Spent { epsilon: bracket.upper, delta: delta.get() })),
        Err(AccountingError::Unsupported { .. } | AccountingError::Impossible(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
