//! Questions about events.

use crate::call::abandonable;
use crate::error::{guarded, json, parse};
use pyo3::prelude::*;
use reticent_core::{Certificate, Code};
use reticent_curator::account::{Account, Events, Formula};
use reticent_curator::{Refusal, neighboring};

/// Answers a question about events.
#[pyfunction]
pub(crate) fn account(py: Python<'_>, request: &str) -> PyResult<String> {
    guarded(py, || {
        let request: Account = parse(request)?;
        json(&abandonable(py, move || request.answer())?)
    })
}

/// Evaluates a formula of the textbooks on public numbers.
#[pyfunction]
pub(crate) fn formula(py: Python<'_>, request: &str) -> PyResult<String> {
    guarded(py, || {
        let request: Formula = parse(request)?;
        json(&request.evaluate()?)
    })
}

/// Checks events in any of their written forms, and returns them as one list with its relation.
#[pyfunction]
pub(crate) fn read_events(py: Python<'_>, text: &str) -> PyResult<String> {
    guarded(py, || {
        let found = reticent_core::event::read(text)
            .map_err(|problem| Refusal::new(Code::Json, format!("events: {problem}")))?;
        json(&serde_json::json!({
            "neighboring": found.neighboring, "events": found.events, "unit": found.unit,
        }))
    })
}

/// Recomputes the claim of a certificate from its events: what follows, in words, and whether it holds.
#[pyfunction]
pub(crate) fn verify(py: Python<'_>, certificate: &str) -> PyResult<(bool, String)> {
    guarded(py, || {
        let certificate: Certificate = parse(certificate)?;
        let verdict = abandonable(py, move || Ok(reticent_accounting::verify(&certificate)?))?;
        Ok((matches!(verdict, reticent_accounting::Verdict::Holds(_)), verdict.to_string()))
    })
}

/// The history of an Opacus accountant as events.
#[pyfunction]
pub(crate) fn import_opacus(py: Python<'_>, history: &str) -> PyResult<String> {
    guarded(py, || json(&Events::from_opacus(history)?.log))
}

/// An event of dp_accounting, as Python prints it, as events.
#[pyfunction]
pub(crate) fn import_dp_event(py: Python<'_>, printed: &str, relation: Option<&str>) -> PyResult<String> {
    guarded(py, || {
        let relation = relation.map(neighboring).transpose()?;
        json(&Events::from_dp_event(printed, relation)?.log)
    })
}
