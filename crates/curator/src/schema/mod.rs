//! The schema of a table: drafted from its records, or learnt from them with differential privacy.
//!
//! ```
//! use reticent_curator::schema::LearnSchema;
//! use reticent_curator::{Planned, Request, Session};
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("people.csv");
//! std::fs::write(&file, "age,sex\n".to_owned() + &"30,f\n41,m\n".repeat(500))?;
//! let learnt = LearnSchema::private(&file, 1.0, 1e-6).check()?.run(&mut Session::without_limit()?)?;
//! let spent = learnt.certificate.map(|certificate| certificate.guarantee.epsilon.get());
//! assert!(spent.is_some_and(|epsilon| epsilon <= 1.0));
//! println!("{}", learnt.schema.to_toml());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | step |
//! |---|---|
//! | `request` | the table, the label and the budget, as plain data |
//! | `plan` | the checked plan; opens the file, reads no values |
//! | `draft` | one pass over the data, without privacy |
//! | `private` | two passes over the data, with differential privacy |
//! | `magnitude` | the histogram that bounds start from, and round numbers |
//! | `describe` | findings to a schema, with notes about entries to review |
//! | `budgeted` | what a stored budget is charged for |
//! | `outcome` | the outcome, and its file |

mod budgeted;
mod describe;
mod draft;
mod magnitude;
mod outcome;
mod plan;
mod private;
mod request;

pub use outcome::LearntSchema;
pub use plan::PlannedSchema;
pub use request::LearnSchema;

use crate::refusal::Refusal;
use crate::session::{Payment, Session};
use crate::watch::Watch;
use crate::{Planned, Request};
use reticent_core::{Certificate, Event, Neighboring, Plan};
use reticent_data::Table;
use reticent_noise::PaidSource;
use std::sync::Arc;

/// The maximum number of categories of a drafted column.
const MOST_CATEGORIES: usize = 100;

/// The finding about a column.
#[derive(Debug, Clone, PartialEq)]
enum Finding {
    /// Numbers from the first to the second, which is larger.
    Numbers([f64; 2]),
    /// These labels, in the order of their text; at least one.
    Labels(Vec<String>),
    /// Nothing usable, and why.
    Nothing(String),
}

impl Finding {
    /// Labels, if there are some but not too many.
    fn labels(labels: impl ExactSizeIterator<Item = String>, none: &str) -> Self {
        match labels.len() {
            0 => Self::Nothing(none.to_owned()),
            n if n > MOST_CATEGORIES => Self::Nothing(too_many()),
            _ => Self::Labels(labels.collect()),
        }
    }
}

fn too_many() -> String {
    format!("more than {MOST_CATEGORIES} different labels")
}

/// The findings about all columns, and their cost.
struct Learnt {
    /// One finding for each of the plan's subjects.
    findings: Vec<Finding>,
    /// There if privacy was spent.
    certificate: Option<Certificate>,
}

impl Request for LearnSchema {
    type Planned = PlannedSchema;

    fn check(&self) -> Result<PlannedSchema, Refusal> {
        plan::plan(self, None)
    }
}

impl LearnSchema {
    /// As [`check`](Request::check), about a table that is given beside the request, such as one in memory. The request's
    /// `file` must be empty.
    ///
    /// # Errors
    /// As [`check`](Request::check), and if the request names a file too.
    pub fn check_table(&self, table: Arc<dyn Table>) -> Result<PlannedSchema, Refusal> {
        plan::plan(self, Some(table))
    }
}

impl PlannedSchema {
    /// What learning will cost at most, in sequence: a draft costs nothing that an event could say. No value is read.
    ///
    /// # Guarantee
    /// Which steps a column takes is learnt from the data; these events are the worst-case cost, and the certificate of the
    /// outcome has them whatever the table holds.
    ///
    /// # Errors
    /// [`Refusal`] when the budget cannot be divided among the columns.
    pub fn events(&self) -> Result<Vec<Event>, Refusal> {
        Ok(match &self.budget {
            None => Vec::new(),
            Some(budget) => private::cost(self, budget)?.events,
        })
    }

    /// Reads the table and learns through `source`: what [`run`](Planned::run) does after the plan is paid for, and where a
    /// test puts a recorder in place of the generator.
    ///
    /// # Guarantee
    /// With an ε, values reach the outcome only through the releases of `source`. A draft is computed from the data without protection.
    ///
    /// # Errors
    /// [`Refusal`] when the table cannot be read, a draft cannot tell what the label is, or the file cannot be written.
    pub fn run_with(&self, source: &mut impl PaidSource, watch: &dyn Watch) -> Result<LearntSchema, Refusal> {
        let learnt = match &self.budget {
            None => draft::draft(self, watch)?,
            Some(budget) => private::learn(self, budget, source, watch)?,
        };
        let (schema, notes) = describe::describe(self, &learnt)?;
        LearntSchema::new(schema, learnt.certificate, notes).written(self)
    }
}

impl Planned for PlannedSchema {
    type Outcome = LearntSchema;

    fn run(self, session: &mut Session) -> Result<LearntSchema, Refusal> {
        if self.budget.is_none() {
            session.unprotected("a draft of a schema, which is computed from the data")?;
        }
        let Payment { payer, watch } = session.payment("row", Neighboring::AddRemove)?;
        // On record before a value is read. The steps that a column takes are chosen by its histogram; every way through
        // a column costs at most its events, so these cover the steps together.
        let price = Event::Composed { events: self.events()? };
        let mut permit = payer.charge(&Plan::new(vec![price.clone()])?)?;
        let mut paid = payer.with(&mut permit);
        self.run_with(&mut paid.covering(&price)?, watch)
    }
}
