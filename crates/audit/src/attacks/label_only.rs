//! Attacks that see nothing of the target but predicted classes.
//!
//! The gap attack calls a record a member if its class is predicted right; its accuracy follows from training and test accuracy, beside
//! which findings state it. Finer ones ask about noisy copies of the record: training pushes the border of a class away from members,
//! so more of their copies keep the class. A defence that hides confidence, and not the border, does not stop them.
//!
//! # Reference
//! Choquette-Choo, Tramèr, Carlini, Papernot, *Label-only membership inference attacks*, 2021; Yeom et al., 2018 (the gap).

use super::{Attack, Lira, LiraForm, Threshold};
use crate::LABEL_ROBUSTNESS;

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
