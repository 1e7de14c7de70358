//! What of a study an attack may look at.

use crate::signal::true_log_probability;
use crate::{AuditError, Outputs, Signal, Study};
use std::collections::BTreeMap;

/// One number per record of the target and of every reference, on one scale.
pub(super) struct Signals {
    pub(super) target: Vec<f64>,
    pub(super) references: Vec<Vec<f64>>,
    /// What the number is.
    pub(super) what: &'static str,
}

/// The logit of the target and all references where there are outputs of all of them, else their scores.
pub(super) fn signals(study: &Study) -> Result<Signals, AuditError> {
    let parts = study.parts();
    if let Ok((target, labels)) = target_outputs(study)
        && parts.references.iter().all(|r| r.outputs.is_some())
    {
        let references = parts.references.iter().filter_map(|r| r.outputs.as_ref());
        let references = references.map(|outputs| Signal::Logit.compute(outputs, labels));
        return Ok(Signals {
            target: Signal::Logit.compute(target, labels)?,
            references: references.collect::<Result<_, _>>()?,
            what: Signal::Logit.name(),
        });
    }
    comparable(study).map_err(AuditError::not_measurable)?;
    let target = parts.scores.clone().unwrap_or_default();
    let references: Vec<Vec<f64>> = parts.references.iter().filter_map(|r| r.scores.clone()).collect();
    finite(study, "the target's score", &target)?;
    for (reference, scores) in parts.references.iter().zip(&references) {
        finite(study, &reference.name, scores)?;
    }
    Ok(Signals { target, references, what: "given score" })
}

/// Whether the target and the references have something in common.
pub(super) fn comparable(study: &Study) -> Result<(), String> {
    let parts = study.parts();
    let outputs = target_outputs(study).is_ok() && parts.references.iter().all(|r| r.outputs.is_some());
    let scores = parts.scores.is_some() && parts.references.iter().all(|r| r.scores.is_some());
    if outputs || scores {
        return Ok(());
    }
    Err("the target and its references have neither outputs (with labels) nor scores in common: give the same of all"
        .to_owned())
}

pub(super) fn finite(study: &Study, what: &str, scores: &[f64]) -> Result<(), AuditError> {
    let Some(place) = scores.iter().position(|s| !s.is_finite()) else { return Ok(()) };
    let value = format!("{} of record \"{}\" ({what})", scores[place], study.parts().ids[place]);
    Err(AuditError::invalid("score", value, "give a finite number for every record, or leave the record out"))
}

/// The target's outputs and the labels.
pub(super) fn target_outputs(study: &Study) -> Result<(&Outputs, &[u32]), String> {
    let parts = study.parts();
    let Some(outputs) = &parts.target else {
        return Err("it needs the target's probabilities or logits per class".to_owned());
    };
    let Some(labels) = &parts.labels else {
        return Err("it needs the true labels: give a column `label`".to_owned());
    };
    Ok((outputs, labels))
}

/// The target's outputs, the labels, and the outputs of at least one reference.
pub(super) fn all_outputs(study: &Study) -> Result<(&Outputs, &[u32]), String> {
    let found = target_outputs(study)?;
    references(study)?;
    if let Some(plain) = study.parts().references.iter().find(|r| r.outputs.is_none()) {
        let name = &plain.name;
        return Err(format!(
            "it needs probabilities or logits of every reference, and {name} has only scores"
        ));
    }
    Ok(found)
}

/// At least one reference.
pub(super) fn references(study: &Study) -> Result<(), String> {
    if study.parts().references.is_empty() {
        return Err("it needs reference models: train some on data like the target's and give their outputs"
            .to_owned());
    }
    Ok(())
}

/// The largest share of records that are filled in for want of a reference on one side: those that 4 references, drawn by a
/// coin for each record, leave, and some more.
const MOST_FILLED: f64 = 0.25;

/// How many records lack a reference trained without them or, where asked, with them.
pub(super) fn filled_in(study: &Study, inside_too: bool) -> usize {
    let references = &study.parts().references;
    let is_bare = |record: usize, side: bool| references.iter().all(|r| r.inside[record] != side);
    let lacks = |record: &usize| is_bare(*record, false) || (inside_too && is_bare(*record, true));
    (0..study.len()).filter(lacks).count()
}

/// A reference trained without and, where asked, one trained with each record, or nearly each.
pub(super) fn sides(study: &Study, inside_too: bool) -> Result<(), String> {
    references(study)?;
    let bare = filled_in(study, inside_too);
    if bare as f64 <= MOST_FILLED * study.len() as f64 {
        return Ok(());
    }
    let lacking = if inside_too { "with them or none without them" } else { "without them" };
    Err(format!(
        "{bare} of {} records have no reference trained {lacking}, too many to fill them in from the others: add references, each \
         trained on about half of the records",
        study.len()
    ))
}

/// What is said about records that were filled in.
pub(super) fn note(study: &Study, inside_too: bool, settings: &mut BTreeMap<String, String>) {
    let filled = filled_in(study, inside_too);
    if filled > 0 {
        let words = format!(
            "{filled} of {} records lack a reference on one side, filled in from the mean difference of the others",
            study.len()
        );
        settings.insert("filled in".to_owned(), words);
    }
}

/// The true class's log-probability at a temperature, for some records, of one model.
pub(super) fn log_probability(
    study: &Study,
    outputs: Option<&Outputs>,
    temperature: f64,
    records: &[usize],
) -> Result<Vec<f64>, AuditError> {
    let (_, labels) = all_outputs(study).map_err(AuditError::not_measurable)?;
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
