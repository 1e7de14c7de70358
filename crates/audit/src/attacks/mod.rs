//! Attacks on a study: each turns what is known into one score per record, larger for members.
//!
//! An attack is a file with a type that implements [`Attack`], and a line in the [registry](Registry). The registry decides
//! which attacks an audit runs, which may be its headline, how they are listed, and which kind of attack a report counts
//! them under.
//!
//! Up to a quarter of the records may lack a reference on one side: what such a reference would have said is filled in from
//! the other side and the mean difference of the sides, and `filled_in` counts them.

mod access;
mod author;
mod base;
mod cannot;
mod evidence;
mod headline;
mod informed;
mod kind;
mod label_only;
mod lira;
mod per_class;
mod quantile;
mod registry;
mod rmia;
mod settings;
mod shokri;
mod snapshots;
mod threshold;

pub use access::AccessLevel;
pub use author::{
    AUTHOR_ATTACKS, AUTHOR_LIKELIHOOD, AUTHOR_LIRA_OFFLINE, AUTHOR_LIRA_ONLINE, AUTHOR_LOSS,
    AUTHOR_RANK_HISTOGRAM, AUTHOR_RANKS, AUTHOR_SAMPLES, RANK_BINS, rank_bin,
};
pub use base::{BASE, BASE_OFFLINE};
pub use cannot::CannotRun;
pub use headline::{Candidacy, Headline, Plays};
pub use informed::{INVERSE_HESSIAN_ATTACK, InformedThreshold, LEAVE_ONE_OUT_ATTACK};
pub use kind::AttackKind;
pub use label_only::{LABEL_ONLY, LIRA_LABEL_ONLY};
pub use lira::{
    LIRA_OFFLINE, LIRA_OFFLINE_GRADIENT, LIRA_OFFLINE_TWO_TAILED, LIRA_ONLINE, LIRA_ONLINE_GRADIENT, Lira,
    LiraForm, Location, PRIOR, Variance,
};
pub use per_class::YEOM_PER_CLASS;
pub use quantile::QUANTILE_REGRESSION;
pub use registry::{Registry, STANDARD};
pub use rmia::{RMIA_OFFLINE, RMIA_OFFLINE_GRADIENT, RMIA_ONLINE, RMIA_ONLINE_GRADIENT, rmia_scores};
pub use settings::{AttackScores, AttackSettings};
pub use shokri::SHOKRI;
pub use snapshots::{
    ASCENT, ASCENT_LIKELIHOOD, SNAPSHOT_FEATURES, SNAPSHOT_GRADIENT_NORM, SNAPSHOT_GRADIENTS,
    SNAPSHOT_LEARNED, SNAPSHOT_LIKELIHOOD, SNAPSHOT_LOSS, known_half, observed,
};
pub use threshold::{
    GIVEN_SCORE, GRADIENT_COSINE_THRESHOLD, GRADIENT_NORM_THRESHOLD, INPUT_GRADIENT_THRESHOLD,
    MODIFIED_ENTROPY, Threshold, YEOM_LOSS,
};

use crate::findings::Threat;
use crate::{AuditError, SCORE, SignalSource, Study};
use std::fmt;

/// Which reference models an attack compares the target with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReferenceNeed {
    /// None.
    None,
    /// Any, whichever records they were trained on.
    Any,
    /// One trained without each record.
    Without,
    /// One trained with and one trained without each record.
    WithAndWithout,
}

/// What a study must hold for an attack to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requirements {
    /// Names of signals of which one is enough, the preferred one first. [`OUTPUTS`](crate::OUTPUTS) asks for the outputs of all
    /// classes and the true class. Where references are needed, all of them must have the signal.
    pub signals: &'static [&'static str],
    /// The reference models.
    pub references: ReferenceNeed,
}

/// A way to tell members from non-members.
///
/// An implementation says what it needs and computes scores. Checks that every attack shares are in the methods of
/// `dyn Attack`: call [`run`](trait.Attack.html#method.run), not [`score`](Attack::score).
pub trait Attack: fmt::Debug + Send + Sync {
    /// A stable name, which requests and findings use.
    fn name(&self) -> &'static str;

    /// One line about what it does.
    fn about(&self) -> &'static str;

