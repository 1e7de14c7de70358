//! What a release leaves behind.

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

/// The version of certificates that is written. It is not in the JSON of version 1.
const VERSION: u64 = 1;

/// What was protected, what happened, and what it adds up to.
///
/// Its JSON has no `version`, which means 1; a certificate of a later version is refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Wire")]
pub struct Certificate {
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

/// A certificate as it is read.
#[derive(Deserialize)]
#[serde(expecting = "struct Certificate")]
struct Wire {
    #[serde(default)]
    version: Option<u64>,
    unit: String,
    neighboring: Neighboring,
    #[serde(deserialize_with = "crate::event::validated")]
    events: Vec<Event>,
    #[serde(default, deserialize_with = "crate::event::validated")]
    adaptive: Vec<Event>,
    #[serde(flatten)]
    guarantee: Guarantee,
    accountant: String,
    public: Vec<Fact>,
}

impl TryFrom<Wire> for Certificate {
    type Error = InvalidValue;

    fn try_from(wire: Wire) -> Result<Self, InvalidValue> {
        if let Some(version) = wire.version.filter(|version| *version != VERSION) {
            let remedy = format!("this program reads certificates of version {VERSION}: use a newer one");
            return Err(InvalidValue::new("version", version, remedy));
        }
        let Wire { unit, neighboring, events, adaptive, guarantee, accountant, public, .. } = wire;
        Ok(Self { unit, neighboring, events, adaptive, guarantee, accountant, public })
    }
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
        Self { unit, neighboring, events, adaptive: Vec::new(), guarantee, accountant, public }
    }

    /// The certificate of this mechanism run after others with parameters that their answers did not decide.
    ///
    /// # Guarantee
    /// If `before` is (ε₀, δ₀)-private with (ε₀, δ₀) = `cost`, then ε and δ add up, each rounded up.
    ///
    /// # Reference
    /// Dwork, Roth (2014), theorem 3.16.
    ///
    /// # Errors
    /// [`InvalidValue`] when the sum is no guarantee.
    pub fn following(self, before: &[Event], cost: Guarantee) -> Result<Self, InvalidValue> {
        let events = [before, &self.events].concat();
        Ok(Self { events, guarantee: cost.then(self.guarantee)?, ..self })
    }

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
    /// (2016), for what fails when later parameters are chosen by earlier answers; the page of `reticent_accounting::filter`
    /// has the proof for a count that decides the noise.
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
        let events = vec![Event::Pure { epsilon: Epsilon::new(1.0).unwrap() }];
        let (claim, public) = (guarantee(1.0, 0.0), vec![Fact::Rows(3)]);
        let certificate =
            Certificate::compose("row", Neighboring::ReplaceOne, events, claim, "basic composition", public);
        let json = serde_json::to_value(&certificate).unwrap();
        assert_eq!(json["epsilon"], 1.0);
        assert_eq!(json["neighboring"], "replace-one");
        assert_eq!(json["public"][0], "number of rows 3");
        assert!(json.get("adaptive").is_none() && json.get("version").is_none());
        assert_eq!(serde_json::from_value::<Certificate>(json).unwrap(), certificate);
    }

    #[test]
    fn what_an_answer_decided_is_claimed_at_its_share_and_not_composed() {
        let steps = Event::Zcdp { rho: crate::Rho::new(0.1).unwrap() };
        let (events, claim) = (vec![steps.clone()], guarantee(2.9, 1e-6));
        let own =
            Certificate::compose("row", Neighboring::AddRemove, events, claim, "tight accounting", vec![]);
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

    #[test]
    fn certificates_of_every_form_are_read() {
        // As the first release wrote them, byte by byte.
        let oldest = r#"{"unit":"row","neighboring":"add-remove","events":[{"laplace":{"noise_multiplier":2.0}}],"epsilon":0.5,"delta":0.0,"accountant":"stated by the mechanism","public":["bounds 0 to 1","number of rows 3"]}"#;
        let read: Certificate = serde_json::from_str(oldest).unwrap();
        assert_eq!(read.public, [Fact::Bounds { low: 0.0, high: 1.0 }, Fact::Rows(3)]);
        assert!(read.adaptive.is_empty());
        assert_eq!(serde_json::to_string(&read).unwrap(), oldest);
        // With what an earlier answer decided.
        let later = r#"{"unit":"row","neighboring":"add-remove","events":[{"pure":{"epsilon":0.5}}],"adaptive":[{"zcdp":{"rho":0.1}}],"epsilon":0.5,"delta":0.0,"accountant":"basic composition","public":[]}"#;
        let read: Certificate = serde_json::from_str(later).unwrap();
        assert_eq!(read.adaptive.len(), 1);
        assert_eq!(serde_json::to_string(&read).unwrap(), later);
        // With its version, which version 1 need not have.
        let versioned = |version: &str| {
            serde_json::from_str::<Certificate>(&oldest.replacen(
                '{',
                &format!("{{\"version\":{version},"),
                1,
            ))
        };
        assert_eq!(serde_json::to_string(&versioned("1").unwrap()).unwrap(), oldest);
        let refused = versioned("2").unwrap_err().to_string();
        assert!(refused.contains("version = 2: this program reads certificates of version 1"), "{refused}");
        assert!(versioned("0").is_err());
        let refused = serde_json::from_str::<Certificate>("5").unwrap_err().to_string();
        assert!(refused.contains("expected struct Certificate"), "{refused}");
        // Events whose fields do not fit together are refused.
        assert!(serde_json::from_str::<Certificate>(&later.replace("0.1", "-1")).is_err());
    }

    #[test]
    fn what_follows_adds_up() {
        let count = Event::Pure { epsilon: Epsilon::new(0.5).unwrap() };
        let (events, claim) = (vec![count.clone()], guarantee(0.5, 0.0));
        let own = Certificate::compose("row", Neighboring::AddRemove, events, claim, "stated", vec![]);
        let both = own.following(std::slice::from_ref(&count), claim).unwrap();
        assert_eq!((both.events, both.guarantee), (vec![count.clone(), count], guarantee(1.0, 0.0)));
    }
}
