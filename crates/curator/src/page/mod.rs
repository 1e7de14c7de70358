//! A page of statistics of one table: by group, about rows or people, under one budget.
//!
//! ```
//! use reticent_curator::page::{Page, PageStatistic};
//! use reticent_curator::{Planned, Request, Session};
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("visits.csv");
//! std::fs::write(&file, "id,ward,age\n1,A,30\n1,A,31\n2,B,57\n")?;
//! let mut page = Page::new(&file, vec![PageStatistic::Count { column: None }.into()], 1.0);
//! page.unit = Some(serde_json::from_str(r#"{"column": "id", "rows": 2, "groups": 1}"#)?);
//! page.group_by = Some(serde_json::from_str(r#"{"columns": ["ward"], "keys": {"lists": {"ward": ["A", "B"]}}}"#)?);
//! let released = page.check()?.run(&mut Session::without_limit()?)?;
//! assert_eq!(released.certificate.unit, "all rows of one id");
//! assert_eq!(released.rows.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A page reads its table once, twice where each row is protected by itself and groups are selected. Where people have several rows,
//! memory holds the rows that are kept of each, as the numbers that the questions read; otherwise it holds the sums of all groups.
//!
//! | file | step |
//! |---|---|
//! | `request`, `statistic` | the page and its questions, as plain data |
//! | `declared`, `groups`, `unit`, `axis`, `asked` | schema, groups, people and limits, cells, questions: checked |
//! | `pieces` | the parts that questions share |
//! | `price`, `expected` | the noise for a budget or for wanted errors, and the errors to expect |
//! | `plan` | the checked plan; opens the file, reads no values |
//! | `input`, `bounding`, `pass` | what rows add, what counts of one person, and the sums of all groups |
//! | `answer` | the draws and the figures |
//! | `outcome`, `summary` | what comes out: figures with intervals, parts, preview, certificate |
//! | `budgeted` | what a stored budget is charged for, and how it keeps the page |
//! | `suggest` | limits per person from a paid estimate |
#![doc = include_str!("proof.md")]

mod answer;
mod asked;
mod axis;
mod bounding;
mod budgeted;
mod declared;
mod expected;
mod groups;
mod input;
mod outcome;
mod pass;
mod pieces;
mod plan;
mod price;
mod request;
mod statistic;
mod suggest;
mod summary;
mod unit;

#[cfg(test)]
mod tests;

pub use outcome::{
    AnsweredQuestion, ClampedColumn, ExpectedQuestion, PageOutcome, PagePreview, PageRow, PageUnit,
    ReleasedPart,
};
pub use plan::PlannedPage;
pub use request::{BudgetSplit, GroupBy, Keys, Page, PageQuestion, SelectedKeys, UnitLimits};
pub use statistic::{CellColumn, ColumnPair, NumberColumn, PageStatistic, RankedColumn};
pub use suggest::{PeopleUpTo, PlannedLimits, SuggestLimits, SuggestedLimits};

use crate::refusal::Refusal;
use crate::session::{Payment, Session};
use crate::watch::Watch;
use crate::{Planned, Request};
use reticent_core::{Event, Plan};
use reticent_data::Table;
use reticent_noise::PaidSource;
use std::sync::Arc;

impl Request for Page {
    type Planned = PlannedPage;

    fn check(&self) -> Result<PlannedPage, Refusal> {
        plan::plan(self, None)
    }
}

impl Page {
    /// As [`check`](Request::check), about a table that is given beside the request, such as one in memory. The request's
    /// `file` must be empty.
    ///
    /// # Errors
    /// As [`check`](Request::check), and if the request names a file too.
    pub fn check_table(&self, table: Arc<dyn Table>) -> Result<PlannedPage, Refusal> {
        plan::plan(self, Some(&table))
    }
}

impl PlannedPage {
    /// What the page would be like: its errors, its cost. No value is read.
    ///
    /// # Errors
    /// [`Refusal`] when the terms cannot be met.
    pub fn preview(&self) -> Result<PagePreview, Refusal> {
        self.previewed()
    }

    /// What the page will cost, in sequence. No value is read.
    ///
    /// # Guarantee
    /// These are the events of the page whatever the table holds: parts, noise and their number are chosen by the plan alone.
    ///
    /// # Errors
    /// None at present.
    pub fn events(&self) -> Result<Vec<Event>, Refusal> {
        Ok(self.all_events())
    }

    /// The privacy unit, as certificates and sessions name it.
    pub fn unit(&self) -> String {
        self.unit.name()
    }

    /// Reads the table and answers through `source`: what [`run`](Planned::run) does after the plan is paid for, and
    /// where a test puts a recorder in place of the generator.
    ///
    /// # Guarantee
    /// Values reach the outcome through the releases of `source` alone, besides the number of rows where rows are the unit under
    /// replace-one.
    ///
    /// # Errors
    /// [`Refusal`] when the table cannot be read.
    pub fn run_with(&self, source: &mut impl PaidSource, watch: &dyn Watch) -> Result<PageOutcome, Refusal> {
        let pass = pass::gather(self, watch)?;
        let rows = pass.rows;
        let drawn = answer::draw(self, pass, source, watch)?;
        Ok(self.outcome(rows, drawn))
    }
}

impl Planned for PlannedPage {
    type Outcome = PageOutcome;

    fn run(self, session: &mut Session) -> Result<PageOutcome, Refusal> {
        let Payment { payer, watch } = session.payment(&self.unit.name(), self.neighboring)?;
        // On record before a value is read.
        let mut permit = payer.charge(&Plan::new(self.all_events())?)?;
        self.run_with(&mut payer.with(&mut permit), watch)
    }
}
