//! The one place where a cost becomes the right to draw.
//!
//! A [`Plan`] is charged to a [`Ledger`]; only [`charge`] and [`charge_in`] make a [`Permit`]; mechanisms, fits and
//! trainers need one. What is not recorded is not drawn.

use crate::{Cause, Code, Coded, Event, Guarantee, InvalidValue, Neighboring};
use std::sync::atomic::{AtomicU64, Ordering};
use thiserror::Error;

/// Events that were all fixed before the first of them was drawn.
///
/// # Guarantee
/// No event of a plan depends on an answer of another one, so any accountant may compose them. Two plans may not be
/// composed like that: the second may have been chosen by the answers of the first, and only a privacy filter bounds both.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    events: Vec<Event>,
}

impl Plan {
    /// These events.
    ///
    /// # Errors
    /// [`InvalidValue`] naming the field of an event that does not fit.
    pub fn new(events: Vec<Event>) -> Result<Self, InvalidValue> {
        events.iter().try_for_each(Event::validate)?;
        Ok(Self { events })
    }

    /// The events, in sequence.
    pub fn events(&self) -> &[Event] {
        &self.events
    }
}

/// A record of everything that may have been learnt about some people's data.
///
/// # Guarantee
/// When [`reserve`](Self::reserve) has returned, the plan is on record as spent, whatever happens afterwards: a plan whose
/// draws may or may not have been made counts as spent.
pub trait Ledger {
    /// Puts a plan on record, or refuses it and records nothing.
    ///
    /// # Errors
    /// [`LedgerError::Exceeded`] when the plan and everything on record would exceed the budget,
    /// [`LedgerError::Refused`] when nothing is charged for another reason, [`LedgerError::Store`] when it cannot be recorded.
    fn reserve(&mut self, plan: &Plan) -> Result<(), LedgerError>;

    /// The neighboring relation that plans are priced under; none where no plan is priced.
    fn neighboring(&self) -> Option<Neighboring>;

    /// What everything on record is held to together; none where nothing is refused.
    fn limit(&self) -> Option<Guarantee> {
        None
    }
}

/// Why a plan was not charged.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum LedgerError {
    /// More than the budget has left.
    #[error("the budget does not cover it: {remedy}")]
    Exceeded {
        /// What could be asked instead.
        remedy: String,
    },
    /// The ledger refuses for another reason, such as its expiry.
    #[error("{cause}")]
    Refused {
        /// What kind of mistake it is.
        code: Code,
        /// Why.
        #[source]
        cause: Cause,
    },
    /// The record could not be written.
    #[error("the ledger cannot be written: {cause}")]
    Store {
        /// What went wrong.
        #[source]
        cause: Cause,
    },
}

impl Coded for LedgerError {
    fn code(&self) -> Code {
        match self {
            Self::Exceeded { .. } => Code::Spent,
            Self::Refused { code, .. } => *code,
            Self::Store { .. } => Code::Unwritable,
        }
    }
}

/// Charges a plan to a ledger, outside of any session.
///
/// # Guarantee
/// The plan is on record before the permit exists. The permit is good for what takes a permit by itself, such as a trainer, and
/// for no session.
///
/// # Errors
/// As [`Ledger::reserve`].
pub fn charge(ledger: &mut dyn Ledger, plan: &Plan) -> Result<Permit, LedgerError> {
    ledger.reserve(plan)?;
    Ok(Permit { open: plan.events.clone(), neighboring: ledger.neighboring(), session: None })
}

/// Charges a plan to the ledger of a session.
///
/// # Guarantee
/// The plan is on record before the permit exists. No other session accepts the permit.
///
/// # Errors
/// As [`Ledger::reserve`].
pub fn charge_in(session: &SessionId, ledger: &mut dyn Ledger, plan: &Plan) -> Result<Permit, LedgerError> {
    let permit = charge(ledger, plan)?;
    let neighboring = permit.neighboring.or(Some(session.neighboring));
    Ok(Permit { neighboring, session: Some(session.number), ..permit })
}

/// What tells one session from another: a number that no other session of this process has, and the session's neighboring
/// relation. It cannot be copied, so only its session charges with it.
#[derive(Debug)]
pub struct SessionId {
    number: u64,
    neighboring: Neighboring,
}

