//! The whole record, recomputed from its events.

use crate::record::{Digest, ORIGIN, Record, kind};
use crate::rows::Rows;
use crate::seal::{Mark, behind};
use crate::{BudgetProblem, BudgetScope, BudgetTerms, EntryId, Moment, StoreError, SubBudget};
use reticent_accounting::filter::{Filter, FilterRule};
use reticent_core::Plan;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Entries that are read at once.
const CHUNK: u64 = 4096;

/// Problems after which the rest is not looked at.
const MOST: usize = 100;

/// What is wrong with a record.
pub(crate) fn whole(rows: &mut dyn Rows, mark: Option<Mark>) -> Result<Vec<BudgetProblem>, StoreError> {
    let mut check = Check::default();
    for defect in rows.defects()? {
        check.problem(None, defect);
    }
    let mut next = 0;
    loop {
        let records = rows.from(next, CHUNK)?;
        let Some(last) = records.last() else { break };
        next = last.number.saturating_add(1);
        for record in &records {
            let answer = match record.answer {
                Some(_) => rows.answer(record.number)?,
                None => None,
            };
            check.entry(record, answer.as_deref());
            if check.problems.len() >= MOST {
                check.problem(None, format!("there are more than {MOST} problems"));
                return Ok(check.problems);
            }
        }
        if next == u64::MAX {
            break;
        }
    }
    if check.previous.is_none() {
        check.problem(None, "there are no entries");
    }
    if let Some(what) = mark.map(|mark| behind(rows, mark)).transpose()?.flatten() {
        check.problem(None, what);
    }
    if rows.counts()?.answers != check.answers {
        check.problem(None, "there are answers that no entry has");
    }
    Ok(check.problems)
}

/// What is known up to some entry.
#[derive(Default)]
struct Check {
    problems: Vec<BudgetProblem>,
    previous: Option<Previous>,
    terms: Option<BudgetTerms>,
    total: Option<Filter>,
    parts: BTreeMap<BudgetScope, (SubBudget, Filter)>,
    /// Reservations that were not committed yet, with their questions.
    open: BTreeMap<u64, Option<Digest>>,
    /// Reservations with an answer that may be given again.
    answered: BTreeMap<u64, Option<Digest>>,
    /// The events of reservations.
    plans: BTreeMap<u64, Plan>,
    /// Which sub-budgets paid for which reservation.
    paid: BTreeSet<(u64, BudgetScope)>,
    closed: bool,
    answers: u64,
}

struct Previous {
    number: u64,
    digest: Digest,
    latest: i64,
    charges: u64,
    charged: u64,
}

impl Check {
    fn problem(&mut self, entry: Option<u64>, what: impl Into<String>) {
        self.problems.push(BudgetProblem { entry: entry.map(EntryId), what: what.into() });
    }

    fn entry(&mut self, record: &Record, answer: Option<&[u8]>) {
        let number = record.number;
        let mut wrong: Vec<String> = Vec::new();
        self.chain(record, &mut wrong);
        match record.kind.as_str() {
            kind::CREATED => self.created(record, &mut wrong),
            kind::RESERVED => self.reserved(record, &mut wrong),
            kind::COMMITTED => self.committed(record, answer, &mut wrong),
            kind::RECALLED => self.recalled(record, &mut wrong),
            kind::SUB_BUDGET => self.sub_budget(record, &mut wrong),
            kind::DATA if self.closed => wrong.push("it comes after the end".to_owned()),
            kind::CLOSED if self.closed => wrong.push("it comes after the end".to_owned()),
            kind::CLOSED => self.closed = true,
            _ => {}
        }
        if let Err(unread) = record.shown() {
            wrong.push(unread.0);
        }
        let has_state = [kind::CREATED, kind::RESERVED].contains(&record.kind.as_str());
        if record.state.is_some() != has_state {
            wrong.push("it has a state where none belongs, or none where one does".to_owned());
        }
        for what in wrong {
            self.problem(Some(number), what);
        }
    }

