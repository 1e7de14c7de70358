//! A request to a checked plan. The file is opened, no values are read.

use super::outcome::target;
use super::request::LearnSchema;
use crate::quantity;
use crate::refusal::Refusal;
use reticent_core::{Code, Delta, Epsilon};
use reticent_data::schema::PrivacyUnit;
use reticent_data::{ColumnInfo, ColumnKind, Table, open_table_with};
use std::path::PathBuf;
use std::sync::Arc;

/// Divided among more columns than this, an ε of 1 is all noise; a quarter of a column's share is what a private choice
/// must still be able to draw with.
const COLUMNS_PER_EPSILON: f64 = 1e5;

/// A checked request for a schema; only the data are unread.
#[derive(Debug, Clone)]
pub struct PlannedSchema {
    pub(super) table: Arc<dyn Table>,
    pub(super) unit: PrivacyUnit,
    pub(super) label: Option<String>,
    /// The label's positive value, if it was given.
    pub(super) positive: Option<String>,
    /// Columns to leave out without reading them.
    pub(super) ignored: Vec<String>,
    /// The columns to look at, in the order of the file.
    pub(super) subjects: Vec<Subject>,
    /// There if the schema is to be private.
    pub(super) budget: Option<Budget>,
    /// Where the schema is written.
    pub(super) out: Option<PathBuf>,
}

/// A column to look at, with what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Subject {
    pub(super) name: String,
    pub(super) holds: ColumnContent,
}

/// What a column may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnContent {
    /// Numbers, the file says.
    Numbers,
    /// Text, the file says.
    Text,
    /// Either: the file does not say.
    Either,
}

/// What may be spent on all subjects together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Budget {
    pub(super) epsilon: Epsilon,
    /// 0 if no subject can be text.
    pub(super) delta: Delta,
}

/// Checks everything that can be checked without reading values.
pub(super) fn plan(request: &LearnSchema, given: Option<Arc<dyn Table>>) -> Result<PlannedSchema, Refusal> {
    let table = match given {
        Some(_) if !request.file.as_os_str().is_empty() => {
            let remedy = "leave it out: the table is given beside the request";
            return Err(Refusal::conflict("file", request.file.display(), remedy));
        }
        Some(table) => table,
        None => open_table_with(&request.file, &request.reading)?,
    };
    let known = |field: &str, name: &str| table.column(name).map(drop).map_err(Refusal::data(field));
    for name in &request.ignore {
        known("ignore", name)?;
        let needed = [("label", &request.label), ("unit", &request.unit)];
        if let Some((role, _)) = needed.iter().find(|(_, column)| column.as_ref() == Some(name)) {
            let remedy = format!("this column is the {role} and cannot be ignored");
            return Err(Refusal::conflict("ignore", name, remedy));
        }
    }
    if let Some(label) = &request.label {
        known("label", label)?;
        if let ColumnKind::Other(kind) = &table.column(label)?.kind {
            let remedy = format!("a column of type {kind} cannot be predicted: give another column");
            return Err(Refusal::value("label", label, remedy).coded(Code::Type));
        }
    }
    if let Some(positive) = &request.positive {
        if request.label.is_none() {
            return Err(Refusal::missing("label", "give the column of the ⟦positive⟧ value"));
        }
        if positive.trim().is_empty() {
            let remedy = "blank cells count as missing: give a value that is not blank";
            return Err(Refusal::value("positive", positive, remedy));
        }
        if let Some(label) = &request.label {
            table.check_values(label, std::slice::from_ref(positive)).map_err(Refusal::data("positive"))?;
        }
    }
    let unit = match &request.unit {
        None => PrivacyUnit::Row,
        Some(column) => {
            known("unit", column)?;
            if request.label.as_ref() == Some(column) {
                return Err(Refusal::conflict(
                    "unit",
                    column,
                    "this column is the label: give another column",
                ));
            }
            PrivacyUnit::Column(column.clone())
        }
    };
    let private = request.epsilon.is_some();
    let read = |column: &&ColumnInfo| {
        let name = Some(&column.name);
        // A label whose positive value is given is as public as a schema can make it.
        let settled = private && request.positive.is_some() && request.label.as_ref() == name;
        !settled && request.unit.as_ref() != name && !request.ignore.contains(&column.name)
    };
    let declared = table.declares_kinds();
    let subjects: Vec<Subject> =
        table.columns().iter().filter(read).filter_map(|c| subject(c, declared)).collect();
    let budget = budget(request, &subjects, declared)?;
    if let Some(path) = &request.out {
        if request.force { target(path).check()? } else { target(path).check_new()? }
    }
    Ok(PlannedSchema {
        unit,
        label: request.label.clone(),
        positive: request.positive.as_deref().map(|positive| positive.trim().to_owned()),
        ignored: request.ignore.clone(),
        subjects,
        budget,
        table,
        out: request.out.clone(),
    })
}

/// A column about which the file leaves something open.
fn subject(column: &ColumnInfo, declared: bool) -> Option<Subject> {
    let holds = match &column.kind {
        // Dates are their days since 1970 and timestamps their seconds.
        ColumnKind::Integer | ColumnKind::Float | ColumnKind::Date | ColumnKind::Timestamp => {
            ColumnContent::Numbers
        }
        ColumnKind::Text if declared => ColumnContent::Text,
        ColumnKind::Text => ColumnContent::Either,
        ColumnKind::Boolean | ColumnKind::Other(_) => return None,
    };
    Some(Subject { name: column.name.clone(), holds })
}

fn budget(request: &LearnSchema, subjects: &[Subject], declared: bool) -> Result<Option<Budget>, Refusal> {
    let Some(epsilon) = request.epsilon else {
        return match request.delta {
            None => Ok(None),
            Some(delta) => Err(Refusal::conflict("delta", delta, "a delta needs an ⟦epsilon⟧: give both")),
        };
    };
    let epsilon = quantity::epsilon(epsilon, subjects.len() as f64 / COLUMNS_PER_EPSILON)?;
    if let Some(unit) = &request.unit {
        let remedy = "a schema can be learnt privately only with rows as the unit, because one user may have many rows: leave out ⟦unit⟧ or ⟦epsilon⟧";
        return Err(Refusal::conflict("unit", unit, remedy));
    }
    if subjects.is_empty() {
        let remedy = "there is no column to learn: leave it out";
        return Err(Refusal::about(Code::Conflict, "epsilon", remedy));
    }
    let text = subjects.iter().any(|subject| subject.holds != ColumnContent::Numbers);
    let delta = match (request.delta, text) {
        (Some(delta), true) => quantity::delta(delta)?,
        (None, false) => Delta::ZERO,
        (Some(given), false) => {
            quantity::delta(given)?;
            let remedy = "no column is text, and bounds need no delta: leave it out";
            return Err(Refusal::conflict("delta", given, remedy));
        }
        (None, true) => {
            let why = if declared {
                "text columns need a delta"
            } else {
                "the columns of a CSV file may be text, which needs a delta"
            };
            let remedy = format!("{why}, to hide rare categories: give e.g. ⟦delta⟧ 1e-6");
            return Err(Refusal::missing("delta", remedy));
        }
    };
    Ok(Some(Budget { epsilon, delta }))
}
