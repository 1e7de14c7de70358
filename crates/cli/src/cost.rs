//! The privacy cost of a result, as lines of text.

use crate::fail::Fail;
use crate::text::spent;
use reticent::core::{Certificate, Fact};
use std::path::Path;

/// Where the whole certificate is.
pub(crate) enum Whole<'a> {
    /// In this file.
    File(&'a Path),
    /// In the JSON output; these words name the flag that writes it to a file.
    Flag(&'a str),
}

/// The lines about privacy that every result ends with. The certificate is one of them: the file that holds it, or its size
/// and how to see all of it.
pub(crate) fn cost(certificate: &Certificate, mechanism: String, whole: Whole<'_>) -> Vec<(String, String)> {
    let Certificate { guarantee, neighboring, unit, public, .. } = certificate;
    let mut lines = vec![
        ("privacy spent".to_owned(), format!("{} ({neighboring}, unit: {unit})", spent(guarantee))),
        ("mechanism".to_owned(), mechanism),
    ];
    if !public.is_empty() {
        lines.push(("taken as public".to_owned(), Fact::line(public)));
    }
    let certificate = match whole {
        Whole::File(file) => file.display().to_string(),
        Whole::Flag(flag) => {
            let events = match certificate.events.len() + certificate.adaptive.len() {
                1 => "1 event".to_owned(),
                several => format!("{several} events"),
            };
            format!("{events}, {}; all of it with --json or {flag}", certificate.accountant)
        }
    };
    lines.push(("certificate".to_owned(), certificate));
    lines
}

/// A certificate as its file holds it.
pub(crate) fn certificate_text(certificate: &Certificate) -> Result<String, Fail> {
    let text = serde_json::to_string_pretty(certificate)
        .map_err(|error| Fail::new(crate::explain::Code::Internal, format!("cannot write JSON: {error}")))?;
    Ok(text + "\n")
}
