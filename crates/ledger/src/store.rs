//! The contract that every store of a budget keeps.

use crate::{
    Asking, BudgetEntry, BudgetProblem, BudgetStatus, BudgetTerms, Charge, DataName, EntryId,
    RememberedAnswer, StoreError, SubBudget,
};
use reticent_core::Plan;
use std::ops::Range;

/// The record of one budget, which many processes may use at the same time.
///
/// # Guarantee
/// Everything that is drawn by charges which [`reserve`](Self::reserve) has returned is (ε, δ)-private together, for the limit of
/// the budget; what is charged to a sub-budget, remembered answers included, is so for its own limit as well, whichever way questions are chosen from
/// earlier answers. A reservation is on disk before it is returned, and counts as spent from then on, whatever happens to the
/// process. A charge that is refused leaves no trace.
///
/// # Reference
/// As [`Filter`](reticent_accounting::filter::Filter).
pub trait BudgetStore: Send {
    /// The terms, with all data that were added.
    ///
    /// # Errors
    /// [`StoreError`] when the record cannot be read.
    fn terms(&mut self) -> Result<BudgetTerms, StoreError>;

    /// Puts a charge on record, or refuses it and records nothing.
    ///
    /// # Errors
    /// [`StoreError::Exceeded`] when a limit does not cover it, [`StoreError::Closed`] and [`StoreError::Expired`],
    /// [`StoreError::NoSubBudget`] when who asks has none, and the others when it cannot be recorded.
    fn reserve(&mut self, charge: &Charge) -> Result<EntryId, StoreError>;

    /// Marks a reservation as drawn, and remembers its answer under the question it was asked as.
    ///
    /// # Errors
    /// [`StoreError`] when the entry is not an open reservation or cannot be written. The reservation counts as spent in any case.
    fn commit(&mut self, entry: EntryId, answer: Option<&[u8]>) -> Result<(), StoreError>;

    /// The latest answer to the question that is asked, if one was ever committed. The data play no part in it.
    ///
    /// The total has paid for it. A sub-budget of who asks that has not is charged what the answer cost at first, and once.
    ///
    /// # Errors
    /// [`StoreError::Expired`] after the end of the budget or of a sub-budget of who asks; [`StoreError::NoSubBudget`],
    /// [`StoreError::Exceeded`] and [`StoreError::Closed`] where a sub-budget would have to pay; and the others when the record
    /// cannot be read or written, or the answer is not the one that was committed.
    fn remembered(&mut self, asking: &Asking) -> Result<Option<RememberedAnswer>, StoreError>;

    /// The largest number in (0, 1] for which the plan that `plan_at` gives fits now, to about three digits; none when none
    /// does. Nothing is recorded.
    ///
    /// `plan_at` gives a plan for each part of what was asked, such as a part of its ε; smaller parts cost less.
    ///
    /// # Errors
    /// As [`reserve`](Self::reserve), but for [`StoreError::Exceeded`].
    fn largest(
        &mut self,
        asking: &Asking,
        plan_at: &dyn Fn(f64) -> Option<Plan>,
    ) -> Result<Option<f64>, StoreError>;

    /// The entries with these numbers that exist, in order.
    ///
    /// # Errors
    /// [`StoreError`] when the record cannot be read.
    fn entries(&mut self, numbers: Range<u64>) -> Result<Vec<BudgetEntry>, StoreError>;

    /// How the budget and its sub-budgets stand.
    ///
    /// # Errors
    /// [`StoreError`] when the record cannot be read.
    fn status(&mut self) -> Result<BudgetStatus, StoreError>;

    /// Adds data of the same people. They are covered by the same limit.
    ///
    /// # Errors
    /// [`StoreError`] when the budget is closed or the record cannot be written.
    fn add_data(&mut self, data: &DataName) -> Result<EntryId, StoreError>;

    /// Adds a sub-budget, which counts from here on.
    ///
    /// # Errors
    /// [`StoreError`] when the analyst or purpose has one, the budget is closed or the record cannot be written.
    fn add_sub_budget(&mut self, sub_budget: &SubBudget) -> Result<EntryId, StoreError>;

    /// Ends the budget: nothing is charged any more. Remembered answers stay for whoever has paid for them.
    ///
    /// # Errors
    /// [`StoreError`] when it is closed already or the record cannot be written.
    fn close(&mut self, reason: &str) -> Result<EntryId, StoreError>;

    /// Recomputes everything from the events: the chain of digests, every state of every filter, every answer's digest, the
    /// seal. Nothing is found where all is in order.
    ///
    /// # Errors
    /// [`StoreError`] when the record cannot be read.
    fn verify(&mut self) -> Result<Vec<BudgetProblem>, StoreError>;
}
