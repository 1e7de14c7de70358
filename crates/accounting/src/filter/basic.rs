//! The basic filter: every plan is summarised by an (ε, δ) when it is admitted; these add up.

use super::cost::Price;
use crate::AccountingError;
use reticent_core::rounding::{add_up, sub_down};
use reticent_core::{Delta, Epsilon, Guarantee};

/// A plan of ρ-zCDP is far beyond a total ε when ρ is so many times ε² (and this number itself).
const FAR: f64 = 1e4;

/// Claims within a total.
///
/// # Guarantee
/// The interaction is (ε, δ)-private for the total when Σεᵢ ≤ ε and Σδᵢ ≤ δ on every path, each claim being chosen
/// when its plan is admitted.
///
/// # Reference
/// Rogers, Roth, Ullman, Vadhan, *Privacy odometers and filters* (2016), section 4.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Basic {
    pub(super) total: Guarantee,
    pub(super) epsilon: f64,
    pub(super) delta: f64,
}

impl Basic {
    pub(super) fn new(total: Guarantee) -> Self {
        Self { total, epsilon: 0.0, delta: 0.0 }
    }

    /// The state after a plan; none when no claim of the plan fits.
    ///
    /// A plan has many claims: its events' own sum, and what the tight accountant says at any δ. Tried are the sum and half
    /// of what is left of δ, of which the one that leaves the larger shares is taken; and all that is left where neither fits.
    pub(super) fn then(&self, price: &Price) -> Result<Option<Self>, AccountingError> {
        let plain = price.plain().and_then(|claim| self.with(claim.epsilon.get(), claim.delta.get()));
        if price.is_quick || price.is_single && plain.is_some() || self.is_far(price) {
            return Ok(plain);
        }
        let left = sub_down(self.total.delta.get(), self.delta);
        let mut best = plain;
        for share in [0.5, 1.0] {
            // The tight account takes nearly all the time of a charge.
            if share == 1.0 && best.is_some() {
                break;
            }
            let delta = left * share;
            if let Some(epsilon) = tight(price, delta)?
                && let Some(next) = self.with(epsilon, delta)
                && best.as_ref().is_none_or(|best| next.used() < best.used())
            {
                best = Some(next);
            }
        }
        if best.is_none() && self.covers(price, left)? {
            best = Some(Self {
                total: self.total,
                epsilon: self.total.epsilon.get(),
                delta: self.total.delta.get(),
            });
        }
        Ok(best)
    }

    /// Whether the plan is certainly far beyond the total. Nothing rests on it: the tight account, which takes longest for
    /// such plans, is left out.
    fn is_far(&self, price: &Price) -> bool {
        let (epsilon, rho) = (self.total.epsilon.get(), price.cost.concentrated);
        rho.is_finite() && rho > FAR * epsilon.max(1.0) * epsilon.max(1.0)
    }

    fn with(&self, epsilon: f64, delta: f64) -> Option<Self> {
        let (epsilon, delta) = (add_up(self.epsilon, epsilon), add_up(self.delta, delta));
        let fits = epsilon <= self.total.epsilon.get() && delta <= self.total.delta.get();
        fits.then_some(Self { total: self.total, epsilon, delta })
    }

    /// The shares of ε and δ that are used, added up.
    fn used(&self) -> f64 {
        let share = |part: f64, whole: f64| if part == 0.0 { 0.0 } else { part / whole };
        share(self.epsilon, self.total.epsilon.get()) + share(self.delta, self.total.delta.get())
    }

    /// Whether the plan stays within all that is left.
    fn covers(&self, price: &Price, left: f64) -> Result<bool, AccountingError> {
        let epsilon = sub_down(self.total.epsilon.get(), self.epsilon);
        if left <= 0.0 || epsilon < 0.0 {
            return Ok(false);
        }
        let rest = Guarantee { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(left)? };
        Ok(known(price.account.meets(rest))?.unwrap_or(false))
    }
}

/// The plan's ε at δ by the tight accountant; none where it has none.
fn tight(price: &Price, delta: f64) -> Result<Option<f64>, AccountingError> {
    if delta <= 0.0 {
        return Ok(None);
    }
    Ok(known(price.account.epsilon(Delta::new(delta)?))?.map(|answer| answer.upper))
}

/// An answer, or nothing where no bound is known.
fn known<T>(found: Result<T, AccountingError>) -> Result<Option<T>, AccountingError> {
    match found {
        Ok(found) => Ok(Some(found)),
        // A δ that is too small for the events.
        Err(AccountingError::Unsupported { .. } | AccountingError::Impossible(_)) => Ok(None),
        Err(AccountingError::Invalid(invalid)) if invalid.field == "delta" => Ok(None),
        Err(error) => Err(error),
    }
}
