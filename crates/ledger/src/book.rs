//! The rules of a budget, whichever database keeps its record.

use crate::charge::hex;
use crate::record::{Digest, ORIGIN, Record, Unread, closing, json, kind, reservation};
use crate::rows::{Backend, Mode, Rows};
use crate::seal::{Mark, Seal, behind};
use crate::terms::named;
use crate::{
    Asking, BudgetClock, BudgetEntry, BudgetProblem, BudgetScope, BudgetStatus, BudgetStore, BudgetTerms,
    Charge, DataName, EntryId, LimitStatus, Moment, QuestionDigest, RememberedAnswer, StoreError,
    StoreOptions, SubBudget, verify,
};
use reticent_accounting::filter::{Filter, FilterRule, four_digits_down, scaled};
use reticent_core::{Guarantee, Neighboring, Plan};
use sha2::{Digest as _, Sha256};
use std::ops::Range;

/// A budget in a database.
#[derive(Debug)]
pub struct Book<B> {
    pub(crate) backend: B,
    terms: BudgetTerms,
    id: Digest,
    clock: BudgetClock,
    seal: Option<Seal>,
}

/// The limits that a charge has to fit, the total first.
struct Limits {
    scopes: Vec<BudgetScope>,
    filters: Vec<Filter>,
}

impl Limits {
    /// Writes the states of the filters to an entry.
    fn write_states(&self, record: &mut Record) {
        for (scope, filter) in self.scopes.iter().zip(&self.filters) {
            let state = Some(filter.state().to_string());
            match scope {
                BudgetScope::Total => record.state = state,
                BudgetScope::Analyst(_) => record.analyst_state = state,
                BudgetScope::Purpose(_) => record.purpose_state = state,
            }
        }
    }
}

/// A remembered answer, its reservation, and the sub-budgets of who asks that have not paid for it.
struct Recalled {
    answer: RememberedAnswer,
    reserved: Record,
    owing: Vec<SubBudget>,
}

/// What became of a charge inside of its transaction.
enum Decision {
    Admitted(Mark),
    Refused(Limits, usize),
}

impl<B: Backend> Book<B> {
    /// The first entry of a budget with these terms.
    pub(crate) fn first(terms: &BudgetTerms, options: &StoreOptions) -> Result<Record, StoreError> {
        terms.validate()?;
        let filter = Filter::new(terms.limit, terms.neighboring, FilterRule::Best)?;
        let time = options.clock.now().milliseconds();
        let body = json(terms).map_err(|unread| altered("a new budget", 0, &unread))?;
        Ok(Record::first(body, time, filter.state().to_string()))
    }

    /// Opens a budget whose record begins in this database.
    pub(crate) fn new(mut backend: B, options: StoreOptions) -> Result<Self, StoreError> {
        let place = backend.place();
        let (first, last) = backend.transaction(Mode::Read, |rows| Ok((rows.at(0)?, rows.last()?)))?;
        let (Some(first), Some(last)) = (first, last) else {
            let what = "it has no first entry".to_owned();
            return Err(StoreError::NotABudget { place, what });
        };
        if first.follows(&ORIGIN) != first.digest || first.kind != kind::CREATED {
            let what = "its first entry is not what its digest says".to_owned();
            return Err(StoreError::Altered { place, what });
        }
        let terms = first.terms().map_err(|unread| altered(&place, 0, &unread))?;
        let id = first.digest;
        let seal = options.seals.as_deref().map(|folder| Seal::new(folder, id, options.patience));
        let mut book = Self { backend, terms, id, clock: options.clock, seal };
        book.reading(|_| Ok(()))?;
        if let Some(seal) = &book.seal
            && seal.read()?.is_none()
        {
            seal.advance(Mark::of(&last))?;
        }
        Ok(book)
    }

    fn altered(&self, number: u64, unread: &Unread) -> StoreError {
        altered(&self.backend.place(), number, unread)
    }

