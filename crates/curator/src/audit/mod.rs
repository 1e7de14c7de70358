//! What a model leaks about who was in its training data: ours, or anybody's.
//!
//! ```
//! use reticent_curator::audit::{Audit, Outcome, Scores};
//! use reticent_curator::{Planned, Request, Session};
//!
//! let folder = tempfile::tempdir()?;
//! let table = folder.path().join("scores.csv");
//! std::fs::write(&table, "score,member\n0.9,1\n0.8,1\n0.7,0\n0.6,1\n0.3,0\n0.2,0\n")?;
//! let request = Audit::Scores(Scores { scores: table, ..Scores::default() });
//! let outcome = request.check()?.run(&mut Session::without_limit()?)?;
//! let Outcome::Found(found) = outcome else { return Err("it was interrupted".into()) };
//! assert!(found.findings.attacks[0].performance.auc.value > 0.8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod case;
pub(crate) mod folder;
mod outcome;
mod scores;
mod statement;
mod target;

pub use case::{Case, Chosen, Wanted};
pub(crate) use folder::read_findings;
pub use outcome::{Attacks, Audited, Interrupted, Listed, Outcome, attacks};
pub use scores::{Drawn, Scores};
pub use statement::{Bound, Statement, WORST};
pub use target::canary_training;

use crate::{Planned, Refusal, Request, Session};
use scores::ScoresPlan;
use serde::{Deserialize, Serialize};

/// The key of every split unless a request says otherwise.
pub const KEY: &str = "reticent";

/// An audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Audit {
    /// Of a table of scores.
    Scores(Scores),
}

/// A checked audit.
#[derive(Debug)]
pub struct AuditPlan(Plan);

#[derive(Debug)]
enum Plan {
    Scores(Box<ScoresPlan>),
}

impl Request for Audit {
    type Planned = AuditPlan;

    fn check(&self) -> Result<AuditPlan, Refusal> {
        Ok(AuditPlan(match self {
            Self::Scores(request) => Plan::Scores(Box::new(request.plan()?)),
        }))
    }
}

impl Planned for AuditPlan {
    type Outcome = Outcome;

    fn run(self, session: &mut Session) -> Result<Outcome, Refusal> {
        Ok(match self.0 {
            Plan::Scores(plan) => Outcome::Found(Box::new(plan.run(session)?)),
        })
    }
}
