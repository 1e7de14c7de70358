//! One accountant over all events and all theorems: compose, then ask.
//!
//! ```
//! use reticent_accounting::{Accountant, CompositionMethod};
//! use reticent_core::{Delta, Event, Neighboring, NoiseMultiplier, SamplingRate};
//!
//! let step = Event::PoissonSampled {
//!     rate: SamplingRate::new(0.01)?,
//!     event: Box::new(Event::Gaussian { noise_multiplier: NoiseMultiplier::new(1.0)? }),
//! };
//! let mut accountant = Accountant::new(Neighboring::AddRemove, CompositionMethod::Pld);
//! accountant.compose(&step, 10_000)?;
//! let epsilon = accountant.epsilon(Delta::new(1e-5)?)?;
//! assert!(epsilon.lower <= 6.187713 && epsilon.upper >= 6.187712);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod claims;
mod outcome;
mod profile;
mod revealed;
mod tally;

use claims::{Claims, plain_sum};
pub(crate) use claims::{Own, is_plain};
use outcome::best;
pub(crate) use profile::Profile;
use profile::{Renyi, Tight};
use revealed::CheckedDelta;
pub(crate) use revealed::revealed;
pub(crate) use revealed::{leak, probability, thinned};
pub use tally::EventTally;
pub(crate) use tally::{Grid, is_idle, worse};

use crate::AccountingError;
use crate::rdp::RdpAccountant;
use crate::tight::{Bracket, Direction, TightAccountant, checked_width};
use reticent_core::{Delta, Epsilon, Event, EventLog, Guarantee, InvalidValue, Neighboring};
use std::fmt;
use std::str::FromStr;

/// The theorem that adds events up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompositionMethod {
    /// Distributions of the privacy loss, with certified upper and lower bounds; the Rényi bound where an event has no distribution.
    Pld,
    /// Rényi divergences at the best real order.
    Rdp,
    /// The moments accountant of Abadi et al.: 32 integer moments and the older conversion.
    Moments,
    /// Optimal composition of the events' own (ε, δ).
    Optimal,
    /// Advanced composition of the events' own (ε, δ).
    Advanced,
    /// Sums of the events' own (ε, δ).
    Basic,
}

impl CompositionMethod {
    /// All of them, from the tightest to the loosest.
    pub const ALL: [Self; 6] =
        [Self::Pld, Self::Rdp, Self::Moments, Self::Optimal, Self::Advanced, Self::Basic];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pld => "pld",
            Self::Rdp => "rdp",
            Self::Moments => "moments",
            Self::Optimal => "optimal",
            Self::Advanced => "advanced",
            Self::Basic => "basic",
        }
    }
}

impl fmt::Display for CompositionMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for CompositionMethod {
    type Err = InvalidValue;

    fn from_str(name: &str) -> Result<Self, InvalidValue> {
        Self::ALL.into_iter().find(|method| method.name() == name).ok_or_else(|| {
            InvalidValue::new("accountant", name, "give pld, rdp, moments, optimal, advanced or basic")
        })
    }
}

/// In longer lists the events' own claims are added up only where nothing else answers.
const MOST_CLAIMED: usize = 1000;

/// Certified lower and upper bounds on a number; the upper bound is what may be claimed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CertifiedBounds {
    /// No smaller claim follows from the events: mechanisms they allow lose at least this. 0 where nothing is known.
    pub lower: f64,
    /// The claim, rounded up.
    pub upper: f64,
    /// The direction that decides; remove where both are alike or the method does not tell them apart.
    pub direction: Direction,
    /// The method that gave the upper end.
    pub method: CompositionMethod,
}

/// What is spent and left of a budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// ε spent at the budget's δ, rounded up.
    pub spent: Epsilon,
    /// What is left of the budget's ε, rounded down; not below 0.
    pub left: f64,
}

/// Different events at most where δ is asked for at many points: a trade-off curve, say.
const PROFILE_KINDS: usize = 32;

/// Events as they add up, by one method.
///
/// # Guarantee
/// The upper ends of [`epsilon`](Self::epsilon) and [`delta`](Self::delta) hold for the sequence of all
/// composed events under the relation given at the start, also when an event's input depends on earlier outputs,
/// as long as the list of events itself does not. A list that is cut short by looking at outputs is covered, as
/// [`fits`](Self::fits) is asked before each event, by the Rényi method (Feldman, Zrnic 2021).
///
/// # Reference
/// Each method's own module.
#[derive(Debug, Clone)]
pub struct Accountant {
    neighboring: Neighboring,
    method: CompositionMethod,
    tally: EventTally,
    /// The wanted width of the tight method's brackets; none for its own.
    width: Option<f64>,
}

