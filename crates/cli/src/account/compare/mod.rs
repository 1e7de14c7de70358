//! `account compare`: every accountant on the same events.

mod chart;

pub(super) use chart::chart;

use super::words;
use crate::digits;
use crate::fail::plain;
use reticent::curator::account::{AccountAnswer, AccountantComparison, CompositionMethod, NotBounds};
use std::path::Path;

/// ε by every accountant.
pub(super) fn compare(found: &AccountantComparison, answered: &AccountAnswer, plot: Option<&Path>) -> String {
    let mut lines: Vec<[String; 3]> = Vec::new();
    for row in &found.accountants {
        let note = match (&row.reason, row.answered_by, row.lower, row.epsilon) {
            (Some(reason), ..) => plain(reason),
            (_, Some(by), ..) => format!("by {}, which is tighter here", by.name()),
            (_, _, Some(lower), Some(upper)) if row.accountant == CompositionMethod::Pld && lower > 0.0 => {
                let [lower, upper] = digits::bracket(lower, upper);
                format!("between {lower} and {upper}")
            }
            _ => String::new(),
        };
        let value = row.epsilon.map_or("-".to_owned(), digits::spent);
        lines.push([row.accountant.name().to_owned(), value, note]);
    }
    if let Some(NotBounds { clt_estimate, strong_composition_as_published }) = found.not_bounds {
        let value = |value: Option<f64>| value.map_or("-".to_owned(), digits::brief);
        lines.push([
            "clt".to_owned(),
            value(clt_estimate),
            "no bound: estimate of the central limit theorem".to_owned(),
        ]);
        lines.push([
            "published".to_owned(),
            value(strong_composition_as_published),
            "no bound: strong composition as published by Abadi et al. (2016)".to_owned(),
        ]);
    }
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    let mut text = format!(
        "epsilon at delta = {}, {}\n{}\n",
        digits::exactly(found.delta),
        found.neighboring,
        plain(&words::happened(answered)),
    );
    for [name, value, note] in &lines {
        let line = format!("  {name:first$}  {value:>second$}  {note}");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    if let Some(path) = plot {
        text.push_str(&format!("plot: {}\n", path.display()));
    }
    text
}
