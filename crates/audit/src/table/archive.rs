//! An npz archive of whole arrays.

use super::{TableSettings, columns, gradients};
use crate::{AuditError, Features, Outputs, OutputsKind, Reference, Signals, Study, StudyParts};
use reticent_data::{Array, NpzFile, Values};
use std::path::Path;

pub(super) fn read(path: &Path, settings: &TableSettings) -> Result<Study, AuditError> {
    let file = NpzFile::open(path)?;
    let mut parts = StudyParts { members: flags(&file, &settings.member, 1)?.1, ..StudyParts::default() };
    let records = parts.members.len();
    if has(&file, &settings.score) {
        parts.signals = Signals::of_scores(numbers(&file, &settings.score, &[records])?);
    }
    let texts = |name: &str| has(&file, name).then(|| words(&file, name, records)).transpose();
    parts.ids = texts(&settings.id)?.unwrap_or_default();
    parts.users = texts(&settings.user)?;
    parts.pairs = texts(&settings.pair)?;
    if has(&file, &settings.drawn) {
        parts.draw = columns::draw(&numbers(&file, &settings.drawn, &[records])?)?;
    }
    if has(&file, &settings.label) {
        parts.labels = Some(labels(&file, &settings.label, records)?);
    }
    let prefixed = file.names().iter().filter_map(|name| name.strip_prefix("group_"));
    for group in prefixed.chain(settings.groups.iter().map(String::as_str)) {
        if parts.groups.iter().any(|(known, _)| known == group) {
            continue;
        }
        let prefixed = format!("group_{group}");
        let name = if has(&file, &prefixed) { prefixed.as_str() } else { group };
        parts.groups.push((group.to_owned(), words(&file, name, records)?));
    }
    if has(&file, "features") {
        let array = file.read("features")?;
        let columns = array.width();
        shaped("features", &array, &[records, columns])?;
        parts.features = Some(Features { columns, values: floats(&array) });
    }
    if let Some((kind, name)) = kind_of(&file, "target")? {
        let array = file.read(&name)?;
        one_answer(&name, &array, 2)?;
        shaped(&name, &array, &[records, array.width()])?;
        parts.target = Some(Outputs::new(kind, array.width(), floats(&array))?);
    }
    gradients::add(&file, "", &mut [&mut parts.signals], records, true)?;
    parts.references = references(&file, records)?;
    Study::new(parts)
}

/// The reference models of an archive; empty when it has none.
pub(super) fn references(file: &NpzFile, records: usize) -> Result<Vec<Reference>, AuditError> {
    let outputs = kind_of(file, "reference")?;
    if outputs.is_none() && !has(file, "reference_scores") && !has(file, "reference_member") {
        return Ok(Vec::new());
    }
    let (shape, inside) = flags(file, "reference_member", 2)?;
    if shape[1] != records {
        return Err(misshaped("reference_member", &shape, &[shape[0], records]));
    }
    let models = shape[0];
    let mut found: Vec<Reference> = inside
        .chunks_exact(records.max(1))
        .enumerate()
        .map(|(place, inside)| Reference {
            name: format!("reference {place}"),
            outputs: None,
            signals: Signals::none(),
            inside: inside.to_vec(),
        })
        .collect();
    if let Some((kind, name)) = outputs {
        let array = file.read(&name)?;
        one_answer(&name, &array, 3)?;
        let classes = array.shape().last().copied().unwrap_or(0);
        shaped(&name, &array, &[models, records, classes])?;
        let values = floats(&array);
        for (reference, own) in found.iter_mut().zip(values.chunks_exact((records * classes).max(1))) {
            reference.outputs = Some(Outputs::new(kind, classes, own.to_vec())?);
        }
    }
    if has(file, "reference_scores") {
        let values = numbers(file, "reference_scores", &[models, records])?;
        for (reference, own) in found.iter_mut().zip(values.chunks_exact(records.max(1))) {
            reference.signals = Signals::of_scores(own.to_vec());
        }
    }
    let mut signals: Vec<&mut Signals> = found.iter_mut().map(|reference| &mut reference.signals).collect();
    gradients::add(file, "reference_", &mut signals, records, false)?;
    Ok(found)
}

