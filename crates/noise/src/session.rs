//! Whose data it is, and where a question about them is paid for.

use crate::{Draws, Entropy, Mechanism, NoiseError, Paid, PaidSource, Released, Releaser};
use reticent_core::{Event, Ledger, Neighboring, Permit, Plan, SessionId, Unlimited, charge_in};

/// One body of data that is protected together: its name, what is protected in it, the record of what was learnt about it,
/// and the randomness for learning more.
///
/// A plan is charged first; the permit that comes back is what a mechanism, a fit or a trainer needs.
///
/// ```
/// use reticent_core::{Epsilon, Neighboring, Plan, Unlimited};
/// use reticent_noise::mechanism::{DiscreteLaplace, Mechanism};
/// use reticent_noise::{Releaser, NoiseSession};
///
/// let mut session = NoiseSession::new("survey", "row", Neighboring::AddRemove, Box::new(Unlimited::new()))?;
/// let noise = DiscreteLaplace::new(1, Epsilon::new(1.0)?)?;
/// let mut permit = session.charge(&Plan::new(vec![noise.event()])?)?;
/// let rows = session.with(&mut permit).release(&noise, &[1234])?.value[0];
/// // The permit is used up: a second draw is not paid for.
/// assert!(permit.is_used_up() && session.with(&mut permit).release(&noise, &[1234]).is_err());
/// # let _ = rows;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A generator alone does not let a mechanism draw:
///
/// ```compile_fail,E0308
/// use reticent_core::Epsilon;
/// use reticent_noise::Entropy;
/// use reticent_noise::mechanism::{DiscreteLaplace, Mechanism};
///
/// let noise = DiscreteLaplace::new(1, Epsilon::new(1.0)?)?;
/// noise.draw(&[1234], &mut Entropy::new()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Nor does what was paid for another event:
///
/// ```
/// # use reticent_core::{Epsilon, Event, Neighboring};
/// # use reticent_noise::mechanism::DiscreteLaplace;
/// # use reticent_noise::{NoiseError, NoiseSession};
/// let mut session = NoiseSession::without_limit("row", Neighboring::AddRemove)?;
/// let mut draws = session.draws(&Event::Pure { epsilon: Epsilon::new(0.0)? })?;
/// let noise = DiscreteLaplace::new(1, Epsilon::new(1.0)?)?;
/// assert_eq!(draws.draw(&noise, &[1234]), Err(NoiseError::Unpaid));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Nor can a permit be made by hand:
///
/// ```compile_fail,E0451
/// let permit = reticent_core::Permit { open: Vec::new() };
/// ```
///
/// # Guarantee
/// Every draw of a mechanism is part of a plan that the ledger had on record before it, under the relation that the ledger prices
/// under; a permit of another session pays for nothing. Events are charged as they are: the ledger does not count
/// that the normal sampler is off the ideal law by at most 2⁻¹²⁰ a number. Up to ε that adds at most 2⁻¹²⁰·(1 + e^ε) to δ for
/// every number that Gaussian or Student-t noise was added to. The (ε, δ) of a mechanism and the certificates of fits and
/// trainings have it in.
///
/// # Reference
/// [`reticent_core::charge_in`].
pub struct NoiseSession {
    data: String,
    unit: String,
    id: SessionId,
    entropy: Entropy,
    ledger: Box<dyn Ledger>,
}

impl NoiseSession {
    /// A session about these data, with this record of what was learnt about them.
    ///
    /// # Errors
    /// [`NoiseError::Relation`] when the ledger prices under another neighboring relation;
    /// [`NoiseError::Entropy`] when the operating system gives no randomness.
    pub fn new(
        data: impl Into<String>,
        unit: impl Into<String>,
        neighboring: Neighboring,
        ledger: Box<dyn Ledger>,
    ) -> Result<Self, NoiseError> {
        NoiseError::check_relation(ledger.neighboring(), neighboring)?;
        let (id, entropy) = (SessionId::new(neighboring), Entropy::new()?);
        Ok(Self { data: data.into(), unit: unit.into(), id, entropy, ledger })
    }

    /// A session that refuses nothing and forgets its record when it ends: for tests, for teaching, and for data that are
    /// public or that nobody else will be told about.
    ///
    /// # Guarantee
    /// Each release has its own; nothing bounds what they add up to.
    ///
    /// # Reference
    /// [`Unlimited`].
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn without_limit(unit: impl Into<String>, neighboring: Neighboring) -> Result<Self, NoiseError> {
        Self::new("data without a limit", unit, neighboring, Box::new(Unlimited::new()))
    }

    /// The name of the data.
    pub fn data(&self) -> &str {
        &self.data
    }

