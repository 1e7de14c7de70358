//! What can go wrong with the store of a budget.

use crate::{BudgetScope, Moment};
use reticent_accounting::AccountingError;
use reticent_core::{Cause, Code, Coded, InvalidValue, LedgerError};
use thiserror::Error;

/// Why a store refused or failed. Whatever it is, nothing was permitted.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A limit does not cover the charge.
    #[error("{scope} does not cover it: {remedy}")]
    Exceeded {
        /// Which limit.
        scope: BudgetScope,
        /// What could be asked instead.
        remedy: String,
        /// The part of the question that still fits, scaled as a whole; none where nothing does or scaling has no meaning.
        part: Option<f64>,
    },
    /// It was closed.
    #[error("{place}: the budget is closed ({reason}): create another one for other people's data")]
    Closed {
        /// The file or database.
        place: String,
        /// Why it was closed.
        reason: String,
    },
    /// Its time is over.
    #[error("{place}: {scope} was valid until {until}, and it is {now} by the clock or the last entry")]
    Expired {
        /// The file or database.
        place: String,
        /// Which limit.
        scope: BudgetScope,
        /// Its end.
        until: Moment,
        /// The later of the clock and the last entry.
        now: Moment,
    },
    /// Sub-budgets exist, and who asks has none.
    #[error("{place}: {who}: {remedy}")]
    NoSubBudget {
        /// The file or database.
        place: String,
        /// The analyst or purpose that asked, or that none was named.
        who: String,
        /// Whom there are sub-budgets for.
        remedy: String,
    },
    /// The analyst or purpose has a sub-budget already.
    #[error("{place}: {scope} exists already: sub-budgets are set once")]
    SubBudgetExists {
        /// The file or database.
        place: String,
        /// Which one.
        scope: BudgetScope,
    },
    /// No such budget.
    #[error("{place}: there is no budget here: create one with 'reticent budget create'")]
    NotFound {
        /// The file or database.
        place: String,
    },
    /// A budget cannot be created where something is.
    #[error("{place}: something is here already: give another name")]
    Taken {
        /// The file or database.
        place: String,
    },
    /// It is not a budget, or one of a later version.
    #[error("{place}: this is not a budget that can be read: {what}")]
    NotABudget {
        /// The file or database.
        place: String,
        /// What was found instead.
        what: String,
    },
    /// The record contradicts itself, or an earlier state of it was put in its place.
    #[error("{place}: the record was altered: {what}")]
    Altered {
        /// The file or database.
        place: String,
        /// What was found.
        what: String,
    },
    /// Others kept it locked for too long.
    #[error("{place}: the budget was busy for {seconds} seconds: try again later")]
    Busy {
        /// The file or database.
        place: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// The system or the database failed.
    #[error("{place}: cannot {action} the budget: {cause}")]
    Io {
        /// The file or database.
        place: String,
        /// `read` or `write`.
        action: &'static str,
        /// What went wrong.
        #[source]
        cause: Cause,
    },
    /// An entry that is not an open reservation.
    #[error("entry {entry}: {what}")]
    NotOpen {
        /// The entry.
        entry: u64,
        /// What it is instead.
        what: &'static str,
    },
    /// A value that does not fit.
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
    /// Events that cannot be accounted for.
    #[error(transparent)]
    Accounting(#[from] AccountingError),
}

impl Coded for StoreError {
    fn code(&self) -> Code {
        match self {
            Self::Exceeded { .. } => Code::Spent,
            Self::Closed { .. } | Self::Expired { .. } => Code::BudgetClosed,
            Self::NoSubBudget { .. } | Self::SubBudgetExists { .. } => Code::SubBudget,
            Self::NotFound { .. } => Code::NotFound,
            Self::Taken { .. } => Code::Taken,
            Self::NotABudget { .. } => Code::Format,
            Self::Altered { .. } => Code::BudgetAltered,
            Self::Busy { .. } => Code::BudgetBusy,
            Self::Io { action: "read", .. } => Code::Unreadable,
            Self::Io { .. } => Code::Unwritable,
            Self::NotOpen { .. } => Code::Internal,
            Self::Invalid(invalid) => invalid.code(),
            Self::Accounting(error) => error.code(),
        }
    }
}

impl From<StoreError> for LedgerError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Exceeded { scope: BudgetScope::Total, remedy, .. } => Self::Exceeded { remedy },
            other => Self::Refused { code: other.code(), cause: Cause::new(other) },
        }
    }
}
