//! An answer as a picture.

use super::render::percent;
use super::words::title;
use crate::digits;
use crate::text::spent;
use reticent::curator::release::{ReleasedAnswer, ReleasedValue};
use reticent::report::plot::{Axis, DotPlot, DotRow, Mark};

/// The released answer with its interval.
pub(super) fn answer(released: &ReleasedAnswer) -> String {
    let title = title(&released.query);
    let (answers, whole, axis) = match &released.found {
        ReleasedValue::Number { value, interval, whole } => (
            vec![(title.clone(), *value, *interval)],
            *whole,
            released.query.column.as_deref().unwrap_or("rows"),
        ),
        ReleasedValue::Counts { labels, values, intervals } => {
            let cells = labels.iter().zip(values).zip(intervals);
            (
                cells.map(|((label, value), interval)| (label.clone(), *value, *interval)).collect(),
                true,
                "rows",
            )
        }
        ReleasedValue::Choice { .. } => (Vec::new(), true, "rows"),
    };
    let level = percent(released.confidence);
    let each = if answers.len() > 1 { "each interval" } else { "interval" };
    let of = format!("{each}: {level}; {}", spent(&released.certificate.guarantee));
    rows(&title, &of, axis, &answers, whole)
}

/// Named numbers with intervals, one below the other.
pub(super) fn rows(
    title: &str,
    subtitle: &str,
    axis: &str,
    answers: &[(String, f64, [f64; 2])],
    whole: bool,
) -> String {
    let ends = answers.iter().flat_map(|(_, _, [low, high])| [*low, *high]);
    let (low, high) =
        ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| (low.min(end), high.max(end)));
    // Several answers are compared with 0 too; a single one is seen closely.
    let low = if answers.len() > 1 { low.min(0.0) } else { low };
    let row = |(label, value, interval): &(String, f64, [f64; 2])| {
        let [shown, from, to] = digits::with_interval(*value, *interval, whole);
        DotRow {
            label: label.clone(),
            value: format!("{shown} ({from} to {to})"),
            mark: Mark::Interval { value: *value, low: interval[0], high: interval[1] },
            colour: 0,
        }
    };
    let rows = answers.iter().map(row).collect();
    DotPlot { title: title.to_owned(), x: Axis::linear(axis, low, high), rows, guides: Vec::new() }
        .svg(subtitle)
}