    /// Whose presence is protected, e.g. `row`.
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// The neighbouring relation under which everything is charged.
    pub fn neighboring(&self) -> Neighboring {
        self.id.neighboring()
    }

    /// The generator, for what is not a release: samples, shuffles, keys.
    pub fn entropy(&mut self) -> &mut Entropy {
        &mut self.entropy
    }

    /// Charges a plan.
    ///
    /// # Guarantee
    /// The plan is on record before the permit exists.
    ///
    /// # Reference
    /// [`reticent_core::charge_in`].
    ///
    /// # Errors
    /// [`NoiseError::Ledger`] when the ledger refuses the plan or cannot be written; nothing may be drawn then.
    pub fn charge(&mut self, plan: &Plan) -> Result<Permit, NoiseError> {
        Ok(charge_in(&self.id, &mut *self.ledger, plan)?)
    }

    /// A source of releases that this permit pays for: none, if another session charged it.
    pub fn with<'a>(&'a mut self, permit: &'a mut Permit) -> Paid<'a> {
        Paid::new(permit, &mut self.entropy, &self.id)
    }

    /// A source that charges every release by itself, when it comes, for questions that answers choose.
    ///
    /// # Guarantee
    /// Each release is a plan of its own, so the ledger composes them as an adaptive sequence. A question of several releases
    /// can be refused between two of them; charge its [quote](crate::query::quote) to be refused at once and to pay for one plan.
    ///
    /// # Reference
    /// [`Plan`].
    pub fn charging(&mut self) -> Charging<'_> {
        Charging { session: self }
    }

    /// Charges one event by itself and gives the right to its draws.
    ///
    /// # Errors
    /// As [`charge`](Self::charge), and [`NoiseError::Invalid`] for an event without meaning.
    pub fn draws(&mut self, event: &Event) -> Result<Draws<'_>, NoiseError> {
        let mut permit = self.charge(&Plan::new(vec![event.clone()])?)?;
        permit.spend(event)?;
        Ok(Draws::of(event, &mut self.entropy))
    }

    /// Charges one mechanism by itself and runs it once.
    ///
    /// # Guarantee
    /// That of the mechanism, charged before the input is looked at.
    ///
    /// # Reference
    /// The mechanism's.
    ///
    /// # Errors
    /// As [`draws`](Self::draws).
    pub fn release<M: Mechanism>(
        &mut self,
        mechanism: &M,
        input: &M::Input,
    ) -> Result<Released<M::Output>, NoiseError> {
        let (event, guarantee) = (mechanism.event(), mechanism.guarantee());
        let value = self.draws(&event)?.draw(mechanism, input)?;
        Ok(Released { value, event, guarantee })
    }
}

/// What [`NoiseSession::charging`] gives.
pub struct Charging<'a> {
    session: &'a mut NoiseSession,
}

impl Releaser for Charging<'_> {
    fn release<M: Mechanism>(
        &mut self,
        mechanism: &M,
        input: &M::Input,
    ) -> Result<Released<M::Output>, NoiseError>
    where
        M::Input: ToOwned<Owned: 'static>,
        M::Output: Clone + 'static,
    {
        self.session.release(mechanism, input)
    }

    fn neighboring(&self) -> Option<Neighboring> {
        Some(self.session.neighboring())
    }
}

impl PaidSource for Charging<'_> {}

/// Something that plans are charged to and that pays for draws.
pub trait Payer {
    /// Charges a plan whose events were worked out under this neighbouring relation.
    ///
    /// # Errors
    /// As [`NoiseSession::charge`], and [`NoiseError::Relation`] when everything is charged under another relation here.
    fn charge_under(&mut self, neighboring: Neighboring, plan: &Plan) -> Result<Permit, NoiseError>;

    /// As [`NoiseSession::with`].
    fn with<'a>(&'a mut self, permit: &'a mut Permit) -> Paid<'a>;
}

impl Payer for NoiseSession {
    fn charge_under(&mut self, neighboring: Neighboring, plan: &Plan) -> Result<Permit, NoiseError> {
        NoiseError::check_relation(Some(self.neighboring()), neighboring)?;
        self.charge(plan)
    }

