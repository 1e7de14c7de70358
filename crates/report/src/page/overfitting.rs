//! Accuracy on members and non-members, and the simplest attack.

use super::section::{Block, Body, Cell, Figure, Section};
use crate::dossier::Dossier;
use crate::plot::{Axis, Chart, Labels, Line, Stroke};
use crate::words;
use reticent_audit::Overfitting;

pub(super) fn overfitting(dossier: &Dossier) -> Section {
    let mut body = Body::default();
    let models = &dossier.findings.overfitting;
    match models.split_first() {
        None => {
            body.missing("not measurable: the audit had no outputs of the model beside the true classes");
        }
        Some((target, references)) => {
            body.p("If a model is more confident on its training records than on others, its loss alone reveals membership. The simplest \
                    attack predicts that a record is a member if its loss is at most the mean loss of the training records.");
            let row = |name: &str, model: &Overfitting| {
                let mut row = vec![Cell::text(name)];
                let points = format!("{} points", words::number((1e4 * model.gap).round() / 100.0));
                let cells =
                    [words::percent(model.train_accuracy), words::percent(model.test_accuracy), points];
                row.extend(cells.map(Cell::number));
                row.push(Cell::number(words::percent(model.attack_accuracy)));
                row
            };
            let mut rows = vec![row("the model", target)];
            if !references.is_empty() {
                rows.push(row(&format!("mean of {} reference models", references.len()), &mean(references)));
            }
            body.table(
                "Accuracy on audited members and non-members; guessing gives an attack accuracy of 50 %",
                &["Model", "Members", "Non-members", "Gap", "Attack accuracy"],
                &rows,
            );
            if !references.is_empty() {
                body.figures([figure(target, references)]);
            }
        }
    }
    Section { id: "overfitting", title: "Overfitting and the simplest attack", block: Block::Measured, body }
}

/// The mean of every column.
fn mean(models: &[Overfitting]) -> Overfitting {
    let of = |value: fn(&Overfitting) -> f64| models.iter().map(value).sum::<f64>() / models.len() as f64;
    Overfitting {
        name: "mean".to_owned(),
        train_accuracy: of(|model| model.train_accuracy),
        test_accuracy: of(|model| model.test_accuracy),
        gap: of(|model| model.gap),
        mean_train_loss: of(|model| model.mean_train_loss),
        advantage: of(|model| model.advantage),
        attack_accuracy: of(|model| model.attack_accuracy),
    }
}

/// Every model as a point: right for a larger gap, up for a better attack.
fn figure(target: &Overfitting, references: &[Overfitting]) -> Figure {
    let place = |model: &Overfitting| (100.0 * model.gap, 100.0 * model.attack_accuracy);
    let dots = |label: &str, series: usize, models: &[Overfitting]| Line {
        label: label.to_owned(),
        value: String::new(),
        stroke: Stroke::Series(series),
        points: Vec::new(),
        marks: models.iter().map(place).collect(),
        fill: false,
    };
    let all = || references.iter().chain(std::iter::once(target)).map(place);
    let (most, best) = all().fold((10.0_f64, 60.0_f64), |(x, y), (gap, right)| (x.max(gap), y.max(right)));
    let (least, worst) = all().fold((0.0_f64, 50.0_f64), |(x, y), (gap, right)| (x.min(gap), y.min(right)));
    let chart = Chart {
        title: "Attack accuracy against the gap".to_owned(),
        subtitle: String::new(),
        x: Axis::linear("accuracy on members minus non-members, percentage points", least, most),
        y: Axis::linear("attack accuracy in %", worst, best),
        labels: Labels::Below,
        curves: vec![
            dots("reference models", 1, references),
            dots("the model", 0, std::slice::from_ref(target)),
        ],
    };
    let description = format!(
        "The model: gap {} points, attack accuracy {}.",
        words::number((1e4 * target.gap).round() / 100.0),
        words::percent(target.attack_accuracy)
    );
    let caption = "Every point is a model: further right, the gap between members and non-members is larger; further up, the simplest attack \
                   is more accurate.";
    Figure { drawing: chart.page("overfitting-gap", &description), caption: caption.to_owned() }
}
