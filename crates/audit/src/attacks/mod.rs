//! Attacks on a study: each turns what is known into one score per record, larger for members.
//!
//! | attack | what it needs |
//! |---|---|
//! | `given-score` | a score |
//! | `yeom-loss`, `yeom-per-class`, `modified-entropy` | outputs of the target, labels |
//! | `quantile-regression` | the same or a score, and features |
//! | `shokri` | outputs of references trained with some records and without others |
//! | `lira-offline`, `lira-offline-two-tailed` | a reference trained without each record: outputs or scores |
//! | `lira-online` | also one trained with each |
//! | `rmia-offline`, `base-offline` | outputs of a reference trained without each record |
//! | `rmia-online`, `base` | also of one trained with each |
//!
//! Up to a quarter of the records may lack a reference on one side: what such a reference would have said is filled in from
//! the other side and the mean difference of the sides, and [`Attack::filled_in`] counts them.

mod base;
mod evidence;
mod headline;
mod lira;
mod quantile;
mod rmia;
mod shokri;
mod threat;
mod yeom;

pub use headline::Headline;
pub use lira::{Location, PRIOR, Variance};
pub use rmia::rmia_scores;

use crate::findings::Threat;
use crate::{AuditError, Signal, Study};
use lira::Form;
use std::collections::BTreeMap;

/// A way to tell members from non-members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attack {
    /// The caller's own score.
    GivenScore,
    /// A threshold on the logit of the true class.
    YeomLoss,
    /// The same, made comparable class by class.
    YeomPerClass,
    /// A threshold on the modified entropy.
    ModifiedEntropy,
    /// The distance from a quantile that non-members like the record have.
    QuantileRegression,
    /// A classifier that learnt from shadow models.
    Shokri,
    /// The likelihood ratio between references trained with and without the record.
    LiraOnline,
    /// The one-sided likelihood of references trained without it.
    LiraOffline,
    /// The two-tailed likelihood of references trained without it.
    LiraOfflineTwoTailed,
    /// The relative attack with references trained without the record.
    RmiaOffline,
    /// The relative attack with references on both sides.
    RmiaOnline,
    /// The log-probability against the log of its mean over references on both sides.
    Base,
    /// The same with references trained without the record.
    BaseOffline,
}

/// Choices that attacks leave open; `None` lets the attack choose by what is available, never by the target's truth.
#[derive(Debug, Clone, PartialEq)]
pub struct AttackSettings {
    /// What every split and subsample depends on.
    pub key: String,
    /// The spread that LiRA uses.
    pub lira_variance: Option<Variance>,
    /// What LiRA's normal distributions are centred on.
    pub lira_location: Location,
    /// RMIA's γ. With one query per record, γ changes no order: above 1 it only ties records whose ratios are close, so 1
    /// is the default.
    pub rmia_gamma: f64,
    /// RMIA's temperature; tuned on references that play the target, else 2.
    pub rmia_temperature: Option<f64>,
    /// RMIA's offline factor; tuned on references that play the target, else 0.3.
    pub rmia_a: Option<f64>,
    /// The softmax temperature of `base` and `base-offline`; 1 is the published form.
    pub base_temperature: f64,
    /// How much the references count in `base-offline`.
    pub base_factor: f64,
    /// The quantile of `quantile-regression`.
    pub quantile_level: f64,
}

impl Default for AttackSettings {
    fn default() -> Self {
        Self {
            key: "audit".to_owned(),
            lira_variance: None,
            lira_location: Location::Mean,
            rmia_gamma: 1.0,
            rmia_temperature: None,
            rmia_a: None,
            base_temperature: 1.0,
            base_factor: 0.33,
            quantile_level: 0.9,
        }
    }
}

/// What an attack says.
#[derive(Debug, Clone, PartialEq)]
pub struct AttackScores {
    /// One per record, larger for members.
    pub scores: Vec<f64>,
    /// What was chosen, and how.
    pub settings: BTreeMap<String, String>,
}

/// How many references `lira-online` needs to be the headline.
pub const HEADLINE_REFERENCES: usize = 8;

