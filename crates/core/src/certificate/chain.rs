//! Mechanisms before and beside the one that a certificate is of.

use super::{Certificate, Guarantee};
use crate::{Event, Fact, InvalidValue, Neighboring};

/// What comes first where the rows were counted with noise.
pub(super) const COUNT: &str = "rows counted with noise";
/// What comes first where the schema was learnt from the data.
pub(super) const SCHEMA: &str = "the schema's own cost";
/// Why the parts are added up by their shares.
const SHARES: &str = "; the shares are added, since earlier answers decided later parameters";

impl Certificate {
    /// The certificate of this mechanism run after others with parameters that their answers did not decide.
    ///
    /// # Guarantee
    /// If `before` is (ε₀, δ₀)-private with (ε₀, δ₀) = `cost`, then ε and δ add up, each rounded up.
    ///
    /// # Reference
    /// Dwork, Roth (2014), theorem 3.16.
    ///
    /// # Errors
    /// [`InvalidValue`] when the sum is not a guarantee.
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
    /// [`InvalidValue`] when the certificate claims more than `share`, or the sum is not a guarantee.
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

    /// The certificate of this mechanism and another one on other records.
    ///
    /// `event` and `cost` are those of the other one; `how` says in words what it was.
    ///
    /// # Guarantee
    /// If every record is in the input of one mechanism only, whatever the others are: under add-remove the larger ε and
    /// the larger δ, under replace-one, where a record may leave one input and enter the other, their sums, rounded up.
    ///
    /// # Reference
    /// McSherry, *Privacy integrated queries* (2009), theorem 4, for add-remove.
    ///
    /// # Errors
    /// [`InvalidValue`] when the sum is not a guarantee.
    pub fn beside(self, event: Event, cost: Guarantee, how: &str) -> Result<Self, InvalidValue> {
        let own = self.guarantee;
        let guarantee = match self.neighboring {
            Neighboring::AddRemove => Guarantee {
                epsilon: if own.epsilon >= cost.epsilon { own.epsilon } else { cost.epsilon },
                delta: if own.delta >= cost.delta { own.delta } else { cost.delta },
            },
            Neighboring::ReplaceOne => own.then(cost)?,
        };
        let events = vec![Event::Parallel { events: vec![Event::Composed { events: self.events }, event] }];
        let accountant = format!("{}; {how} (parallel composition)", self.accountant);
        Ok(Self { events, guarantee, accountant, ..self })
    }

    /// The same, saying that the number of units was counted with noise first: it is then not public, and what depends on
    /// it follows from the count.
    #[must_use]
    pub fn counted(mut self) -> Self {
        self.public.retain(|fact| !matches!(fact, Fact::Units(_) | Fact::DeclaredSize(_)));
        for fact in &mut self.public {
            if matches!(fact, Fact::Divisor(_) | Fact::StagedDivisor(_) | Fact::Regularization(_)) {
                *fact = Fact::Decided(Box::new(fact.clone()));
            }
        }
        self.accountant = format!("{COUNT}, then {}", self.accountant);
        self
    }

    /// The certificate of everything that was computed with a schema that was itself learnt from the data.
    ///
    /// # Guarantee
    /// As [`following`](Self::following), where this certificate holds for every schema that could have been learnt.
    ///
    /// # Reference
    /// As [`following`](Self::following).
    ///
    /// # Errors
    /// [`InvalidValue`] when the sum is not a guarantee.
    pub fn with_schema(self, learning: &[Event], cost: Guarantee) -> Result<Self, InvalidValue> {
        let whole = self.following(learning, cost)?;
        Ok(Self { accountant: format!("{SCHEMA}, then {}", whole.accountant), ..whole })
    }

    /// The same, saying that the shares of its parts are added because earlier answers decided later parameters.
    #[must_use]
    pub fn by_shares(mut self) -> Self {
        self.accountant += SHARES;
        self
    }

    /// The same, resting on one thing more that is taken as public.
    #[must_use]
    pub fn taking(mut self, fact: Fact) -> Self {
        self.public.push(fact);
        self
    }
}
