//! Limits on what everything computed from some people's data may cost together.
//!
//! [`SharedBudget`] is a limit in memory. [`StoredBudget`] is one in a file, which many processes may charge over years: a
//! request is charged to it, its answer is remembered, and what is left is told in terms of the question.
//!
//! ```
//! use reticent_core::Code;
//! use reticent_curator::budget::{CreateBudget, StoredBudget};
//! use reticent_curator::release::{Release, ReleaseQuestion};
//! use reticent_curator::{Planned, Request, Session};
//! # let folder = tempfile::tempdir()?;
//! # let (file, place) = (folder.path().join("visits.csv"), folder.path().join("hospital.budget"));
//! # std::fs::write(&file, "age\n30\n41\n57\n")?;
//! let create = CreateBudget::new(&place, 1.5, &file);
//! create.check()?.run(&mut Session::without_limit()?)?;
//! let budget = StoredBudget::open(&place)?;
//! let count = Release::new(&file, ReleaseQuestion::Count { column: None, error: None }, 1.0);
//! let first = budget.answer(&count, count.check()?, false, None)?;
//! // The same question is free; another one of the same size does not fit any more.
//! let again = budget.answer(&count, count.check()?, false, None)?;
//! assert_eq!(first.outcome, again.outcome);
//! let refusal = budget.answer(&count, count.check()?, true, None).err().ok_or("charged beyond the limit")?;
//! assert_eq!(refusal.code(), Code::Spent);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | what is in it |
//! |---|---|
//! | `memory` | a budget in memory |
//! | `stored`, `place` | a budget in a file or a database: sessions that charge it |
//! | `charged` | requests that are charged, answers that are remembered, what is left |
//! | `question`, `names` | when two questions are the same; what the data are called |
//! | `request`, `outcome`, `run` | the budget itself: creating, showing, adding to, closing, verifying and exporting it |
//! | `spending` | its page |

mod charged;
mod memory;
mod names;
mod outcome;
mod place;
mod question;
mod request;
mod run;
mod spending;
mod stored;

pub use charged::{BudgetStanding, Budgeted, Charged, Pricing, Remembered, StillAskable};
pub use memory::SharedBudget;
pub use names::{BUNDLED, MEMORY, STDIN};
pub use outcome::{
    BudgetChange, BudgetChanged, BudgetPart, BudgetState, BudgetSummary, ChargeHistory, ExportedBudget,
    PastCharge, VerifiedBudget, WrittenSpending,
};
pub use place::SEALS_FOLDER;
pub use question::CanonicalQuestion;
pub use request::{
    AddData, AllotBudget, BudgetHistory, CloseBudget, CreateBudget, DrawSpending, ExportBudget, ShowBudget,
    VerifyBudget,
};
pub use run::BudgetTask;
pub use stored::{StoredBudget, declared_budget};

#[cfg(test)]
mod tests;
