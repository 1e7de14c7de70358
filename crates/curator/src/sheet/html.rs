//! A page of HTML.

use super::tables::{clamping_in_words, parts_in_words, tables};
use crate::page::PageOutcome;
use crate::refusal::fields_named;
use reticent_core::Fact;
use reticent_report::digits;
use reticent_report::sheet::Sheet;

/// The page of a released outcome; `about` names the data.
pub fn sheet(outcome: &PageOutcome, about: &str) -> Sheet {
    let certificate = &outcome.certificate;
    let guarantee = &certificate.guarantee;
    let mut spent = format!("ε ≤ {}", digits::spent(guarantee.epsilon.get()));
    if guarantee.delta.get() > 0.0 {
        spent.push_str(&format!(", δ ≤ {}", digits::spent(guarantee.delta.get())));
    }
    let mut facts = vec![
        ("All figures together".to_owned(), spent),
        ("Privacy unit".to_owned(), certificate.unit.clone()),
        ("Neighboring relation".to_owned(), certificate.neighboring.to_string()),
        ("Released".to_owned(), parts_in_words(&outcome.parts).join("; ")),
    ];
    let limits = clamping_in_words(outcome);
    if !limits.is_empty() {
        facts.push(("Clamped".to_owned(), limits.join("; ")));
    }
    if !certificate.public.is_empty() {
        facts.push(("Taken as public".to_owned(), Fact::line(&certificate.public)));
    }
    facts.push(("Accountant".to_owned(), certificate.accountant.to_string()));
    let by = match outcome.group_columns.as_slice() {
        [] => String::new(),
        columns => format!(" by {}", columns.join(", ")),
    };
    Sheet {
        title: format!("Statistics of {about}{by}"),
        subtitle: format!("Every figure with its {} % interval", digits::confidence(outcome.confidence)),
        facts,
        warnings: outcome.warnings.iter().map(|text| fields_named(text, str::to_owned)).collect(),
        confidence: outcome.confidence,
        tables: tables(outcome),
    }
}

/// The same as one page of HTML: no script, nothing to load.
pub fn html(outcome: &PageOutcome, about: &str) -> String {
    sheet(outcome, about).html()
}
