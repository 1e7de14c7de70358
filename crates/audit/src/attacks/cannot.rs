use crate::{AuditError, OUTPUTS, SCORE, Signal};
use thiserror::Error;

/// Why an attack cannot be run on a study: what is missing, and what to give.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CannotRun {
    /// The study is empty.
    #[error("there are no records")]
    NoRecords,
    /// The target has no outputs.
    #[error("it needs the target's probabilities or logits per class")]
    NoOutputs,
    /// The true classes are not known.
    #[error("it needs the true labels: give a column `label`")]
    NoLabels,
    /// The target has no score of the caller's.
    #[error("no score was given: give a column `score`")]
    NoScore,
    /// The target lacks a signal.
    #[error("it needs the signal `{0}` of the target")]
    NoSignal(&'static str),
    /// Nobody asked the target about noisy copies.
    #[error("it needs predicted classes of noisy copies, which label-only audits have")]
    NoCopies,
    /// The target has no gradients.
    #[error("it needs gradients of the target, which white-box audits have")]
    NoGradients,
    /// The target has none of several signals.
    #[error("it needs {}", alternatives(.0))]
    NoSignalOf(&'static [&'static str]),
    /// There are no reference models.
    #[error("it needs reference models: train some on data like the target's and give their outputs")]
    NoReferences,
    /// A reference lacks the outputs.
    #[error("it needs probabilities or logits of every reference, and {0} has only scores")]
    ReferenceWithoutOutputs(String),
    /// A reference lacks a signal that the target has.
    #[error("it needs the signal `{signal}` of every reference, and {reference} does not have it")]
    ReferenceWithoutSignal {
        /// The signal.
        signal: &'static str,
        /// The name of the first reference without it.
        reference: String,
    },
    /// No signal that serves is known of the target and of all references.
    #[error("the target and its references have {} in common: give the same of all", neither(.0))]
    NothingInCommon(&'static [&'static str]),
    /// Too many records lack a reference on a side that is needed.
    #[error(
        "{bare} of {records} records have no reference trained {}, too many to fill them in from the others: add references, \
         each trained on about half of the records",
        if *.inside_too { "with them or none without them" } else { "without them" }
    )]
    OneSided {
        /// How many records.
        bare: usize,
        /// How many there are.
        records: usize,
        /// Whether references trained with each record are needed too.
        inside_too: bool,
    },
    /// All references were trained with the same side of all records.
    #[error("it needs references trained with some of the records and without others")]
    OneKindOfReference,
    /// Nothing is known of the records without a model.
    #[error("it needs features of the records: give columns `feature_…`")]
    NoFeatures,
    /// There are too few non-members.
    #[error("it needs at least {needed} non-members to learn from, and there are {found}")]
    TooFewNonMembers {
        /// How many it needs.
        needed: usize,
        /// How many there are.
        found: usize,
    },
    /// What an attack from outside this crate lacks, in its own words.
    #[error("{0}")]
    Other(String),
}

impl From<CannotRun> for AuditError {
    fn from(reason: CannotRun) -> Self {
        Self::not_measurable(reason.to_string())
    }
}

/// Whether a signal follows from outputs and labels.
pub(super) fn is_of_outputs(name: &str) -> bool {
    name == OUTPUTS || Signal::by_name(name).is_some()
}

/// Signals of which one is enough, in words.
fn alternatives(names: &[&str]) -> String {
    let words = |name: &&str| match *name {
        SCORE => "a score".to_owned(),
        name if is_of_outputs(name) => "the target's outputs and labels".to_owned(),
        name => format!("the signal `{name}`"),
    };
    names.iter().map(words).collect::<Vec<_>>().join(", or ")
}

/// Signals of which none is there, in words.
fn neither(names: &[&str]) -> String {
    let words = |name: &&str| match *name {
        SCORE => "scores".to_owned(),
        name if is_of_outputs(name) => "outputs (with labels)".to_owned(),
        name => format!("the signal `{name}`"),
    };
    format!("neither {}", names.iter().map(words).collect::<Vec<_>>().join(" nor "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_name_what_to_give() {
        let both: &[&str] = &["hinge", SCORE];
        assert_eq!(
            CannotRun::NoSignalOf(both).to_string(),
            "it needs the target's outputs and labels, or a score"
        );
        assert_eq!(
            CannotRun::NothingInCommon(both).to_string(),
            "the target and its references have neither outputs (with labels) nor scores in common: give the same of all"
        );
        let sided = CannotRun::OneSided { bare: 3, records: 9, inside_too: false };
        assert!(
            sided.to_string().contains("3 of 9 records have no reference trained without them, too many")
        );
    }
}