    /// Runs `work` in a transaction, after a look at whether the record is as far as it was seen to be.
    fn checked<T>(
        &mut self,
        mode: Mode,
        work: impl FnOnce(&mut Open<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let place = self.backend.place();
        // Before the transaction: others go on while it reads an older state.
        let mark = self.seal.as_ref().map(Seal::read).transpose()?.flatten();
        let (id, now) = (self.id, self.clock.now().milliseconds());
        self.backend.transaction(mode, |rows| {
            let first = rows.at(0)?;
            if first.is_none_or(|first| first.digest != id) {
                let what = "another budget is in its place".to_owned();
                return Err(StoreError::Altered { place, what });
            }
            if let Some(what) = mark.map(|mark| behind(rows, mark)).transpose()?.flatten() {
                return Err(StoreError::Altered { place, what });
            }
            let last = rows.last()?;
            let Some(last) = last else {
                let what = "it has no entries".to_owned();
                return Err(StoreError::Altered { place, what });
            };
            let mut open = Open { rows, place, now: now.max(last.latest), time: now, last };
            let last = open.last.clone();
            open.own_digest(&last)?;
            work(&mut open)
        })
    }

    fn reading<T>(
        &mut self,
        work: impl FnOnce(&mut Open<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.checked(Mode::Read, work)
    }

    /// Adds one entry and returns its number when it is on disk and sealed.
    fn adding(
        &mut self,
        work: impl FnOnce(&mut Open<'_>, &BudgetTerms) -> Result<Record, StoreError>,
    ) -> Result<EntryId, StoreError> {
        let terms = self.terms.clone();
        let record = self.checked(Mode::Durable, |open| {
            open.not_closed()?;
            let record = work(open, &terms)?;
            open.insert(record, None)
        })?;
        self.sealed(Mark::of(&record))
    }

    fn sealed(&self, mark: Mark) -> Result<EntryId, StoreError> {
        self.seal.as_ref().map_or(Ok(()), |seal| seal.advance(mark))?;
        Ok(EntryId(mark.number))
    }
}

/// Why a plan does not fit, and what would.
fn exceeded(plan: &Plan, limits: &Limits, place: usize) -> StoreError {
    let scope = limits.scopes[place].clone();
    let part = Filter::largest_part(&limits.filters, &|part| scaled(plan, part)).ok().flatten();
    let remedy = limits.filters[place].remedy(plan);
    StoreError::Exceeded { scope, remedy, part: part.map(four_digits_down) }
}

/// The record inside of a transaction.
struct Open<'a> {
    rows: &'a mut dyn Rows,
    place: String,
    last: Record,
    /// What the clock says.
    time: i64,
    /// The later of the clock and the last entry.
    now: i64,
}

impl Open<'_> {
    fn altered(&self, number: u64, what: impl Into<String>) -> StoreError {
        altered(&self.place, number, &Unread(what.into()))
    }

    /// Checks that an entry has the digest that follows from the one before.
    fn own_digest(&mut self, record: &Record) -> Result<(), StoreError> {
        let previous = match record.number.checked_sub(1) {
            None => Some(ORIGIN),
            Some(number) => self.rows.at(number)?.map(|record| record.digest),
        };
        match previous.is_some_and(|previous| record.follows(&previous) == record.digest) {
            true => Ok(()),
            false => Err(self.altered(record.number, "its digest does not follow from the entry before it")),
        }
    }

    fn not_closed(&mut self) -> Result<(), StoreError> {
        match self.rows.rare(kind::CLOSED)?.first() {
            None => Ok(()),
            Some(closed) => {
                let place = self.place.clone();
                let reason = closed.reason().map_err(|unread| altered(&place, closed.number, &unread))?;
                Err(StoreError::Closed { place, reason })
            }
        }
    }

    fn not_expired(&self, scope: &BudgetScope, until: Option<Moment>) -> Result<(), StoreError> {
        let now = Moment::new(self.now);
        match until {
            Some(until) if now > until => {
                let (place, scope) = (self.place.clone(), scope.clone());
                Err(StoreError::Expired { place, scope, until, now })
            }
            _ => Ok(()),
        }
    }

    /// A filter from the state in an entry, whose digest is checked.
    fn filter(
        &mut self,
        record: &Record,
        state: Option<&String>,
        limit: Guarantee,
        neighboring: Neighboring,
    ) -> Result<Filter, StoreError> {
        self.own_digest(record)?;
        let state = state.and_then(|state| state.parse().ok());
        let filter = state.map(Filter::restore);
        filter
            .filter(|filter| filter.total() == limit && filter.neighboring() == neighboring)
            .ok_or_else(|| self.altered(record.number, "its state is not that of the limit"))
    }

    fn total(&mut self, terms: &BudgetTerms) -> Result<Filter, StoreError> {
        let number = self.last.charged;
        let record = self.rows.at(number)?;
        let record = record.ok_or_else(|| self.altered(number, "it is missing"))?;
        self.filter(&record, record.state.as_ref(), terms.limit, terms.neighboring)
    }

    fn sub_budgets(&mut self) -> Result<Vec<SubBudget>, StoreError> {
        let records = self.rows.rare(kind::SUB_BUDGET)?;
        let read = |record: &Record| {
            record.sub_budget().map_err(|unread| altered(&self.place, record.number, &unread))
        };
        records.iter().map(read).collect()
    }

    fn sub_filter(&mut self, sub: &SubBudget, neighboring: Neighboring) -> Result<Filter, StoreError> {
        let record = self.rows.last_of(&sub.scope)?;
        let last = self.last.number;
        let record = record.ok_or_else(|| self.altered(last, format!("{} has no state", sub.scope)))?;
        let state = match sub.scope {
            BudgetScope::Purpose(_) => record.purpose_state.as_ref(),
            _ => record.analyst_state.as_ref(),
        };
        self.filter(&record, state, sub.limit, neighboring)
    }

    /// The limits that a charge has to fit.
    fn limits(&mut self, asking: &Asking, terms: &BudgetTerms) -> Result<Limits, StoreError> {
        self.not_closed()?;
        self.not_expired(&BudgetScope::Total, terms.valid_until)?;
        let mut scopes = vec![BudgetScope::Total];
        let mut filters = vec![self.total(terms)?];
        for part in self.own_parts(asking)? {
            filters.push(self.sub_filter(&part, terms.neighboring)?);
            scopes.push(part.scope);
        }
        Ok(Limits { scopes, filters })
    }

    /// The sub-budgets of who asks: that of the analyst, then that of the purpose. Where there are any of a kind, who asks has one.
    fn own_parts(&mut self, asking: &Asking) -> Result<Vec<SubBudget>, StoreError> {
        let all = self.sub_budgets()?;
        let mut parts = Vec::new();
        for (role, name, scope) in [
            ("analyst", &asking.analyst, BudgetScope::Analyst as fn(String) -> BudgetScope),
            ("purpose", &asking.purpose, BudgetScope::Purpose),
        ] {
            let own = |sub: &&SubBudget| sub.scope == scope(name.clone().unwrap_or_default());
            let of_role = |sub: &&SubBudget| {
                matches!(
                    (&sub.scope, role),
                    (BudgetScope::Analyst(_), "analyst") | (BudgetScope::Purpose(_), "purpose")
                )
            };
            let sub = all.iter().filter(of_role).find(own);
            match sub {
                Some(sub) => {
                    self.not_expired(&sub.scope, sub.valid_until)?;
                    parts.push(sub.clone());
                }
                None if all.iter().any(|sub| of_role(&sub)) => {
                    let names: Vec<String> =
                        all.iter().filter(of_role).map(|sub| sub.scope.to_string()).collect();
                    let who = name.as_ref().map_or(format!("no {role} is named"), |name| {
                        format!("{role} \"{name}\" has no sub-budget")
                    });
                    let remedy = format!("there is {}", names.join(", "));
                    return Err(StoreError::NoSubBudget { place: self.place.clone(), who, remedy });
                }
                None => {}
            }
        }
        Ok(parts)
    }

    /// The latest answer to a question, and the sub-budgets of who asks that have not paid for it.
    fn recalled(
        &mut self,
        question: &QuestionDigest,
        asking: &Asking,
        terms: &BudgetTerms,
    ) -> Result<Option<Recalled>, StoreError> {
        let Some(record) = self.rows.answered(&question.0)? else { return Ok(None) };
        self.not_expired(&BudgetScope::Total, terms.valid_until)?;
        self.own_digest(&record)?;
        let answer = self.rows.answer(record.number)?;
        let answer = answer.filter(|answer| record.answer == Some(<Digest>::from(Sha256::digest(answer))));
        let (Some(answer), Some(number)) = (answer, record.refers) else {
            return Err(self.altered(record.number, "its answer is not the one that was committed"));
        };
        let reserved = self.rows.at(number)?.filter(|reserved| reserved.kind == kind::RESERVED);
        let reserved = reserved.ok_or_else(|| self.altered(number, "it is not a reservation"))?;
        let mut owing = Vec::new();
        for part in self.own_parts(asking)? {
            let has_paid = match &part.scope {
                BudgetScope::Analyst(name) => {
                    reserved.analyst.as_ref() == Some(name) && reserved.analyst_state.is_some()
                }
                BudgetScope::Purpose(name) => {
                    reserved.purpose.as_ref() == Some(name) && reserved.purpose_state.is_some()
                }
                BudgetScope::Total => true,
            };
            if !has_paid && !self.rows.has_recalled(number, &part.scope)? {
                owing.push(part);
            }
        }
        let time = Moment::new(record.time);
        let answer = RememberedAnswer { entry: EntryId(number), time, answer, charged: None };
        Ok(Some(Recalled { answer, reserved, owing }))
    }

    /// The entry by which sub-budgets pay for an answer that the total has paid for before.
    fn pay_again(
        &mut self,
        found: Recalled,
        asking: &Asking,
        terms: &BudgetTerms,
    ) -> Result<Record, StoreError> {
        let Recalled { reserved, owing, .. } = found;
        self.own_digest(&reserved)?;
        let plan = reserved.plan().map_err(|unread| altered(&self.place, reserved.number, &unread))?;
        let (mut scopes, mut filters) = (Vec::new(), Vec::new());
        for part in &owing {
            filters.push(self.sub_filter(part, terms.neighboring)?);
            scopes.push(part.scope.clone());
        }
        let mut limits = Limits { scopes, filters };
        if let Some(place) = Filter::admit_together(&mut limits.filters, &plan)? {
            return Err(exceeded(&plan, &limits, place));
        }
        let mut record = self.last.next(kind::RECALLED, self.time, "{}".to_owned());
        record.refers = Some(reserved.number);
        record.analyst.clone_from(&asking.analyst);
        record.purpose.clone_from(&asking.purpose);
        record.question = reserved.question;
        limits.write_states(&mut record);
        Ok(record)
    }

    fn insert(&mut self, record: Record, answer: Option<&[u8]>) -> Result<Record, StoreError> {
        let record = record.chained(&self.last.digest);
        self.rows.insert(&record, answer)?;
        Ok(record)
    }

    /// Decides about a charge, and records it if it fits.
    fn reserve(&mut self, charge: &Charge, terms: &BudgetTerms) -> Result<Decision, StoreError> {
        let Charge { plan, asking } = charge;
        let mut limits = self.limits(asking, terms)?;
        if let Some(place) = Filter::admit_together(&mut limits.filters, plan)? {
            return Ok(Decision::Refused(limits, place));
        }
        let body = reservation(&asking.about, plan).map_err(|unread| altered(&self.place, 0, &unread))?;
        let mut record = self.last.next(kind::RESERVED, self.time, body);
        record.charges += 1;
        record.charged = record.number;
        record.analyst.clone_from(&asking.analyst);
        record.purpose.clone_from(&asking.purpose);
        record.question = asking.question.map(|question| question.0);
        limits.write_states(&mut record);
        Ok(Decision::Admitted(Mark::of(&self.insert(record, None)?)))
    }

    fn terms(&mut self, terms: &BudgetTerms) -> Result<BudgetTerms, StoreError> {
        let mut terms = terms.clone();
        for record in self.rows.rare(kind::DATA)? {
            terms.data.push(record.data().map_err(|unread| altered(&self.place, record.number, &unread))?);
        }
        Ok(terms)
    }
}

pub(crate) fn altered(place: &str, number: u64, unread: &Unread) -> StoreError {
    StoreError::Altered { place: place.to_owned(), what: format!("entry {number}: {}", unread.0) }
}

impl<B: Backend> BudgetStore for Book<B> {
    fn terms(&mut self) -> Result<BudgetTerms, StoreError> {
        let terms = self.terms.clone();
        self.reading(|open| open.terms(&terms))
    }

