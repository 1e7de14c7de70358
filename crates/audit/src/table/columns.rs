//! Columns read from cells, with errors that name the column and the row.

use crate::{AuditError, Draw, Outputs, OutputsKind};
use reticent_data::Cell;
use std::collections::BTreeMap;

/// A cell that says yes or no.
pub(super) fn flag(cell: &Cell<'_>, column: &str, row: u64) -> Result<bool, AuditError> {
    let text = cell.label().unwrap_or_default();
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => {
            let value = format!("\"{}\" in column \"{column}\", row {row}", short(&text));
            Err(AuditError::invalid(
                "member",
                value,
                "write 1 or true for records in the training data, 0 or false for others",
            ))
        }
    }
}

/// A cell that must be a finite number.
pub(super) fn number(cell: &Cell<'_>, column: &str, row: u64) -> Result<f64, AuditError> {
    match cell.number_at(column, row)? {
        Some(number) => Ok(number.to_f64()),
        None => Err(empty(column, row, "give a number for every record, or leave the record out")),
    }
}

/// A cell that must say something.
pub(super) fn text(cell: &Cell<'_>, column: &str, row: u64) -> Result<String, AuditError> {
    let text = cell.label().ok_or_else(|| empty(column, row, "give one for every record"))?;
    Ok(text.into_owned())
}

fn empty(column: &str, row: u64, remedy: &str) -> AuditError {
    AuditError::invalid("value", format!("nothing in column \"{column}\", row {row}"), remedy)
}

/// Text for a message.
pub(super) fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(40).collect()
}

/// Class numbers, or text numbered in sorted order.
pub(super) fn classes(labels: &[String]) -> Vec<u32> {
    let numbers: Option<Vec<u32>> = labels.iter().map(|label| label.parse().ok()).collect();
    if let Some(numbers) = numbers {
        return numbers;
    }
    let mut order: BTreeMap<&str, u32> = labels.iter().map(|label| (label.as_str(), 0)).collect();
    (0..).zip(order.values_mut()).for_each(|(class, number)| *number = class);
    labels.iter().map(|label| order[label.as_str()]).collect()
}

/// The columns `probability_0`, … or `logit_0`, … of a table; none when it has neither.
pub(super) fn output_columns(
    file: &str,
    names: &[String],
) -> Result<Option<(OutputsKind, Vec<String>)>, AuditError> {
    let numbered = |prefix: &str| -> usize {
        let suffixes = names.iter().filter_map(|name| name.strip_prefix(prefix));
        suffixes.filter(|suffix| suffix.parse::<usize>().is_ok()).count()
    };
    let (probabilities, logits) = (numbered("probability_"), numbered("logit_"));
    let (kind, prefix, count) = match (probabilities, logits) {
        (0, 0) => return Ok(None),
        (count, 0) => (OutputsKind::Probabilities, "probability_", count),
        (0, count) => (OutputsKind::Logits, "logit_", count),
        _ => {
            let value = "columns probability_… and logit_…";
            return Err(AuditError::invalid("outputs", value, "give one of the two kinds"));
        }
    };
    let wanted: Vec<String> = (0..count).map(|class| format!("{prefix}{class}")).collect();
    if let Some(missing) = wanted.iter().find(|name| !names.contains(name)) {
        return Err(super::unknown(file, missing, names.to_vec()));
    }
    Ok(Some((kind, wanted)))
}

/// Outputs, where there are columns of them.
pub(super) fn outputs(
    kind: Option<&(OutputsKind, Vec<String>)>,
    values: Vec<f32>,
) -> Result<Option<Outputs>, AuditError> {
    kind.map(|(kind, columns)| Outputs::new(*kind, columns.len(), values)).transpose()
}

/// One probability for all records, as a draw; none where there is no column.
pub(super) fn draw(probabilities: &[f64]) -> Result<Draw, AuditError> {
    let Some(first) = probabilities.first() else { return Ok(Draw::Undeclared) };
    if let Some(place) = probabilities.iter().position(|p| p != first) {
        let value = format!("{first} in row 1 and {} in row {}", probabilities[place], place + 1);
        return Err(AuditError::invalid("drawn", value, "give one probability for all records"));
    }
    if !(*first > 0.0 && *first < 1.0) {
        return Err(AuditError::invalid("drawn", first, "give a probability above 0 and below 1"));
    }
    Ok(Draw::Coins(*first))
}