impl Accountant {
    /// An account with nothing in it.
    pub fn new(neighboring: Neighboring, method: CompositionMethod) -> Self {
        Self { neighboring, method, tally: EventTally::default(), width: None }
    }

    /// The same account with brackets of about this relative width where the method is [`CompositionMethod::Pld`]: see
    /// [`TightAccountant::with_width`].
    ///
    /// # Errors
    /// [`AccountingError::Invalid`] for a width that is not between 10⁻⁹ and 0.5.
    pub fn with_width(self, width: f64) -> Result<Self, AccountingError> {
        Ok(Self { width: Some(checked_width(width)?), ..self })
    }

    /// An account of everything in a log.
    ///
    /// # Errors
    /// As [`compose`](Self::compose).
    pub fn of_log(log: &EventLog, method: CompositionMethod) -> Result<Self, AccountingError> {
        let mut account = Self::new(log.neighboring, method);
        log.events.iter().try_for_each(|event| account.compose(event, 1))?;
        Ok(account)
    }

    /// Adds `count` uses of an event; nothing when it fails.
    ///
    /// # Errors
    /// [`AccountingError::Invalid`] when the event's fields do not fit together or the total count overflows.
    pub fn compose(&mut self, event: &Event, count: u64) -> Result<(), AccountingError> {
        event.validate()?;
        self.tally.add(event, count)
    }

    /// The neighbouring relation.
    pub fn neighboring(&self) -> Neighboring {
        self.neighboring
    }

    /// The method.
    pub fn method(&self) -> CompositionMethod {
        self.method
    }

    /// The same events by another method.
    pub fn by(&self, method: CompositionMethod) -> Self {
        Self { method, ..self.clone() }
    }

    /// What was composed: simple events with their numbers.
    pub fn tally(&self) -> &EventTally {
        &self.tally
    }

    /// ε at δ.
    ///
    /// # Guarantee
    /// (upper, δ) is true; see [`CertifiedBounds::lower`] for the other side.
    ///
    /// # Reference
    /// Each method's own module.
    ///
    /// # Errors
    /// [`AccountingError::Invalid`] when δ = 0, [`AccountingError::Impossible`] when it is below what the events reveal
    /// outright, [`AccountingError::Unsupported`] when the method has no bound for an event.
    pub fn epsilon(&self, delta: Delta) -> Result<CertifiedBounds, AccountingError> {
        let asked = CheckedDelta::new(delta, &self.tally, self.neighboring)?;
        let answer =
            |upper: f64, method| CertifiedBounds { lower: 0.0, upper, direction: Direction::Remove, method };
        if self.tally.parts().is_empty() {
            return Ok(answer(0.0, self.method));
        }
        let tally = &self.tally;
        let found = match self.method {
            CompositionMethod::Pld => {
                let exact = self.tight(|t| t.epsilon(asked.delta()))?;
                let renyi = || Renyi::new(tally, self.neighboring)?.epsilon(asked);
                let claims =
                    || Claims::new(tally, self.neighboring, CompositionMethod::Optimal)?.epsilon(asked);
                let found =
                    self.rounded(best(exact, renyi, claims, tally.parts().len() <= MOST_CLAIMED)?, delta);
                match plain_sum(tally, self.neighboring, asked) {
                    Some(sum) if sum < found.upper * (1.0 - 1e-12) && sum >= found.lower * (1.0 - 1e-9) => {
                        CertifiedBounds {
                            upper: sum,
                            lower: found.lower.min(sum),
                            method: CompositionMethod::Basic,
                            ..found
                        }
                    }
                    _ => found,
                }
            }
            CompositionMethod::Rdp => {
                answer(Renyi::new(tally, self.neighboring)?.epsilon(asked)?, CompositionMethod::Rdp)
            }
            CompositionMethod::Moments => {
                answer(Renyi::new(tally, self.neighboring)?.moments(asked)?, CompositionMethod::Moments)
            }
            CompositionMethod::Basic | CompositionMethod::Advanced | CompositionMethod::Optimal => {
                answer(Claims::new(tally, self.neighboring, self.method)?.epsilon(asked)?, self.method)
            }
        };
        let known = Some(found.lower).filter(|lower| *lower > 0.0);
        let floor = match known {
            Some(lower) => lower,
            None => self.floor()?.floor_epsilon(delta),
        };
        Ok(CertifiedBounds { lower: floor.min(found.upper), ..found })
    }

