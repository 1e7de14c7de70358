//! What a database does for a store: transactions, and the rows inside of them.

use crate::record::{Digest, Record};
use crate::{BudgetScope, StoreError};

/// What a transaction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Reads one state of the record.
    Read,
    /// Writes alone, and is on disk when it has ended.
    Durable,
    /// Writes alone. It survives the end of the process; when the machine fails, it may be lost as a whole.
    Prompt,
}

/// How many entries there are of some kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EntryCounts {
    pub(crate) committed: u64,
    pub(crate) answers: u64,
}

/// The rows of one budget inside of a transaction.
pub trait Rows {
    /// The entry with the largest number.
    fn last(&mut self) -> Result<Option<Record>, StoreError>;

    /// The entry with this number.
    fn at(&mut self, number: u64) -> Result<Option<Record>, StoreError>;

    /// Up to `most` entries from this number on, in order.
    fn from(&mut self, number: u64, most: u64) -> Result<Vec<Record>, StoreError>;

    /// All entries of a kind of which there are few, in order.
    fn rare(&mut self, kind: &str) -> Result<Vec<Record>, StoreError>;

    /// The last entry with a state of this sub-budget.
    fn last_of(&mut self, scope: &BudgetScope) -> Result<Option<Record>, StoreError>;

    /// How many entries have a state of this sub-budget.
    fn count_of(&mut self, scope: &BudgetScope) -> Result<u64, StoreError>;

    /// The entry that commits this reservation.
    fn commit_of(&mut self, number: u64) -> Result<Option<Record>, StoreError>;

    /// Whether an answer of this reservation was given to this sub-budget, which paid for it then.
    fn has_recalled(&mut self, number: u64, scope: &BudgetScope) -> Result<bool, StoreError>;

    /// The last commit with an answer to this question.
    fn answered(&mut self, question: &Digest) -> Result<Option<Record>, StoreError>;

    /// The answer that is kept with a commit.
    fn answer(&mut self, number: u64) -> Result<Option<Vec<u8>>, StoreError>;

    /// EntryCounts.
    fn counts(&mut self) -> Result<EntryCounts, StoreError>;

    /// Adds an entry, and the answer that is kept with it.
    fn insert(&mut self, record: &Record, answer: Option<&[u8]>) -> Result<(), StoreError>;

    /// What the database itself finds wrong.
    fn defects(&mut self) -> Result<Vec<String>, StoreError>;
}

/// A database with one budget.
pub trait Backend: Send {
    /// The file or database, for messages.
    fn place(&self) -> String;

    /// Runs `work` in a transaction: what it did is kept if it returns without an error, and undone otherwise.
    ///
    /// # Errors
    /// Those of `work`, and [`StoreError`] when the transaction cannot begin or end. Then nothing may be concluded about whether
    /// it was kept.
    fn transaction<T>(
        &mut self,
        mode: Mode,
        work: impl FnOnce(&mut dyn Rows) -> Result<T, StoreError>,
    ) -> Result<T, StoreError>;
}
