//! A threshold on a signal that was computed with all other training records, for an attacker who lacks only the membership of one.
//!
//! # Reference
//! Suri, Zhang, Evans, *Do parameters reveal more than loss for membership inference?*, 2024 (the inverse Hessian); Koh, Liang,
//! *Understanding black-box predictions via influence functions*, 2017 (the influence).

use super::{Attack, AttackScores, AttackSettings, ReferenceNeed, Requirements, evidence};
use crate::{AuditError, INVERSE_HESSIAN, SELF_INFLUENCE, Study};

/// A threshold on such a signal.
#[derive(Debug, Clone, Copy)]
pub struct InformedThreshold {
    /// The name of the attack.
    pub name: &'static str,
    /// One line about what it does.
    pub about: &'static str,
    /// The name of the signal, alone in its list.
    pub signals: &'static [&'static str],
}

/// The likelihood ratio of the weights between training with and without the record.
pub const INVERSE_HESSIAN_ATTACK: &dyn Attack = &InformedThreshold {
    name: "inverse-hessian",
    about: "the likelihood ratio of the weights with and without the record, by Newton steps of a linear model or last layer",
    signals: &[INVERSE_HESSIAN],
};

/// How much the record's own loss depends on it.
pub const LEAVE_ONE_OUT_ATTACK: &dyn Attack = &InformedThreshold {
    name: "leave-one-out",
    about: "a threshold on how much the record's loss would change without it in the training: small for members",
    signals: &[SELF_INFLUENCE],
};

impl Attack for InformedThreshold {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn needs(&self) -> &'static str {
        "weights of the target and its other training records"
    }

    fn requirements(&self) -> Requirements {
        Requirements { signals: self.signals, references: ReferenceNeed::None }
    }

    fn knowledge(&self, _study: &Study) -> String {
        "the record and its true class, and all other records that the model was trained on".to_owned()
    }

    fn sees_members(&self) -> bool {
        true
    }

    fn score(&self, study: &Study, _settings: &AttackSettings) -> Result<AttackScores, AuditError> {
        let (target, name, _) = evidence::target_signal(study, self.requirements())?;
        Ok(AttackScores::new(target.to_vec(), [("signal", name.to_owned())]))
    }
}
