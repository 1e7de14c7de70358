//! Stores with a mistake each. The suites must find both.

use crate::record::{Record, kind, reservation};
use crate::rows::{Backend, Mode};
use crate::*;
use reticent_accounting::filter::Filter;
use reticent_core::Plan;
use std::ops::Range;

/// The next entry after the last one, by a state that was read before; the new entry.
fn record(last: &Record, filter: &Filter, charge: &Charge) -> Record {
    let Ok(body) = reservation(&charge.asking.about, &charge.plan) else { panic!() };
    let mut record = last.next(kind::RESERVED, last.time, body);
    record.charges += 1;
    record.charged = record.number;
    record.question = charge.asking.question.map(|question| question.0);
    record.state = Some(filter.state().to_string());
    record.chained(&last.digest)
}

fn state(store: &mut SqliteBudget) -> (Record, Filter) {
    let read = store.backend.transaction(Mode::Read, |rows| {
        let last = rows.last()?.unwrap();
        let charged = rows.at(last.charged)?.unwrap();
        Ok((last, Filter::restore(charged.state.unwrap().parse()?)))
    });
    read.unwrap()
}

fn refused() -> StoreError {
    StoreError::Exceeded { scope: BudgetScope::Total, remedy: String::new(), part: None }
}

/// Reads the state, decides, and only then begins the transaction that writes.
pub(super) struct Outside(pub(super) SqliteBudget);

impl Outside {
    fn charge(&mut self, charge: &Charge) -> Result<EntryId, StoreError> {
        let (_, mut filter) = state(&mut self.0);
        if !filter.admit(&charge.plan)? {
            return Err(refused());
        }
        self.0.backend.transaction(Mode::Durable, |rows| {
            let last = rows.last()?.unwrap();
            let record = record(&last, &filter, charge);
            rows.insert(&record, None)?;
            Ok(EntryId(record.number))
        })
    }

    /// Everything is written already.
    fn settle(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Returns from `reserve` before it has written anything; the next call writes it.
pub(super) struct Late {
    inner: SqliteBudget,
    waiting: Option<Charge>,
}

impl Late {
    pub(super) fn new(inner: SqliteBudget) -> Self {
        Self { inner, waiting: None }
    }

    fn charge(&mut self, charge: &Charge) -> Result<EntryId, StoreError> {
        self.settle()?;
        let (last, filter) = state(&mut self.inner);
        if !filter.fits(&charge.plan)? {
            return Err(refused());
        }
        self.waiting = Some(charge.clone());
        Ok(EntryId(last.number + 1))
    }

    fn settle(&mut self) -> Result<(), StoreError> {
        self.waiting.take().map_or(Ok(()), |charge| self.inner.reserve(&charge).map(drop))
    }
}

macro_rules! twin {
    ($twin:ty, $self:ident, $store:expr) => {
        impl BudgetStore for $twin {
            fn reserve(&mut self, charge: &Charge) -> Result<EntryId, StoreError> {
                self.charge(charge)
            }

            fn commit(&mut $self, entry: EntryId, answer: Option<&[u8]>) -> Result<(), StoreError> {
                $self.settle()?;
                $store.commit(entry, answer)
            }

            fn terms(&mut $self) -> Result<BudgetTerms, StoreError> {
                $store.terms()
            }

            fn remembered(&mut $self, asking: &Asking) -> Result<Option<RememberedAnswer>, StoreError> {
                $store.remembered(asking)
            }

            fn largest(
                &mut $self,
                asking: &Asking,
                plan_at: &dyn Fn(f64) -> Option<Plan>,
            ) -> Result<Option<f64>, StoreError> {
                $store.largest(asking, plan_at)
            }

            fn entries(&mut $self, numbers: Range<u64>) -> Result<Vec<BudgetEntry>, StoreError> {
                $store.entries(numbers)
            }

            fn status(&mut $self) -> Result<BudgetStatus, StoreError> {
                $store.status()
            }

            fn add_data(&mut $self, data: &DataName) -> Result<EntryId, StoreError> {
                $store.add_data(data)
            }

            fn add_sub_budget(&mut $self, sub_budget: &SubBudget) -> Result<EntryId, StoreError> {
                $store.add_sub_budget(sub_budget)
            }

            fn close(&mut $self, reason: &str) -> Result<EntryId, StoreError> {
                $store.close(reason)
            }

            fn verify(&mut $self) -> Result<Vec<BudgetProblem>, StoreError> {
                $store.verify()
            }
        }
    };
}

twin!(Outside, self, self.0);
twin!(Late, self, self.inner);
