//! Questions about a table, answered with noise that hides every single row; and surveys in the local model.
//!
//! ```
//! use reticent_curator::release::{ReleaseQuestion, Release};
//! use reticent_curator::{Planned, Request, Session};
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("people.csv");
//! std::fs::write(&file, "age\n30\n41\n57\n")?;
//! let question = ReleaseQuestion::Count { column: None, error: None };
//! let planned = Release::new(&file, question, 1.0).check()?;
//! println!("off by at most {}", planned.preview()?.error);
//! let released = planned.run(&mut Session::without_limit()?)?;
//! assert_eq!(released.certificate.guarantee.epsilon.get(), 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | step |
//! |---|---|
//! | `request` | the question and what it may cost, as plain data |
//! | `lists`, `terms`, `clamp` | bounds and names; ε, δ, noise and confidence; values outside of the bounds: checked |
//! | `plan`, `query` | the checked plan; opens the file, reads no values |
//! | `accuracy` | the expected error, and the ε for a wanted error |
//! | `gather` | one pass over the data: counts, sums, ranks |
//! | `answer` | the draws and the certificate |
//! | `settled`, `mechanism`, `outcome` | what comes out: the question, how it was answered, the answer |
//! | `budgeted`, `kept` | what a stored budget is charged for, and how it keeps the answer |
//! | [`survey`] | randomize and estimate, the local model |

mod accuracy;
mod answer;
mod budgeted;
mod clamp;
mod gather;
mod kept;
mod lists;
mod mechanism;
mod outcome;
mod plan;
mod query;
mod request;
mod settled;
pub mod survey;
mod terms;

pub use accuracy::Measure;
pub use clamp::Clamped;
pub use lists::join_names;
pub(crate) use lists::{bounds, edges, names};
pub use mechanism::{MechanismKind, MechanismSummary};
pub use outcome::{Preview, ReleasedAnswer, ReleasedValue};
pub use plan::PlannedRelease;
pub(crate) use plan::whole_numbers;
pub use request::{NoiseChoice, Release, ReleaseQuestion, SelectionMechanism};
pub use settled::{SettledQuestion, StatisticKind};

use crate::refusal::Refusal;
use crate::session::{Payment, Session};
use crate::watch::Watch;
use crate::{Planned, Request};
use reticent_core::{Event, Plan};
use reticent_data::Table;
use reticent_noise::PaidSource;
use reticent_noise::query::{quote, rehearse_unpaid};
use std::sync::Arc;

impl Request for Release {
    type Planned = PlannedRelease;

    fn check(&self) -> Result<PlannedRelease, Refusal> {
        plan::plan(self, None)
    }
}

impl Release {
    /// As [`check`](Request::check), about a table that is given beside the request, such as one in memory. The request's
    /// `file` must be empty.
    ///
    /// ```
    /// use reticent_curator::release::{Release, ReleaseQuestion};
    /// use reticent_curator::{Planned, Session};
    /// use reticent_data::MemoryTable;
    /// use reticent_data::arrow_array::{ArrayRef, Int64Array, RecordBatch};
    /// use std::sync::Arc;
    ///
    /// let ages: ArrayRef = Arc::new(Int64Array::from(vec![30, 41, 57]));
    /// let batch = RecordBatch::try_from_iter([("age", ages)])?;
    /// let people = MemoryTable::new("people", batch.schema(), vec![batch])?;
    /// let question = ReleaseQuestion::Count { column: None, error: None };
    /// let planned = Release::new("", question, 1.0).check_table(Arc::new(people))?;
    /// let released = planned.run(&mut Session::without_limit()?)?;
    /// assert_eq!(released.certificate.guarantee.epsilon.get(), 1.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`check`](Request::check), and if the request names a file too.
    pub fn check_table(&self, table: Arc<dyn Table>) -> Result<PlannedRelease, Refusal> {
        plan::plan(self, Some(&table))
    }
}

impl PlannedRelease {
    /// What the release would be like: its error, its cost. No value is read.
    ///
    /// # Errors
    /// [`Refusal`] when the terms cannot be met, or the operating system gives no randomness.
    pub fn preview(&self) -> Result<Preview, Refusal> {
        let (expected, _) = rehearse_unpaid(|source| accuracy::expected(self, source))?;
        Ok(Preview {
            query: settled::settled(self),
            dry_run: true,
            error: expected.error,
            error_in: expected.of,
            confidence: self.terms.confidence.get(),
            neighboring: self.terms.neighboring,
            guarantee: self.whole()?,
            mechanism: MechanismKind::of(self),
            public: answer::public(self),
            warnings: self.warnings.clone(),
        })
    }

    /// What the release will cost, in sequence: the events of the same release of a table without rows, or with one row where
    /// the number of rows is public. No value is read.
    ///
    /// # Guarantee
    /// These are the events of the release whatever the table holds: mechanisms and their parameters are chosen by the plan
    /// alone.
    ///
    /// # Errors
    /// [`Refusal`] when the terms cannot be met, or the operating system gives no randomness.
    pub fn events(&self) -> Result<Vec<Event>, Refusal> {
        Ok(self.charges()?.events().to_vec())
    }

    /// The same as a plan.
    fn charges(&self) -> Result<Plan, Refusal> {
        let nothing = gather::nothing(self)?;
        quote(|source| answer::draw(self, &nothing, source))
    }

    /// Reads the table and answers through `source`: what [`run`](Planned::run) does after the plan is paid for, and
    /// where a test puts a recorder in place of the generator.
    ///
    /// It does not run on a source that nobody paid for:
    ///
    /// ```compile_fail,E0277
    /// use reticent_curator::release::PlannedRelease;
    /// use reticent_curator::watch::Unwatched;
    /// use reticent_noise::query::rehearse_unpaid;
    ///
    /// fn unpaid(planned: &PlannedRelease) {
    ///     rehearse_unpaid(|source| planned.run_with(source, &Unwatched::new()));
    /// }
    /// ```
    ///
    /// # Guarantee
    /// Values reach the outcome through the releases of `source` alone, besides the number of rows under replace-one.
    ///
    /// # Errors
    /// [`Refusal`] when the table cannot be read or the terms cannot be met.
    pub fn run_with(
        &self,
        source: &mut impl PaidSource,
        watch: &dyn Watch,
    ) -> Result<ReleasedAnswer, Refusal> {
        let pass = gather::gather(self, watch)?;
        let drawn = answer::draw(self, &pass, source)?;
        Ok(answer::outcome(self, pass.rows, drawn))
    }
}

impl Planned for PlannedRelease {
    type Outcome = ReleasedAnswer;

    fn run(self, session: &mut Session) -> Result<ReleasedAnswer, Refusal> {
        let Payment { payer, watch } = session.payment("row", self.terms.neighboring)?;
        // On record before a value is read.
        let mut permit = payer.charge(&self.charges()?)?;
        self.run_with(&mut payer.with(&mut permit), watch)
    }
}
