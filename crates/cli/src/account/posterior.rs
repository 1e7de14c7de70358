//! `account posterior`: what an output can make somebody believe about one person.

use super::words;
use crate::digits::{self, Side};
use crate::text::{aligned, columns};
use reticent::curator::account::{Answered, Belief, Beliefs, Claim};
use reticent::report::plot::{Axis, Chart, Curve, Labels, Stroke};
use std::path::Path;

/// Beliefs after an output, for beliefs before it.
pub(super) fn beliefs(found: &Beliefs, answered: &Answered, plot: Option<&Path>) -> String {
    let mut lines = match (found.neighboring, found.claims.first()) {
        (Some(neighboring), Some(claim)) => vec![
            ("largest loss".to_owned(), format!("ε = {}", digits::spent(claim.epsilon))),
            ("neighboring".to_owned(), words::relation(neighboring)),
            ("events".to_owned(), words::happened(answered)),
        ],
        _ => vec![("claim".to_owned(), "pure epsilon, as given: it holds for every output".to_owned())],
    };
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
fn table(claims: &[Claim]) -> String {
    let mut rows: Vec<Vec<String>> = vec![vec!["before".to_owned()]];
    rows[0].extend(claims.iter().map(|claim| format!("after, ε = {}", digits::spent(claim.epsilon))));
    for index in 0..claims.first().map_or(0, |claim| claim.beliefs.len()) {
        let mut row = vec![digits::exactly(claims[0].beliefs[index].prior)];
        row.extend(claims.iter().map(|claim| {
            let Belief { lower, upper, .. } = claim.beliefs[index];
            let end = |value, side| digits::significant(value, 3, side);
            format!("{} to {}", end(lower, Side::Down), end(upper, Side::Up))
        }));
        rows.push(row);
    }
    columns(&rows).iter().map(|line| format!("{line}\n")).collect()
}

/// The belief after against the belief before, at most.
pub(super) fn chart(found: &Beliefs) -> Chart {
    let curve = |(place, claim): (usize, &Claim)| Curve {
        label: format!("ε = {}", digits::spent(claim.epsilon)),
        value: String::new(),
        stroke: Stroke::Series(place),
        points: claim.curve.clone(),
        marks: Vec::new(),
        fill: false,
    };
    let mut curves: Vec<Curve> = found.claims.iter().enumerate().rev().map(curve).collect();
    curves.push(Curve {
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
        title: "What an output can make somebody believe about one person".to_owned(),
        subtitle: format!(
            "belief that one record was used, all others being the same: never above its line{failing}"
        ),
        x: Axis::unit("belief before"),
        y: Axis::unit("belief after, at most"),
        labels: Labels::Below,
        curves,
    }
}
