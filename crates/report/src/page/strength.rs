//! ROC curves, scores, rates and the baseline without a model.

use super::access::access;
use super::headline;
use super::section::{Block, Body, Cell, Figure, Section};
use crate::digits::{self, RoundingSide};
use crate::dossier::Dossier;
use crate::plot::{Axis, Chart, DotPlot, DotRow, Labels, Line, Mark, Stroke};
use crate::words;
use reticent_audit::findings::{Histogram, Performance};

/// Lower end of logarithmic rates at the lowest.
const LOWEST: f64 = 1e-6;
/// Points drawn between two corners on logarithmic axes.
const BETWEEN: u32 = 8;

pub(super) fn strength(dossier: &Dossier) -> Section {
    let attacks = &dossier.findings.attacks;
    let mut body = Body::default();
    if attacks.is_empty() {
        body.missing("not measurable: no attack was run");
    } else {
        body.p("An attack gives every record a score. The threshold determines the true-positive rate (members that are flagged) and the \
                false-positive rate (non-members that are flagged); a ROC curve shows all thresholds.");
        let named: Vec<(&str, &Performance)> =
            attacks.iter().map(|attack| (attack.name.as_str(), &attack.performance)).collect();
        body.figures(roc(&named));
        let rows: Vec<Vec<Cell>> = attacks
            .iter()
            .map(|attack| {
                let measured = &attack.performance;
                let cells = [&measured.auc, &measured.balanced_accuracy, &measured.advantage];
                let mut row = vec![Cell::text(&attack.name)];
                row.extend(cells.map(|estimate| Cell::number(words::estimate(estimate))));
                row
            })
            .collect();
        body.table(
            "Summaries over all thresholds, with confidence intervals; guessing gives 0.5, 0.5 and 0",
            &["Attack", "AUC", "Balanced accuracy", "Advantage"],
            &rows,
        );
        access(dossier, &mut body);
        if let Some(attack) = headline(dossier) {
            body.h3(&format!("Scores of {}", attack.name));
            match histogram(&attack.performance.histogram) {
                Some(figure) => body.figures([figure]),
                None => body.missing(&words::not_measurable(Some("no scores were recorded for drawing"))),
            };
        }
    }
    Section { id: "strength", title: "How strong the attacks are", block: Block::Measured, body }
}

/// Curves of all attacks, on logarithmic or on even axes.
pub(crate) fn curves(attacks: &[(&str, &Performance)], log: bool) -> Chart {
    let most = attacks.iter().map(|(_, measured)| measured.non_members).max().unwrap_or(1).max(1) as f64;
    let low = 10f64.powf(most.recip().log10().floor()).clamp(LOWEST, 0.1);
    let curve = |(place, (name, measured)): (usize, &(&str, &Performance))| {
        let corners: Vec<(f64, f64)> =
            measured.roc.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
        let auc = measured.auc.value;
        // A straight line between the ends would look like guessing.
        let is_bare = corners.len() <= 2;
        let corners = if is_bare { Vec::new() } else { corners };
        let note = if is_bare { ", not drawn: too few records" } else { "" };
        Line {
            label: (*name).to_owned(),
            value: if auc.is_finite() { format!("AUC {auc:.3}{note}") } else { String::new() },
            stroke: Stroke::Series(place),
            points: if log { dense(&corners, low) } else { corners },
            marks: Vec::new(),
            fill: false,
        }
    };
    let mut curves: Vec<Line> = attacks.iter().enumerate().map(curve).collect();
    curves.push(Line {
        label: "guessing".to_owned(),
        value: "AUC 0.500".to_owned(),
        stroke: Stroke::Guide,
        points: if log { vec![(low, low), (1.0, 1.0)] } else { vec![(0.0, 0.0), (1.0, 1.0)] },
        marks: Vec::new(),
        fill: false,
    });
    let axis = |label: &str| if log { Axis::log(label, low, 1.0) } else { Axis::unit(label) };
    Chart {
        title: format!("ROC curves of all attacks, {} axes", if log { "logarithmic" } else { "linear" }),
        subtitle: String::new(),
        x: axis("false-positive rate"),
        y: axis("true-positive rate"),
        labels: Labels::Below,
        curves,
    }
}

