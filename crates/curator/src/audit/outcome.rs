//! What an audit gives back.

use crate::Refusal;
use reticent_attack::learned::registry;
use reticent_audit::attacks::{AUTHOR_ATTACKS, Attack};
use reticent_audit::comparison::{CertificateComparison, compare};
use reticent_audit::table::write_scores;
use reticent_audit::{Examination, Findings, Study};
use reticent_core::Certificate;
use reticent_files::make_private;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What an audit found. As JSON it is its findings: nothing in them says of any record whether it was a member. Their warnings name
/// fields of the request between `⟦` and `⟧`, as refusals do.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct Audited {
    /// What may be shared.
    pub findings: Findings,
    /// The certificate of the model, where there is one.
    #[serde(skip)]
    pub certificate: Option<Certificate>,
    /// What the certificate and the bound say together, where there are both.
    #[serde(skip)]
    pub comparison: Option<CertificateComparison>,
    /// The folder that everything was written to.
    #[serde(skip)]
    pub out: Option<PathBuf>,
    #[serde(skip)]
    study: Study,
    #[serde(skip)]
    scores: Vec<(&'static dyn Attack, Vec<f64>)>,
}

impl Audited {
    pub(super) fn new(
        examination: Examination,
        study: Study,
        certificate: Option<Certificate>,
        out: Option<PathBuf>,
    ) -> Self {
        let Examination { findings, scores, .. } = examination;
        let comparison = match (&certificate, &findings.epsilon_lower) {
            (Some(certificate), Some(bound)) => Some(compare(certificate, bound)),
            _ => None,
        };
        Self { findings, certificate, comparison, out, study, scores }
    }

    /// Writes every record's score by the first attack that was run, and who is a member, for the auditor only.
    ///
    /// # Errors
    /// [`Refusal`] when the file cannot be written.
    pub fn write_scores(&self, path: &Path) -> Result<(), Refusal> {
        let Some((_, scores)) = self.scores.first() else { return Ok(()) };
        write_scores(path, &self.study, &[("score", scores)])?;
        Ok(make_private(path)?)
    }
}

/// An audit that was asked to stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InterruptedAudit {
    /// Always true.
    pub interrupted: bool,
    /// Where finished models are kept, so that the same request goes on from there; none where it begins anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<PathBuf>,
}

impl InterruptedAudit {
    pub(super) fn at(out: Option<PathBuf>) -> Self {
        Self { interrupted: true, out }
    }
}

/// How an audit ended.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Outcome {
    /// With findings.
    Found(Box<Audited>),
    /// By a request to stop.
    Interrupted(InterruptedAudit),
}

/// An attack as it is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ListedAttack {
    /// What it does.
    pub about: &'static str,
    /// What requests call it.
    pub name: &'static str,
    /// What it needs of a table.
    pub needs: &'static str,
}

/// All attacks there are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attacks {
    /// Each with what it needs.
    pub attacks: Vec<ListedAttack>,
}

/// The attacks there are, and what each needs.
pub fn attacks() -> Attacks {
    let listed = |attack: &&'static dyn Attack| ListedAttack {
        about: attack.about(),
        name: attack.name(),
        needs: attack.needs(),
    };
    Attacks { attacks: registry().attacks().iter().chain(AUTHOR_ATTACKS).map(listed).collect() }
}
