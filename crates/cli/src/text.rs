//! Output that several commands share: aligned text for people, one line of JSON for programs.

use crate::digits;
use crate::explain::Code;
use crate::fail::{Fail, plain};
use reticent::core::Guarantee;
use serde::Serialize;

/// Any serialisable value as one line.
pub(crate) fn json_line(value: &impl Serialize) -> Result<String, Fail> {
    let line = serde_json::to_string(value)
        .map_err(|error| Fail::new(Code::Internal, format!("cannot write JSON: {error}")))?;
    Ok(line + "\n")
}

/// Labels and texts in two columns; control characters in data never reach the terminal.
pub(crate) fn aligned(lines: &[(String, String)]) -> String {
    let width = lines.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0) + 2;
    lines.iter().map(|(label, text)| format!("{:width$}{}\n", plain(label), plain(text))).collect()
}

/// `ε = 1, δ = 1e-6`.
pub(crate) fn spent(guarantee: &Guarantee) -> String {
    let epsilon = digits::spent(guarantee.epsilon.get());
    match guarantee.delta.get() {
        0.0 => format!("ε = {epsilon}"),
        delta => format!("ε = {epsilon}, δ = {}", digits::spent(delta)),
    }
}
