//! Models with other defences beside the model: utility against leakage.

use super::section::{Block, Body, Cell, Figure, Section};
use crate::dossier::Dossier;
use crate::plot::{Axis, Chart, Labels, Line, Stroke};
use crate::words;
use reticent_audit::defence::{CurveComparison, DefenceComparison, DefenceCurve, DefendedModel};
use reticent_audit::findings::Estimate;

/// The section; none without other models.
pub(super) fn defences(dossier: &Dossier) -> Option<Section> {
    let comparison = dossier.defences.as_ref()?;
    let mut body = Body::default();
    body.p("Every model was attacked with reference models that were trained with its own defence: the attacker knows the defence and \
            adapts to it. One threshold on confidence, which does not adapt, stands beside it.");
    let rows: Vec<Vec<Cell>> = comparison.models.iter().map(row).collect();
    let head = [
        "Model",
        "Defence",
        "Strength",
        "Guarantee",
        "Training",
        "Test",
        "Threshold: AUC",
        "Adaptive: AUC",
        "TPR at 1 % FPR",
        "Classes only: AUC",
        "Weights: AUC",
    ];
    body.table("Accuracy of models, and what attacks find", &head, &rows);
    body.figures([figure(comparison)]);
    let compared =
        comparison.auc.compared.iter().map(|pair| vec![Cell::text(overlap(pair))]).collect::<Vec<_>>();
    if !compared.is_empty() {
        body.table(
            "Defences compared at the test accuracies that both reach",
            &["AUC of the adaptive attack"],
            &compared,
        );
    }
    for sentence in sentences(comparison) {
        body.p(&sentence);
    }
    Some(Section { id: "defences", title: "Defences compared", block: Block::Measured, body })
}

fn row(model: &DefendedModel) -> Vec<Cell> {
    let auc = |value: Option<f64>| value.map_or_else(|| "not run".to_owned(), three);
    let rate =
        |rate: Option<Estimate>| rate.map_or_else(|| "not measurable".to_owned(), |rate| share(rate.value));
    let guarantee =
        model.epsilon.map_or_else(|| "none".to_owned(), |epsilon| format!("ε = {}", words::number(epsilon)));
    let adaptive = &model.adaptive_auc;
    let mut row = vec![Cell::text(&model.name), Cell::text(&model.defence)];
    row.extend(
        [
            words::number(model.strength),
            guarantee,
            share(model.train_accuracy),
            share(model.test_accuracy),
            auc(model.plain_auc.map(|auc| auc.value)),
            format!("{} ({} to {})", three(adaptive.value), three(adaptive.lower), three(adaptive.upper)),
            rate(model.adaptive_tpr),
            auc(model.label_only_auc),
            auc(model.white_box_auc),
        ]
        .map(Cell::number),
    );
    row
}

/// A share in % to one decimal.
fn share(value: f64) -> String {
    words::percent((1e3 * value).round() / 1e3)
}

fn three(value: f64) -> String {
    words::number((1e3 * value).round() / 1e3)
}

/// What follows where two curves overlap.
fn overlap(pair: &CurveComparison) -> String {
    let CurveComparison { defence, beside, utilities, difference, range } = pair;
    match (utilities, difference, range) {
        (Some([low, high]), Some(difference), Some([least, most])) => {
            let (less, more) = if *difference <= 0.0 { (defence, beside) } else { (beside, defence) };
            let by = three(difference.abs());
            let changes = if least * most < 0.0 { "; the curves cross" } else { "" };
            format!(
                "At test accuracies from {} to {}, {less} leaks less than {more}, by {by} on average{changes}.",
                share(*low),
                share(*high)
            )
        }
        _ => format!("{defence} and {beside} reach no test accuracy in common, so they are not compared."),
    }
}

/// What follows from all of it.
fn sentences(comparison: &DefenceComparison) -> Vec<String> {
    let mut found = Vec::new();
    let recovered = |model: &&DefendedModel| model.epsilon.is_none() && model.plain_auc.is_some();
    let by = |model: &DefendedModel| {
        model.adaptive_auc.value - model.plain_auc.map_or(f64::INFINITY, |auc| auc.value)
    };
    let most = comparison.models.iter().filter(recovered).max_by(|a, b| by(a).total_cmp(&by(b)));
    if let Some((model, plain)) = most.and_then(|model| Some((model, model.plain_auc?)))
        && model.adaptive_auc.value > plain.value
    {
        found.push(format!(
            "An attacker who adapts recovers what a defence hides from one who does not: on {} ({}, strength {}), the AUC is {} with \
             the threshold and {} with {}.",
            model.name,
            model.defence,
            words::number(model.strength),
            three(plain.value),
            three(model.adaptive_auc.value),
            model.adaptive
        ));
    }
    if comparison.models.iter().any(|model| model.epsilon.is_none()) {
        found.push(
            "Models without ε have no guarantee: these figures are of the attacks that were run, and another attack may find more."
                .to_owned(),
        );
    }
    let certified: Vec<String> = comparison
        .models
        .iter()
        .filter_map(|model| Some(format!("{} with ε = {}", model.name, words::number(model.epsilon?))))
        .collect();
    if !certified.is_empty() {
        found.push(format!(
            "A certificate bounds every attack, those that nobody has tried included: {}.",
            certified.join(", ")
        ));
    }
    found
}