/// The curves on logarithmic and on even axes, with captions.
pub(crate) fn roc(attacks: &[(&str, &Performance)]) -> Vec<Figure> {
    let (log, even) = (curves(attacks, true), curves(attacks, false));
    let listed: Vec<String> = attacks
        .iter()
        .map(|(name, measured)| format!("{name}: AUC {}", words::estimate(&measured.auc)))
        .collect();
    let listed = listed.join("; ");
    vec![
        Figure {
            drawing: log.page("roc-log", &format!("Log-log ROC curves. {listed}.")),
            caption: "Logarithmic axes. Look at the left edge: a curve above the dotted diagonal there identifies some members with hardly any \
             false positives, which is what harms people."
                .to_owned(),
        },
        Figure {
            drawing: even.page("roc-even", &format!("ROC curves. {listed}.")),
            caption: "The same curves on linear axes. They are coarse: each step covers at least 10 members and 10 non-members, so the rank of a \
             record does not reveal whether it was a member; the numbers in the tables are exact. The closer a curve is to the dotted \
             diagonal, the closer the attack is to guessing on average; that alone says nothing about the few who are most exposed."
                .to_owned(),
        },
    ]
}

/// The straight lines between corners, with enough points to be drawn on logarithmic axes.
fn dense(corners: &[(f64, f64)], low: f64) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    for pair in corners.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        if x1 < low {
            continue;
        }
        let start = x0.max(low);
        let at = |x: f64| if x1 > x0 { y0 + (y1 - y0) * (x - x0) / (x1 - x0) } else { y1 };
        if x1 <= x0 {
            points.extend([(x0, y0), (x1, y1)]);
            continue;
        }
        points.extend((0..=BETWEEN).map(|step| {
            let x = start * (x1 / start).powf(f64::from(step) / f64::from(BETWEEN));
            (x, at(x))
        }));
    }
    points
}

/// Scores of members and non-members as shares, or nothing where there are none.
fn histogram(counts: &Histogram) -> Option<Figure> {
    let bins = counts.members.len();
    if bins == 0 || counts.non_members.len() != bins || counts.edges.len() != bins + 1 {
        return None;
    }
    if counts.edges.iter().any(|edge| !edge.is_finite()) || counts.edges[bins] <= counts.edges[0] {
        return None;
    }
    // Halved first: the difference of two finite numbers may overflow.
    let width = |bin: usize| 0.5 * counts.edges[bin + 1] - 0.5 * counts.edges[bin];
    let narrowest = (0..bins).map(width).fold(f64::INFINITY, f64::min);
    if narrowest <= 0.0 {
        return None;
    }
    let outline = |values: &[u64]| -> Vec<(f64, f64)> {
        let total = values.iter().sum::<u64>().max(1) as f64;
        let mut points = vec![(counts.edges[0], 0.0)];
        for (bin, value) in values.iter().enumerate() {
            let share = 100.0 * *value as f64 / total * (narrowest / width(bin));
            points.extend([(counts.edges[bin], share), (counts.edges[bin + 1], share)]);
        }
        points.push((counts.edges[bins], 0.0));
        points
    };
    let (members, others) = (outline(&counts.members), outline(&counts.non_members));
    let most = members.iter().chain(&others).map(|(_, share)| *share).fold(0.0, f64::max);
    let curve = |label: &str, values: &[u64], stroke, points| Line {
        label: label.to_owned(),
        value: format!("{} records", values.iter().sum::<u64>()),
        stroke,
        points,
        marks: Vec::new(),
        fill: true,
    };
    let chart = Chart {
        title: "Scores of members and non-members".to_owned(),
        subtitle: String::new(),
        x: Axis::linear("score (larger looks more like a member)", counts.edges[0], counts.edges[bins]),
        y: Axis::linear("records in %, per width of the narrowest bin", 0.0, most.max(1.0)),
        labels: Labels::Below,
        curves: vec![
            curve("members", &counts.members, Stroke::Series(0), members),
            curve("non-members", &counts.non_members, Stroke::Series(1), others),
        ],
    };
    let description = format!("Histogram of attack scores in {bins} bins, members beside non-members.");
    let caption = "Where the two areas overlap, the attack cannot separate members from non-members. Look at the right end: members that \
                   score above nearly all non-members are the ones identified. Bins are merged until each contains at least 10 members and \
                   10 non-members; the height of a wide bin is scaled by its width."
        .to_owned();
    Some(Figure { drawing: chart.page("scores", &description), caption })
}

