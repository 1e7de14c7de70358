//! One row a figure: Arrow, CSV, Parquet.

use crate::page::{PageOutcome, PageRow, PageUnit};
use crate::refusal::Refusal;
use reticent_data::arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use reticent_data::arrow_schema::{Field, Schema};
use reticent_data::{write_csv_atomic, write_parquet_atomic};
use std::path::Path;
use std::sync::Arc;

/// The columns beside those of the groups.
const COLUMNS: [&str; 6] = ["question", "cell", "estimate", "low", "high", "unit"];

/// The figures as a record batch: the columns of the groups, then `question`, `cell`, `estimate`, `low`, `high` and `unit`. Missing
/// estimates and ends that nothing bounds are null. A column of groups that has one of these names is called `group_…`.
///
/// # Errors
/// [`Refusal`] of a defect.
pub fn records(outcome: &PageOutcome) -> Result<RecordBatch, Refusal> {
    let rows = &outcome.rows;
    let text = |of: &dyn Fn(&PageRow) -> Option<String>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<StringArray>())
    };
    let number = |of: &dyn Fn(&PageRow) -> Option<f64>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<Float64Array>())
    };
    let mut arrays: Vec<ArrayRef> =
        (0..outcome.group_columns.len()).map(|place| text(&|row| row.group.get(place).cloned())).collect();
    arrays.extend([
        text(&|row| Some(row.question.clone())),
        text(&|row| row.cell.clone()),
        number(&|row| row.estimate),
        number(&|row| Some(row.interval[0]).filter(|end| end.is_finite())),
        number(&|row| Some(row.interval[1]).filter(|end| end.is_finite())),
        text(&|row| Some(unit(&row.unit).to_owned())),
    ]);
    let field = |(name, array): (String, &ArrayRef)| Field::new(name, array.data_type().clone(), true);
    let fields: Vec<Field> = header(outcome).into_iter().zip(&arrays).map(field).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
        .map_err(|error| Refusal::internal(error.to_string()))
}

/// Writes the figures as CSV with a header line; returns their number.
///
/// # Errors
/// [`Refusal`] of the field `csv`.
pub fn write_csv(outcome: &PageOutcome, path: &Path) -> Result<u64, Refusal> {
    let header = header(outcome);
    let names: Vec<&str> = header.iter().map(String::as_str).collect();
    let shown = |value: Option<f64>| value.map(|value| (value + 0.0).to_string()).unwrap_or_default();
    let line = |row: &PageRow| -> Vec<String> {
        let [low, high] = row.interval.map(|end| shown(Some(end).filter(|end| end.is_finite())));
        let own = [
            row.question.clone(),
            row.cell.clone().unwrap_or_default(),
            shown(row.estimate),
            low,
            high,
            unit(&row.unit).to_owned(),
        ];
        row.group.iter().cloned().chain(own).collect()
    };
    write_csv_atomic(path, &names, outcome.rows.iter().map(line)).map_err(Refusal::data("csv"))
}

/// Writes the figures as a Parquet file.
///
/// # Errors
/// [`Refusal`] of the field `parquet`.
pub fn write_parquet(outcome: &PageOutcome, path: &Path) -> Result<(), Refusal> {
    write_parquet_atomic(path, &records(outcome)?).map_err(Refusal::data("parquet"))
}

fn header(outcome: &PageOutcome) -> Vec<String> {
    let own = |name: &String| match COLUMNS.contains(&name.as_str()) {
        true => format!("group_{name}"),
        false => name.clone(),
    };
    outcome.group_columns.iter().map(own).chain(COLUMNS.map(str::to_owned)).collect()
}

/// The wire name of a unit.
fn unit(unit: &PageUnit) -> &'static str {
    match unit {
        PageUnit::Rows => "rows",
        PageUnit::People => "people",
        PageUnit::Column => "column",
        PageUnit::Squared => "squared",
        PageUnit::PerUnit => "per-unit",
        PageUnit::Share => "share",
        PageUnit::Number => "number",
        PageUnit::Ranks => "ranks",
        PageUnit::Values => "values",
    }
}
