use super::logistic::quick_quantile;
use crate::AuditError;
use reticent_accounting::Accountant;
use reticent_core::special::normal_tail;
use reticent_core::{Delta, Epsilon, NoiseMultiplier, profile};
use std::fmt;

/// For a true-positive rate, the least false-positive rate at which a mechanism lets an attacker reach it: convex, increasing,
/// never above the true-positive rate; rounded down.
pub type TradeoffCurve = Box<dyn Fn(f64) -> f64>;

/// The trade-off curves among which the mechanism is sought.
#[derive(Debug, Clone, Copy)]
pub enum Tradeoff<'a> {
    /// Those of (ε, δ), by ε: nothing is assumed about the mechanism.
    Approximate,
    /// Those of the Gaussian mechanism, by μ = 1/noise multiplier.
    Gaussian,
    /// Any other.
    Declared(&'a dyn Family),
}

/// Trade-off curves of mechanisms that differ in one number, from none lost to much.
pub trait Family: fmt::Debug {
    /// What the mechanism is declared to be, for the premise of a bound.
    fn about(&self) -> String;

    /// The largest size to consider; sizes start at 0, where nothing is lost.
    fn most(&self) -> f64;

    /// The curve at a size. Larger sizes allow attackers at least as much; the curve is that of both directions of the
    /// neighbouring relation.
    ///
    /// # Errors
    /// Whatever keeps the curve from being known.
    fn curve(&self, size: f64) -> Result<TradeoffCurve, AuditError>;

    /// An ε that the mechanism of this size certainly exceeds or reaches at δ, rounded down.
    ///
    /// # Errors
    /// Whatever keeps it from being known.
    fn epsilon(&self, size: f64, delta: f64) -> Result<f64, AuditError>;
}

/// (ε, δ) for one δ.
#[derive(Debug)]
pub(super) struct Approximate {
    pub(super) delta: f64,
}

impl Family for Approximate {
    fn about(&self) -> String {
        "nothing is assumed about the mechanism".to_owned()
    }

    fn most(&self) -> f64 {
        700.0
    }

    fn curve(&self, size: f64) -> Result<TradeoffCurve, AuditError> {
        Ok(supported(vec![(size, self.delta)]))
    }

    fn epsilon(&self, size: f64, _delta: f64) -> Result<f64, AuditError> {
        Ok(size)
    }
}

/// The curve that a list of true (ε, δ) gives: x ↦ the largest of 0, e^{−ε}(x − δ) and 1 − δ − e^ε(1 − x).
fn supported(guarantees: Vec<(f64, f64)>) -> TradeoffCurve {
    let lines: Vec<(f64, f64, f64)> = guarantees
        .into_iter()
        .map(|(epsilon, delta)| (libm::exp(epsilon).next_up().next_up(), libm::exp(-epsilon), delta))
        .collect();
    Box::new(move |x| {
        let floor = |(grow, shrink, delta): &(f64, f64, f64)| {
            let first = shrink * (x - delta) * (1.0 - 4.0 * f64::EPSILON);
            first.max(1.0 - delta - grow * (1.0 - x) - 2.0 * f64::EPSILON)
        };
        lines.iter().map(floor).fold(0.0, f64::max)
    })
}

/// The Gaussian mechanism, by μ.
#[derive(Debug)]
pub(super) struct Gaussian;

impl Family for Gaussian {
    fn about(&self) -> String {
        "the mechanism is Gaussian: its trade-off curve is that of some μ".to_owned()
    }

    fn most(&self) -> f64 {
        64.0
    }

    fn curve(&self, size: f64) -> Result<TradeoffCurve, AuditError> {
        Ok(Box::new(move |x| {
            if x <= 0.0 {
                return 0.0;
            }
            if x >= 1.0 {
                return 1.0;
            }
            let t = quick_quantile(x);
            normal_tail(t + size + 1e-12 * (1.0 + t.abs() + size))
        }))
    }

    fn epsilon(&self, size: f64, delta: f64) -> Result<f64, AuditError> {
        gaussian_epsilon(size, delta)
    }
}

/// The ε that Gaussian noise of multiplier 1/μ certainly exceeds at δ, rounded down.
pub(super) fn gaussian_epsilon(mu: f64, delta: f64) -> Result<f64, AuditError> {
    if delta <= 0.0 {
        let remedy = "give a delta above 0: Gaussian noise has no finite epsilon at delta = 0";
        return Err(AuditError::setting("delta", delta, remedy));
    }
    let mu = mu * (1.0 - 4.0 * f64::EPSILON);
    if !(mu > 0.0 && (1.0 / mu).is_finite()) {
        return Ok(0.0);
    }
    let multiplier = NoiseMultiplier::new(1.0 / mu)?;
    let exceeded = |epsilon: f64| -> Result<bool, AuditError> {
        Ok(profile::gaussian_delta_down(Epsilon::new(epsilon)?, multiplier) > delta)
    };
    super::largest_rejected(1e6, exceeded)
}

/// Mechanisms an accountant knows, such as a list of events whose noise is divided by the size.
///
/// The curve at a size is made from pairs (ε, δ) of the account, each rounded up, so that it lies on the safe side of the
/// mechanism's own.
pub struct AccountedFamily<F> {
    about: String,
    most: f64,
    account: F,
}

impl<F: Fn(f64) -> Result<Accountant, AuditError>> AccountedFamily<F> {
    /// A family by the account of each size.
    ///
    /// # Errors
    /// [`AuditError::Invalid`] when `most` is not a finite number above 0.
    pub fn new(about: impl Into<String>, most: f64, account: F) -> Result<Self, AuditError> {
        if !(most > 0.0 && most.is_finite()) {
            return Err(AuditError::invalid("most", most, "give the largest size to consider, e.g. 10"));
        }
        Ok(Self { about: about.into(), most, account })
    }
}

impl<F> fmt::Debug for AccountedFamily<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccountedFamily")
            .field("about", &self.about)
            .field("most", &self.most)
            .finish_non_exhaustive()
    }
}

impl<F: Fn(f64) -> Result<Accountant, AuditError>> Family for AccountedFamily<F> {
    fn about(&self) -> String {
        self.about.clone()
    }

    fn most(&self) -> f64 {
        self.most
    }

    fn curve(&self, size: f64) -> Result<TradeoffCurve, AuditError> {
        if size == 0.0 {
            return Ok(supported(vec![(0.0, 0.0)]));
        }
        let account = (self.account)(size)?;
        let mut guarantees = vec![];
        for place in 0..64 {
            let epsilon = if place == 0 { 0.0 } else { 0.02 * libm::pow(1.13, f64::from(place - 1)) };
            let delta = account.delta(Epsilon::new(epsilon)?)?.upper;
            guarantees.push((epsilon, delta));
            if delta < 1e-12 {
                break;
            }
        }
        Ok(supported(guarantees))
    }

    fn epsilon(&self, size: f64, delta: f64) -> Result<f64, AuditError> {
        if size == 0.0 {
            return Ok(0.0);
        }
        Ok((self.account)(size)?.epsilon(Delta::new(delta)?)?.lower)
    }
}
