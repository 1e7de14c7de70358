//! Output: aligned text for people, one line of JSON for programs.

use super::words::title;
use crate::budget;
use crate::cost::{Whole, cost};
use crate::digits;
use crate::fail::{Fail, plain};
use crate::screen::present;
use crate::text::{aligned, spent};
use reticent::core::Fact;
use reticent::curator::budget::BudgetStanding;
use reticent::curator::release::{Measure, Preview, ReleasedAnswer, ReleasedValue};
use std::path::Path;

/// The flag that writes a certificate to a file.
pub(super) const CERTIFICATE_FLAG: &str = "--certificate FILE.json";
/// The longest bar of a histogram.
const BAR: f64 = 30.0;

/// `95 %`.
pub(super) fn percent(confidence: f64) -> String {
    format!("{} %", digits::confidence(confidence))
}

/// The files written besides the answer.
pub(super) struct Files<'a> {
    pub(super) plot: Option<&'a Path>,
    pub(super) certificate: Option<&'a Path>,
}

/// A released answer, and the files that go with it.
pub(super) fn released(
    released: &ReleasedAnswer,
    json: bool,
    files: Files<'_>,
    standing: Option<&BudgetStanding>,
) -> Result<String, Fail> {
    if json {
        return budget::json(released, standing);
    }
    let ReleasedAnswer { query, found, clamped, certificate, confidence, .. } = released;
    let level = percent(*confidence);
    let (mut lines, mut table) = (Vec::new(), String::new());
    match found {
        ReleasedValue::Number { value, interval, whole } => {
            let [value, low, high] = digits::with_interval(*value, *interval, *whole);
            lines.push((title(query), format!("{value}  ({level}: {low} to {high})")));
        }
        ReleasedValue::Choice { label, shortfall } => {
            let rows = digits::error(*shortfall);
            lines.push((
                title(query),
                format!("{label}  ({level}: at most {rows} rows short of the most common)"),
            ));
        }
        ReleasedValue::Counts { labels, values, intervals } => {
            table = format!(
                "{} (each interval: {level})\n{}",
                plain(&title(query)),
                bars(labels, values, intervals)
            );
        }
    }
    if let Some(clamped) = clamped {
        let [value, low, high] = digits::with_interval(clamped.value, clamped.interval, true);
        let what = "values outside the bounds or not numbers";
        lines.push(("clamped".to_owned(), format!("about {value} {what}  ({level}: {low} to {high})")));
    }
    let whole = files.certificate.map_or(Whole::Flag(CERTIFICATE_FLAG), Whole::File);
    let mut cost = cost(certificate, released.mechanism.to_string(), whole);
    if let Some(target) = released.target {
        cost[0].1.push_str(&format!(", chosen for a target error of {}", digits::brief(target)));
    }
    lines.extend(cost);
    lines.extend(budget::lines(standing));
    if let Some(path) = files.plot {
        lines.push(("plot".to_owned(), path.display().to_string()));
    }
    Ok(present(&(table + &aligned(&lines))))
}

/// The cells of a histogram, with a bar each.
fn bars(labels: &[String], values: &[f64], intervals: &[[f64; 2]]) -> String {
    let most = values.iter().copied().fold(1.0, f64::max);
    let rows: Vec<[String; 4]> = labels
        .iter()
        .zip(values)
        .zip(intervals)
        .map(|((label, value), interval)| {
            let [shown, low, high] = digits::with_interval(*value, *interval, true);
            let bar = "█".repeat((value.max(0.0) / most * BAR).round() as usize);
            [plain(label), shown, format!("{low} to {high}"), bar]
        })
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (first, second, third) = (width(0), width(1), width(2));
    let line = |[label, value, interval, bar]: &[String; 4]| {
        let text = format!("  {label:first$}  {value:>second$}  ({interval})");
        let padding = " ".repeat(third.saturating_sub(interval.chars().count()) + 2);
        format!("{}\n", format!("{text}{padding}{bar}").trim_end())
    };
    rows.iter().map(line).collect()
}

/// The expected error and cost of a release.
pub(super) fn preview(
    preview: &Preview,
    json: bool,
    standing: Option<&BudgetStanding>,
) -> Result<String, Fail> {
    if json {
        return budget::json(preview, standing);
    }
    let (error, level) = (digits::error(preview.error), percent(preview.confidence));
    let error = match preview.error_in {
        Measure::Answer => format!("at most {error} at {level}"),
        Measure::PerRow => {
            let thousand = digits::error(preview.error / 1000.0);
            format!("about {error} / number of rows at {level} ({thousand} for 1000 rows)")
        }
        Measure::Rank => format!("at most {error} rows from the requested rank at {level}"),
        Measure::Shortfall => format!("at most {error} rows short of the most common at {level}"),
    };
    let mut lines = vec![
        (title(&preview.query), "not released: dry run, no values were read".to_owned()),
        ("expected error".to_owned(), error),
        (
            "privacy to spend".to_owned(),
            format!("{} ({}, unit: row)", spent(&preview.guarantee), preview.neighboring),
        ),
        ("mechanism".to_owned(), preview.mechanism.to_string()),
    ];
    if !preview.public.is_empty() {
        lines.push(("taken as public".to_owned(), Fact::line(&preview.public)));
    }
    lines.extend(budget::lines(standing));
    Ok(present(&aligned(&lines)))
}
