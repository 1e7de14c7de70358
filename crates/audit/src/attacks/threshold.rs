//! A threshold on one signal of the target alone, the same for all records.
//!
//! # Reference
//! Yeom, Giacomelli, Fredrikson, Jha, *Privacy risk in machine learning: analyzing the connection to overfitting*, 2018 (the
//! loss); Song, Mittal, *Systematic evaluation of privacy risks of machine learning models*, 2021 (the modified entropy).

use super::{Attack, AttackScores, AttackSettings, Candidacy, ReferenceNeed, Requirements, evidence};
use crate::{AuditError, GRADIENT_COSINE, GRADIENT_NORM, INPUT_GRADIENT_NORM, SCORE, Study};

/// A threshold on a signal.
#[derive(Debug, Clone, Copy)]
pub struct Threshold {
    /// The name of the attack.
    pub name: &'static str,
    /// One line about what it does.
    pub about: &'static str,
    /// What it needs, in a few words.
    pub needs: &'static str,
    /// The name of the signal, alone in its list.
    pub signals: &'static [&'static str],
    /// What the attacker has besides access to the model.
    pub knowledge: &'static str,
    /// When it may be the headline.
    pub candidacy: Option<Candidacy>,
}

/// The caller's own score.
pub const GIVEN_SCORE: &dyn Attack = &Threshold {
    name: "given-score",
    about: "a threshold on the given score",
    needs: "a score",
    signals: &[SCORE],
    knowledge: "what the given score was computed from",
    candidacy: Some(Candidacy { rank: 60, plays: false, by_evidence: Some(0) }),
};

/// A threshold on the logit of the true class.
pub const YEOM_LOSS: &dyn Attack = &Threshold {
    name: "yeom-loss",
    about: "a threshold on the target's confidence in the true class",
    needs: "outputs and labels",
    signals: &["logit"],
    knowledge: "the record and its true class",
    candidacy: Some(Candidacy { rank: 50, plays: true, by_evidence: Some(0) }),
};

/// A threshold on the modified entropy.
pub const MODIFIED_ENTROPY: &dyn Attack = &Threshold {
    name: "modified-entropy",
    about: "a threshold on the modified entropy: low only if the model is confident and right",
    needs: "outputs and labels",
    signals: &["modified-entropy"],
    knowledge: "the record and its true class",
    candidacy: None,
};

/// A threshold on the norm of the gradient.
pub const GRADIENT_NORM_THRESHOLD: &dyn Attack = &Threshold {
    name: "gradient-norm",
    about: "a threshold on the norm of the gradient of the loss in the weights: small for members",
    needs: "gradients of the target",
    signals: &[GRADIENT_NORM],
    knowledge: "the record and its true class",
    candidacy: Some(Candidacy { rank: 55, plays: true, by_evidence: None }),
};

/// A threshold on the norm of the gradient of the input.
pub const INPUT_GRADIENT_THRESHOLD: &dyn Attack = &Threshold {
    name: "input-gradient-norm",
    about: "a threshold on the norm of the gradient of the loss in the input: small for members",
    needs: "gradients of the target",
    signals: &[INPUT_GRADIENT_NORM],
    knowledge: "the record and its true class",
    candidacy: Some(Candidacy { rank: 56, plays: true, by_evidence: None }),
};

/// A threshold on the cosine with the mean gradient.
pub const GRADIENT_COSINE_THRESHOLD: &dyn Attack = &Threshold {
    name: "gradient-cosine",
    about: "a threshold on the cosine between the record's gradient and the mean of all audited records: small for members",
    needs: "gradients of the target",
    signals: &[GRADIENT_COSINE],
    knowledge: "the record and its true class, and other records of which about half are members",
    candidacy: Some(Candidacy { rank: 57, plays: true, by_evidence: None }),
};

impl Attack for Threshold {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn needs(&self) -> &'static str {
        self.needs
    }

    fn requirements(&self) -> Requirements {
        Requirements { signals: self.signals, references: ReferenceNeed::None }
    }

    fn knowledge(&self, _study: &Study) -> String {
        self.knowledge.to_owned()
    }

    fn candidacy(&self) -> Option<Candidacy> {
        self.candidacy
    }

    fn score(&self, study: &Study, _settings: &AttackSettings) -> Result<AttackScores, AuditError> {
        let (target, name, _) = evidence::target_signal(study, self.requirements())?;
        if name == SCORE {
            return Ok(AttackScores::new(target.to_vec(), []));
        }
        Ok(AttackScores::new(target.to_vec(), [("signal", name.to_owned())]))
    }
}