    fn chain(&mut self, record: &Record, wrong: &mut Vec<String>) {
        let (number, digest, latest, charges, charged) = match &self.previous {
            None => (0, ORIGIN, record.time, 0, 0),
            Some(previous) => (
                previous.number + 1,
                previous.digest,
                previous.latest.max(record.time),
                previous.charges,
                previous.charged,
            ),
        };
        if record.number != number {
            wrong.push(format!("entry {number} is expected here"));
        }
        if record.follows(&digest) != record.digest {
            wrong.push("its digest does not follow from the entry before it".to_owned());
        }
        let is_charge = record.kind == kind::RESERVED;
        let charges = charges + u64::from(is_charge);
        let charged = if is_charge { record.number } else { charged };
        if (record.latest, record.charges, record.charged) != (latest, charges, charged) {
            wrong.push("its counters do not follow from the entry before it".to_owned());
        }
        self.previous =
            Some(Previous { number: record.number, digest: record.digest, latest, charges, charged });
    }

    fn created(&mut self, record: &Record, wrong: &mut Vec<String>) {
        if record.number != 0 {
            wrong.push("a budget is created once".to_owned());
            return;
        }
        let Ok(terms) = record.terms() else { return };
        match Filter::new(terms.limit, terms.neighboring, FilterRule::Best) {
            Ok(filter) => {
                same_state(&filter, record.state.as_ref(), "the limit", wrong);
                self.total = Some(filter);
            }
            Err(invalid) => wrong.push(invalid.to_string()),
        }
        self.terms = Some(terms);
    }

    fn reserved(&mut self, record: &Record, wrong: &mut Vec<String>) {
        self.open.insert(record.number, record.question);
        if self.closed {
            wrong.push("it comes after the end".to_owned());
        }
        let until = self.terms.as_ref().and_then(|terms| terms.valid_until);
        if until.is_some_and(|until| Moment::new(record.latest) > until) {
            wrong.push("it comes after the expiry".to_owned());
        }
        let (Ok(plan), Some(total)) = (record.plan(), self.total.clone()) else { return };
        self.plans.insert(record.number, plan.clone());
        let scopes = self.scopes(record);
        self.paid.extend(scopes.iter().map(|scope| (record.number, scope.clone())));
        let states = [(&record.analyst_state, "analyst"), (&record.purpose_state, "purpose")];
        for (state, role) in states {
            let is_named = scopes.iter().any(|scope| is_of(scope, role));
            if state.is_some() != is_named {
                wrong.push(format!("its {role} has no such sub-budget, or no state of it"));
            }
            if !is_named && self.parts.keys().any(|scope| is_of(scope, role)) {
                wrong.push(format!("no {role} with a sub-budget is named"));
            }
        }
        let mut filters = vec![total];
        filters.extend(scopes.iter().filter_map(|scope| Some(self.parts.get(scope)?.1.clone())));
        match Filter::admit_together(&mut filters, &plan) {
            Ok(None) => {}
            Ok(Some(_)) => wrong.push("its events do not fit what was left".to_owned()),
            Err(error) => wrong.push(format!("its events cannot be accounted for: {error}")),
        }
        let mut filters = filters.into_iter();
        if let Some(total) = filters.next() {
            same_state(&total, record.state.as_ref(), "the total", wrong);
            self.total = Some(total);
        }
        self.parts_after(record, &scopes, filters, wrong);
    }

    /// The sub-budgets that an entry names.
    fn scopes(&self, record: &Record) -> BTreeSet<BudgetScope> {
        let named = [
            record.analyst.clone().map(BudgetScope::Analyst),
            record.purpose.clone().map(BudgetScope::Purpose),
        ];
        named.into_iter().flatten().filter(|scope| self.parts.contains_key(scope)).collect()
    }

    /// Checks the states of sub-budgets after an entry, and keeps them.
    fn parts_after(
        &mut self,
        record: &Record,
        scopes: &BTreeSet<BudgetScope>,
        filters: impl Iterator<Item = Filter>,
        wrong: &mut Vec<String>,
    ) {
        for (scope, filter) in scopes.iter().zip(filters) {
            let state = if is_of(scope, "analyst") { &record.analyst_state } else { &record.purpose_state };
            same_state(&filter, state.as_ref(), &scope.to_string(), wrong);
            if let Some(part) = self.parts.get_mut(scope) {
                let until = part.0.valid_until;
                if until.is_some_and(|until| Moment::new(record.latest) > until) {
                    wrong.push(format!("it comes after the expiry of {scope}"));
                }
                part.1 = filter;
            }
        }
    }