impl SessionId {
    /// The identity of a new session.
    pub fn new(neighboring: Neighboring) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self { number: NEXT.fetch_add(1, Ordering::Relaxed), neighboring }
    }

    /// The session's neighboring relation.
    pub fn neighboring(&self) -> Neighboring {
        self.neighboring
    }
}

/// The right to draw the events of a plan, each once. It cannot be made, copied or stored, only charged for.
#[derive(Debug)]
pub struct Permit {
    open: Vec<Event>,
    neighboring: Option<Neighboring>,
    session: Option<u64>,
}

/// An event that no permit covers.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("nobody paid for this: charge the plan that it is part of before drawing")]
pub struct Unpaid;

/// Why a plan was not charged to a claim of another one.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ShareError {
    /// The claim is not part of what was paid for.
    #[error(transparent)]
    Unpaid(#[from] Unpaid),
    /// The ledger within the share allows more than it.
    #[error("the ledger of a share is not limited to the share: give one that is")]
    Unlimited,
    /// The ledger within the share prices plans under another neighboring relation.
    #[error("the ledger of a share is for another neighboring relation: give one for the permit's")]
    Relation,
    /// The plan costs more than the claim.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl Coded for ShareError {
    fn code(&self) -> Code {
        match self {
            Self::Unpaid(_) | Self::Unlimited | Self::Relation => Code::Internal,
            Self::Ledger(error) => error.code(),
        }
    }
}

impl Permit {
    /// Uses up the right to one event: one of the plan's, or one that a repeated, composed or parallel event of the plan consists of.
    ///
    /// # Guarantee
    /// Nothing is spent twice. That the events of a parallel event are drawn about disjoint parts of the data is the caller's
    /// to prove: a permit knows events, and not which rows they are about.
    ///
    /// # Errors
    /// [`Unpaid`] when the plan has no such event, or no more of them.
    pub fn spend(&mut self, event: &Event) -> Result<(), Unpaid> {
        if let Some(place) = self.open.iter().position(|open| open == event) {
            self.open.swap_remove(place);
            return Ok(());
        }
        let place = self.open.iter().position(|open| holds(open, event)).ok_or(Unpaid)?;
        match self.open.swap_remove(place) {
            Event::Composed { events } | Event::Parallel { events } => self.open.extend(events),
            Event::Repeated { count, event } => {
                if count > 1 {
                    self.open.push(Event::Repeated { count: count - 1, event: event.clone() });
                }
                self.open.push(*event);
            }
            _ => return Err(Unpaid),
        }
        self.spend(event)
    }

    /// The neighboring relation that the plan was charged under; none where the ledger prices nothing and no session charged it.
    pub fn neighboring(&self) -> Option<Neighboring> {
        self.neighboring
    }

    /// Whether this session charged it.
    pub fn belongs_to(&self, session: &SessionId) -> bool {
        self.session == Some(session.number)
    }

    /// Uses up the right to the [claim](Guarantee::claim) of a share for a plan that is settled only after earlier answers:
    /// the plan goes on record in `within`, a ledger that is limited to the share, and the permit that comes back covers it in
    /// the claim's place.
    ///
    /// # Guarantee
    /// A claim is given away once, and for no more than the limit of `within`, which is at most the share and under the same
    /// neighboring relation.
    ///
    /// # Errors
    /// [`ShareError`] when the plan has no such claim left, when `within` has no limit or one above the share, prices plans
    /// under another relation, or refuses.
    pub fn charge_within(
        &mut self,
        share: Guarantee,
        within: &mut dyn Ledger,
        plan: &Plan,
    ) -> Result<Self, ShareError> {
        let limit = within.limit().ok_or(ShareError::Unlimited)?;
        if limit.epsilon > share.epsilon || limit.delta > share.delta {
            return Err(ShareError::Unlimited);
        }
        if self.neighboring.is_some_and(|own| within.neighboring() != Some(own)) {
            return Err(ShareError::Relation);
        }
        self.spend(&share.claim())?;
        let charged = charge(within, plan)?;
        Ok(Self { session: self.session, ..charged })
    }

    /// Moves the right to one event, as [`spend`](Self::spend) finds it, into a permit of its own.
    ///
    /// # Guarantee
    /// What is moved is no longer covered here: nothing is spent twice.
    ///
    /// # Errors
    /// As [`spend`](Self::spend).
    pub fn take(&mut self, event: &Event) -> Result<Self, Unpaid> {
        self.spend(event)?;
        Ok(Self { open: vec![event.clone()], neighboring: self.neighboring, session: self.session })
    }

