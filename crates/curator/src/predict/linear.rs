//! A stored linear model on rows without labels.

use super::network::number;
use super::{Predicted, Said};
use crate::fit::{Stored, Task, unlabelled};
use crate::refusal::Refusal;
use crate::watch::{Watch, reading};
use reticent_data::{Encoder, FeatureMatrix, Table};
use reticent_erm::{AnyModel, predicted_classes};
use std::sync::Arc;

/// Rows that are encoded at once.
const CHUNK: usize = 1 << 16;

/// A model with a table that has its columns.
pub(super) struct LinearPlan {
    stored: Stored,
    encoder: Encoder,
    table: Arc<dyn Table>,
}

impl LinearPlan {
    pub(super) fn new(stored: Stored, table: Arc<dyn Table>) -> Result<Self, Refusal> {
        let encoder = stored.encoder.clone().without_label();
        encoder.check(&table)?;
        Ok(Self { stored, encoder, table })
    }

    pub(super) fn run(&self, watch: &dyn Watch) -> Result<Predicted, Refusal> {
        let (mut said, mut scores) = (Vec::new(), Vec::new());
        let bar = reading(watch, &self.table);
        self.encoder.scan::<Refusal>(&self.table, CHUNK, &mut |bytes| bar.at(bytes), &mut |design| {
            said.extend(of(&self.stored, design, &mut scores)?);
            Ok(())
        })?;
        Ok(Predicted::new(said, self.stored.task.classes(), scores, Vec::new()))
    }
}

/// The predictions of some rows; `scores` gets what they follow from.
fn of(stored: &Stored, design: &FeatureMatrix, scores: &mut Vec<f64>) -> Result<Vec<Said>, Refusal> {
    let blank = vec![-1.0; design.rows()];
    let rows = unlabelled(design, &blank)?;
    if let (Task::Number(bounds), AnyModel::Binary(fit)) = (&stored.task, &stored.model) {
        let values: Vec<f64> = fit.margins(&rows)?.into_iter().map(|margin| number(bounds, margin)).collect();
        scores.extend_from_slice(&values);
        let said = values.iter().map(|value| Said { prediction: value.to_string(), probability: None });
        return Ok(said.collect());
    }
    let names = stored.task.classes();
    let classes = predicted_classes(&stored.model, &rows)?;
    let margins = match &stored.model {
        AnyModel::Binary(fit) => fit.margins(&rows)?,
        AnyModel::Multiclass(many) => {
            let all = many.models.iter().map(|model| model.margins(&rows)).collect::<Result<Vec<_>, _>>()?;
            (0..design.rows()).flat_map(|row| all.iter().map(move |own| own[row])).collect()
        }
    };
    scores.extend_from_slice(&margins);
    Ok(classes
        .into_iter()
        .enumerate()
        .map(|(row, class)| {
            let probability = match &stored.model {
                AnyModel::Binary(fit) => margins.get(row).and_then(|margin| fit.loss.probability(*margin)),
                AnyModel::Multiclass(_) => None,
            };
            Said { prediction: names.get(class as usize).cloned().unwrap_or_default(), probability }
        })
        .collect())
}
