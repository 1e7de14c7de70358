//! A budget as one document, for certificates and reports.

use crate::{BudgetEntry, BudgetStatus, BudgetStore, StoreError};
use serde::Serialize;

/// Entries that are read at once.
const CHUNK: u64 = 4096;

/// How a budget stands and everything that led to it, answers apart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BudgetExport {
    /// How it stands.
    pub status: BudgetStatus,
    /// Every entry up to the last one of the status, in order.
    pub entries: Vec<BudgetEntry>,
}

impl BudgetExport {
    /// Reads all of it.
    ///
    /// # Errors
    /// [`StoreError`] when the record cannot be read.
    pub fn of(store: &mut dyn BudgetStore) -> Result<Self, StoreError> {
        let status = store.status()?;
        let end = status.last.number().saturating_add(1);
        let mut entries = Vec::new();
        let mut next = 0;
        while next < end {
            let stop = end.min(next.saturating_add(CHUNK));
            entries.extend(store.entries(next..stop)?);
            next = stop;
        }
        Ok(Self { status, entries })
    }
}
