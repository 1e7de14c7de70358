//! What a release leaves behind.

use crate::rounding::add_up;
use crate::{Delta, Epsilon, Event, InvalidValue, Neighboring};
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// Whose presence is protected, e.g. `row`.
    pub unit: String,
    /// The neighbouring relation of every sensitivity and of the claim.
    pub neighboring: Neighboring,
    /// The events, in sequence. Each bounds what happened whatever the earlier ones answered, so any accountant may
    /// compose them.
    #[serde(deserialize_with = "crate::event::validated")]
    pub events: Vec<Event>,
    /// What happened with parameters that an earlier private answer decided, such as the sampling rate and the noise
    /// after a noisy count. Another answer would have led to other events, so composing these proves nothing:
    /// `events` has a claim in their place that holds for every answer. Empty where every parameter was fixed
    /// beforehand.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "crate::event::validated")]
    pub adaptive: Vec<Event>,
    /// The claim, rounded up.
    #[serde(flatten)]
    pub guarantee: Guarantee,
    /// How the claim follows from the events.
    pub accountant: String,
    /// What was taken as public: bounds, categories, the number of records.
    pub public: Vec<String>,
}

impl Certificate {
    /// The certificate of this mechanism run after others whose answers decided its parameters.
    ///
    /// `before` is what came first, with its cost; `share` is what this mechanism was held to, whatever they answered.
    /// Its own events become a record of what happened to be chosen, and its own ε, which that choice decided, is not
    /// claimed.
    ///
    /// # Guarantee
    /// If `before` is (ε₀, δ₀)-private and, for every answer of it, this mechanism is (ε₁, δ₁)-private with (ε₁, δ₁) =
    /// `share`, then the two together are (ε₀ + ε₁, δ₀ + δ₁)-private. The events of the result are those of `before` and
    /// one claim of `share`; each has a pair of distributions that dominates it for every answer, so any accountant may
    /// compose them. The mechanism's own events have no such pair.
    ///
    /// # Reference
    /// Dwork, Roth (2014), theorem 3.16 and appendix B; Rogers, Roth, Ullman, Vadhan, *Privacy odometers and filters*
    /// (2016), for what fails when later parameters are chosen by earlier answers.
    ///
    /// # Errors
    /// [`InvalidValue`] when the certificate claims more than `share`, or the sum is no guarantee.
    pub fn after(self, before: &[Event], cost: Guarantee, share: Guarantee) -> Result<Self, InvalidValue> {
        let own = self.guarantee;
        if own.epsilon > share.epsilon || own.delta > share.delta {
            return Err(InvalidValue::new("share", share, format!("give at least what was spent, {own}")));
        }
        let mut events = before.to_vec();
        events.push(share.claim());
        let adaptive = [self.adaptive, self.events].concat();
        Ok(Self { events, adaptive, guarantee: cost.then(share)?, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guarantee(epsilon: f64, delta: f64) -> Guarantee {
        Guarantee { epsilon: Epsilon::new(epsilon).unwrap(), delta: Delta::new(delta).unwrap() }
    }

    #[test]
    fn composition_adds_and_rounds_up() {
        let total = guarantee(0.1, 1e-6).then(guarantee(0.2, 0.0)).unwrap();
        assert!(total.epsilon.get() >= 0.3 && total.epsilon.get() < 0.3 + 1e-15);
        assert_eq!(guarantee(0.5, 0.0).then(guarantee(0.5, 0.0)).unwrap().epsilon.get(), 1.0);
        assert!(guarantee(1.0, 0.6).then(guarantee(1.0, 0.6)).is_err());
        assert!(guarantee(f64::MAX, 0.0).then(guarantee(f64::MAX, 0.0)).is_err());
    }

    #[test]
    fn json_is_flat() {
        let certificate = Certificate {
            unit: "row".into(),
            neighboring: Neighboring::ReplaceOne,
            events: vec![Event::Pure { epsilon: Epsilon::new(1.0).unwrap() }],
            adaptive: Vec::new(),
            guarantee: guarantee(1.0, 0.0),
            accountant: "basic composition".into(),
            public: vec![],
        };
        let json = serde_json::to_value(&certificate).unwrap();
        assert_eq!(json["epsilon"], 1.0);
        assert_eq!(json["neighboring"], "replace-one");
        assert!(json.get("adaptive").is_none());
        assert_eq!(serde_json::from_value::<Certificate>(json).unwrap(), certificate);
    }

    #[test]
    fn what_an_answer_decided_is_claimed_at_its_share_and_not_composed() {
        let steps = Event::Zcdp { rho: crate::Rho::new(0.1).unwrap() };
        let own = Certificate {
            unit: "row".into(),
            neighboring: Neighboring::AddRemove,
            events: vec![steps.clone()],
            adaptive: Vec::new(),
            guarantee: guarantee(2.9, 1e-6),
            accountant: "tight accounting".into(),
            public: vec![],
        };
        let count = Event::Pure { epsilon: Epsilon::new(0.0625).unwrap() };
        let (cost, share) = (guarantee(0.0625, 0.0), guarantee(2.9375, 1e-6));
        let whole = own.clone().after(std::slice::from_ref(&count), cost, share).unwrap();
        // The share, and not the 2.9 that the steps happened to cost.
        assert_eq!(whole.guarantee, guarantee(3.0, 1e-6));
        assert_eq!(whole.events, [count, share.claim()]);
        assert_eq!(whole.adaptive, [steps]);
        let json = serde_json::to_value(&whole).unwrap();
        assert_eq!(serde_json::from_value::<Certificate>(json).unwrap(), whole);
        // A share that does not cover what was spent is no bound.
        assert!(own.clone().after(&[], cost, guarantee(2.8, 1e-6)).is_err());
        assert!(own.after(&[], cost, guarantee(2.9375, 0.0)).is_err());
    }
}
