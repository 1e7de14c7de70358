//! What of a study an attack may look at.

use super::cannot::is_of_outputs;
use super::{CannotRun, ReferenceNeed, Requirements};
use crate::signal::true_log_probability;
use crate::{
    AuditError, GRADIENT_COSINE, GRADIENT_NORM, GRADIENT_NORMS, GRADIENT_ROWS, INPUT_GRADIENT_NORM,
    LABEL_ROBUSTNESS, OUTPUTS, Outputs, SCORE, Study,
};
use reticent_data::keyed_hash;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The most records that references play the target on.
const SAMPLE: usize = 5000;

/// The largest share of records that are filled in for want of a reference on one side: those that 4 references, drawn by a
/// coin for each record, leave, and some more.
const MOST_FILLED: f64 = 0.25;

/// One number per record of the target and of every reference, on one scale.
pub(super) struct Compared<'a> {
    pub(super) target: Cow<'a, [f64]>,
    pub(super) references: Vec<Cow<'a, [f64]>>,
    /// What the number is.
    pub(super) what: &'a str,
}

/// Refuses a study that lacks a required signal or reference.
pub(super) fn require(study: &Study, requirements: Requirements) -> Result<(), CannotRun> {
    chosen(study, requirements)?;
    match requirements.references {
        ReferenceNeed::None | ReferenceNeed::Any => Ok(()),
        ReferenceNeed::Without => sides(study, false),
        ReferenceNeed::WithAndWithout => sides(study, true),
    }
}

/// The first of the required signals that the target has and, where references are needed, all of them.
pub(super) fn chosen(study: &Study, requirements: Requirements) -> Result<&'static str, CannotRun> {
    let Requirements { signals, references } = requirements;
    let is_compared = references != ReferenceNeed::None;
    if let [only] = signals {
        of_target(study, only)?;
        if is_compared {
            some_references(study)?;
            of_references(study, only)?;
        }
        return Ok(only);
    }
    if is_compared {
        some_references(study)?;
        let serves =
            |name: &&'static str| of_target(study, name).is_ok() && of_references(study, name).is_ok();
        return signals.iter().copied().find(serves).ok_or(CannotRun::NothingInCommon(signals));
    }
    let serves = |name: &&'static str| of_target(study, name).is_ok();
    signals.iter().copied().find(serves).ok_or(CannotRun::NoSignalOf(signals))
}

/// Refuses a target without a signal.
fn of_target(study: &Study, name: &'static str) -> Result<(), CannotRun> {
    if name == OUTPUTS || is_of_outputs(name) {
        return target_outputs(study).map(|_| ());
    }
    match study.signal(name) {
        Some(_) => Ok(()),
        None if name == SCORE => Err(CannotRun::NoScore),
        None if name == LABEL_ROBUSTNESS => Err(CannotRun::NoCopies),
        None if is_of_gradients(name) && study.signal(GRADIENT_NORMS).is_none() => {
            Err(CannotRun::NoGradients)
        }
        None => Err(CannotRun::NoSignal(name)),
    }
}

/// Whether a signal is one of gradients.
fn is_of_gradients(name: &str) -> bool {
    [GRADIENT_NORM, GRADIENT_NORMS, GRADIENT_ROWS, GRADIENT_COSINE, INPUT_GRADIENT_NORM].contains(&name)
}

/// Refuses references without a signal.
fn of_references(study: &Study, name: &'static str) -> Result<(), CannotRun> {
    for reference in &study.parts().references {
        if is_of_outputs(name) {
            if reference.outputs.is_none() {
                return Err(CannotRun::ReferenceWithoutOutputs(reference.name.clone()));
            }
        } else if reference.signals.get(name).is_none() {
            let reference = reference.name.clone();
            return Err(CannotRun::ReferenceWithoutSignal { signal: name, reference });
        }
    }
    Ok(())
}

/// At least one reference.
fn some_references(study: &Study) -> Result<(), CannotRun> {
    if study.parts().references.is_empty() { Err(CannotRun::NoReferences) } else { Ok(()) }
}

/// The chosen signal of the target: one finite value per record.
pub(super) fn target_signal(
    study: &Study,
    requirements: Requirements,
) -> Result<(&[f64], &'static str, &str), AuditError> {
    let name = chosen(study, requirements)?;
    let Some(signal) = study.signal(name) else {
        return Err(CannotRun::NoSignal(name).into());
    };
    if signal.width() != 1 {
        let value = format!("{name} with {} values per record", signal.width());
        return Err(AuditError::invalid("signal", value, "give one value per record for this attack"));
    }
    Ok((signal.target(), name, signal.label()))
}