    fn reserve(&mut self, charge: &Charge) -> Result<EntryId, StoreError> {
        for (field, name) in [("analyst", &charge.asking.analyst), ("purpose", &charge.asking.purpose)] {
            name.as_deref().map_or(Ok(()), |name| named(field, name))?;
        }
        let terms = self.terms.clone();
        match self.checked(Mode::Durable, |open| open.reserve(charge, &terms))? {
            Decision::Admitted(mark) => self.sealed(mark),
            Decision::Refused(limits, place) => Err(exceeded(&charge.plan, &limits, place)),
        }
    }

    fn commit(&mut self, entry: EntryId, answer: Option<&[u8]>) -> Result<(), StoreError> {
        let wrong = |what: &'static str| StoreError::NotOpen { entry: entry.0, what };
        self.checked(Mode::Prompt, |open| {
            let reserved = open.rows.at(entry.0)?.ok_or_else(|| wrong("there is no such entry"))?;
            if reserved.kind != kind::RESERVED {
                return Err(wrong("this is not a reservation"));
            }
            if open.rows.commit_of(entry.0)?.is_some() {
                return Err(wrong("this was committed before"));
            }
            let mut record = open.last.next(kind::COMMITTED, open.time, "{}".to_owned());
            record.refers = Some(entry.0);
            record.analyst = reserved.analyst;
            record.purpose = reserved.purpose;
            record.question = reserved.question;
            record.answer = answer.map(|answer| Sha256::digest(answer).into());
            open.insert(record, answer).map(drop)
        })
    }