    /// Uses up the right to a [`repeat_and_select`](Event::RepeatAndSelect) event for the rights to `count` trials, each to the event of
    /// one trial.
    ///
    /// # Guarantee
    /// That `count` has the law of the event, whatever the data are, and that nothing is given out of any trial but the best, is the
    /// caller's to prove: a permit knows events, and not what becomes of them.
    ///
    /// # Errors
    /// As [`spend`](Self::spend), and for any other event.
    pub fn take_trials(&mut self, event: &Event, count: u64) -> Result<Vec<Self>, Unpaid> {
        let Event::RepeatAndSelect { event: trial, .. } = event else { return Err(Unpaid) };
        self.spend(event)?;
        let (neighboring, session) = (self.neighboring, self.session);
        Ok((0..count).map(|_| Self { open: vec![(**trial).clone()], neighboring, session }).collect())
    }

    /// Whether every event has been drawn.
    pub fn is_used_up(&self) -> bool {
        self.open.is_empty()
    }
}

/// Whether an event is made of others, and this is one of them.
fn holds(whole: &Event, part: &Event) -> bool {
    let is_or_holds = |event: &Event| event == part || holds(event, part);
    match whole {
        Event::Composed { events } | Event::Parallel { events } => events.iter().any(is_or_holds),
        Event::Repeated { count, event } => *count > 0 && is_or_holds(event),
        _ => false,
    }
}

/// A ledger without a limit, for public data, teaching and tests: it keeps the record and refuses nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Unlimited {
    plans: Vec<Plan>,
}

impl Unlimited {
    /// An empty record.
    pub fn new() -> Self {
        Self::default()
    }

    /// Every plan that was charged, in sequence.
    pub fn plans(&self) -> &[Plan] {
        &self.plans
    }
}

impl Ledger for Unlimited {
    fn reserve(&mut self, plan: &Plan) -> Result<(), LedgerError> {
        self.plans.push(plan.clone());
        Ok(())
    }

    fn neighboring(&self) -> Option<Neighboring> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Epsilon;

    fn pure(epsilon: f64) -> Event {
        Event::Pure { epsilon: Epsilon::new(epsilon).unwrap() }
    }

    #[test]
    fn a_permit_covers_its_plan_once() {
        let twice = Event::Repeated { count: 2, event: Box::new(pure(1.0)) };
        let both = Event::Parallel { events: vec![pure(2.0), twice] };
        let mut ledger = Unlimited::new();
        let plan = Plan::new(vec![both, pure(3.0)]).unwrap();
        let mut permit = charge(&mut ledger, &plan).unwrap();
        assert_eq!(ledger.plans(), [plan]);
        for epsilon in [1.0, 3.0, 1.0, 2.0] {
            assert!(!permit.is_used_up());
            assert_eq!(permit.spend(&pure(epsilon)), Ok(()));
            assert_eq!(permit.spend(&pure(4.0)), Err(Unpaid));
        }
        assert!(permit.is_used_up());
        assert_eq!(permit.spend(&pure(1.0)), Err(Unpaid));
    }

    #[test]
    fn what_is_taken_is_not_there_any_more() {
        let both = Event::Parallel { events: vec![Event::Composed { events: vec![pure(1.0)] }, pure(2.0)] };
        let select = Event::RepeatAndSelect { mean: 3.0, shape: 1.0, event: Box::new(both.clone()) };
        let plan = Plan::new(vec![both.clone(), select.clone()]).unwrap();
        let mut permit = charge(&mut Unlimited::new(), &plan).unwrap();
        let mut own = permit.take(&pure(2.0)).unwrap();
        assert_eq!((permit.spend(&pure(2.0)), own.spend(&pure(1.0))), (Err(Unpaid), Err(Unpaid)));
        assert_eq!((permit.spend(&pure(1.0)), own.spend(&pure(2.0))), (Ok(()), Ok(())));
        // A trial is nothing that the permit covers by itself.
        assert_eq!(permit.spend(&both), Err(Unpaid));
        assert!(permit.take_trials(&both, 2).is_err());
        let trials = permit.take_trials(&select, 2).unwrap();
        assert!(permit.is_used_up() && permit.take_trials(&select, 1).is_err());
        for mut trial in trials {
            assert_eq!((trial.spend(&pure(2.0)), trial.spend(&pure(1.0))), (Ok(()), Ok(())));
            assert!(trial.is_used_up());
        }
    }

