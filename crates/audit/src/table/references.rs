//! Reference models from a second file, matched by the names of the records.

use super::{archive, columns, gradients, is_archive};
use crate::{AuditError, Outputs, OutputsKind, Reference, Signals, Study};
use reticent_data::{NpzFile, open_table};
use std::collections::BTreeMap;
use std::path::Path;

/// How many names a message lists.
const LISTED: usize = 3;

/// The study with the reference models of a second file added.
///
/// An npz archive without `id` has the study's records in the study's order. A long table has a row per reference and
/// record.
///
/// # Errors
/// [`AuditError::Invalid`] for records that the study does not have, that are missing or that come twice, naming the first
/// few; as [`read_scores`](super::read_scores).
pub fn read_references(path: &Path, study: Study) -> Result<Study, AuditError> {
    let mut parts = study.into_parts();
    let places: BTreeMap<&str, usize> =
        parts.ids.iter().enumerate().map(|(place, id)| (id.as_str(), place)).collect();
    let (added, signals) = if is_archive(path) {
        from_archive(path, &places)?
    } else {
        (from_rows(path, &places)?, Signals::none())
    };
    if added.is_empty() && signals.is_empty() {
        return Err(AuditError::invalid(
            "reference",
            path.display(),
            "give a file with at least one reference model",
        ));
    }
    parts.references.extend(added);
    signals.iter().for_each(|(name, values)| parts.signals.insert(name, values.clone()));
    Study::new(parts)
}

/// The references of an archive, and what it holds of the target's gradients.
fn from_archive(
    path: &Path,
    places: &BTreeMap<&str, usize>,
) -> Result<(Vec<Reference>, Signals), AuditError> {
    let file = NpzFile::open(path)?;
    let mut own = Signals::none();
    let mut found = if archive::has(&file, "id") {
        let records = file.read("id")?.rows();
        let ids = archive::words(&file, "id", records)?;
        let order = matched("the archive", ids.iter().map(String::as_str), places)?;
        let mut found = archive::references(&file, records)?;
        for reference in &mut found {
            reference.inside = order.iter().map(|at| reference.inside[*at]).collect();
            reference.signals = reference.signals.some(&order);
            reference.outputs = reference.outputs.take().map(|outputs| outputs.some(&order));
        }
        gradients::add(&file, "", &mut [&mut own], records, true)?;
        own = own.some(&order);
        found
    } else {
        gradients::add(&file, "", &mut [&mut own], places.len(), true)?;
        archive::references(&file, places.len())?
    };
    if let Some(stem) = path.file_stem() {
        let stem = stem.to_string_lossy();
        found.iter_mut().for_each(|reference| reference.name = format!("{} of {stem}", reference.name));
    }
    Ok((found, own))
}

/// What is read of one reference.
#[derive(Default)]
struct Rows {
    ids: Vec<String>,
    inside: Vec<bool>,
    scores: Vec<f64>,
    values: Vec<f32>,
}

fn from_rows(path: &Path, places: &BTreeMap<&str, usize>) -> Result<Vec<Reference>, AuditError> {
    let table = open_table(path)?;
    let names: Vec<String> = table.columns().iter().map(|column| column.name.clone()).collect();
    let outputs = columns::output_columns(&path.display().to_string(), &names)?;
    let scored = outputs.is_none() || names.iter().any(|name| name == "score");
    let mut chosen = vec!["reference", "id", "in"];
    chosen.extend(scored.then_some("score"));
    let from = chosen.len();
    chosen.extend(outputs.iter().flat_map(|(_, c)| c).map(String::as_str));
    let mut order: Vec<String> = Vec::new();
    let mut found: BTreeMap<String, Rows> = BTreeMap::new();
    table.scan(&chosen, &mut |_| {}, &mut |row, cells| {
        let name = columns::text(&cells[0], chosen[0], row)?;
        if !found.contains_key(&name) {
            order.push(name.clone());
        }
        let own = found.entry(name).or_default();
        own.ids.push(columns::text(&cells[1], chosen[1], row)?);
        own.inside.push(columns::flag(&cells[2], chosen[2], row)?);
        if scored {
            own.scores.push(columns::number(&cells[3], chosen[3], row)?);
        }
        for (cell, column) in cells.iter().zip(&chosen).skip(from) {
            own.values.push(columns::number(cell, column, row)? as f32);
        }
        Ok::<(), AuditError>(())
    })?;
    let kind = outputs.as_ref().map(|(kind, columns)| (*kind, columns.len()));
    let mut references = Vec::with_capacity(order.len());
    for name in order {
        if let Some(rows) = found.remove(&name) {
            references.push(reference(name, &rows, kind, scored, places)?);
        }
    }
    Ok(references)
}

fn reference(
    name: String,
    rows: &Rows,
    kind: Option<(OutputsKind, usize)>,
    scored: bool,
    places: &BTreeMap<&str, usize>,
) -> Result<Reference, AuditError> {
    let order = matched(&columns::short(&name), rows.ids.iter().map(String::as_str), places)?;
    let outputs = kind
        .map(|(kind, classes)| {
            let values = order.iter().flat_map(|at| &rows.values[at * classes..(at + 1) * classes]);
            Outputs::new(kind, classes, values.copied().collect())
        })
        .transpose()?;
    Ok(Reference {
        outputs,
        signals: match scored {
            true => Signals::of_scores(order.iter().map(|at| rows.scores[*at]).collect()),
            false => Signals::none(),
        },
        inside: order.iter().map(|at| rows.inside[*at]).collect(),
        name,
    })
}

/// Where each record of the study stands in a list of ids.
fn matched<'a>(
    whose: &str,
    ids: impl Iterator<Item = &'a str>,
    places: &BTreeMap<&str, usize>,
) -> Result<Vec<usize>, AuditError> {
    let mut order: Vec<Option<usize>> = vec![None; places.len()];
    let (mut unknown, mut twice) = (Vec::new(), Vec::new());
    for (at, id) in ids.enumerate() {
        match places.get(id) {
            None => unknown.push(id),
            Some(place) if order[*place].is_some() => twice.push(id),
            Some(place) => order[*place] = Some(at),
        }
    }
    let missing: Vec<&str> =
        places.iter().filter(|(_, at)| order[**at].is_none()).map(|(id, _)| *id).collect();
    let problems = [
        (unknown, "that the study does not have", "use the study's ids, or leave those rows out"),
        (twice, "given more than once", "give every record once per reference"),
        (missing, "missing", "give every record of the study for every reference"),
    ];
    for (ids, problem, remedy) in problems {
        if !ids.is_empty() {
            let first: Vec<String> =
                ids.iter().take(LISTED).map(|id| format!("\"{}\"", columns::short(id))).collect();
            let more = if ids.len() > LISTED { ", …" } else { "" };
            let value = format!("{} records of {whose} {problem}: {}{more}", ids.len(), first.join(", "));
            return Err(AuditError::invalid("id", value, remedy));
        }
    }
    Ok(order.into_iter().flatten().collect())
}
