//! Rényi differential privacy: one curve per event, composed in one place.
//!
//! A curve maps an order α > 1 to an upper bound on the Rényi divergence D_α between the outputs on
//! neighbouring data, in both directions. Curves add up, also where later mechanisms look at earlier answers, as long as
//! each curve is fixed before the data are read.
#![doc = include_str!("proof.md")]

mod balls;
mod balls_add;
mod binomial;
mod convert;
pub(crate) mod curve;
pub(crate) mod ends;
mod long;
mod outcome;
mod poisson_selection;
mod replaced;
mod sampled;
mod selection;
mod student;
mod truncated;
mod without_replacement;

pub use balls::BallsInBins;
pub use binomial::binomial_tail_up;
pub use convert::{delta_at_order, epsilon_at_order, epsilon_by_mironov, epsilon_up};
pub use curve::RdpCurve;
pub use ends::{kullback_leibler, largest_loss, one_order};
pub use outcome::{OutcomeRange, bad_outcome, bayes_factor, odds_moment_up};
pub use replaced::replaced_log_moment;
pub use sampled::{mixture_log_moment, sampled_gaussian_log_moment};
pub use selection::repeat_and_select;
pub use student::student_t_rdp;
pub use truncated::TruncatedPoisson;
pub(crate) use without_replacement::GaussianDifferences;
pub use without_replacement::{Inner, without_replacement_rdp};

use crate::AccountingError;
use crate::amplification::sampled_gaussian;
use crate::clipped::plain;
use long::Steps;
use reticent_core::rounding::{add_up, mul_up};
use reticent_core::{Delta, Epsilon, Event, EventLog, Neighboring};

/// Events as they add up, as a sum of Rényi curves.
///
/// # Guarantee
/// The bound holds for the sequence of all composed events, each chosen with knowledge of earlier
/// outputs if need be, under the neighbouring relation given at the start. Rounded up.
///
/// # Reference
/// Mironov, *Rényi Differential Privacy* (2017), proposition 1.
pub struct RdpAccountant {
    neighboring: Neighboring,
    parts: Vec<(u64, RdpCurve)>,
    /// Gaussian events on Poisson samples under add-remove.
    steps: Steps,
}

impl RdpAccountant {
    /// An account with nothing in it.
    pub fn new(neighboring: Neighboring) -> Self {
        Self { neighboring, parts: Vec::new(), steps: Steps::new() }
    }

    /// An account of everything in a log.
    ///
    /// # Errors
    /// [`AccountingError::Unsupported`] naming the first event without a Rényi bound.
    pub fn of_log(log: &EventLog) -> Result<Self, AccountingError> {
        let mut account = Self::new(log.neighboring);
        for event in &log.events {
            account.compose(event, 1)?;
        }
        Ok(account)
    }

    /// Adds `count` uses of an event. Nothing is added when it is not supported.
    ///
    /// # Errors
    /// [`AccountingError::Unsupported`] when the event has no Rényi bound here.
    pub fn compose(&mut self, event: &Event, count: u64) -> Result<(), AccountingError> {
        event.validate()?;
        let event = &*plain(event, self.neighboring)?;
        if let Some((rate, noise)) = sampled_gaussian(event, self.neighboring)
            && rate.get() > 0.0
            && rate.get() < 1.0
        {
            self.steps.push(count, rate.get(), noise.get());
            return Ok(());
        }
        let mut parts = Vec::new();
        curve::collect(event, count, self.neighboring, &mut parts)?;
        self.parts.extend(parts);
        Ok(())
    }

    /// The curve at a fixed list of orders, for many questions about one account.
    pub(crate) fn table(&self) -> Vec<(f64, f64)> {
        convert::orders().map(|order| (order, self.divergence_up(order))).collect()
    }

    /// D_α of everything so far, rounded up.
    pub fn divergence_up(&self, order: f64) -> f64 {
        let start = self.steps.divergence_up(order);
        self.parts
            .iter()
            .fold(start, |sum, (count, curve)| add_up(sum, mul_up(*count as f64, curve.at(order))))
    }

    /// The ε at δ by the tight conversion at the best real order, rounded up.
    ///
    /// # Errors
    /// [`AccountingError::Invalid`] when δ = 0 or no order gives a finite ε.
    pub fn epsilon_up(&self, delta: Delta) -> Result<Epsilon, AccountingError> {
        convert::checked(delta, |delta| {
            self.least(|divergence, order| epsilon_at_order(divergence, order, delta))
        })
    }

    /// The δ at ε by the tight conversion at the best real order, rounded up; 1 where there is none.
    pub fn delta_up(&self, epsilon: Epsilon) -> f64 {
        self.least(|divergence, order| delta_at_order(divergence, order, epsilon)).min(1.0)
    }
}

#[cfg(test)]
mod sampler_tests;
#[cfg(test)]
mod tests;
