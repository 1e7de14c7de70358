//! Events, relations and measured numbers in words.

use crate::digits::{self, RoundingSide};
use reticent_accounting::words::{Digits, sentence};
use reticent_audit::findings::{Estimate, RateAt};
use reticent_core::{Event, Neighboring};

/// A space at which no line ends.
const HELD: char = '\u{a0}';

/// The text for a value that was not declared.
pub(crate) const NOT_DECLARED: &str = "not declared";

/// A reason that always says something.
pub(crate) fn not_measurable(reason: Option<&str>) -> String {
    match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("not measurable: {reason}"),
        None => "not measurable: no reason was recorded".to_owned(),
    }
}

/// A number with four digits, or words if it is not a number.
pub(crate) fn number(value: f64) -> String {
    if value.is_nan() {
        "not measurable: not a number".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "∞".to_owned() } else { "−∞".to_owned() }
    } else {
        digits::brief(value)
    }
}

/// A share as a percentage, for shares that were given and not measured: `0.1 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{}{HELD}%", number(round_off(share * 100.0)))
}

/// Without the last bits that multiplication leaves.
fn round_off(value: f64) -> f64 {
    format!("{value:.9e}").parse().unwrap_or(value)
}

/// `123 (95 %: 101 to 150)`, with a break at most before the interval.
pub(crate) fn interval(value: &str, confidence: f64, low: &str, high: &str) -> String {
    format!("{value} ({}:{HELD}{low}{HELD}to{HELD}{high})", level(confidence))
}

/// A confidence in percent, rounded down.
pub(crate) fn level(confidence: f64) -> String {
    format!("{}{HELD}%", digits::confidence(confidence))
}

/// `ε ≤ 8` without a break.
pub(crate) fn related(name: &str, relation: char, value: &str) -> String {
    format!("{name}{HELD}{relation}{HELD}{value}")
}

/// Whether all numbers of an estimate can be shown.
pub(crate) fn sound(estimate: &Estimate) -> bool {
    [estimate.value, estimate.lower, estimate.upper, estimate.confidence]
        .iter()
        .all(|value| value.is_finite())
}

/// `0.812 (95 %: 0.794 to 0.830)`.
pub(crate) fn estimate(estimate: &Estimate) -> String {
    in_unit(estimate, 1.0, "")
}

/// `12.3 % (95 %: 10.9 to 13.8 %)`.
pub(crate) fn share(estimate: &Estimate) -> String {
    in_unit(estimate, 100.0, "\u{a0}%")
}

fn in_unit(estimate: &Estimate, factor: f64, unit: &str) -> String {
    if !sound(estimate) {
        return not_measurable(Some("not a number"));
    }
    let scaled = |value: f64| round_off(value * factor);
    let ends = [scaled(estimate.lower), scaled(estimate.upper)];
    let [value, low, high] = digits::with_interval(scaled(estimate.value), ends, false);
    interval(&format!("{value}{unit}"), estimate.confidence, &low, &format!("{high}{unit}"))
}

/// The rate in words, or why it is missing.
pub(crate) fn rate(rate: &RateAt) -> Result<String, String> {
    match &rate.tpr {
        Some(tpr) if sound(tpr) => Ok(share(tpr)),
        Some(_) => Err(not_measurable(Some("not a number"))),
        None => Err(not_measurable(rate.reason.as_deref())),
    }
}

/// An ε or δ that is claimed as an upper bound: rounded up.
pub(crate) fn at_most(value: f64) -> String {
    digits::spent(value)
}

/// A lower bound on ε: rounded down.
pub(crate) fn at_least(value: f64) -> String {
    if value.is_nan() { number(value) } else { digits::significant(value.max(0.0), 3, RoundingSide::Down) }
}

/// What a relation protects.
pub(crate) fn relation(neighboring: Neighboring, unit: &str) -> String {
    match neighboring {
        Neighboring::AddRemove => {
            format!("add-remove: hides whether the data of one unit ({unit}) are present")
        }
        Neighboring::ReplaceOne => format!(
            "replace-one: hides what the data of one unit ({unit}) contain; the number of units is public"
        ),
    }
}

/// One event as a sentence without a full stop.
pub(crate) fn event(event: &Event) -> String {
    sentence(event, &Digits { exactly: digits::exactly, brief: digits::brief })
}