/// The chosen signal of the target and of all references, finite.
pub(super) fn compared(study: &Study, requirements: Requirements) -> Result<Compared<'_>, AuditError> {
    let (target, name, what) = target_signal(study, requirements)?;
    let models = &study.parts().references;
    let references: Vec<&[f64]> = match study.signal(name) {
        Some(signal) => (0..models.len()).filter_map(|place| signal.reference(place)).collect(),
        None => Vec::new(),
    };
    if !is_of_outputs(name) {
        finite(study, &format!("the target's {name}"), target)?;
        for (reference, values) in models.iter().zip(&references) {
            finite(study, &reference.name, values)?;
        }
    }
    let references = references.into_iter().map(Cow::Borrowed).collect();
    Ok(Compared { target: Cow::Borrowed(target), references, what })
}

impl Compared<'_> {
    /// Negated norms as negated logarithms of the norms. What is too small for single precision counts as its smallest number.
    pub(super) fn on_log_scale(mut self) -> Self {
        let log = |value: &mut f64| *value = -libm::log((-*value).max(f64::from(f32::MIN_POSITIVE)));
        for values in self.references.iter_mut().chain([&mut self.target]) {
            values.to_mut().iter_mut().for_each(log);
        }
        self
    }
}

pub(super) fn finite(study: &Study, what: &str, scores: &[f64]) -> Result<(), AuditError> {
    let Some(place) = scores.iter().position(|s| !s.is_finite()) else { return Ok(()) };
    let value = format!("{} of record \"{}\" ({what})", scores[place], study.parts().ids[place]);
    Err(AuditError::invalid("score", value, "give a finite number for every record, or leave the record out"))
}

/// The target's outputs and the labels.
pub(super) fn target_outputs(study: &Study) -> Result<(&Outputs, &[u32]), CannotRun> {
    let parts = study.parts();
    let outputs = parts.target.as_ref().ok_or(CannotRun::NoOutputs)?;
    let labels = parts.labels.as_deref().ok_or(CannotRun::NoLabels)?;
    Ok((outputs, labels))
}

/// How many records lack a reference trained without them or, where asked, with them.
fn bare(study: &Study, inside_too: bool) -> usize {
    let references = &study.parts().references;
    let is_bare = |record: usize, side: bool| references.iter().all(|r| r.inside[record] != side);
    let lacks = |record: &usize| is_bare(*record, false) || (inside_too && is_bare(*record, true));
    (0..study.len()).filter(lacks).count()
}

/// How many records lack a reference on a side that is needed.
pub(super) fn filled_in(study: &Study, need: ReferenceNeed) -> usize {
    match need {
        ReferenceNeed::None | ReferenceNeed::Any => 0,
        ReferenceNeed::Without => bare(study, false),
        ReferenceNeed::WithAndWithout => bare(study, true),
    }
}

/// A reference trained without and, where asked, one trained with each record, or nearly each.
fn sides(study: &Study, inside_too: bool) -> Result<(), CannotRun> {
    let (bare, records) = (bare(study, inside_too), study.len());
    if bare as f64 <= MOST_FILLED * records as f64 {
        return Ok(());
    }
    Err(CannotRun::OneSided { bare, records, inside_too })
}

/// What is said about records that were filled in.
pub(super) fn note(study: &Study, need: ReferenceNeed, settings: &mut BTreeMap<String, String>) {
    let filled = filled_in(study, need);
    if filled > 0 {
        let words = format!(
            "{filled} of {} records lack a reference on one side, filled in from the mean difference of the others",
            study.len()
        );
        settings.insert("filled in".to_owned(), words);
    }
}

/// The reference models in words, for threat models.
pub(super) fn models(study: &Study) -> String {
    match study.parts().references.len() {
        1 => "1 model".to_owned(),
        count => format!("{count} models"),
    }
}

/// The true class's log-probability at a temperature, for some records, of one model.
pub(super) fn log_probability(
    study: &Study,
    outputs: Option<&Outputs>,
    temperature: f64,
    records: &[usize],
) -> Result<Vec<f64>, AuditError> {
    let (_, labels) = target_outputs(study)?;
    outputs.map_or(Ok(Vec::new()), |outputs| true_log_probability(outputs, labels, temperature, records))
}

/// The same of every reference.
pub(super) fn reference_log_probabilities(
    study: &Study,
    temperature: f64,
    records: &[usize],
) -> Result<Vec<Vec<f64>>, AuditError> {
    let references = study.parts().references.iter();
    references.map(|r| log_probability(study, r.outputs.as_ref(), temperature, records)).collect()
}

/// The records that references play the target on, by a keyed hash.
pub(super) fn sample(study: &Study, key: &str) -> Vec<usize> {
    let mut order: Vec<usize> = (0..study.len()).collect();
    if study.len() > SAMPLE {
        let (key, ids) = (format!("{key}: rmia"), &study.parts().ids);
        order.sort_by_cached_key(|record| (keyed_hash(&key, ids[*record].as_bytes()), *record));
        order.truncate(SAMPLE);
    }
    order
}