    fn remembered(&mut self, asking: &Asking) -> Result<Option<RememberedAnswer>, StoreError> {
        let Some(question) = asking.question else { return Ok(None) };
        let terms = self.terms.clone();
        let found = self.reading(|open| open.recalled(&question, asking, &terms))?;
        let Some(Recalled { mut answer, owing, .. }) = found else { return Ok(None) };
        if owing.is_empty() {
            return Ok(Some(answer));
        }
        // Whoever else was faster, the state in which it is paid for decides.
        let entry = self.adding(|open, terms| {
            let found = open.recalled(&question, asking, terms)?;
            let found = found.ok_or_else(|| open.altered(open.last.number, "an answer is gone"))?;
            answer = found.answer.clone();
            open.pay_again(found, asking, terms)
        })?;
        Ok(Some(RememberedAnswer { charged: Some(entry), ..answer }))
    }

    fn largest(
        &mut self,
        asking: &Asking,
        plan_at: &dyn Fn(f64) -> Option<Plan>,
    ) -> Result<Option<f64>, StoreError> {
        let terms = self.terms.clone();
        let limits = self.reading(|open| open.limits(asking, &terms))?;
        Ok(Filter::largest_part(&limits.filters, plan_at)?)
    }

    fn entries(&mut self, numbers: Range<u64>) -> Result<Vec<BudgetEntry>, StoreError> {
        let most = numbers.end.saturating_sub(numbers.start);
        let records = self.reading(|open| open.rows.from(numbers.start, most))?;
        let shown = |record: &Record| record.shown().map_err(|unread| self.altered(record.number, &unread));
        records.iter().map(shown).collect()
    }

