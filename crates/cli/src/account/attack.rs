//! `account tradeoff`: what an attacker can achieve.

use super::words;
use crate::digits::{self, RoundingSide};
use crate::text::aligned;
use reticent::curator::account::{AccountAnswer, Rates};
use reticent::report::plot::{Axis, Chart, Labels, Line, Stroke};
use std::path::Path;

/// Misses at rates of false alarms.
pub(super) fn tradeoff(found: &Rates, answered: &AccountAnswer, plot: Option<&Path>) -> String {
    let mut lines: Vec<(String, String)> = found
        .fpr
        .iter()
        .zip(&found.fnr)
        .map(|(fpr, fnr)| {
            let (least, most) = (
                digits::significant(*fnr, 4, RoundingSide::Down),
                digits::significant(1.0 - fnr, 4, RoundingSide::Up),
            );
            let text = format!("fnr at least {least} (an attack finds at most {most} of the records)");
            (format!("fpr = {}", digits::exactly(*fpr)), text)
        })
        .collect();
    lines.push(("neighboring".to_owned(), words::relation(found.neighboring)));
    lines.push(("events".to_owned(), words::happened(answered)));
    if let Some(path) = plot {
        lines.push(("plot".to_owned(), path.display().to_string()));
    }
    aligned(&lines)
}

/// The whole curve, with the line of perfect privacy.
pub(super) fn chart(found: &Rates, answered: &AccountAnswer) -> Chart {
    let marks = found.fpr.iter().copied().zip(found.fnr.iter().copied()).collect();
    Chart {
        title: "What an attacker can achieve".to_owned(),
        subtitle: format!("{}, {}", words::happened(answered), found.neighboring),
        x: Axis::unit("false-positive rate (alarms about records that were not used)"),
        y: Axis::unit("false-negative rate (records missed)"),
        labels: Labels::Corner,
        curves: vec![
            Line {
                label: "no attack is below this line".to_owned(),
                value: String::new(),
                stroke: Stroke::Solid(0),
                points: found.curve.clone(),
                marks,
                fill: false,
            },
            Line {
                label: "perfect privacy: guessing".to_owned(),
                value: String::new(),
                stroke: Stroke::Guide,
                points: vec![(0.0, 1.0), (1.0, 0.0)],
                marks: Vec::new(),
                fill: false,
            },
        ],
    }
}
