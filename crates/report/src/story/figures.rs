//! The charts of the story.

use super::{Accounting, MembershipStory, Models, Statistic};
use crate::digits;
use crate::page::section::Figure;
use crate::page::strength::roc;
use crate::plot::{Axis, Chart, DotPlot, DotRow, Labels, Line, Mark, Stroke};
use crate::words;
use reticent_audit::findings::Performance;

pub(super) fn statistic(statistic: &Statistic) -> Figure {
    let Statistic { value, interval: [low, high], exact, .. } = *statistic;
    let (left, right) = (low.min(exact), high.max(exact));
    let margin = 0.6 * (right - left).max(1e-9);
    let chart = DotPlot {
        title: format!("The {} with its interval", statistic.what),
        x: Axis::linear(&statistic.what, left - margin, right + margin),
        rows: vec![DotRow {
            label: format!("released, {}", statistic.promise.words()),
            value: statistic.words(),
            mark: Mark::Interval { value, low, high },
            colour: 0,
        }],
        guides: vec![exact],
    };
    let caption = format!(
        "The dot is the released value, the whiskers are its {} interval, and the dotted line is the exact value {}, which would be \
         unknown for private data.",
        words::level(statistic.confidence),
        digits::brief(exact)
    );
    Figure { drawing: chart.page("statistic-chart", &caption), caption }
}

pub(super) fn accuracy(models: &Models) -> Figure {
    let ends: Vec<(f64, f64)> = models.models.iter().map(|model| model.interval(models.test_rows)).collect();
    let low = ends.iter().map(|(low, _)| *low).fold(models.majority, f64::min);
    let high = ends.iter().map(|(_, high)| *high).fold(models.majority, f64::max);
    let rows = models
        .models
        .iter()
        .zip(&ends)
        .enumerate()
        .map(|(place, (model, (low, high)))| DotRow {
            label: match &model.promise {
                Some(promise) => format!("{}, {}", model.name, promise.words()),
                None => format!("{}, not private", model.name),
            },
            value: model.words(),
            mark: Mark::Interval { value: 100.0 * model.accuracy, low: 100.0 * low, high: 100.0 * high },
            colour: place,
        })
        .collect();
    let chart = DotPlot {
        title: "Accuracy of the three models".to_owned(),
        x: Axis::linear("accuracy in %", 100.0 * low - 0.5, 100.0 * high),
        rows,
        guides: vec![100.0 * models.majority],
    };
    let caption = format!(
        "Dots: accuracy on the same {} rows. Whiskers: 95 % confidence intervals for the population. Dotted: always predicting the \
         larger class.",
        models.test_rows
    );
    Figure { drawing: chart.page("accuracy-chart", &caption), caption }
}

pub(super) fn accounting(accounting: &Accounting) -> Figure {
    let curves: Vec<Line> = accounting
        .accountants
        .iter()
        .enumerate()
        .filter(|(_, one)| !one.curve.is_empty())
        .map(|(place, one)| Line {
            label: if one.bound { one.name.clone() } else { format!("{} (not a bound)", one.name) },
            value: format!("ε = {}", one.words()),
            stroke: if one.bound { Stroke::Solid(place) } else { Stroke::Dashed(place) },
            points: one.curve.clone(),
            marks: Vec::new(),
            fill: false,
        })
        .collect();
    let all = || curves.iter().flat_map(|curve| curve.points.iter().map(|(_, epsilon)| *epsilon));
    let chart = Chart {
        title: "Privacy loss by accountant".to_owned(),
        subtitle: String::new(),
        x: Axis::log("steps", 1.0, accounting.steps as f64),
        y: Axis::log(
            "ε (smaller is more private)",
            all().fold(f64::INFINITY, f64::min),
            all().fold(0.0, f64::max),
        ),
        labels: Labels::Below,
        curves,
    };
    let caption =
        "The same run by different accountants. The computation is the same; only the provable guarantee differs."
            .to_owned();
    Figure { drawing: chart.page("accounting-chart", &caption), caption }
}

pub(super) fn curves(membership: &MembershipStory) -> Vec<Figure> {
    let named: Vec<(&str, &Performance)> =
        membership.models.iter().map(|model| (model.name.as_str(), &model.performance)).collect();
    roc(&named)
}

pub(super) fn bounds(membership: &MembershipStory) -> Option<Figure> {
    let mut rows = Vec::new();
    for (place, model) in membership.models.iter().enumerate() {
        if let (Some(bound), Some(words)) = (&model.epsilon_lower, model.lower_words()) {
            rows.push(DotRow {
                label: format!("{}: lower bound", model.name),
                value: match bound.value > 0.0 {
                    true => format!("{words} ({})", words::level(bound.confidence)),
                    false => words,
                },
                mark: if bound.value > 0.0 { Mark::AtLeast(bound.value) } else { Mark::Nothing },
                colour: place,
            });
        }
        if let Some(promise) = &model.promise {
            rows.push(DotRow {
                label: format!("{}: certificate", model.name),
                value: promise.words(),
                mark: Mark::AtMost(promise.epsilon),
                colour: 2,
            });
        }
    }
    let proven =
        membership.models.iter().filter_map(|model| model.epsilon_lower.as_ref()).map(|bound| bound.value);
    let promised = membership.models.iter().filter_map(|model| model.promise).map(|promise| promise.epsilon);
    let most = proven.chain(promised).fold(0.0, f64::max);
    if rows.is_empty() {
        return None;
    }
    let chart = DotPlot {
        title: "Lower and upper bounds on ε".to_owned(),
        x: Axis::linear("ε", 0.0, if most > 0.0 { 1.2 * most } else { 1.0 }),
        rows,
        guides: Vec::new(),
    };
    let caption = "A bar to the right: ε is at least that, by an attack. A bar from the left: ε is at most that, by proof."
        .to_owned();
    Some(Figure { drawing: chart.page("bounds-chart", &caption), caption })
}