    /// What it needs, in a few words.
    fn needs(&self) -> &'static str;

    /// What a study must hold.
    fn requirements(&self) -> Requirements;

    /// What the attacker has besides access to the model: the rest of the threat model.
    fn knowledge(&self, study: &Study) -> String;

    /// One score per record, larger for members, of a study that holds what is required.
    ///
    /// # Errors
    /// [`AuditError::NotMeasurable`] when the records cannot answer; [`AuditError::Invalid`] for settings out of range.
    fn score(&self, study: &Study, settings: &AttackSettings) -> Result<AttackScores, AuditError>;

    /// The question it answers.
    fn kind(&self) -> AttackKind {
        AttackKind::MembershipInference
    }

    /// What the attacker wants to learn.
    fn goal(&self) -> &'static str {
        self.kind().goal()
    }

    /// Whether scores are fitted to who is a member of the target. They are then not guesses, and prove nothing about ε.
    fn sees_members(&self) -> bool {
        false
    }

    /// Whether it may be the headline of an audit, and when; by default never.
    fn candidacy(&self) -> Option<Candidacy> {
        None
    }

    /// What of the target it uses, where its requirements do not say.
    fn access(&self, _study: &Study) -> Option<SignalSource> {
        None
    }

    /// What a study must hold besides the [requirements](Attack::requirements).
    ///
    /// # Errors
    /// What is missing.
    fn check(&self, _study: &Study) -> Result<(), CannotRun> {
        Ok(())
    }

    /// Settings for plays in which references stand in for the target: what an attack tunes on references is tuned once.
    ///
    /// # Errors
    /// As [`score`](Attack::score).
    fn tuned(&self, _study: &Study, settings: &AttackSettings) -> Result<AttackSettings, AuditError> {
        Ok(settings.clone())
    }
}

impl dyn Attack {
    /// Whether the study has what the attack needs.
    ///
    /// # Errors
    /// What is missing, and what to do about it.
    pub fn can_run(&self, study: &Study) -> Result<(), CannotRun> {
        if study.is_empty() {
            return Err(CannotRun::NoRecords);
        }
        evidence::require(study, self.requirements())?;
        self.check(study)
    }

    /// The scores of all records.
    ///
    /// # Errors
    /// [`AuditError::NotMeasurable`] with the reason of `can_run`; [`AuditError::Invalid`] for scores that are not finite or of
    /// another number than the records, and for settings out of range.
    pub fn run(&self, study: &Study, settings: &AttackSettings) -> Result<AttackScores, AuditError> {
        self.can_run(study)?;
        let found = self.score(study, settings)?;
        if found.scores.len() != study.len() {
            let remedy = format!("the attack {} must score all {} records", self.name(), study.len());
            return Err(AuditError::invalid("score", format!("{} scores", found.scores.len()), remedy));
        }
        evidence::finite(study, self.name(), &found.scores)?;
        Ok(found)
    }

    /// Whether it compares the target with reference models.
    pub fn needs_references(&self) -> bool {
        self.requirements().references != ReferenceNeed::None
    }

    /// How many records lack a reference on a side that the attack needs, and are filled in from the others.
    pub fn filled_in(&self, study: &Study) -> usize {
        evidence::filled_in(study, self.requirements().references)
    }

    /// What of the target it uses on this study's evidence.
    pub fn source(&self, study: &Study) -> SignalSource {
        let requirements = self.requirements();
        if let Some(source) = self.access(study) {
            return source;
        }
        match evidence::chosen(study, requirements) {
            Ok(name) => study.signal(name).map_or(SignalSource::Outputs, |signal| signal.provenance()),
            Err(_) if requirements.signals == [SCORE] => SignalSource::Given,
            Err(_) => SignalSource::Outputs,
        }
    }

    /// Who could run it on this study's evidence.
    pub fn threat(&self, study: &Study) -> Threat {
        Threat {
            access: self.source(study).access().to_owned(),
            knowledge: self.knowledge(study),
            goal: self.goal().to_owned(),
        }
    }
}

/// Attacks are the same when their names are.
impl PartialEq for dyn Attack {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for dyn Attack {}

#[cfg(test)]
pub(crate) mod tests;
