//! What a model, ours or any other, leaks about who was in its training data.
//!
//! ```
//! use reticent_curator::audit::{Audit, Outcome, ScoreAudit};
//! use reticent_curator::{Planned, Request, Session};
//!
//! let folder = tempfile::tempdir()?;
//! let table = folder.path().join("scores.csv");
//! std::fs::write(&table, "score,member\n0.9,1\n0.8,1\n0.7,0\n0.6,1\n0.3,0\n0.2,0\n")?;
//! let request = Audit::Scores(ScoreAudit { scores: table, ..ScoreAudit::default() });
//! let outcome = request.check()?.run(&mut Session::without_limit()?)?;
//! let Outcome::Found(found) = outcome else { return Err("it was interrupted".into()) };
//! assert!(found.findings.attacks[0].performance.auc.value > 0.8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A record's way from a file to a report
//! Every hop knows those above it and none of those below.
//!
//! ```text
//!  a file               data::Table (columns, no value)   or   train::Source (table, images, text)
//!    │ the request's schema
//!  rows                 data::Design, one row a unit          or   train::Examples
//!    │ fit::Fit → FitPlan, or train::Train → TrainPlan
//!  a model              erm::Model with core::Certificate     or   weights of a train::Engine with core::Certificate
//!    │ folder: the request that made it, schema, certificate, weights
//!  a stored model       folder::Stored
//!    │ audit::ModelAudit, Collected or FitReferences → Target (the request checked again), RecordChoice (who is declared to be in)
//!  a model under attack Case: Chosen (who is audited), attack::Population, Outputs, Learner
//!    │ attack::ReferencePlan over WithBackground, kept in a Store
//!  reference models     audit::Reference
//!    │ attack::target_study; canaries come in here by canary::run, and tables of any tool by audit::table::read_scores
//!  a study              audit::Study with its Draw
//!    │ AuditStatement → audit::ExamineSettings; audit::examine
//!  findings             audit::Examination: Findings (to be shared), Private and scores (who was a member)
//!    │ folder::Writer: audit.json, with the digest of the model; private.json, scores.csv and records.csv for their owner alone
//!  an audit on disk     a folder of its own, beside the model's
//!    │ report::Report: Findings, core::Certificate, report::Declared, report::TrainingSummary, report::ReportProvenance
//!  a report             report::Dossier → report.html, report.json
//! ```
//!
//! An audit reads the records themselves: its numbers are covered by no certificate, and it charges nothing. So it writes nothing
//! into the folder of the model, whose certificate speaks for everything in there.

mod attribute;
mod authors;
mod canaries;
mod case;
mod coins;
mod difference;
pub(crate) mod disclosed;
mod federated;
pub(crate) mod folder;
mod model;
mod outcome;
mod reconstruct;
mod references;
mod scores;
mod secrets;
mod statement;
mod target;

pub use attribute::{ATTRIBUTE_RECORDS, ATTRIBUTE_REFERENCES, Attribute, AttributePlan};
pub use canaries::{CANARIES, CanaryAudit};
pub use coins::{coins, uniform};
pub use difference::{Difference, DifferencePlan};
pub use disclosed::Disclosed;
pub use federated::{ActiveChoice, FederatedAudit, round_sets};
pub use model::{Collected, ModelAudit};
pub use outcome::{Attacks, Audited, InterruptedAudit, ListedAttack, Outcome, attacks};
pub use reconstruct::{ATTACKED, BATCH, Reconstruct, ReconstructPlan, SHADOWS, STEPS};
pub use references::{
    FitReferences, FitReferencesPlan, FittedReferences, Fitting, JOBS, JobOutcome, RECORDS, REFERENCES,
    SAMPLES, THREADS,
};
pub use reticent_attack::canary::CanaryKind;
pub use scores::{Drawn, ScoreAudit};
pub use secrets::{CANDIDATES, CONTINUATIONS, PlantSecrets, PlantSecretsPlan, REPETITIONS, SECRETS};
pub use statement::{AuditStatement, BoundChoice, WORST};

use crate::{Planned, Refusal, Request, Session};
use canaries::CanariesPlan;
use federated::FederatedPlan;
use model::ModelPlan;
use scores::ScoresPlan;
use serde::{Deserialize, Serialize};

/// The key of every split unless a request says otherwise.
pub const KEY: &str = "reticent";

/// An audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Audit {
    /// Of anybody's model, by a table of its scores.
    Scores(ScoreAudit),
    /// Of a model of ours; reference models that are missing are trained.
    Model(ModelAudit),
    /// Of a model of ours whose reference models are all there.
    Collected(Collected),
    /// Of a training, by canaries.
    Canaries(CanaryAudit),
    /// Of parties that trained together, by one who looks on or interferes.
    Federated(FederatedAudit),
}

/// A checked audit.
pub struct AuditPlan(Plan);

enum Plan {
    Scores(Box<ScoresPlan>),
    Model(Box<ModelPlan>),
    Canaries(Box<CanariesPlan>),
    Federated(Box<FederatedPlan>),
}

impl Request for Audit {
    type Planned = AuditPlan;

    fn check(&self) -> Result<AuditPlan, Refusal> {
        Ok(AuditPlan(match self {
            Self::Scores(request) => Plan::Scores(Box::new(request.plan()?)),
            Self::Model(request) => Plan::Model(Box::new(request.plan()?)),
            Self::Collected(request) => Plan::Model(Box::new(request.plan()?)),
            Self::Canaries(request) => Plan::Canaries(Box::new(request.plan()?)),
            Self::Federated(request) => Plan::Federated(Box::new(request.plan()?)),
        }))
    }
}

impl Planned for AuditPlan {
    type Outcome = Outcome;

    fn run(self, session: &mut Session) -> Result<Outcome, Refusal> {
        session.unprotected("an audit, which reads the records themselves,")?;
        match self.0 {
            Plan::Scores(plan) => Ok(Outcome::Found(Box::new(plan.run(session)?))),
            Plan::Model(plan) => plan.run(session),
            Plan::Canaries(plan) => plan.run(session),
            Plan::Federated(plan) => plan.run(session),
        }
    }
}
