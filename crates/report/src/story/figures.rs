//! The charts of the story.

use super::{Accounting, Membership, Models, Statistic};
use crate::digits;
use crate::page::strength::roc;
use crate::plot::{Axis, Chart, Curve, Labels, Mark, Row, Rows, Stroke};
use crate::words;
use reticent_audit::findings::Performance;

/// A chart and what to see in it.
pub(super) type Figure = (String, String);

pub(super) fn statistic(statistic: &Statistic) -> Figure {
    let Statistic { value, interval: [low, high], exact, .. } = *statistic;
    let (left, right) = (low.min(exact), high.max(exact));
    let margin = 0.6 * (right - left).max(1e-9);
    let chart = Rows {
        title: format!("The {} with its interval", statistic.what),
        x: Axis::linear(&statistic.what, left - margin, right + margin),
        rows: vec![Row {
            label: format!("released, {}", statistic.promise.words()),
            value: statistic.words(),
            mark: Mark::Interval { value, low, high },
            colour: 0,
        }],
        guides: vec![exact],
    };
    let caption = format!(
        "The dot is what was released, the whiskers its {} interval, the dotted line the exact value {}. Nobody could draw that line \
         for private data.",
        words::level(statistic.confidence),
        digits::brief(exact)
    );
    (chart.page("statistic-chart", &caption), caption)
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
        .map(|(place, (model, (low, high)))| Row {
            label: match &model.promise {
                Some(promise) => format!("{}, {}", model.name, promise.words()),
                None => format!("{}, not private", model.name),
            },
            value: model.words(),
            mark: Mark::Interval { value: 100.0 * model.accuracy, low: 100.0 * low, high: 100.0 * high },
            colour: place,
        })
        .collect();
    let chart = Rows {
        title: "Accuracy of the three models".to_owned(),
        x: Axis::linear("accuracy in %", 100.0 * low - 0.5, 100.0 * high),
        rows,
        guides: vec![100.0 * models.majority],
    };
    let caption = format!(
        "Dots: accuracy on the same {} rows. Whiskers: what so many rows leave open about people like them (95 %). Dotted: \
         always answering with the larger class.",
        models.test_rows
    );
    (chart.page("accuracy-chart", &caption), caption)
}

pub(super) fn accounting(accounting: &Accounting) -> Figure {
    let curves: Vec<Curve> = accounting
        .accountants
        .iter()
        .enumerate()
        .filter(|(_, one)| !one.curve.is_empty())
        .map(|(place, one)| Curve {
            label: if one.bound { one.name.clone() } else { format!("{} (no bound)", one.name) },
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
        "The same run, added up in different ways. What was done to the data does not change, only how \
                   much of its protection can be proven."
            .to_owned();
    (chart.page("accounting-chart", &caption), caption)
}

pub(super) fn curves(membership: &Membership) -> Vec<Figure> {
    let named: Vec<(&str, &Performance)> =
        membership.models.iter().map(|model| (model.name.as_str(), &model.performance)).collect();
    roc(&named)
}

pub(super) fn bounds(membership: &Membership) -> Option<Figure> {
    let mut rows = Vec::new();
    for (place, model) in membership.models.iter().enumerate() {
        if let (Some(bound), Some(words)) = (&model.epsilon_lower, model.lower_words()) {
            rows.push(Row {
                label: format!("{}: proven by attack", model.name),
                value: match bound.value > 0.0 {
                    true => format!("{words} ({})", words::level(bound.confidence)),
                    false => words,
                },
                mark: if bound.value > 0.0 { Mark::AtLeast(bound.value) } else { Mark::Nothing },
                colour: place,
            });
        }
        if let Some(promise) = &model.promise {
            rows.push(Row {
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
    let chart = Rows {
        title: "ε from below and from above".to_owned(),
        x: Axis::linear("ε", 0.0, if most > 0.0 { 1.2 * most } else { 1.0 }),
        rows,
        guides: Vec::new(),
    };
    let caption = "A bar to the right: ε is at least that, because an attack worked. A bar from the left: ε is at most that, \
                   because of a proof."
        .to_owned();
    Some((chart.page("bounds-chart", &caption), caption))
}
