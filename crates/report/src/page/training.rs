//! How the training went, as the run reported it.

use super::section::{Block, Body, Figure, Section};
use crate::dossier::{Dossier, TrainingPoint, TrainingSummary, TrainingUnit};
use crate::plot::{Axis, Chart, Labels, Line, Stroke};
use crate::words;

type Pick = fn(&TrainingPoint) -> Option<f64>;

pub(super) fn training(dossier: &Dossier) -> Section {
    let mut body = Body::default();
    match &dossier.training {
        None => {
            body.missing("not declared: no training run was given to this report");
        }
        Some(training) => {
            body.p("As the training run reported it.");
            let percent = |share: Option<f64>| share.filter(|share| share.is_finite()).map(words::percent);
            let gap = match (training.train_accuracy, training.test_accuracy) {
                (Some(train), Some(test)) if (train - test).is_finite() => {
                    Some(format!("{} points", words::number(rounded(100.0 * (train - test)))))
                }
                _ => None,
            };
            body.facts(&[
                ("Accuracy on training data", percent(training.train_accuracy)),
                ("Accuracy on held-out data", percent(training.test_accuracy)),
                ("Gap", gap),
            ]);
            body.p("A gap between training and held-out accuracy means that the model treats its own records differently, which membership attacks exploit. A gap of zero does not mean that no record stands out.");
            let figures = figures(training);
            if figures.is_empty() {
                body.missing("not declared: no curves were recorded");
            } else {
                body.figures(figures);
            }
        }
    }
    Section { id: "training", title: "Training curves and accuracy", block: Block::Declared, body }
}

fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// One chart: what is drawn and what to see.
struct Picture {
    id: &'static str,
    title: &'static str,
    y: &'static str,
    picks: &'static [(&'static str, Pick)],
    caption: &'static str,
}

const PICTURES: [Picture; 3] = [
    Picture {
        id: "training-epsilon",
        title: "ε spent",
        y: "ε so far",
        picks: &[("ε so far", |point| point.epsilon)],
        caption: "The ε spent so far: it only grows. The certificate states the final value.",
    },
    Picture {
        id: "training-loss",
        title: "Loss",
        y: "loss",
        picks: &[("training data", |point| point.train_loss), ("held-out data", |point| point.test_loss)],
        caption: "Loss on training and held-out data: where the two diverge, the model starts to memorize records.",
    },
    Picture {
        id: "training-accuracy",
        title: "Accuracy",
        y: "accuracy in %",
        picks: &[
            ("training data", |point| point.train_accuracy.map(|share| 100.0 * share)),
            ("held-out data", |point| point.test_accuracy.map(|share| 100.0 * share)),
        ],
        caption: "Accuracy on training and held-out data: a simple attack exploits the distance between the curves.",
    },
];

fn figures(training: &TrainingSummary) -> Vec<Figure> {
    PICTURES.iter().filter_map(|picture| chart(training, picture)).collect()
}

fn chart(training: &TrainingSummary, picture: &Picture) -> Option<Figure> {
    let Picture { id, title, y, picks, caption } = *picture;
    let curves: Vec<Line> = picks
        .iter()
        .enumerate()
        .filter_map(|(place, (name, pick))| {
            let point = |point: &TrainingPoint| Some((point.at, pick(point)?));
            let finite = |(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
            let points: Vec<(f64, f64)> = training.curve.iter().filter_map(point).filter(finite).collect();
            let (_, last) = *points.last()?;
            let value = format!(
                "{} at the end",
                if id == "training-epsilon" { words::at_most(last) } else { words::number(last) }
            );
            let stroke = Stroke::Series(place);
            Some(Line { label: (*name).to_owned(), value, stroke, points, marks: Vec::new(), fill: false })
        })
        .collect();
    let all = || curves.iter().flat_map(|curve| &curve.points);
    let (low, high) =
        all().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (_, y)| (low.min(*y), high.max(*y)));
    let last = all().map(|(x, _)| *x).fold(0.0, f64::max);
    if curves.is_empty() {
        return None;
    }
    let unit = match training.unit {
        TrainingUnit::Step => "step",
        TrainingUnit::Epoch => "epoch",
    };
    let ends: Vec<String> = curves.iter().map(|curve| format!("{}: {}", curve.label, curve.value)).collect();
    let chart = Chart {
        title: title.to_owned(),
        subtitle: String::new(),
        x: Axis::linear(unit, 0.0, last),
        y: Axis::linear(y, low.min(0.0), high),
        labels: Labels::Below,
        curves,
    };
    let description = format!("{title} by {unit}. {}.", ends.join("; "));
    Some(Figure { drawing: chart.page(id, &description), caption: caption.to_owned() })
}
