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

    /// Both mechanisms on the same data, by basic composition.
    ///
    /// # Guarantee
    /// For either neighbouring relation, and also when the second mechanism is chosen by looking at
    /// the first one's output: ε and δ add up, each rounded up.
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
    /// The events, in sequence.
    #[serde(deserialize_with = "crate::event::validated")]
    pub events: Vec<Event>,
    /// The claim, rounded up.
    #[serde(flatten)]
    pub guarantee: Guarantee,
    /// How the claim follows from the events.
    pub accountant: String,
    /// What was taken as public: bounds, categories, the number of records.
    pub public: Vec<String>,
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
            guarantee: guarantee(1.0, 0.0),
            accountant: "basic composition".into(),
            public: vec![],
        };
        let json = serde_json::to_value(&certificate).unwrap();
        assert_eq!(json["epsilon"], 1.0);
        assert_eq!(json["neighboring"], "replace-one");
        assert_eq!(serde_json::from_value::<Certificate>(json).unwrap(), certificate);
    }
}