    #[test]
    fn a_claim_is_given_away_once() {
        /// Two events, which are said to cost this.
        struct Two(f64);
        impl Ledger for Two {
            fn reserve(&mut self, plan: &Plan) -> Result<(), LedgerError> {
                match plan.events().len() {
                    2 => Ok(()),
                    _ => Err(LedgerError::Exceeded { remedy: "ask for two".into() }),
                }
            }

            fn neighboring(&self) -> Option<Neighboring> {
                None
            }

            fn limit(&self) -> Option<Guarantee> {
                Some(Guarantee::pure(Epsilon::new(self.0).unwrap()))
            }
        }
        let plan = Plan::new(vec![pure(1.0), pure(2.0), pure(2.0)]).unwrap();
        let mut permit = charge(&mut Unlimited::new(), &plan).unwrap();
        let (whole, steps) = (Two(2.0).limit().unwrap(), Plan::new(vec![pure(0.5), pure(1.5)]).unwrap());
        // Without a limit, or with one above the share, nothing is given away.
        for within in [&mut Unlimited::new() as &mut dyn Ledger, &mut Two(2.5)] {
            let refused = permit.charge_within(whole, within, &steps).map(drop);
            assert_eq!(refused, Err(ShareError::Unlimited));
        }
        let mut share = permit.charge_within(whole, &mut Two(2.0), &steps).unwrap();
        assert_eq!((share.spend(&pure(1.5)), share.spend(&pure(2.0))), (Ok(()), Err(Unpaid)));
        let more = Plan::new(vec![pure(0.5)]).unwrap();
        let refused = permit.charge_within(whole, &mut Two(2.0), &more).map(drop);
        assert!(matches!(refused, Err(ShareError::Ledger(_))));
        let again = permit.charge_within(whole, &mut Two(2.0), &steps).map(drop);
        assert_eq!(again, Err(ShareError::Unpaid(Unpaid)));
        // What is left of the outer plan.
        assert_eq!((permit.spend(&pure(0.5)), permit.spend(&pure(1.0))), (Err(Unpaid), Ok(())));
    }

    #[test]
    fn what_is_refused_is_not_recorded_and_gives_no_permit() {
        struct Empty;
        impl Ledger for Empty {
            fn reserve(&mut self, _: &Plan) -> Result<(), LedgerError> {
                Err(LedgerError::Exceeded { remedy: "ask for nothing".into() })
            }

            fn neighboring(&self) -> Option<Neighboring> {
                Some(Neighboring::AddRemove)
            }
        }
        assert!(charge(&mut Empty, &Plan::default()).is_err());
        assert!(charge_in(&SessionId::new(Neighboring::AddRemove), &mut Empty, &Plan::default()).is_err());
    }

    #[test]
    fn a_permit_knows_its_session_and_its_relation() {
        struct Priced;
        impl Ledger for Priced {
            fn reserve(&mut self, _: &Plan) -> Result<(), LedgerError> {
                Ok(())
            }

            fn neighboring(&self) -> Option<Neighboring> {
                Some(Neighboring::ReplaceOne)
            }
        }
        let (one, two) = (SessionId::new(Neighboring::AddRemove), SessionId::new(Neighboring::AddRemove));
        let own = charge_in(&one, &mut Unlimited::new(), &Plan::default()).unwrap();
        assert!(own.belongs_to(&one) && !own.belongs_to(&two));
        assert_eq!(own.neighboring(), Some(Neighboring::AddRemove));
        let nobodys = charge(&mut Unlimited::new(), &Plan::default()).unwrap();
        assert!(!nobodys.belongs_to(&one) && nobodys.neighboring().is_none());
        // The relation of the price counts.
        let priced = charge_in(&one, &mut Priced, &Plan::default()).unwrap();
        assert_eq!(priced.neighboring(), Some(Neighboring::ReplaceOne));
        assert_eq!(
            charge(&mut Priced, &Plan::default()).unwrap().neighboring(),
            Some(Neighboring::ReplaceOne)
        );
    }
}