    /// δ at ε.
    ///
    /// # Guarantee
    /// (ε, upper) is true; see [`CertifiedBounds::lower`] for the other side.
    ///
    /// # Reference
    /// Each method's own module.
    ///
    /// # Errors
    /// [`AccountingError::Unsupported`] when the method has no bound for an event.
    pub fn delta(&self, epsilon: Epsilon) -> Result<CertifiedBounds, AccountingError> {
        let found = self.delta_up(epsilon)?;
        let known = Some(found.lower).filter(|lower| *lower > 0.0);
        let floor = match known {
            Some(lower) => lower,
            None => self.floor()?.floor_delta(epsilon),
        };
        let lower = floor.max(revealed(&self.tally, self.neighboring)).min(found.upper);
        Ok(CertifiedBounds { lower, ..found })
    }

    /// δ at ε with a lower end only where it comes for free.
    fn delta_up(&self, epsilon: Epsilon) -> Result<CertifiedBounds, AccountingError> {
        let answer =
            |upper: f64, method| CertifiedBounds { lower: 0.0, upper, direction: Direction::Remove, method };
        if self.tally.parts().is_empty() {
            return Ok(answer(0.0, self.method));
        }
        let tally = &self.tally;
        let found = match self.method {
            CompositionMethod::Pld => {
                let exact = self.tight(|t| t.delta(epsilon))?;
                let renyi = || Renyi::new(tally, self.neighboring)?.delta(epsilon);
                let claims =
                    || Claims::new(tally, self.neighboring, CompositionMethod::Optimal)?.delta(epsilon);
                best(exact, renyi, claims, false)?
            }
            CompositionMethod::Rdp => {
                answer(Renyi::new(tally, self.neighboring)?.delta(epsilon)?, CompositionMethod::Rdp)
            }
            CompositionMethod::Moments => answer(
                Renyi::new(tally, self.neighboring)?.moments_delta(epsilon),
                CompositionMethod::Moments,
            ),
            CompositionMethod::Basic | CompositionMethod::Advanced | CompositionMethod::Optimal => {
                answer(Claims::new(tally, self.neighboring, self.method)?.delta(epsilon)?, self.method)
            }
        };
        // No method may claim less than what is revealed outright.
        Ok(CertifiedBounds { upper: found.upper.max(revealed(&self.tally, self.neighboring)), ..found })
    }

    /// A number of four digits just below the answer, where δ there confirms it: the two ways to ask agree to some parts in a
    /// million, and what was planned for ε = 1 is found to cost 1.
    fn rounded(&self, found: CertifiedBounds, delta: Delta) -> CertifiedBounds {
        let unit = libm::pow(10.0, libm::floor(libm::log10(found.upper)) - 3.0);
        let rounded = libm::floor(found.upper / unit) * unit;
        let is_near = rounded < found.upper && found.upper - rounded <= 1e-5 * found.upper;
        if !is_near || rounded < found.lower {
            return found;
        }
        match Epsilon::new(rounded).ok().and_then(|epsilon| self.delta_up(epsilon).ok()) {
            Some(confirmed) if confirmed.upper <= delta.get() => {
                CertifiedBounds { upper: rounded, method: confirmed.method, ..found }
            }
            _ => found,
        }
    }

    /// The exact answer, or why there is none. Where the list is too long for its kinds of events, that of fewer, slightly
    /// worse ones, without a lower end.
    fn tight(
        &self,
        ask: impl Fn(&TightAccountant) -> Result<Bracket, AccountingError>,
    ) -> Result<Result<Bracket, AccountingError>, AccountingError> {
        let whole = Tight::new(&self.tally, self.neighboring, self.width)?;
        let found = whole.ceiling(&ask);
        if self.tally.parts().len() <= PROFILE_KINDS
            || whole.is_refused()
            || !matches!(found, Err(AccountingError::Unsupported { .. }))
        {
            return Ok(found);
        }
        let fewer = self.tally.fewer(PROFILE_KINDS)?;
        let rounded = Tight::new(&fewer, self.neighboring, self.width)?.ceiling(&ask);
        Ok(rounded.map(|bracket| Bracket { lower: 0.0, ..bracket }))
    }

    /// The account whose floor is below the truth.
    fn floor(&self) -> Result<TightAccountant, AccountingError> {
        Ok(Tight::new(&self.tally, self.neighboring, self.width)?.account)
    }

    /// Whether the events stay within (ε, δ).
    ///
    /// # Guarantee
    /// `true` only when the claim is true.
    ///
    /// # Reference
    /// As [`epsilon`](Self::epsilon).
    ///
    /// # Errors
    /// As [`epsilon`](Self::epsilon).
    pub fn meets(&self, budget: Guarantee) -> Result<bool, AccountingError> {
        Ok(self.excess(budget)? <= 0.0)
    }

