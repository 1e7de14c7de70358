//! Output of several commands: aligned text, one line of JSON.

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

/// Cells in columns, two blanks apart, without trailing blanks.
pub(crate) fn columns(rows: &[Vec<String>]) -> Vec<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{:width$}", plain(cell))).collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// A word quoted for a shell.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// `ε = 1, δ = 1e-6`.
pub(crate) fn spent(guarantee: &Guarantee) -> String {
    let epsilon = digits::spent(guarantee.epsilon.get());
    match guarantee.delta.get() {
        0.0 => format!("ε = {epsilon}"),
        delta => format!("ε = {epsilon}, δ = {}", digits::spent(delta)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stand_in_columns() {
        let rows = [vec!["a".to_owned(), "b".to_owned()], vec!["long".to_owned(), "c".to_owned()]];
        assert_eq!(columns(&rows), ["a     b", "long  c"]);
    }
}
