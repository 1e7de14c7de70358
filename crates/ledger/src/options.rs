//! How a store is opened.

use crate::BudgetClock;
use std::path::PathBuf;
use std::time::Duration;

/// How long a charge waits for others.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a store needs beside the place where it is. Nothing here affects what a charge costs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StoreOptions {
    /// The folder of the seals: for every budget, how far its record was seen to go. It is best kept away from the budgets
    /// themselves, so that who restores an older copy of a budget does not restore the older seal with it. Without one, only what
    /// the record itself shows is checked.
    pub seals: Option<PathBuf>,
    /// How long to wait for others before [`StoreError::Busy`](crate::StoreError::Busy).
    pub patience: Duration,
    /// The clock.
    pub clock: BudgetClock,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self { seals: None, patience: PATIENCE, clock: BudgetClock::system() }
    }
}

impl StoreOptions {
    /// The same options with seals in this folder.
    pub fn sealed_in(self, folder: impl Into<PathBuf>) -> Self {
        Self { seals: Some(folder.into()), ..self }
    }

    /// The same options with another patience.
    pub fn waiting(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The same options with another clock.
    pub fn clocked(self, clock: BudgetClock) -> Self {
        Self { clock, ..self }
    }
}
