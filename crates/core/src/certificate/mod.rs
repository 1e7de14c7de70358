//! What a release leaves behind.

mod chain;
mod wire;

use wire::Wire;
pub(crate) use wire::{Version, are_decided};

use crate::rounding::add_up;
use crate::{Delta, Epsilon, Event, Fact, InvalidValue, Neighboring};
use serde::{Deserialize, Serialize};
use std::fmt;

/// An (ε, δ) claim; both numbers are upper bounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Guarantee {
    /// The ε, rounded up.
    pub epsilon: Epsilon,
    /// The δ, rounded up; 0 for a pure guarantee.
    pub delta: Delta,
}

impl Guarantee {
    /// A pure claim, δ = 0.
    pub fn pure(epsilon: Epsilon) -> Self {
        Self { epsilon, delta: Delta::ZERO }
    }

    /// The event of anything with this guarantee.
    pub fn claim(self) -> Event {
        let Self { epsilon, delta } = self;
        if delta.get() == 0.0 { Event::Pure { epsilon } } else { Event::Approximate { epsilon, delta } }
    }

    /// Both mechanisms on the same data, by basic composition.
    ///
    /// # Guarantee
    /// For either neighbouring relation, and also when the second mechanism is chosen by looking at
    /// the first one's output, as long as `next` bounds it for every output: ε and δ add up, each rounded up.
    ///
    /// # Reference
    /// Dwork, Roth, *The Algorithmic Foundations of Differential Privacy* (2014), theorem 3.16.
    ///
    /// # Errors
    /// [`InvalidValue`] when the sum is no longer a guarantee (δ ≥ 1 or ε infinite).
    pub fn then(self, next: Self) -> Result<Self, InvalidValue> {
        Ok(Self {
            epsilon: Epsilon::new(add_up(self.epsilon.get(), next.epsilon.get()))?,
            delta: Delta::new(add_up(self.delta.get(), next.delta.get()))?,
        })
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.delta.get() == 0.0 {
            write!(f, "ε = {}", self.epsilon)
        } else {
            write!(f, "ε = {}, δ = {:e}", self.epsilon, self.delta.get())
        }
    }
}

/// What was protected, what happened, and what it adds up to.
///
/// Its JSON has a `version`. One without it is from before there was one; one of a later version is refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Wire")]
#[non_exhaustive]
pub struct Certificate {
    version: Version,
    /// Whose presence is protected, e.g. `row`.
    pub unit: String,
    /// The neighbouring relation of every sensitivity and of the claim.
    pub neighboring: Neighboring,
    /// The events, in sequence. Each bounds what happened whatever the earlier ones answered, so any accountant may
    /// compose them.
    pub events: Vec<Event>,
    /// What happened with parameters that an earlier private answer decided, such as the sampling rate and the noise
    /// after a noisy count. Another answer would have led to other events, so composing these proves nothing:
    /// `events` has a claim in their place that holds for every answer. Empty where every parameter was fixed
    /// beforehand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub adaptive: Vec<Event>,
    /// The claim, rounded up.
    #[serde(flatten)]
    pub guarantee: Guarantee,
    /// How the claim follows from the events.
    pub accountant: String,
    /// What was taken as public: bounds, categories, the number of records.
    pub public: Vec<Fact>,
}

impl Certificate {
    /// The certificate of events that were all fixed before the first draw.
    ///
    /// # Guarantee
    /// None of its own: `guarantee` must follow from the events in the way that `accountant` says.
    ///
    /// # Reference
    /// That of the accountant.
    pub fn compose(
        unit: impl Into<String>,
        neighboring: Neighboring,
        events: Vec<Event>,
        guarantee: Guarantee,
        accountant: impl Into<String>,
        public: Vec<Fact>,
    ) -> Self {
        let (unit, accountant) = (unit.into(), accountant.into());
        Self {
            version: Version,
            unit,
            neighboring,
            events,
            adaptive: Vec::new(),
            guarantee,
            accountant,
            public,
        }
    }
}

#[cfg(test)]
mod tests;
