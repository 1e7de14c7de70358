//! Attacks that see nothing of the target but predicted classes.
//!
//! The gap attack calls a record a member if its class is predicted right: its advantage is the gap between training and test
//! accuracy. Finer ones ask about noisy copies of the record: training pushes the border of a class away from members, so more of
//! their copies keep the class. A defence that hides confidence, and not the border, does not stop them.
//!
//! # Reference
//! Choquette-Choo, Tramèr, Carlini, Papernot, *Label-only membership inference attacks*, 2021; Yeom et al., 2018 (the gap).

use super::{
    Attack, AttackScores, AttackSettings, Lira, LiraForm, ReferenceNeed, Requirements, Threshold, evidence,
};
use crate::{AuditError, LABEL_ROBUSTNESS, SignalSource, Study};

/// Whether the class is predicted right.
pub const LABEL_ONLY_GAP: &dyn Attack = &Gap;

/// How many noisy copies keep the class.
pub const LABEL_ONLY: &dyn Attack = &Threshold {
    name: "label-only",
    about: "a threshold on the share of noisy copies of the record whose class the target predicts right",
    needs: "predicted classes of noisy copies",
    signals: &[LABEL_ROBUSTNESS],
    knowledge: "the record and its true class, and other records to make noise of",
    candidacy: None,
};

/// The likelihood ratio of that share between references trained with and without the record.
pub const LIRA_LABEL_ONLY: &dyn Attack = &Lira {
    name: "lira-label-only",
    form: LiraForm::Online,
    signals: &[LABEL_ROBUSTNESS],
    is_norm: false,
    candidacy: None,
};

#[derive(Debug)]
struct Gap;

const REQUIRED: Requirements = Requirements { signals: &["hinge"], references: ReferenceNeed::None };

impl Attack for Gap {
    fn name(&self) -> &'static str {
        "label-only-gap"
    }

    fn about(&self) -> &'static str {
        "whether the target predicts the true class: its advantage is the gap of training and test accuracy"
    }

    fn needs(&self) -> &'static str {
        "predicted classes and labels"
    }

    fn requirements(&self) -> Requirements {
        REQUIRED
    }

    fn knowledge(&self, _study: &Study) -> String {
        "the record and its true class".to_owned()
    }

    fn access(&self, _study: &Study) -> Option<SignalSource> {
        Some(SignalSource::LabelOnly)
    }

    fn score(&self, study: &Study, _settings: &AttackSettings) -> Result<AttackScores, AuditError> {
        let (margins, _, _) = evidence::target_signal(study, REQUIRED)?;
        let scores = margins.iter().map(|margin| f64::from(u8::from(*margin > 0.0))).collect();
        Ok(AttackScores::new(scores, [("signal", "predicted class".to_owned())]))
    }
}
