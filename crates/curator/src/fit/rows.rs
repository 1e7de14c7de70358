//! Tables to rows of numbers, by the schema alone.

use super::plan::FitPlan;
use super::task::Task;
use crate::refusal::Refusal;
use crate::watch::{Watch, reading};
use reticent_core::{Code, Neighboring};
use reticent_data::{FeatureMatrix, Table};
use reticent_erm::SparseRows;

/// Training rows and held-out rows.
pub(crate) fn encode(
    plan: &FitPlan,
    watch: &dyn Watch,
) -> Result<(FeatureMatrix, Option<FeatureMatrix>), Refusal> {
    let (train, held_out) = match &plan.split {
        None => (read(plan, &plan.table, watch)?, None),
        Some(split) => {
            let bar = reading(watch, &plan.table);
            let (sides, _) = plan.encoder.encode_split(&plan.table, split, &mut |bytes| bar.at(bytes))?;
            let classes = plan.task.is_classification();
            (sides.train.by_user(classes), Some(sides.test.by_user(classes)))
        }
    };
    // Under add-remove, that there are no rows is private like any other number of them.
    let is_known = plan.budget.is_none() || plan.settings.neighboring == Neighboring::ReplaceOne;
    if train.rows() == 0 && is_known {
        return Err(Refusal::new(
            Code::NoRows,
            format!("{} has no rows to train on: give a table with data", plan.data),
        ));
    }
    Ok((train, held_out))
}

/// A whole table by the schema.
pub(crate) fn read(plan: &FitPlan, table: &dyn Table, watch: &dyn Watch) -> Result<FeatureMatrix, Refusal> {
    let bar = reading(watch, table);
    let (design, _) = plan.encoder.encode(table, &mut |bytes| bar.at(bytes))?;
    Ok(design.by_user(plan.task.is_classification()))
}

/// Labels from -1 to 1; classes are told apart by the multiclass fit itself.
pub(super) fn usable_labels(task: &Task, design: &FeatureMatrix) -> Vec<f64> {
    match task {
        Task::Classes { .. } => vec![-1.0; design.rows()],
        _ => design.labels().to_vec(),
    }
}

/// Rows of a design for the model library.
pub(crate) fn rows<'a>(
    plan: &FitPlan,
    design: &'a FeatureMatrix,
    labels: &'a [f64],
) -> Result<SparseRows<'a>, Refusal> {
    let rows =
        SparseRows::new(design.dimension(), design.offsets(), design.columns(), design.values(), labels)?;
    Ok(rows.with_l1_bound(plan.encoder.l1_bound())?)
}

/// Encoded rows without labels for the model library.
pub(crate) fn unlabelled<'a>(design: &'a FeatureMatrix, blank: &'a [f64]) -> Result<SparseRows<'a>, Refusal> {
    Ok(SparseRows::new(design.dimension(), design.offsets(), design.columns(), design.values(), blank)?)
}
