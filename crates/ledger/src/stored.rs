//! A stored budget as the ledger of sessions.

use crate::{Asking, BudgetStore, BudgetTerms, Charge, EntryId, StoreError};
use reticent_core::{Guarantee, Ledger, LedgerError, Neighboring, Plan};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A store that the ledgers of several sessions charge in turn.
///
/// # Guarantee
/// As [`BudgetStore`].
///
/// # Reference
/// As [`BudgetStore`].
#[derive(Clone)]
pub struct SharedStore {
    terms: BudgetTerms,
    inner: Arc<Mutex<Box<dyn BudgetStore>>>,
}

impl SharedStore {
    /// Shares a store.
    ///
    /// # Errors
    /// [`StoreError`] when its terms cannot be read.
    pub fn new(mut store: Box<dyn BudgetStore>) -> Result<Self, StoreError> {
        let terms = store.terms()?;
        Ok(Self { terms, inner: Arc::new(Mutex::new(store)) })
    }

    /// The terms when it was shared.
    pub fn terms(&self) -> &BudgetTerms {
        &self.terms
    }

    /// The store itself.
    pub fn store(&self) -> MutexGuard<'_, Box<dyn BudgetStore>> {
        // A panic between two statements leaves a transaction that is rolled back.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A ledger that charges what one question costs, and the receipt by which its charges are committed.
    pub fn ledger(&self, asking: Asking) -> (StoredLedger, BudgetReceipt) {
        let receipt = BudgetReceipt { shared: self.clone(), entries: Arc::default() };
        (StoredLedger { asking, receipt: receipt.clone() }, receipt)
    }
}

impl fmt::Debug for SharedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedStore").field("terms", &self.terms).finish_non_exhaustive()
    }
}

/// The ledger of a session about one question: every plan is one reservation in the store.
///
/// # Guarantee
/// A permit exists only after its plan is on record in the store, within all limits.
///
/// # Reference
/// As [`BudgetStore`].
#[derive(Debug)]
pub struct StoredLedger {
    asking: Asking,
    receipt: BudgetReceipt,
}

impl Ledger for StoredLedger {
    fn reserve(&mut self, plan: &Plan) -> Result<(), LedgerError> {
        let charge = Charge { plan: plan.clone(), asking: self.asking.clone() };
        let entry = self.receipt.shared.store().reserve(&charge)?;
        self.receipt.open().push(entry);
        Ok(())
    }

    fn neighboring(&self) -> Option<Neighboring> {
        Some(self.receipt.shared.terms.neighboring)
    }

    fn limit(&self) -> Option<Guarantee> {
        Some(self.receipt.shared.terms.limit)
    }
}

/// What a [`StoredLedger`] has reserved and nobody has committed yet.
#[derive(Debug, Clone)]
pub struct BudgetReceipt {
    shared: SharedStore,
    entries: Arc<Mutex<Vec<EntryId>>>,
}

impl BudgetReceipt {
    fn open(&self) -> MutexGuard<'_, Vec<EntryId>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The reservations that are open, in order.
    pub fn entries(&self) -> Vec<EntryId> {
        self.open().clone()
    }

    /// Commits all of them, with the answer. An answer of several reservations is not remembered, since no one of them is what it
    /// cost.
    ///
    /// # Errors
    /// As [`BudgetStore::commit`].
    pub fn commit(&self, answer: Option<&[u8]>) -> Result<(), StoreError> {
        let entries = std::mem::take(&mut *self.open());
        let mut store = self.shared.store();
        let answer = answer.filter(|_| entries.len() == 1);
        entries.into_iter().try_for_each(|entry| store.commit(entry, answer))
    }
}
