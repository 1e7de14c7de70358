//! A privacy report for assessors: one self-contained HTML page, and the same as JSON.
//!
//! | item | what it is |
//! |---|---|
//! | [`Dossier`], [`Declared`], [`TrainingSummary`], [`ReportProvenance`] | what a report is made of |
//! | [`Gallery`], [`Picture`] | records as pictures, for pages that may show them |
//! | [`html`] | the page: no scripts, nothing to load, printable |
//! | [`json`], [`read`] | the dossier as text and back |
//! | [`story`] | the page of the guided tour |
//! | [`sheet`] | a page of private statistics: tables and bars with intervals |
//! | [`spending`] | the page of a budget |
//! | [`plot`], [`roc`] | charts as SVG |
//! | [`digits`] | numbers with no more digits than their precision allows |
//!
//! What was measured, what was declared and what combines both stay apart. Nothing is graded: a report states numbers with
//! their intervals, what was not tried, and what the numbers rest on.

pub mod digits;
mod dossier;
mod error;
mod escape;
mod markup;
mod page;
mod picture;
pub mod plot;
pub mod sheet;
pub mod spending;
pub mod story;
mod words;

pub use dossier::{
    Declared, Dossier, FileDigest, ModelAccess, ReportProvenance, TrainingPoint, TrainingSummary,
    TrainingUnit,
};
pub use error::ReportError;
pub use escape::{escaped_json, is_unseen, plain};
pub use picture::{Gallery, Picture, PictureStrip};

use reticent_audit::defence::DefenceComparison;
use reticent_audit::disclosure::Trajectory;
use reticent_audit::findings::Performance;
use serde::Serialize;

/// The name of the layout of a report, in the field `schema`.
pub const SCHEMA: &str = "reticent-report/1";

#[derive(Serialize)]
struct Named<'a> {
    schema: &'static str,
    #[serde(flatten)]
    dossier: &'a Dossier,
}

/// The dossier as one page of HTML.
pub fn html(dossier: &Dossier) -> String {
    page::page(dossier)
}

/// ROC curves of attacks on logarithmic axes.
pub fn roc(attacks: &[(&str, &Performance)]) -> plot::Chart {
    page::strength::curves(attacks, true)
}

/// Utility against leakage, a curve for every defence.
pub fn defences(comparison: &DefenceComparison) -> plot::Chart {
    page::defence::chart(comparison)
}

/// How a signal developed over a training.
pub fn trajectory(trajectory: &Trajectory) -> plot::Chart {
    page::federated::chart(trajectory)
}

/// The dossier as JSON, with [`SCHEMA`]. It lists no record. Numbers that are not finite become null, which [`read`] refuses
/// where a number is required.
pub fn json(dossier: &Dossier) -> String {
    let named = Named { schema: SCHEMA, dossier };
    // Keys are strings and nothing is written by hand, so there is no way to fail.
    escape::escaped_json(&serde_json::to_string_pretty(&named).unwrap_or_default()) + "\n"
}

/// The dossier that [`json`] wrote.
///
/// # Errors
/// [`ReportError`] for text that is not a report, a report of another schema, and declared numbers out of range.
pub fn read(json: &str) -> Result<Dossier, ReportError> {
    let value: serde_json::Value = serde_json::from_str(json)?;
    let found = match value.get("schema") {
        Some(serde_json::Value::String(schema)) => schema.clone(),
        Some(other) => other.to_string(),
        None => "nothing".to_owned(),
    };
    if found != SCHEMA {
        return Err(ReportError::Schema { found, expected: SCHEMA });
    }
    let dossier: Dossier = serde_json::from_value(value)?;
    let audit = &dossier.findings.schema;
    if audit != reticent_audit::findings::SCHEMA {
        let expected = reticent_audit::findings::SCHEMA;
        return Err(ReportError::Schema { found: audit.clone(), expected });
    }
    dossier.declared.check()?;
    Ok(dossier)
}
