//! A stored model on rows without labels.

use super::folder::{Stored, unlabelled};
use super::task::Task;
use crate::Output;
use crate::args::learn::Predict;
use crate::bar::Bar;
use crate::fail::Fail;
use crate::text::json_line;
use reticent::data::{Design, TableFile, write_csv_atomic};
use reticent::erm::{Model, predicted_classes};
use serde_json::json;

/// Rows that are encoded at once.
const CHUNK: usize = 1 << 16;

/// What the model says of one row.
pub(crate) struct Said {
    pub(crate) prediction: String,
    /// Of the positive class for logistic models of two classes, of the predicted class for networks.
    pub(crate) probability: Option<f64>,
}

pub(super) fn predict(arguments: &Predict, progress: bool) -> Result<Output, Fail> {
    let stored = Stored::read(&arguments.model)?;
    let table = TableFile::open(&arguments.file)?;
    let encoder = stored.encoder.clone().without_label();
    encoder.check(&table)?;
    let mut said = Vec::new();
    let bar = Bar::new(&table, progress);
    encoder.scan::<Fail>(&table, CHUNK, &mut |bytes| bar.at(bytes), &mut |design| {
        said.extend(of(&stored, design)?);
        Ok(())
    })?;
    drop(bar);
    written(arguments, &said)
}

/// Predictions as the arguments want them: a file, CSV or JSON.
pub(crate) fn written(arguments: &Predict, said: &[Said]) -> Result<Output, Fail> {
    let header: &[&str] = match said.first().is_some_and(|said| said.probability.is_some()) {
        true => &["prediction", "probability"],
        false => &["prediction"],
    };
    let fields = said.iter().map(|said| {
        let probability = said.probability.map(|probability| probability.to_string());
        [Some(said.prediction.clone()), probability].into_iter().flatten()
    });
    if let Some(path) = &arguments.out {
        let rows = write_csv_atomic(path, header, fields).map_err(Fail::data("--out"))?;
        let stdout = match arguments.json {
            true => json_line(&json!({"rows": rows, "out": path}))?,
            false => format!("{rows} predictions written to {}\n", path.display()),
        };
        return Ok(Output { stdout, ..Output::default() });
    }
    let stdout = if arguments.json {
        let predictions: Vec<&str> = said.iter().map(|said| said.prediction.as_str()).collect();
        let probabilities: Option<Vec<f64>> = said.iter().map(|said| said.probability).collect();
        json_line(&json!({
            "rows": said.len(), "predictions": predictions, "probabilities": probabilities, "out": null,
        }))?
    } else {
        let lines = fields.map(|row| row.map(|field| quoted(&field)).collect::<Vec<_>>().join(","));
        std::iter::once(header.join(",")).chain(lines).map(|line| line + "\n").collect()
    };
    Ok(Output { stdout, ..Output::default() })
}

fn of(stored: &Stored, design: &Design) -> Result<Vec<Said>, Fail> {
    let blank = vec![-1.0; design.rows()];
    let rows = unlabelled(design, &blank)?;
    if let (Task::Number(bounds), Model::Binary(fit)) = (&stored.task, &stored.model) {
        let value = |margin: f64| bounds.at(0.5 * (margin.clamp(-1.0, 1.0) + 1.0)).to_string();
        let margins = fit.margins(&rows)?.into_iter();
        return Ok(margins.map(|margin| Said { prediction: value(margin), probability: None }).collect());
    }
    let names = stored.task.classes();
    let classes = predicted_classes(&stored.model, &rows)?;
    let margins = match &stored.model {
        Model::Binary(fit) => fit.margins(&rows)?,
        Model::Multiclass(_) => Vec::new(),
    };
    Ok(classes
        .into_iter()
        .enumerate()
        .map(|(row, class)| {
            let probability = match &stored.model {
                Model::Binary(fit) => margins.get(row).and_then(|margin| fit.loss.probability(*margin)),
                Model::Multiclass(_) => None,
            };
            Said { prediction: names.get(class as usize).cloned().unwrap_or_default(), probability }
        })
        .collect())
}

/// A CSV field, in quotes where it needs them.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field.to_owned()
}
