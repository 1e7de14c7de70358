//! What a prediction prints or writes.

use super::warned;
use crate::Output;
use crate::args::learn::Predict;
use crate::fail::Fail;
use crate::text::json_line;
use reticent::curator::predict::Predicted;
use reticent::data::write_csv_atomic;
use serde_json::json;

/// Predictions as the arguments want them: a file, CSV or JSON.
pub(super) fn written(arguments: &Predict, predicted: &Predicted) -> Result<Output, Fail> {
    let warnings = warned(&predicted.warnings);
    let probabilities = predicted.probabilities.as_deref().filter(|all| !all.is_empty());
    let header: &[&str] = match probabilities {
        Some(_) => &["prediction", "probability"],
        None => &["prediction"],
    };
    let fields = predicted.predictions.iter().enumerate().map(|(row, prediction)| {
        let probability = probabilities.and_then(|all| all.get(row)).map(f64::to_string);
        [Some(prediction.clone()), probability].into_iter().flatten()
    });
    let stdout = match &arguments.out {
        Some(path) => {
            let rows = write_csv_atomic(path, header, fields).map_err(Fail::data("--out"))?;
            match arguments.json {
                true => json_line(&json!({"rows": rows, "out": path}))?,
                false => format!("{rows} predictions written to {}\n", path.display()),
            }
        }
        None if arguments.json => json_line(predicted)?,
        None => {
            let lines = fields.map(|row| row.map(|field| quoted(&field)).collect::<Vec<_>>().join(","));
            std::iter::once(header.join(",")).chain(lines).map(|line| line + "\n").collect()
        }
    };
    Ok(Output { stdout, warnings, ..Output::default() })
}

/// A CSV field, in quotes where it needs them.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field.to_owned()
}