/// Whole numbers as text, for names.
pub(super) fn words(file: &NpzFile, name: &str, records: usize) -> Result<Vec<String>, AuditError> {
    let array = file.read(name)?;
    shaped(name, &array, &[records])?;
    Ok(match array.values() {
        Values::I64(values) => values.iter().map(ToString::to_string).collect(),
        _ => array.to_f64().iter().map(|value| (value + 0.0).to_string()).collect(),
    })
}

pub(super) fn has(file: &NpzFile, name: &str) -> bool {
    file.names().iter().any(|known| known == name)
}

fn labels(file: &NpzFile, name: &str, records: usize) -> Result<Vec<u32>, AuditError> {
    let values = numbers(file, name, &[records])?;
    if let Some(place) = values.iter().position(|v| *v < 0.0 || v.fract() != 0.0 || *v > f64::from(u32::MAX))
    {
        let value = format!("{} in record {}", values[place], place + 1);
        return Err(AuditError::invalid("label", value, "give class numbers from 0"));
    }
    Ok(values.iter().map(|v| *v as u32).collect())
}

/// The outputs under a prefix, which are of one kind.
fn kind_of(file: &NpzFile, prefix: &str) -> Result<Option<(OutputsKind, String)>, AuditError> {
    let (logits, probabilities) = (format!("{prefix}_logits"), format!("{prefix}_probabilities"));
    match (has(file, &logits), has(file, &probabilities)) {
        (false, false) => Ok(None),
        (true, false) => Ok(Some((OutputsKind::Logits, logits))),
        (false, true) => Ok(Some((OutputsKind::Probabilities, probabilities))),
        (true, true) => {
            let value = format!("arrays {logits} and {probabilities}");
            Err(AuditError::invalid("outputs", value, "give one of the two kinds"))
        }
    }
}

/// An array of 0 and 1.
fn flags(file: &NpzFile, name: &str, dimensions: usize) -> Result<(Vec<usize>, Vec<bool>), AuditError> {
    let array = file.read(name)?;
    if array.shape().len() != dimensions {
        let value = format!("array \"{name}\" of {} dimensions", array.shape().len());
        return Err(AuditError::invalid("member", value, format!("give {dimensions}")));
    }
    let values = array.to_f64();
    if let Some(place) = values.iter().position(|v| *v != 0.0 && *v != 1.0) {
        let value = format!("{} at place {} of array \"{name}\"", values[place], place + 1);
        let remedy = "give 1 or true for records in the training data, 0 or false for others";
        return Err(AuditError::invalid("member", value, remedy));
    }
    Ok((array.shape().to_vec(), values.iter().map(|v| *v == 1.0).collect()))
}

/// An array of finite numbers.
pub(super) fn numbers(file: &NpzFile, name: &str, shape: &[usize]) -> Result<Vec<f64>, AuditError> {
    let array = file.read(name)?;
    shaped(name, &array, shape)?;
    let values = array.to_f64();
    if let Some(place) = values.iter().position(|v| !v.is_finite()) {
        let value = format!("{} at place {} of array \"{}\"", values[place], place + 1, columns::short(name));
        return Err(AuditError::invalid("value", value, "give finite numbers, or leave the record out"));
    }
    Ok(values)
}

fn floats(array: &Array) -> Vec<f32> {
    match array.values() {
        Values::F32(values) => values.clone(),
        _ => array.to_f64().iter().map(|value| *value as f32).collect(),
    }
}

fn shaped(name: &str, array: &Array, shape: &[usize]) -> Result<(), AuditError> {
    if array.shape() == shape { Ok(()) } else { Err(misshaped(name, array.shape(), shape)) }
}

/// Refuses outputs with a dimension more, such as one of augmentations, with what to give instead.
fn one_answer(name: &str, array: &Array, dimensions: usize) -> Result<(), AuditError> {
    let found = array.shape().len();
    if found <= dimensions {
        return Ok(());
    }
    let axes = if dimensions == 2 { "records × classes" } else { "models × records × classes" };
    let value = format!("array \"{}\" of {found} dimensions", columns::short(name));
    let remedy = format!(
        "give {axes}: one answer per record; of several answers, such as those to augmented copies, save the mean, \
         array.mean(axis={})",
        dimensions - 1
    );
    Err(AuditError::invalid("shape", value, remedy))
}

fn misshaped(name: &str, found: &[usize], wanted: &[usize]) -> AuditError {
    let words = |shape: &[usize]| shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" × ");
    let value = format!("array \"{}\" of {}", columns::short(name), words(found));
    AuditError::invalid("shape", value, format!("give {}", words(wanted)))
}