pub(super) fn rates(dossier: &Dossier) -> Section {
    let attacks = &dossier.findings.attacks;
    let mut body = Body::default();
    // A rate that no attack has is said once.
    let is_measured = |fpr: f64| {
        attacks
            .iter()
            .flat_map(|attack| &attack.performance.rates)
            .any(|rate| rate.fpr == fpr && rate.tpr.is_some())
    };
    let rows: Vec<Vec<Cell>> = attacks
        .iter()
        .flat_map(|attack| {
            attack.performance.rates.iter().filter(|rate| is_measured(rate.fpr)).map(move |rate| {
                let measured = &attack.performance;
                let count = |count: Option<u64>, of: u64| {
                    count.map_or(Err("not measurable".to_owned()), |count| Ok(format!("{count} of {of}")))
                };
                vec![
                    Cell::text(&attack.name),
                    Cell::number(words::percent(rate.fpr)),
                    Cell::result(words::rate(rate)),
                    Cell::result(count(rate.true_positives, measured.members)),
                    Cell::result(count(rate.false_positives, measured.non_members)),
                ]
            })
        })
        .collect();
    let missing: Vec<(f64, String)> = attacks
        .first()
        .into_iter()
        .flat_map(|attack| &attack.performance.rates)
        .filter(|rate| !is_measured(rate.fpr))
        .map(|rate| (rate.fpr, words::not_measurable(rate.reason.as_deref())))
        .collect();
    if rows.is_empty() && missing.is_empty() {
        body.missing("not measurable: no rate was requested, or no attack was run");
    } else if !rows.is_empty() {
        body.p("The true-positive rate of each attack at a given false-positive rate. Rates that rest on too few records are not shown: \
                they would be chance.");
        body.table(
            "True-positive rates at low false-positive rates",
            &[
                "Attack",
                "False-positive rate",
                "True-positive rate",
                "Members flagged",
                "Non-members flagged",
            ],
            &rows,
        );
    }
    for (fpr, reason) in missing {
        body.missing(&format!("At a false-positive rate of {}: {reason}", words::percent(fpr)));
    }
    Section {
        id: "rates",
        title: "True-positive rates at low false-positive rates",
        block: Block::Measured,
        body,
    }
}

pub(super) fn baseline(dossier: &Dossier) -> Section {
    let baseline = &dossier.findings.baseline;
    let mut body = Body::default();
    body.p("How well a classifier without access to the model separates members from non-members. If it succeeds, the two groups differ \
            by themselves, and the attacks measure that difference too.");
    let about = Some(baseline.about.trim()).filter(|about| !about.is_empty());
    match &baseline.performance {
        None => {
            // The findings say in a whole sentence why there is none.
            body.missing(about.unwrap_or("not measurable: not recorded"));
            body.note("Without this baseline it is unknown how much of an attack's success is due to the model, and how much to differences \
                       between members and non-members.");
        }
        Some(measured) => {
            body.p(&format!("The classifier: {}.", about.unwrap_or("not recorded")));
            let mut rows: Vec<DotRow> = Vec::new();
            let mut cells: Vec<Vec<Cell>> = Vec::new();
            let attack = headline(dossier).map(|attack| (attack.name.as_str(), &attack.performance));
            for (place, (name, measured)) in
                attack.into_iter().chain([("without the model", measured)]).enumerate()
            {
                let auc = &measured.auc;
                let sound = words::sound(auc);
                let mark = Mark::Interval { value: auc.value, low: auc.lower, high: auc.upper };
                rows.push(DotRow {
                    label: name.to_owned(),
                    value: words::estimate(auc),
                    mark: if sound { mark } else { Mark::Nothing },
                    colour: place,
                });
                let mut row = vec![Cell::text(name), Cell::number(words::estimate(auc))];
                row.push(Cell::number(words::estimate(&measured.advantage)));
                cells.push(row);
            }
            let chart = DotPlot {
                title: "The headline attack beside the baseline".to_owned(),
                x: Axis::unit("AUC (0.5 is guessing)"),
                rows,
                guides: vec![0.5],
            };
            let caption = "The interval of the baseline should cover 0.5, the dotted line. Only what the attack has beyond the baseline can be due \
                           to the model.";
            let description = format!("AUC without a model: {}.", words::estimate(&measured.auc));
            let drawing = chart.page("baseline-chart", &description);
            body.figures([Figure { drawing, caption: caption.to_owned() }]);
            body.table("With and without the model", &["Attacker", "AUC", "Advantage"], &cells);
            match baseline.shift {
                Some(true) => body.note(
                    "Members and non-members differ without the model. The attacks of this report benefit from that difference: their numbers \
                     mix it with what the model leaks.",
                ),
                Some(false) => body.p("No difference between members and non-members was found without the model."),
                None => body.missing("not measurable: it is not known whether the two groups differ by themselves"),
            };
        }
    }
    Section { id: "baseline", title: "Baseline without the model", block: Block::Measured, body }
}

/// A number of people, rounded to one side.
pub(super) fn people(count: f64, side: RoundingSide) -> String {
    let whole = if side == RoundingSide::Down { count.floor() } else { count.ceil() };
    digits::exactly(whole)
}