    /// ln of what is spent over what is allowed: of δ where the method gives it at once, of ε otherwise.
    pub(crate) fn excess(&self, budget: Guarantee) -> Result<f64, AccountingError> {
        let (spent, allowed) = match self.method {
            CompositionMethod::Pld | CompositionMethod::Rdp | CompositionMethod::Moments => {
                (self.delta_up(budget.epsilon)?.upper, budget.delta.get())
            }
            CompositionMethod::Optimal | CompositionMethod::Advanced | CompositionMethod::Basic => {
                (self.epsilon(budget.delta)?.upper, budget.epsilon.get())
            }
        };
        if spent <= allowed {
            return Ok(if spent == 0.0 { -700.0 } else { libm::log(spent / allowed).clamp(-700.0, 0.0) });
        }
        Ok(libm::log(spent / allowed).clamp(f64::MIN_POSITIVE, 700.0))
    }

    /// Whether `count` more uses of an event would stay within the budget. Nothing is composed.
    ///
    /// # Guarantee
    /// As [`meets`](Self::meets).
    ///
    /// # Reference
    /// As [`epsilon`](Self::epsilon).
    ///
    /// # Errors
    /// As [`compose`](Self::compose) and [`epsilon`](Self::epsilon).
    pub fn fits(&self, event: &Event, count: u64, budget: Guarantee) -> Result<bool, AccountingError> {
        let mut after = self.clone();
        after.compose(event, count)?;
        after.meets(budget)
    }

    /// What is spent and what is left of a budget.
    ///
    /// # Guarantee
    /// The spent ε is rounded up, what is left down.
    ///
    /// # Reference
    /// As [`epsilon`](Self::epsilon).
    ///
    /// # Errors
    /// As [`epsilon`](Self::epsilon).
    pub fn standing(&self, budget: Guarantee) -> Result<Standing, AccountingError> {
        let spent = Epsilon::new(self.epsilon(budget.delta)?.upper)?;
        Ok(Standing { spent, left: (budget.epsilon.get() - spent.get()).next_down().max(0.0) })
    }

    /// The largest number of further uses of an event that stay within the budget.
    ///
    /// # Guarantee
    /// As [`meets`](Self::meets), for the returned number of uses.
    ///
    /// # Reference
    /// As [`epsilon`](Self::epsilon).
    ///
    /// # Errors
    /// As [`fits`](Self::fits).
    pub fn uses_left(&self, event: &Event, budget: Guarantee) -> Result<u64, AccountingError> {
        crate::calibrate::largest_count(|count| self.fits(event, count, budget))
    }

    /// The account, ready for many questions about δ in one direction.
    pub(crate) fn profile(&self) -> Result<Profile, AccountingError> {
        let tally = self.tally.fewer(PROFILE_KINDS)?;
        let tight = Tight::new(&tally, self.neighboring, self.width)?;
        let known = tight.ceiling(|account| account.delta_one_way(Epsilon::new(1.0)?, Direction::Remove));
        if known.is_ok() {
            return Ok(Profile::Tight(Box::new(tight.account)));
        }
        let renyi = Renyi::new(&tally, self.neighboring)?;
        Ok(Profile::Renyi { table: renyi.account.table(), renyi })
    }

    /// D_α of everything so far at an order above 1, rounded up.
    ///
    /// # Guarantee
    /// An upper bound on the Rényi divergence in both directions; infinite where none is known.
    ///
    /// # Reference
    /// Mironov (2017).
    ///
    /// # Errors
    /// [`AccountingError::Unsupported`] when an event has no Rényi bound.
    pub fn divergence(&self, order: f64) -> Result<f64, AccountingError> {
        Ok(self.renyi()?.divergence_up(order))
    }

    /// The Rényi curve of everything so far, for many questions about it.
    ///
    /// # Guarantee
    /// As [`divergence`](Self::divergence), at every order.
    ///
    /// # Reference
    /// Mironov (2017).
    ///
    /// # Errors
    /// [`AccountingError::Unsupported`] when an event has no Rényi bound.
    pub fn renyi(&self) -> Result<RdpAccountant, AccountingError> {
        let mut account = RdpAccountant::new(self.neighboring);
        for (count, event) in self.tally.parts() {
            account.compose(event, *count)?;
        }
        Ok(account)
    }
}

#[cfg(test)]
mod leak_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod truth_tests;