    /// An answer that was given again: sub-budgets that had not paid for its reservation do, and no others.
    fn recalled(&mut self, record: &Record, wrong: &mut Vec<String>) {
        if self.closed {
            wrong.push("it comes after the end".to_owned());
        }
        let until = self.terms.as_ref().and_then(|terms| terms.valid_until);
        if until.is_some_and(|until| Moment::new(record.latest) > until) {
            wrong.push("it comes after the expiry".to_owned());
        }
        let Some(number) = record.refers else { return };
        match self.answered.get(&number) {
            None => wrong.push("it gives an answer that no reservation has".to_owned()),
            Some(question) if *question != record.question => {
                wrong.push("its question is not that of its reservation".to_owned());
            }
            Some(_) => {}
        }
        let Some(plan) = self.plans.get(&number).cloned() else { return };
        let owing: BTreeSet<BudgetScope> = self
            .scopes(record)
            .into_iter()
            .filter(|scope| !self.paid.contains(&(number, scope.clone())))
            .collect();
        for (state, role) in [(&record.analyst_state, "analyst"), (&record.purpose_state, "purpose")] {
            if state.is_some() != owing.iter().any(|scope| is_of(scope, role)) {
                wrong.push(format!("its {role} has no such sub-budget, no state of it, or paid before"));
            }
        }
        let mut filters: Vec<Filter> =
            owing.iter().filter_map(|scope| Some(self.parts.get(scope)?.1.clone())).collect();
        match Filter::admit_together(&mut filters, &plan) {
            Ok(None) => {}
            Ok(Some(_)) => wrong.push("its events do not fit what was left".to_owned()),
            Err(error) => wrong.push(format!("its events cannot be accounted for: {error}")),
        }
        self.parts_after(record, &owing, filters.into_iter(), wrong);
        self.paid.extend(owing.into_iter().map(|scope| (number, scope)));
    }

    fn committed(&mut self, record: &Record, answer: Option<&[u8]>, wrong: &mut Vec<String>) {
        match record.refers.and_then(|number| self.open.remove(&number)) {
            None => wrong.push("it commits what is not an open reservation".to_owned()),
            Some(question) if question != record.question => {
                wrong.push("its question is not that of its reservation".to_owned());
            }
            Some(_) => {}
        }
        if let Some(number) = record.refers.filter(|_| record.answer.is_some()) {
            self.answered.insert(number, record.question);
        }
        self.answers += u64::from(record.answer.is_some());
        if record.answer != answer.map(|answer| Sha256::digest(answer).into()) {
            wrong.push("its answer is not the one that was committed".to_owned());
        }
    }

    fn sub_budget(&mut self, record: &Record, wrong: &mut Vec<String>) {
        let (Ok(sub), Some(terms)) = (record.sub_budget(), &self.terms) else { return };
        let (named, state) = match &sub.scope {
            BudgetScope::Purpose(name) => (record.purpose.as_ref() == Some(name), &record.purpose_state),
            BudgetScope::Analyst(name) => (record.analyst.as_ref() == Some(name), &record.analyst_state),
            BudgetScope::Total => (false, &None),
        };
        if !named || self.closed || self.parts.contains_key(&sub.scope) {
            wrong.push("a sub-budget is added once, under its own name and before the end".to_owned());
        }
        match Filter::new(sub.limit, terms.neighboring, FilterRule::Best) {
            Ok(filter) => {
                same_state(&filter, state.as_ref(), &sub.scope.to_string(), wrong);
                self.parts.insert(sub.scope.clone(), (sub, filter));
            }
            Err(invalid) => wrong.push(invalid.to_string()),
        }
    }
}

fn is_of(scope: &BudgetScope, role: &str) -> bool {
    match scope {
        BudgetScope::Analyst(_) => role == "analyst",
        BudgetScope::Purpose(_) => role == "purpose",
        BudgetScope::Total => false,
    }
}

fn same_state(filter: &Filter, state: Option<&String>, what: &str, wrong: &mut Vec<String>) {
    if state != Some(&filter.state().to_string()) {
        wrong.push(format!("its state of {what} is not what the events give"));
    }
}
