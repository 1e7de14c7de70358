//! Text and JSON of predictions.

use super::warned;
use crate::Output;
use crate::fail::Fail;
use crate::text::json_line;
use reticent::curator::predict::Predicted;
use std::mem::take;

/// Predictions as JSON or CSV, or the file they were written to.
pub(super) fn printed(mut predicted: Predicted, json: bool) -> Result<Output, Fail> {
    let warnings = warned(&take(&mut predicted.warnings));
    let stdout = match &predicted.out {
        _ if json => json_line(&predicted)?,
        Some(path) => format!("{} predictions written to {}\n", predicted.rows, path.display()),
        None => {
            let (header, rows) = predicted.table();
            let lines = rows.map(|row| row.map(|field| quoted(&field)).collect::<Vec<_>>().join(","));
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
