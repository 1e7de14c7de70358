//! A stored linear model on labelled rows.

use super::Evaluated;
use crate::fit::{Stored, Task, unlabelled};
use crate::refusal::Refusal;
use crate::watch::{Watch, reading};
use reticent_core::Code;
use reticent_data::Table;
use reticent_erm::{self as erm, AnyModel, evaluate_multiclass, evaluate_values};

pub(super) fn evaluate(stored: &Stored, table: &dyn Table, watch: &dyn Watch) -> Result<Evaluated, Refusal> {
    let bar = reading(watch, table);
    let (design, _) = stored.encoder.encode(table, &mut |bytes| bar.at(bytes))?;
    drop(bar);
    let design = design.by_user(stored.task.is_classification());
    if design.rows() == 0 {
        let text = format!("{} has no rows: give a table with data", table.name());
        return Err(Refusal::new(Code::NoRows, text));
    }
    let blank = vec![-1.0; design.rows()];
    let labels = if matches!(stored.task, Task::Classes { .. }) { &blank } else { design.labels() };
    let rows = unlabelled(&design, labels)?;
    Ok(match (&stored.model, &stored.task) {
        (AnyModel::Binary(fit), Task::Number(bounds)) => {
            Evaluated::values(&evaluate_values(fit, &rows)?, bounds, design.rows())
        }
        (AnyModel::Binary(fit), task) => {
            Evaluated::classes(&erm::evaluate(fit, &rows)?, &task.classes(), design.rows())
        }
        (AnyModel::Multiclass(many), task) => {
            let of: Vec<u32> = design.labels().iter().map(|label| *label as u32).collect();
            Evaluated::classes(&evaluate_multiclass(many, &rows, &of)?, &task.classes(), design.rows())
        }
    })
}
