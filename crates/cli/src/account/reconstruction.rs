//! `account reconstruction`: how often a record or an attribute can be recovered.

use super::words;
use crate::digits::{self, RoundingSide};
use crate::text::aligned;
use reticent::core::Neighboring;
use reticent::curator::account::{AccountAnswer, ReconstructionRates};
use reticent::report::plot::{Axis, Chart, Labels, Line, Stroke};
use std::path::Path;

/// Success with the record, by success without it.
pub(super) fn rates(found: &ReconstructionRates, answered: &AccountAnswer, plot: Option<&Path>) -> String {
    let up = |value: f64| digits::significant(value, 4, RoundingSide::Up);
    let rows = found.prior.iter().zip(found.success.iter().zip(&found.advantage));
    let mut lines: Vec<(String, String)> = rows
        .map(|(prior, (success, advantage))| {
            let text = format!("success at most {} (advantage at most {})", up(*success), up(*advantage));
            (format!("prior = {}", digits::exactly(*prior)), text)
        })
        .collect();
    lines.push(("any prior".to_owned(), format!("advantage at most {}", up(found.largest_advantage))));
    lines.push(("prior is".to_owned(), format!("the probability of success {}", without(found.neighboring))));
    lines.push(("neighboring".to_owned(), words::relation(found.neighboring)));
    lines.push(("events".to_owned(), words::happened(answered)));
    if let Some(path) = plot {
        lines.push(("plot".to_owned(), path.display().to_string()));
    }
    aligned(&lines)
}

/// Against which release a prior is meant.
fn without(neighboring: Neighboring) -> &'static str {
    match neighboring {
        Neighboring::AddRemove => "against a release without the record",
        Neighboring::ReplaceOne => "against a release with another, independent record in its place",
    }
}

/// The bound against the prior, with the line of a release that tells nothing.
pub(super) fn chart(found: &ReconstructionRates, answered: &AccountAnswer) -> Chart {
    let least = found.curve.first().map_or(1e-4, |(prior, _)| *prior);
    let marks = found.prior.iter().copied().zip(found.success.iter().copied());
    Chart {
        title: "How often a record or an attribute can be recovered".to_owned(),
        subtitle: format!("{}, {}", words::happened(answered), found.neighboring),
        x: Axis::log(&format!("success {}", without(found.neighboring)), least, 1.0),
        y: Axis::log("success against the release, at most", least, 1.0),
        labels: Labels::Corner,
        curves: vec![
            Line {
                label: "no attack is above this line".to_owned(),
                value: String::new(),
                stroke: Stroke::Solid(0),
                points: found.curve.clone(),
                marks: marks.filter(|(prior, _)| *prior >= least).collect(),
                fill: false,
            },
            Line {
                label: "the release tells nothing".to_owned(),
                value: String::new(),
                stroke: Stroke::Guide,
                points: vec![(least, least), (1.0, 1.0)],
                marks: Vec::new(),
                fill: false,
            },
        ],
    }
}
