//! Output: aligned text for people, one line of JSON for programs.

use super::accuracy::{Expected, Measure};
use super::answer::{Found, Outcome, public};
use super::plan::Plan;
use super::words::{Asked, asked, mechanism, title};
use crate::cost::cost;
use crate::digits;
use crate::fail::{Fail, plain};
use crate::text::{aligned, json_line, spent};
use reticent::core::{Certificate, Fact, Guarantee, Neighboring};
use serde::Serialize;
use serde_json::{Value, json};

/// The longest bar of a histogram.
const BAR: f64 = 30.0;

/// `95 %`.
pub(super) fn percent(confidence: f64) -> String {
    format!("{} %", digits::confidence(confidence))
}

#[derive(Serialize)]
struct Released<'a> {
    query: Asked<'a>,
    value: Value,
    interval: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    shortfall: Option<f64>,
    confidence: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    clamped: Option<Value>,
    certificate: &'a Certificate,
}

/// A released answer.
pub(super) fn released(plan: &Plan, outcome: &Outcome) -> Result<String, Fail> {
    let Outcome { found, clamped, certificate } = outcome;
    let confidence = plan.terms.confidence.get();
    if plan.json {
        let (value, interval, shortfall) = match found {
            Found::Number { value, interval, whole } => (exact(*value, *whole), pair(interval, *whole), None),
            Found::Counts { values, intervals, .. } => (
                values.iter().map(|value| exact(*value, true)).collect(),
                intervals.iter().map(|interval| pair(interval, true)).collect(),
                None,
            ),
            Found::Choice { label, shortfall } => (json!(label), Value::Null, Some(*shortfall)),
        };
        return json_line(&Released {
            query: asked(plan),
            value,
            interval,
            shortfall,
            confidence,
            clamped: clamped.as_ref().map(|clamped| {
                json!({"value": exact(clamped.value as f64, true), "interval": pair(&clamped.interval, true)})
            }),
            certificate,
        });
    }
    let level = percent(confidence);
    let (mut lines, mut table) = (Vec::new(), String::new());
    match found {
        Found::Number { value, interval, whole } => {
            let [value, low, high] = digits::with_interval(*value, *interval, *whole);
            lines.push((title(plan), format!("{value}  ({level}: {low} to {high})")));
        }
        Found::Choice { label, shortfall } => {
            let rows = digits::error(*shortfall);
            lines.push((
                title(plan),
                format!("{label}  ({level}: at most {rows} rows short of the most common)"),
            ));
        }
        Found::Counts { labels, values, intervals } => {
            table = format!(
                "{} (each interval: {level})\n{}",
                plain(&title(plan)),
                bars(labels, values, intervals)
            );
        }
    }
    if let Some(clamped) = clamped {
        let [value, low, high] = digits::with_interval(clamped.value as f64, clamped.interval, true);
        let what = "values outside of the bounds or not numbers";
        lines.push(("clamped".to_owned(), format!("about {value} {what}  ({level}: {low} to {high})")));
    }
    let main = if clamped.is_some() { &certificate.events[..1] } else { &certificate.events };
    let mut mechanism = mechanism(plan, main);
    if clamped.is_some() {
        mechanism += "; clamped values counted with 5 % of epsilon (discrete Laplace)";
    }
    let mut cost = cost(certificate, mechanism, None)?;
    if let Some(target) = plan.target {
        cost[0].1.push_str(&format!(", chosen for an error of {}", digits::brief(target)));
    }
    lines.extend(cost);
    if let Some(path) = &plan.plot {
        lines.push(("plot".to_owned(), path.display().to_string()));
    }
    Ok(table + &aligned(&lines))
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

#[derive(Serialize)]
struct Preview<'a> {
    query: Asked<'a>,
    dry_run: bool,
    error: f64,
    error_in: &'static str,
    confidence: f64,
    neighboring: Neighboring,
    #[serde(flatten)]
    guarantee: Guarantee,
    mechanism: String,
    public: Vec<Fact>,
}

/// What a release would be like.
pub(super) fn preview(plan: &Plan, expected: &Expected) -> Result<String, Fail> {
    let guarantee = plan.whole()?;
    let mechanism = mechanism(plan, &[]);
    if plan.json {
        let error_in = match expected.of {
            Measure::Answer => "answer",
            Measure::PerRow => "answer times number of rows",
            Measure::Rank => "ranks",
            Measure::Shortfall => "rows short of the most common",
        };
        let (error, confidence) = (expected.error, plan.terms.confidence.get());
        let (query, neighboring, public) = (asked(plan), plan.terms.neighboring, public(plan));
        return json_line(&Preview {
            query,
            dry_run: true,
            error,
            error_in,
            confidence,
            neighboring,
            guarantee,
            mechanism,
            public,
        });
    }
    let (error, level) = (digits::error(expected.error), percent(plan.terms.confidence.get()));
    let error = match expected.of {
        Measure::Answer => format!("at most {error} at {level}"),
        Measure::PerRow => {
            let thousand = digits::error(expected.error / 1000.0);
            format!("about {error} / number of rows at {level} ({thousand} for 1000 rows)")
        }
        Measure::Rank => format!("at most {error} rows from the rank asked for at {level}"),
        Measure::Shortfall => format!("at most {error} rows short of the most common at {level}"),
    };
    let public = public(plan);
    let mut lines = vec![
        (title(plan), "not released: dry run, no values read".to_owned()),
        ("expected error".to_owned(), error),
        (
            "privacy to spend".to_owned(),
            format!("{} ({}, unit: row)", spent(&guarantee), plan.terms.neighboring),
        ),
        ("mechanism".to_owned(), mechanism),
    ];
    if !public.is_empty() {
        lines.push(("taken as public".to_owned(), Fact::line(&public)));
    }
    Ok(aligned(&lines))
}

/// A number for JSON; whole ones without decimals.
fn exact(value: f64, whole: bool) -> Value {
    if whole && value.abs() < (1u64 << 53) as f64 { json!(value as i64) } else { json!(value) }
}

fn pair(interval: &[f64; 2], whole: bool) -> Value {
    interval.iter().map(|end| exact(*end, whole)).collect()
}