fn figure(comparison: &DefenceComparison) -> Figure {
    let caption = "Right is more useful, down is more private. A line joins the models of one defence; outside of its points nothing is \
                   known.";
    let description = comparison.models.iter().map(|model| {
        format!(
            "{}: accuracy {}, AUC {}",
            model.name,
            share(model.test_accuracy),
            three(model.adaptive_auc.value)
        )
    });
    let description = description.collect::<Vec<_>>().join("; ");
    Figure { drawing: chart(comparison).page("defences-curves", &description), caption: caption.to_owned() }
}

/// Test accuracy against the AUC of the adaptive attack, a curve for every defence.
pub(crate) fn chart(comparison: &DefenceComparison) -> Chart {
    let place = |curve: &DefenceCurve| -> Vec<(f64, f64)> {
        curve.points.iter().map(|point| (100.0 * point.utility, point.leakage)).collect()
    };
    let curves = &comparison.auc.curves;
    let all = || curves.iter().flat_map(place);
    let (low, high) = all().fold((f64::MAX, f64::MIN), |(low, high), (x, _)| (low.min(x), high.max(x)));
    let top = all().fold(0.6_f64, |top, (_, y)| top.max(y));
    let bottom = all().fold(0.5_f64, |bottom, (_, y)| bottom.min(y));
    let room = (0.05 * (high - low)).max(0.5);
    let line = |(number, curve): (usize, &DefenceCurve)| Line {
        label: curve.defence.clone(),
        value: match curve.points.len() {
            1 => "1 model".to_owned(),
            models => format!("{models} models"),
        },
        stroke: Stroke::Series(number),
        points: place(curve),
        marks: place(curve),
        fill: false,
    };
    Chart {
        title: "Accuracy against leakage, one curve per defence".to_owned(),
        subtitle: "attackers who know the defence".to_owned(),
        x: Axis::linear("test accuracy in %", low - room, high + room),
        y: Axis::linear("AUC of the adaptive attack", bottom, top),
        labels: Labels::Below,
        curves: curves.iter().enumerate().map(line).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str, defence: &str, epsilon: Option<f64>, accuracy: f64, auc: [f64; 2]) -> DefendedModel {
        let estimate =
            |value: f64| Estimate { value, lower: value - 0.01, upper: value + 0.01, confidence: 0.95 };
        DefendedModel {
            name: name.to_owned(),
            defence: defence.to_owned(),
            strength: 3.0,
            epsilon,
            train_accuracy: 1.0,
            test_accuracy: accuracy,
            plain_auc: Some(estimate(auc[0])),
            adaptive: "lira-online".to_owned(),
            adaptive_auc: estimate(auc[1]),
            adaptive_tpr: None,
            label_only_auc: None,
            white_box_auc: None,
        }
    }

    #[test]
    fn sentences_follow_from_the_figures() {
        let comparison = DefenceComparison::new(vec![
            model("plain", "early stopping", None, 0.6, [0.8, 0.9]),
            model("hidden", "adversarial", None, 0.58, [0.52, 0.85]),
            model("stronger", "adversarial", None, 0.5, [0.5, 0.7]),
            model("noisy", "dp-sgd", Some(2.0), 0.55, [0.51, 0.52]),
        ])
        .unwrap();
        let text = sentences(&comparison).join(" ");
        for part in [
            "hidden (adversarial, strength 3)",
            "0.52 with",
            "0.85 with lira-online",
            "no guarantee",
            "noisy with ε = 2",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let pairs: Vec<String> = comparison.auc.compared.iter().map(overlap).collect();
        assert!(
            pairs
                .iter()
                .any(|pair| pair.contains("adversarial and early stopping reach no test accuracy in common"))
        );
        let together = pairs.iter().find(|pair| pair.contains("dp-sgd leaks less than adversarial")).unwrap();
        assert!(together.contains("from 55 % to 55 %") && together.contains("by 0.274"), "{together}");
        assert!(comparison.tpr.curves.is_empty());
        let svg = chart(&comparison).svg();
        assert!(svg.contains("dp-sgd") && !svg.contains("NaN"));
        assert!(DefenceComparison::new(vec![model("one", "a", None, 0.5, [0.5, 0.5])]).is_err());
    }
}
