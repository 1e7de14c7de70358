//! What is put on record, and what is read back.

use crate::{BudgetScope, BudgetTerms, DataName, Moment, SubBudget};
use reticent_core::{Epsilon, Event, Plan};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt;

/// The SHA-256 of a question: of the request as it is asked, never of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionDigest(pub(crate) [u8; 32]);

impl QuestionDigest {
    /// The digest of a question in some canonical form, such as its JSON with sorted keys.
    pub fn of(canonical: &[u8]) -> Self {
        Self(Sha256::digest(canonical).into())
    }
}

impl fmt::Display for QuestionDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A plan, with who asks and what for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Charge {
    /// The events, exactly as they will be drawn.
    pub plan: Plan,
    /// Who asks, and for what, in public words.
    pub asking: Asking,
}

/// Who asks a question, what for, and which one it is. All of it is public and is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Asking {
    /// The analyst.
    pub analyst: Option<String>,
    /// The purpose.
    pub purpose: Option<String>,
    /// The question whose answer is to be remembered.
    pub question: Option<QuestionDigest>,
    /// The question in words or as a public request, for the history.
    pub about: String,
}

impl From<QuestionDigest> for Asking {
    /// Nobody in particular, who asks this question.
    fn from(question: QuestionDigest) -> Self {
        Self { question: Some(question), ..Self::default() }
    }
}

/// The number of an entry. Entries are in the order of their numbers, whatever the clock said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryId(pub(crate) u64);

impl EntryId {
    /// The number; that of the creation is 0.
    pub fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What an entry records.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryKind {
    /// The creation, with the terms of that time.
    Created {
        /// The terms.
        terms: BudgetTerms,
    },
    /// Events that count as spent from here on, whether or not they were drawn.
    Reserved {
        /// The events of one plan.
        events: Vec<Event>,
        /// The question in words.
        about: String,
    },
    /// The draws of a reservation were made and its answer was kept.
    Committed {
        /// The reservation.
        #[serde(rename = "reservation")]
        entry: EntryId,
        /// Whether the answer is remembered.
        has_answer: bool,
    },
    /// A remembered answer was given to somebody whose sub-budget had not paid for it. Its events count for that sub-budget from here
    /// on; the total has paid for them before.
    Recalled {
        /// The reservation that the answer belongs to.
        #[serde(rename = "reservation")]
        entry: EntryId,
    },
    /// Further data of the same people.
    DataAdded {
        /// The data.
        data: DataName,
    },
    /// A sub-budget.
    SubBudgetAdded {
        /// Its terms.
        sub_budget: SubBudget,
    },
    /// The end: nothing is charged after it.
    Closed {
        /// Why, in words.
        reason: String,
    },
}

/// One line of the record.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BudgetEntry {
    /// Its number.
    pub entry: EntryId,
    /// What the clock said.
    pub time: Moment,
    /// The analyst, where one is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analyst: Option<String>,
    /// The purpose, where one is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// The digest of the question in hexadecimal, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// What it records.
    #[serde(flatten)]
    pub kind: EntryKind,
    /// The digest of everything up to here, in hexadecimal.
    pub digest: String,
}

/// An answer that was paid for before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberedAnswer {
    /// The reservation that paid for it.
    pub entry: EntryId,
    /// When it was committed.
    pub time: Moment,
    /// The answer as it was committed.
    pub answer: Vec<u8>,
    /// The entry by which the sub-budgets of who asked paid for it; none where nothing was to be paid.
    pub charged: Option<EntryId>,
}

/// How a limit stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LimitStatus {
    /// Whose limit.
    pub scope: BudgetScope,
    /// The limit.
    #[serde(flatten)]
    pub limit: reticent_core::Guarantee,
    /// After this nothing is charged to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Moment>,
    /// The largest ε, rounded down, of one more pure event that fits this limit; 0 when none does.
    pub left: Epsilon,
    /// How many plans were charged to it.
    pub charges: u64,
}

/// How a budget stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BudgetStatus {
    /// The terms, with all data that were added.
    pub terms: BudgetTerms,
    /// The identity of the budget: the digest of its first entry.
    pub id: String,
    /// The number of the last entry.
    pub last: EntryId,
    /// The digest of everything up to there, in hexadecimal.
    pub digest: String,
    /// The total, then the sub-budgets in the order of their creation.
    pub limits: Vec<LimitStatus>,
    /// Reservations that were never committed: they count as spent.
    pub uncommitted: u64,
    /// Answers that are remembered.
    pub answers: u64,
    /// Whether it was closed.
    pub is_closed: bool,
    /// Whether its time is over, by the later of the clock and the last entry.
    pub is_expired: bool,
}

/// Something that verification found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BudgetProblem {
    /// The entry where it was found; none where it is about the whole.
    pub entry: Option<EntryId>,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for BudgetProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.entry {
            Some(entry) => write!(f, "entry {entry}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}
