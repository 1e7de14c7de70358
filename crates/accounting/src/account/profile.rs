//! A tally as the methods see it: distributions of the loss, or Rényi curves.

use super::EventTally;
use super::revealed::CheckedDelta;
use crate::AccountingError;
use crate::kind::of;
use crate::rdp::{RdpAccountant, delta_at_order, epsilon_by_mironov};
use crate::tight::{Direction, TightAccountant};
use reticent_core::{Delta, Epsilon, Event, Neighboring};

/// δ as a function of ε and the direction.
pub(crate) enum Profile {
    /// By the distributions of the loss.
    Tight(Box<TightAccountant>),
    /// By the Rényi curve at a list of orders, the same both ways.
    Renyi {
        /// Orders with divergences.
        table: Vec<(f64, f64)>,
        /// What the events reveal outright.
        renyi: Renyi,
    },
}

impl Profile {
    /// Whether both directions lose the same.
    pub(crate) fn is_symmetric(&self) -> bool {
        match self {
            Self::Tight(account) => account.is_symmetric(),
            Self::Renyi { .. } => true,
        }
    }

    /// δ at ε in one direction, from above; 1 where nothing better can be certified.
    pub(crate) fn delta(&self, epsilon: Epsilon, direction: Direction) -> f64 {
        match self {
            Self::Tight(account) => account.delta_one_way(epsilon, direction).unwrap_or(1.0),
            Self::Renyi { table, renyi } => {
                let at = |(order, divergence): &(f64, f64)| delta_at_order(*divergence, *order, epsilon);
                renyi.with_kept(table.iter().map(at).fold(1.0, f64::min))
            }
        }
    }
}

/// Discrete Gaussian events whose noise multipliers add up to more have more atoms than memory should hold.
const MOST_DISCRETE_NOISE: f64 = 1e5;

/// The loss distributions: all of them, or the error of the first event that has none.
pub(super) struct Tight {
    pub(super) account: TightAccountant,
    refused: Option<AccountingError>,
}

impl Tight {
    pub(super) fn new(
        tally: &EventTally,
        neighboring: Neighboring,
        width: Option<f64>,
    ) -> Result<Self, AccountingError> {
        let (mut account, mut refused) = (TightAccountant::new(neighboring), None);
        if let Some(width) = width {
            account = account.with_width(width)?;
        }
        let noise = |event: &Event| of(event, |kind| kind.atoms());
        let too_wide = tally.parts().iter().map(|(_, event)| noise(event)).sum::<f64>() > MOST_DISCRETE_NOISE;
        for (count, event) in tally.parts() {
            if too_wide && noise(event) > 0.0 {
                refused = refused.or(Some(AccountingError::Unsupported {
                    event: event.name(),
                    accountant: "pld",
                    why: "so many different ones have too many atoms: use rdp".into(),
                }));
                continue;
            }
            match account.compose(event, *count) {
                Ok(()) => {}
                Err(AccountingError::Invalid(invalid)) => return Err(invalid.into()),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        Ok(Self { account, refused })
    }

    /// Whether an event has no loss distribution.
    pub(super) fn is_refused(&self) -> bool {
        self.refused.is_some()
    }

    pub(super) fn ceiling<T>(
        &self,
        ask: impl FnOnce(&TightAccountant) -> Result<T, AccountingError>,
    ) -> Result<T, AccountingError> {
        match &self.refused {
            Some(error) => Err(error.clone()),
            None => ask(&self.account),
        }
    }
}

/// Rényi curves, with what (ε, δ) events reveal outright kept apart.
pub(crate) struct Renyi {
    pub(super) account: RdpAccountant,
    /// ln of the probability that nothing is revealed outright.
    log_kept: f64,
}

impl Renyi {
    pub(super) fn new(tally: &EventTally, neighboring: Neighboring) -> Result<Self, AccountingError> {
        let (mut account, mut log_kept) = (RdpAccountant::new(neighboring), 0.0);
        for (count, event) in tally.parts() {
            match of(event, |kind| kind.apart()) {
                Some((log_own, otherwise)) => {
                    log_kept += *count as f64 * log_own;
                    account.compose(&otherwise, *count)?;
                }
                None => account.compose(event, *count)?,
            }
        }
        Ok(Self { account, log_kept: log_kept * (1.0 + 1e-14) })
    }

    /// The δ left for the rest, rounded down.
    fn left(&self, asked: CheckedDelta) -> Result<Delta, AccountingError> {
        let delta = asked.delta();
        if self.log_kept == 0.0 {
            return Ok(delta);
        }
        let left = (delta.get() + libm::expm1(self.log_kept) - 4.0 * f64::EPSILON * delta.get())
            / libm::exp(self.log_kept);
        if left <= 0.0 {
            return Err(AccountingError::invalid(
                "delta",
                delta,
                "give a larger delta: the events' own deltas already add up to as much",
            ));
        }
        Ok(Delta::new(left.min(1.0f64.next_down()))?)
    }

    pub(super) fn with_kept(&self, delta: f64) -> f64 {
        if self.log_kept == 0.0 {
            return delta.min(1.0);
        }
        ((-libm::expm1(self.log_kept) + libm::exp(self.log_kept) * delta) * (1.0 + 1e-14)).min(1.0)
    }

    pub(super) fn epsilon(&self, asked: CheckedDelta) -> Result<f64, AccountingError> {
        Ok(self.account.epsilon_up(self.left(asked)?)?.get())
    }

    pub(super) fn delta(&self, epsilon: Epsilon) -> Result<f64, AccountingError> {
        Ok(self.with_kept(self.account.delta_up(epsilon)))
    }

    /// Moments λ = 1, …, 32 with the tail bound of the paper.
    pub(super) fn moments(&self, asked: CheckedDelta) -> Result<f64, AccountingError> {
        let left = self.left(asked)?;
        let best = (1..=crate::moments::LARGEST_MOMENT)
            .map(|lambda| f64::from(lambda) + 1.0)
            .map(|order| epsilon_by_mironov(self.account.divergence_up(order), order, left))
            .fold(f64::INFINITY, f64::min);
        if !best.is_finite() {
            return Err(AccountingError::invalid(
                "delta",
                asked.delta(),
                "every moment is infinite: more noise is needed",
            ));
        }
        Ok(best)
    }

    pub(super) fn moments_delta(&self, epsilon: Epsilon) -> f64 {
        let best = (1..=crate::moments::LARGEST_MOMENT)
            .map(f64::from)
            .map(|lambda| lambda * (self.account.divergence_up(lambda + 1.0) - epsilon.get()))
            .map(|log| libm::exp(log + 1e-14 * log.abs()) * (1.0 + 1e-15))
            .filter(|delta| !delta.is_nan())
            .fold(1.0, f64::min);
        self.with_kept(best)
    }
}
