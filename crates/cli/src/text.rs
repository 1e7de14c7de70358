//! Output that several commands share: aligned text for people, one line of JSON for programs.

use crate::fail::{Fail, plain};
use serde::Serialize;

/// Any serialisable value as one line.
pub(crate) fn json_line(value: &impl Serialize) -> Result<String, Fail> {
    let line =
        serde_json::to_string(value).map_err(|error| Fail::new(format!("cannot write JSON: {error}")))?;
    Ok(line + "\n")
}

/// Labels and texts in two columns; control characters in data never reach the terminal.
pub(crate) fn aligned(lines: &[(String, String)]) -> String {
    let width = lines.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0) + 2;
    lines.iter().map(|(label, text)| format!("{:width$}{}\n", plain(label), plain(text))).collect()
}
