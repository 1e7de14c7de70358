//! Privacy budgets that outlive a process: one record for everything that is ever learnt about some people.
//!
//! | room | what is in it |
//! |---|---|
//! | [`BudgetTerms`], [`DataName`], [`SubBudget`] | what is settled: limit, privacy unit, expiry, data, limits of analysts and purposes |
//! | [`BudgetStore`] | what every store does: reserve, commit, remember, verify |
//! | [`SqliteBudget`] | one file, for many processes of one machine |
//! | `PostgresBudget` | a row of a database, behind the feature `postgres` |
//! | [`StoredLedger`], [`BudgetReceipt`] | a store as the [`Ledger`](reticent_core::Ledger) of a session |
//! | [`BudgetEntry`], [`BudgetStatus`], [`BudgetExport`] | what is read back |
//! | [`StoreError`], [`BudgetProblem`] | what was refused or failed; what verification found |
//!
//! A charge is on disk before the permit exists, so a process that is killed has spent at most what it never drew.
//!
//! ```
//! use reticent_core::{Delta, Epsilon, Event, Guarantee, Neighboring, Plan, charge};
//! use reticent_ledger::{Asking, BudgetTerms, QuestionDigest, SharedStore, SqliteBudget, StoreOptions};
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("hospital.budget");
//! let limit = Guarantee { epsilon: Epsilon::new(3.0)?, delta: Delta::new(1e-6)? };
//! let terms = BudgetTerms::new("patients of 2026", limit, Neighboring::AddRemove, "row");
//! let store = SqliteBudget::create(&file, &terms, StoreOptions::default())?;
//! let shared = SharedStore::new(Box::new(store))?;
//!
//! let question = QuestionDigest::of(b"how many visits?");
//! let asking = Asking { question: Some(question), about: "count visits".to_owned(), ..Asking::default() };
//! let (mut ledger, receipt) = shared.ledger(asking);
//! let plan = Plan::new(vec![Event::Pure { epsilon: Epsilon::new(0.5)? }])?;
//! let permit = charge(&mut ledger, &plan)?;
//! // The answer is drawn with the permit, then kept.
//! receipt.commit(Some(b"4711"))?;
//! # drop(permit);
//! let again = shared.store().remembered(&question.into())?.ok_or("forgotten")?;
//! assert_eq!(again.answer, b"4711");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![doc = include_str!("proof.md")]

mod book;
mod charge;
mod error;
mod export;
mod moment;
mod options;
#[cfg(feature = "postgres")]
mod postgres;
mod record;
mod rows;
mod seal;
mod sqlite;
mod store;
mod stored;
mod terms;
mod verify;

#[cfg(feature = "postgres")]
pub use self::postgres::PostgresBudget;
pub use charge::{
    Asking, BudgetEntry, BudgetProblem, BudgetStatus, Charge, EntryId, EntryKind, LimitStatus,
    QuestionDigest, RememberedAnswer,
};
pub use error::StoreError;
pub use export::BudgetExport;
pub use moment::{BudgetClock, Moment};
pub use options::StoreOptions;
pub use sqlite::SqliteBudget;
pub use store::BudgetStore;
pub use stored::{BudgetReceipt, SharedStore, StoredLedger};
pub use terms::{BudgetScope, BudgetTerms, DataName, SubBudget};

#[cfg(test)]
mod tests;