    fn status(&mut self) -> Result<BudgetStatus, StoreError> {
        let (own, id) = (self.terms.clone(), self.id);
        self.reading(|open| {
            let terms = open.terms(&own)?;
            let (counts, charges) = (open.rows.counts()?, open.last.charges);
            let mut limits = vec![LimitStatus {
                scope: BudgetScope::Total,
                limit: terms.limit,
                valid_until: terms.valid_until,
                left: open.total(&terms)?.left()?,
                charges,
            }];
            for sub in open.sub_budgets()? {
                limits.push(LimitStatus {
                    left: open.sub_filter(&sub, terms.neighboring)?.left()?,
                    // One of them is its creation.
                    charges: open.rows.count_of(&sub.scope)?.saturating_sub(1),
                    scope: sub.scope,
                    limit: sub.limit,
                    valid_until: sub.valid_until,
                });
            }
            let is_closed = match open.not_closed() {
                Ok(()) => false,
                Err(StoreError::Closed { .. }) => true,
                Err(error) => return Err(error),
            };
            Ok(BudgetStatus {
                id: hex(&id),
                last: EntryId(open.last.number),
                digest: hex(&open.last.digest),
                limits,
                uncommitted: charges.saturating_sub(counts.committed),
                answers: counts.answers,
                is_closed,
                is_expired: open.not_expired(&BudgetScope::Total, terms.valid_until).is_err(),
                terms,
            })
        })
    }

