//! Parties that train together: what is learned from which rounds, how losses develop, and what the honest side sees.

use super::section::{Block, Body, Cell, Figure, Section};
use crate::dossier::Dossier;
use crate::plot::{Axis, Chart, Labels, Line, Stroke};
use crate::words;
use reticent_audit::disclosure::{ObservedRounds, Trajectory, TrajectoryLine};

/// None where the audit was not about parties.
pub(super) fn federated(dossier: &Dossier) -> Option<Section> {
    let (observed, trajectories) = (&dossier.findings.observed, &dossier.findings.trajectories);
    if observed.is_empty() && trajectories.is_empty() {
        return None;
    }
    let mut body = Body::default();
    body.p("Parties with data of their own trained this model together. The server sees the update of every party in every round, a \
            party sees the weights that it is sent. What the server sees of single updates is covered by no certificate.");
    if !observed.is_empty() {
        let row = |row: &ObservedRounds| {
            vec![
                Cell::text(rounds(&row.rounds)),
                Cell::number(words::share(&row.accuracy)),
                Cell::number(words::estimate(&row.auc)),
                Cell::number(row.records.to_string()),
            ]
        };
        body.table(
            "Accuracy of the learned attack by the rounds that the observer saw; guessing gives 50 %",
            &["Observed rounds", "Accuracy", "AUC", "Judged by records"],
            &observed.iter().map(row).collect::<Vec<_>>(),
        );
    }
    let figure = |(place, trajectory): (usize, &Trajectory)| {
        let ends = trajectory.lines.iter().map(|line| format!("{}: {}", line.label, end(line)));
        let description = format!("At the end: {}.", ends.collect::<Vec<_>>().join("; "));
        let drawing = chart(trajectory).page(&format!("trajectory-{place}"), &description);
        Figure { drawing, caption: format!("{}. {description}", trajectory.about) }
    };
    body.figures(trajectories.iter().enumerate().map(figure));
    Some(Section { id: "federated", title: "Parties that train together", block: Block::Measured, body })
}

/// `1-5` for rounds in a row.
fn rounds(rounds: &[u64]) -> String {
    match rounds {
        [first, .., last] if *last >= *first && last - first + 1 == rounds.len() as u64 => {
            format!("{first}-{last}")
        }
        _ => rounds.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// The last value, with its interval where there is one.
fn end(line: &TrajectoryLine) -> String {
    let last = |values: &[f64]| {
        values.last().map_or_else(|| "none".to_owned(), |value| words::number(rounded(*value)))
    };
    match line.records {
        0 => last(&line.value),
        _ => format!("{} ({} to {})", last(&line.value), last(&line.lower), last(&line.upper)),
    }
}

fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// A line for each group, and thin ones for its interval; logarithmic where values differ by more than a factor of a hundred.
pub(crate) fn chart(trajectory: &Trajectory) -> Chart {
    let points = |values: &[f64]| -> Vec<(f64, f64)> {
        let pairs = trajectory.at.iter().copied().zip(values.iter().copied());
        pairs.filter(|(at, value)| at.is_finite() && value.is_finite()).collect()
    };
    let line = |(place, line): (usize, &TrajectoryLine)| Line {
        label: line.label.clone(),
        value: end(line),
        stroke: Stroke::Solid(place),
        points: points(&line.value),
        marks: Vec::new(),
        fill: false,
    };
    let side = |values: &[f64]| Line {
        label: String::new(),
        value: String::new(),
        stroke: Stroke::Guide,
        points: points(values),
        marks: Vec::new(),
        fill: false,
    };
    let mut curves: Vec<Line> = trajectory.lines.iter().enumerate().map(line).collect();
    let estimated = || trajectory.lines.iter().filter(|line| line.records > 0);
    curves.extend(estimated().flat_map(|line| [side(&line.lower), side(&line.upper)]));
    let all = || curves.iter().flat_map(|line| line.points.iter());
    let (low, high) = all().fold((f64::MAX, f64::MIN), |(low, high), (_, y)| (low.min(*y), high.max(*y)));
    let (first, last) = all().fold((f64::MAX, f64::MIN), |(low, high), (x, _)| (low.min(*x), high.max(*x)));
    let y = match low > 0.0 && high > 100.0 * low {
        true => Axis::log(&trajectory.what, low, high),
        false => Axis::linear(&trajectory.what, low.min(0.0), high),
    };
    let x = Axis::linear(&trajectory.unit, first, last);
    Chart { title: trajectory.about.clone(), subtitle: String::new(), x, y, labels: Labels::Below, curves }
}