    fn with<'a>(&'a mut self, permit: &'a mut Permit) -> Paid<'a> {
        Self::with(self, permit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Randomness;
    use crate::mechanism::{DiscreteLaplace, Laplace, SelectionRule};
    use crate::query::{self, QueryTerms};
    use reticent_core::{Epsilon, LedgerError, Sensitivity};
    use std::cell::RefCell;
    use std::rc::Rc;

    /// A ledger with room for so many events.
    struct Few {
        left: usize,
        record: Rc<RefCell<Vec<Plan>>>,
    }

    impl Ledger for Few {
        fn reserve(&mut self, plan: &Plan) -> Result<(), LedgerError> {
            if plan.events().len() > self.left {
                return Err(LedgerError::Exceeded { remedy: "ask for less".into() });
            }
            self.left -= plan.events().len();
            self.record.borrow_mut().push(plan.clone());
            Ok(())
        }

        fn neighboring(&self) -> Option<Neighboring> {
            Some(Neighboring::AddRemove)
        }
    }

    fn session(left: usize) -> (NoiseSession, Rc<RefCell<Vec<Plan>>>) {
        let record = Rc::new(RefCell::new(Vec::new()));
        let ledger = Box::new(Few { left, record: record.clone() });
        (NoiseSession::new("people", "row", Neighboring::AddRemove, ledger).unwrap(), record)
    }

    fn laplace(epsilon: f64) -> DiscreteLaplace {
        DiscreteLaplace::new(1, Epsilon::new(epsilon).unwrap()).unwrap()
    }

    /// A mechanism whose input must not be looked at.
    struct Untouched(Event);

    impl Mechanism for Untouched {
        type Input = [i128];
        type Output = i128;

        fn event(&self) -> Event {
            self.0.clone()
        }

        fn guarantee(&self) -> reticent_core::Guarantee {
            laplace(1.0).guarantee()
        }

        fn distance(&self, _: &[i128], _: &[i128]) -> f64 {
            0.0
        }

        fn draw(&self, _: &[i128], _: &mut Randomness<'_>) -> i128 {
            panic!("drawn")
        }
    }

    #[test]
    fn a_refused_plan_is_not_drawn_and_a_charged_one_is_on_record() {
        let (mut session, record) = session(2);
        let (one, two) = (laplace(1.0), laplace(2.0));
        let plan = Plan::new(vec![one.event(), two.event()]).unwrap();
        let mut permit = session.charge(&plan).unwrap();
        assert_eq!(*record.borrow(), [plan]);
        let mut paid = session.with(&mut permit);
        assert_eq!(paid.release(&two, &[0]).unwrap().event, two.event());
        assert_eq!(paid.release(&Untouched(two.event()), &[0]).map(|r| r.value), Err(NoiseError::Unpaid));
        paid.release(&one, &[0]).unwrap();
        assert!(permit.is_used_up());
        let refused = session.release(&Untouched(one.event()), &[0]).map(|r| r.value);
        assert!(matches!(refused, Err(NoiseError::Ledger(LedgerError::Exceeded { .. }))));
        assert_eq!(record.borrow().len(), 1);
        assert_eq!((session.data(), session.unit()), ("people", "row"));
    }

    #[test]
    fn one_event_can_stand_for_many_draws_or_for_steps_that_answers_choose() {
        let (mut session, record) = session(2);
        let noise = Laplace::new(Sensitivity::new(1.0).unwrap(), Epsilon::new(1.0).unwrap(), 1).unwrap();
        let many = Event::Repeated { count: 100, event: Box::new(noise.event()) };
        let mut draws = session.draws(&many).unwrap();
        assert!((0..100).all(|_| draws.draw(&noise, &[1.0]).unwrap()[0].is_finite()));
        assert_eq!(draws.draw(&noise, &[1.0]), Err(NoiseError::Unpaid));
        let claim = Event::Pure { epsilon: Epsilon::new(2.0).unwrap() };
        let mut permit = session.charge(&Plan::new(vec![claim.clone()]).unwrap()).unwrap();
        let mut paid = session.with(&mut permit);
        assert!(paid.release(&laplace(1.0), &[0]).is_err());
        let mut covering = paid.covering(&claim).unwrap();
        let first = covering.release(&laplace(1.0), &[5]).unwrap().value[0];
        let second = if first > 5 { 1.0 } else { 0.5 };
        covering.release(&laplace(second), &[5]).unwrap();
        let unpaid = covering.release(&Untouched(laplace(0.75).event()), &[5]).map(|r| r.value);
        assert_eq!(unpaid, Err(NoiseError::Unpaid));
        assert!(paid.covering(&claim).is_err());
        assert_eq!(record.borrow().len(), 2);
    }

    #[test]
    fn the_relation_is_the_sessions() {
        let (mut session, record) = session(9);
        let terms = QueryTerms::pure(Epsilon::new(1.0).unwrap());
        let replace = QueryTerms { neighboring: Neighboring::ReplaceOne, ..terms };
        let plan = query::quote(|source| query::histogram(source, &replace, &[0, 0])).unwrap();
        let refused = Payer::charge_under(&mut session, replace.neighboring, &plan).map(drop);
        assert!(matches!(refused, Err(NoiseError::Relation { .. })));
        assert!(record.borrow().is_empty());
        let mut permit = session.charge(&plan).unwrap();
        let refused = query::histogram(&mut session.with(&mut permit), &replace, &[3, 4]);
        assert!(matches!(refused, Err(NoiseError::Relation { .. })));
        let refused = query::mode(&mut session.charging(), &replace, SelectionRule::Exponential, &[3, 4]);
        assert!(matches!(refused, Err(NoiseError::Relation { .. })));
        assert_eq!(record.borrow().len(), 1);
        query::count(&mut session.charging(), &terms, 3).unwrap();
        assert_eq!(record.borrow().len(), 2);
    }

    #[test]
    fn a_session_prices_under_its_own_relation() {
        let few = |left| Box::new(Few { left, record: Rc::default() });
        let refused = NoiseSession::new("people", "row", Neighboring::ReplaceOne, few(1)).map(drop);
        let (session, asked) = (Neighboring::AddRemove, Neighboring::ReplaceOne);
        assert_eq!(refused, Err(NoiseError::Relation { session, asked }));
        assert!(NoiseSession::new("people", "row", Neighboring::AddRemove, few(1)).is_ok());
        assert!(NoiseSession::without_limit("row", Neighboring::ReplaceOne).is_ok());
    }

    #[test]
    fn a_permit_of_another_session_pays_for_nothing() {
        let (mut broke, _) = session(0);
        let mut rich = NoiseSession::without_limit("row", Neighboring::AddRemove).unwrap();
        let noise = laplace(1.0);
        let plan = Plan::new(vec![noise.event()]).unwrap();
        for mut permit in
            [rich.charge(&plan).unwrap(), reticent_core::charge(&mut Unlimited::new(), &plan).unwrap()]
        {
            let mut paid = broke.with(&mut permit);
            let drawn = paid.release(&Untouched(noise.event()), &[0]).map(|r| r.value);
            assert_eq!(drawn, Err(NoiseError::Unpaid));
            assert!(paid.draws(&noise.event()).is_err() && paid.covering(&noise.event()).is_err());
            assert!(paid.per_record(&noise.event()).is_err() && paid.randomness_for(&noise.event()).is_err());
            assert!(!permit.is_used_up());
        }
        let mut permit = rich.charge(&plan).unwrap();
        assert!(rich.with(&mut permit).release(&noise, &[0]).is_ok());
    }

    #[test]
    fn an_event_pays_for_its_own_mechanism_alone() {
        let (mut session, _) = session(9);
        let nothing = Event::Pure { epsilon: Epsilon::new(0.0).unwrap() };
        let often = Event::Repeated { count: 1 << 60, event: Box::new(nothing.clone()) };
        let dear = Untouched(laplace(1.0).event());
        for event in [&nothing, &often] {
            assert_eq!(session.draws(event).unwrap().draw(&dear, &[0]), Err(NoiseError::Unpaid));
            let mut permit = session.charge(&Plan::new(vec![event.clone(), event.clone()]).unwrap()).unwrap();
            let mut paid = session.with(&mut permit);
            let mut covering = paid.covering(event).unwrap();
            assert_eq!(covering.release(&dear, &[0]).map(|r| r.value), Err(NoiseError::Unpaid));
            assert_eq!(paid.per_record(event).err(), Some(NoiseError::Unpaid));
        }
        let mut once = session.draws(&dear.event()).unwrap();
        once.draw(&laplace(1.0), &[0]).unwrap();
        assert_eq!(once.draw(&dear, &[0]), Err(NoiseError::Unpaid));
    }

    #[test]
    fn small_claims_do_not_add_up_to_a_large_release() {
        let (mut session, _) = session(9);
        let pure = |epsilon: f64| Event::Pure { epsilon: Epsilon::new(epsilon).unwrap() };
        // Together they have the release's ε, but a tight accountant asks less for many small ones.
        let claim = Event::Composed { events: vec![pure(0.5), pure(0.5), laplace(1.0).event(), pure(0.25)] };
        let mut permit = session.charge(&Plan::new(vec![claim.clone()]).unwrap()).unwrap();
        let mut paid = session.with(&mut permit);
        let mut covering = paid.covering(&claim).unwrap();
        // The guarantee of what must not be drawn is ε = 1.
        assert!(covering.release(&Untouched(laplace(1.25).event()), &[0]).is_err());
        covering.release(&laplace(1.0), &[0]).unwrap();
        assert!(covering.release(&Untouched(laplace(1.0).event()), &[0]).is_err());
        for epsilon in [0.25, 0.375, 0.125, 0.5] {
            covering.release(&laplace(epsilon), &[0]).unwrap();
        }
        assert_eq!(covering.release(&laplace(0.01), &[0]).map(drop), Err(NoiseError::Unpaid));
    }
}