    fn add_data(&mut self, data: &DataName) -> Result<EntryId, StoreError> {
        data.validate()?;
        self.adding(|open, _| {
            let body = json(data).map_err(|unread| altered(&open.place, 0, &unread))?;
            Ok(open.last.next(kind::DATA, open.time, body))
        })
    }

    fn add_sub_budget(&mut self, sub_budget: &SubBudget) -> Result<EntryId, StoreError> {
        sub_budget.validate()?;
        self.adding(|open, terms| {
            if open.sub_budgets()?.iter().any(|sub| sub.scope == sub_budget.scope) {
                let (place, scope) = (open.place.clone(), sub_budget.scope.clone());
                return Err(StoreError::SubBudgetExists { place, scope });
            }
            let body = json(sub_budget).map_err(|unread| altered(&open.place, 0, &unread))?;
            let mut record = open.last.next(kind::SUB_BUDGET, open.time, body);
            let filter = Filter::new(sub_budget.limit, terms.neighboring, FilterRule::Best)?;
            let state = Some(filter.state().to_string());
            match &sub_budget.scope {
                BudgetScope::Purpose(name) => {
                    (record.purpose, record.purpose_state) = (Some(name.clone()), state);
                }
                BudgetScope::Analyst(name) => {
                    (record.analyst, record.analyst_state) = (Some(name.clone()), state);
                }
                BudgetScope::Total => {}
            }
            Ok(record)
        })
    }

    fn close(&mut self, reason: &str) -> Result<EntryId, StoreError> {
        self.adding(|open, _| {
            let body = closing(reason).map_err(|unread| altered(&open.place, 0, &unread))?;
            Ok(open.last.next(kind::CLOSED, open.time, body))
        })
    }

    fn verify(&mut self) -> Result<Vec<BudgetProblem>, StoreError> {
        let mark = self.seal.as_ref().map(Seal::read).transpose()?.flatten();
        self.backend.transaction(Mode::Read, |rows| verify::whole(rows, mark))
    }
}
