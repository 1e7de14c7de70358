//! `account posterior`: how far an output can move a belief about one person.

use super::words;
use crate::digits::{self, RoundingSide};
use crate::text::{aligned, columns};
use reticent::curator::account::{AccountAnswer, Belief, Beliefs, PosteriorBound};
use reticent::report::plot::{Axis, Chart, Labels, Line, Stroke};
use std::path::Path;

/// Beliefs after an output, for beliefs before it.
pub(super) fn beliefs(found: &Beliefs, answered: &AccountAnswer, plot: Option<&Path>) -> String {
    let mut lines = match (found.neighboring, found.claims.first()) {
        (Some(neighboring), Some(claim)) => vec![
            ("largest loss".to_owned(), format!("ε = {}", digits::spent(claim.epsilon))),
            ("neighboring".to_owned(), words::relation(neighboring)),
            ("events".to_owned(), words::happened(answered)),
        ],
        _ => vec![("claim".to_owned(), "pure epsilon, as given: it holds for every output".to_owned())],
    };
    for moment in &found.odds {
        let mean = moment.mean.map_or_else(
            || "no bound is known".to_owned(),
            |mean| format!("at most {}", digits::significant(mean, 4, RoundingSide::Up)),
        );
        let order = digits::exactly(moment.order);
        lines.push(match moment.order {
            1.0 => ("order 1".to_owned(), format!("mean change of the log-odds {mean}")),
            _ => {
                let power = digits::exactly(moment.order - 1.0);
                (format!("order {order}"), format!("mean of (posterior odds / prior odds)^{power} {mean}"))
            }
        });
    }
    if found.failure_probability > 0.0 {
        let failure = digits::exactly(found.failure_probability);
        lines.push(("may fail".to_owned(), format!("with probability at most {failure} for each end")));
    }
    if let Some(path) = plot {
        lines.push(("plot".to_owned(), path.display().to_string()));
    }
    table(&found.claims) + &aligned(&lines)
}

/// Beliefs before in the first column, after in the others.
fn table(claims: &[PosteriorBound]) -> String {
    let mut rows: Vec<Vec<String>> = vec![vec!["before".to_owned()]];
    rows[0].extend(claims.iter().map(|claim| format!("after, ε = {}", digits::spent(claim.epsilon))));
    for index in 0..claims.first().map_or(0, |claim| claim.beliefs.len()) {
        let mut row = vec![digits::exactly(claims[0].beliefs[index].prior)];
        row.extend(claims.iter().map(|claim| {
            let Belief { lower, upper, .. } = claim.beliefs[index];
            let end = |value, side| digits::significant(value, 3, side);
            format!("{} to {}", end(lower, RoundingSide::Down), end(upper, RoundingSide::Up))
        }));
        rows.push(row);
    }
    columns(&rows).iter().map(|line| format!("{line}\n")).collect()
}

/// The belief after against the belief before, at most.
pub(super) fn chart(found: &Beliefs) -> Chart {
    let curve = |(place, claim): (usize, &PosteriorBound)| Line {
        label: format!("ε = {}", digits::spent(claim.epsilon)),
        value: String::new(),
        stroke: Stroke::Series(place),
        points: claim.curve.clone(),
        marks: Vec::new(),
        fill: false,
    };
    let mut curves: Vec<Line> = found.claims.iter().enumerate().rev().map(curve).collect();
    curves.push(Line {
        label: "nothing was released".to_owned(),
        value: String::new(),
        stroke: Stroke::Guide,
        points: vec![(0.0, 0.0), (1.0, 1.0)],
        marks: Vec::new(),
        fill: false,
    });
    let failing = match found.failure_probability {
        0.0 => String::new(),
        failure => format!(", but with probability {}", digits::exactly(failure)),
    };
    Chart {
        title: "How far an output can move a belief about one person".to_owned(),
        subtitle: format!(
            "belief that one record was used, all others being the same: never above its line{failing}"
        ),
        x: Axis::unit("belief before"),
        y: Axis::unit("belief after, at most"),
        labels: Labels::Below,
        curves,
    }
}