impl Attack {
    /// All of them, from those that need least.
    pub const ALL: [Attack; 13] = [
        Attack::GivenScore,
        Attack::YeomLoss,
        Attack::YeomPerClass,
        Attack::ModifiedEntropy,
        Attack::QuantileRegression,
        Attack::Shokri,
        Attack::LiraOffline,
        Attack::LiraOfflineTwoTailed,
        Attack::LiraOnline,
        Attack::RmiaOffline,
        Attack::RmiaOnline,
        Attack::BaseOffline,
        Attack::Base,
    ];

    /// A stable name.
    pub fn name(self) -> &'static str {
        match self {
            Attack::GivenScore => "given-score",
            Attack::YeomLoss => "yeom-loss",
            Attack::YeomPerClass => "yeom-per-class",
            Attack::ModifiedEntropy => "modified-entropy",
            Attack::QuantileRegression => "quantile-regression",
            Attack::Shokri => "shokri",
            Attack::LiraOnline => "lira-online",
            Attack::LiraOffline => "lira-offline",
            Attack::LiraOfflineTwoTailed => "lira-offline-two-tailed",
            Attack::RmiaOffline => "rmia-offline",
            Attack::RmiaOnline => "rmia-online",
            Attack::Base => "base",
            Attack::BaseOffline => "base-offline",
        }
    }

    /// One line about what it does.
    pub fn about(self) -> &'static str {
        match self {
            Attack::GivenScore => "a threshold on the score that was given",
            Attack::YeomLoss => "a threshold on how sure the target is of the true class",
            Attack::YeomPerClass => "a threshold on how sure the target is, compared within the class",
            Attack::ModifiedEntropy => {
                "a threshold on the entropy of the outputs, modified by whether they are right"
            }
            Attack::QuantileRegression => {
                "how far the target is surer than it is of most non-members like the record"
            }
            Attack::Shokri => "a classifier that learnt from shadow models what outputs on members look like",
            Attack::LiraOnline => {
                "the likelihood ratio between reference models trained with and without the record"
            }
            Attack::LiraOffline => {
                "how far the target is surer than reference models trained without the record"
            }
            Attack::LiraOfflineTwoTailed => {
                "how unlike the target is to reference models trained without the record"
            }
            Attack::RmiaOffline => {
                "how often the record is ahead of other records, relative to reference models trained without it"
            }
            Attack::RmiaOnline => {
                "how often the record is ahead of other records, relative to reference models trained with and without it"
            }
            Attack::Base => "the target's log-probability against the mean over all reference models",
            Attack::BaseOffline => {
                "the target's log-probability against the mean over reference models without the record"
            }
        }
    }

    /// What it needs, in a few words.
    pub fn needs(self) -> &'static str {
        match self {
            Attack::GivenScore => "a score",
            Attack::YeomLoss | Attack::YeomPerClass | Attack::ModifiedEntropy => "outputs and labels",
            Attack::QuantileRegression => "outputs and labels or a score, and features",
            Attack::Shokri => "outputs of references",
            Attack::LiraOffline | Attack::LiraOfflineTwoTailed => "a reference without each record",
            Attack::LiraOnline => "references with and without each record",
            Attack::RmiaOffline | Attack::BaseOffline => "outputs of a reference without each record",
            Attack::RmiaOnline | Attack::Base => "outputs of references with and without each record",
        }
    }

    /// Whether it compares the target with reference models.
    pub fn needs_references(self) -> bool {
        match self {
            Attack::GivenScore
            | Attack::YeomLoss
            | Attack::YeomPerClass
            | Attack::ModifiedEntropy
            | Attack::QuantileRegression => false,
            Attack::Shokri
            | Attack::LiraOffline
            | Attack::LiraOfflineTwoTailed
            | Attack::LiraOnline
            | Attack::RmiaOffline
            | Attack::RmiaOnline
            | Attack::BaseOffline
            | Attack::Base => true,
        }
    }

    /// Whether scores are fitted to who is a member of the target. They are then no guesses, and prove nothing about ε.
    pub fn sees_members(self) -> bool {
        self == Attack::QuantileRegression
    }

    /// Who could run it on this study's evidence.
    pub fn threat(self, study: &Study) -> Threat {
        threat::of(self, study)
    }

    /// Whether the study has what the attack needs.
    ///
    /// # Errors
    /// What is missing, in words, and what to do about it.
    pub fn can_run(self, study: &Study) -> Result<(), String> {
        if study.is_empty() {
            return Err("there are no records".to_owned());
        }
        match self {
            Attack::GivenScore if study.parts().scores.is_none() => {
                Err("no score was given: give a column `score`".to_owned())
            }
            Attack::GivenScore => Ok(()),
            Attack::YeomLoss | Attack::YeomPerClass | Attack::ModifiedEntropy => yeom::can_run(study),
            Attack::QuantileRegression => quantile::can_run(study),
            Attack::Shokri => shokri::can_run(study),
            Attack::LiraOnline => lira::can_run(study, Form::Online),
            Attack::LiraOffline => lira::can_run(study, Form::Offline),
            Attack::LiraOfflineTwoTailed => lira::can_run(study, Form::OfflineTwoTailed),
            Attack::RmiaOffline => rmia::can_run(study, false),
            Attack::RmiaOnline => rmia::can_run(study, true),
            Attack::Base => base::can_run(study, true),
            Attack::BaseOffline => base::can_run(study, false),
        }
    }

    /// The scores of all records.
    ///
    /// # Errors
    /// [`AuditError::NotMeasurable`] with the reason of [`Attack::can_run`]; [`AuditError::Invalid`] for scores that are not
    /// finite and for settings out of range.
    pub fn run(self, study: &Study, settings: &AttackSettings) -> Result<AttackScores, AuditError> {
        self.can_run(study).map_err(AuditError::not_measurable)?;
        let found = match self {
            Attack::GivenScore => {
                let scores = study.parts().scores.clone().unwrap_or_default();
                AttackScores { scores, settings: BTreeMap::new() }
            }
            Attack::YeomLoss => yeom::run(study, Signal::Logit)?,
            Attack::YeomPerClass => yeom::run_per_class(study, Signal::Logit)?,
            Attack::ModifiedEntropy => yeom::run(study, Signal::ModifiedEntropy)?,
            Attack::QuantileRegression => quantile::run(study, settings)?,
            Attack::Shokri => shokri::run(study, settings)?,
            Attack::LiraOnline => lira::run(study, Form::Online, settings)?,
            Attack::LiraOffline => lira::run(study, Form::Offline, settings)?,
            Attack::LiraOfflineTwoTailed => lira::run(study, Form::OfflineTwoTailed, settings)?,
            Attack::RmiaOffline => rmia::run(study, false, settings)?,
            Attack::RmiaOnline => rmia::run(study, true, settings)?,
            Attack::Base => base::run(study, true, settings)?,
            Attack::BaseOffline => base::run(study, false, settings)?,
        };
        evidence::finite(study, self.name(), &found.scores)?;
        Ok(found)
    }

    /// How many records lack a reference on a side that the attack needs, and are filled in from the others.
    pub fn filled_in(self, study: &Study) -> usize {
        match self {
            Attack::LiraOnline | Attack::RmiaOnline | Attack::Base => evidence::filled_in(study, true),
            Attack::LiraOffline
            | Attack::LiraOfflineTwoTailed
            | Attack::RmiaOffline
            | Attack::BaseOffline => evidence::filled_in(study, false),
            _ => 0,
        }
    }

    /// The attack that speaks for the study by what there is, where no reference can play the target: `lira-online` with at
    /// least [`HEADLINE_REFERENCES`] references on both sides of the records, else `rmia-offline`, `lira-offline`,
    /// `yeom-loss`, or the score that was given.
    pub fn by_evidence(study: &Study) -> Attack {
        if study.parts().references.len() >= HEADLINE_REFERENCES && Attack::LiraOnline.can_run(study).is_ok()
        {
            return Attack::LiraOnline;
        }
        let next = [Attack::RmiaOffline, Attack::LiraOffline, Attack::YeomLoss];
        next.into_iter().find(|attack| attack.can_run(study).is_ok()).unwrap_or(Attack::GivenScore)
    }

    /// The attack that speaks for the study, of some: that which finds most members of reference models that play the target.
    /// Neither what the target said nor who was in it is looked at.
    ///
    /// # Errors
    /// [`AuditError::Invalid`] for no attacks and for settings out of range.
    pub fn headline(
        study: &Study,
        among: &[Attack],
        settings: &AttackSettings,
    ) -> Result<Headline, AuditError> {
        headline::choose(study, among, settings)
    }
}

#[cfg(test)]
mod tests;
