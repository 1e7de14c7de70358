//! Whose data it is, and where a question about them is paid for.

use crate::mechanism::released;
use crate::{Draws, Entropy, Mechanism, NoiseError, Paid, Released, Releaser};
use reticent_core::{Event, Ledger, Neighboring, Permit, Plan, Unlimited, charge};

/// One body of data that is protected together: its name, what is protected in it, the record of what was learnt about it,
/// and the randomness for learning more.
///
/// A plan is charged first; the permit that comes back is what a mechanism, a fit or a trainer needs.
///
/// ```
/// use reticent_core::{Epsilon, Neighboring, Plan, Unlimited};
/// use reticent_noise::mechanism::{DiscreteLaplace, Mechanism};
/// use reticent_noise::{Releaser, Session};
///
/// let mut session = Session::new("survey", "row", Neighboring::AddRemove, Box::new(Unlimited::new()))?;
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
/// Nor can a permit be made by hand:
///
/// ```compile_fail,E0451
/// let permit = reticent_core::Permit { open: Vec::new() };
/// ```
///
/// # Guarantee
/// Every draw of a mechanism is part of a plan that the ledger had on record before it.
///
/// # Reference
/// [`reticent_core::charge`].
pub struct Session {
    data: String,
    unit: String,
    neighboring: Neighboring,
    entropy: Entropy,
    ledger: Box<dyn Ledger>,
}

impl Session {
    /// A session about these data, with this record of what was learnt about them.
    ///
    /// # Errors
    /// [`NoiseError::Entropy`] when the operating system gives no randomness.
    pub fn new(
        data: impl Into<String>,
        unit: impl Into<String>,
        neighboring: Neighboring,
        ledger: Box<dyn Ledger>,
    ) -> Result<Self, NoiseError> {
        Ok(Self { data: data.into(), unit: unit.into(), neighboring, entropy: Entropy::new()?, ledger })
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
        self.neighboring
    }

    /// The generator, for what is no release: samples, shuffles, keys.
    pub fn entropy(&mut self) -> &mut Entropy {
        &mut self.entropy
    }

    /// Charges a plan.
    ///
    /// # Guarantee
    /// The plan is on record before the permit exists.
    ///
    /// # Reference
    /// [`reticent_core::charge`].
    ///
    /// # Errors
    /// [`NoiseError::Ledger`] when the ledger refuses the plan or cannot be written; nothing may be drawn then.
    pub fn charge(&mut self, plan: &Plan) -> Result<Permit, NoiseError> {
        Ok(charge(&mut *self.ledger, plan)?)
    }

    /// A source of releases that this permit pays for.
    pub fn with<'a>(&'a mut self, permit: &'a mut Permit) -> Paid<'a> {
        Paid::new(permit, &mut self.entropy, Some(self.neighboring))
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
        Draws::spend(&mut permit, event, &mut self.entropy)
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
        let mut draws = self.draws(&mechanism.event())?;
        Ok(released(mechanism, input, &mut draws))
    }
}

/// What [`Session::charging`] gives.
pub struct Charging<'a> {
    session: &'a mut Session,
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
        Some(self.session.neighboring)
    }
}

/// Something that plans are charged to and that pays for draws.
pub trait Payer {
    /// Charges a plan whose events were worked out under this neighbouring relation.
    ///
    /// # Errors
    /// As [`Session::charge`], and [`NoiseError::Relation`] when everything is charged under another relation here.
    fn charge_under(&mut self, neighboring: Neighboring, plan: &Plan) -> Result<Permit, NoiseError>;

    /// As [`Session::with`].
    fn with<'a>(&'a mut self, permit: &'a mut Permit) -> Paid<'a>;
}

impl Payer for Session {
    fn charge_under(&mut self, neighboring: Neighboring, plan: &Plan) -> Result<Permit, NoiseError> {
        NoiseError::check_relation(Some(self.neighboring), neighboring)?;
        self.charge(plan)
    }

    fn with<'a>(&'a mut self, permit: &'a mut Permit) -> Paid<'a> {
        Self::with(self, permit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::{DiscreteLaplace, Laplace, Rule};
    use crate::query::{self, Terms};
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
    }

    fn session(left: usize) -> (Session, Rc<RefCell<Vec<Plan>>>) {
        let record = Rc::new(RefCell::new(Vec::new()));
        let ledger = Box::new(Few { left, record: record.clone() });
        (Session::new("people", "row", Neighboring::AddRemove, ledger).unwrap(), record)
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

        fn draw(&self, _: &[i128], _: &mut Draws<'_>) -> i128 {
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
        assert!((0..100).all(|_| noise.draw(&[1.0], &mut draws)[0].is_finite()));
        let claim = Event::Pure { epsilon: Epsilon::new(2.0).unwrap() };
        let mut permit = session.charge(&Plan::new(vec![claim.clone()]).unwrap()).unwrap();
        let mut paid = session.with(&mut permit);
        assert!(paid.release(&laplace(1.0), &[0]).is_err());
        let mut covering = paid.covering(&claim).unwrap();
        let first = covering.release(&laplace(1.0), &[5]).unwrap().value[0];
        covering.release(&laplace(if first > 5 { 1.0 } else { 0.5 }), &[5]).unwrap();
        assert!(paid.covering(&claim).is_err());
        assert_eq!(record.borrow().len(), 2);
    }

    #[test]
    fn the_relation_is_the_sessions() {
        let (mut session, record) = session(9);
        let terms = Terms::pure(Epsilon::new(1.0).unwrap());
        let replace = Terms { neighboring: Neighboring::ReplaceOne, ..terms };
        let plan = query::quote(|source| query::histogram(source, &replace, &[0, 0])).unwrap();
        let refused = Payer::charge_under(&mut session, replace.neighboring, &plan).map(drop);
        assert!(matches!(refused, Err(NoiseError::Relation { .. })));
        assert!(record.borrow().is_empty());
        let mut permit = session.charge(&plan).unwrap();
        let refused = query::histogram(&mut session.with(&mut permit), &replace, &[3, 4]);
        assert!(matches!(refused, Err(NoiseError::Relation { .. })));
        let refused = query::mode(&mut session.charging(), &replace, Rule::Exponential, &[3, 4]);
        assert!(matches!(refused, Err(NoiseError::Relation { .. })));
        assert_eq!(record.borrow().len(), 1);
        query::count(&mut session.charging(), &terms, 3).unwrap();
        assert_eq!(record.borrow().len(), 2);
    }
}
