//! Questions about events, and budgets in memory.

use crate::call::abandonable;
use crate::error::{guarded, json, parse};
use pyo3::prelude::*;
use reticent_core::{Certificate, Code, Delta, Epsilon, Guarantee};
use reticent_curator::account::{Account, Events, Formula};
use reticent_curator::budget::SharedBudget;
use reticent_curator::{Refusal, neighboring};
use std::sync::Arc;

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

/// A limit on what everything charged to it may cost together, also when questions are chosen by earlier answers.
#[pyclass(frozen, module = "reticent._native")]
pub(crate) struct Budget {
    pub(crate) inner: Arc<SharedBudget>,
}

#[pymethods]
impl Budget {
    #[new]
    fn new(
        py: Python<'_>,
        epsilon: f64,
        delta: f64,
        neighboring: &str,
        unit: &str,
        data: &str,
    ) -> PyResult<Self> {
        guarded(py, || {
            let limit = Guarantee { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(delta)? };
            let inner = SharedBudget::new(data, unit, limit, self::neighboring(neighboring)?)?;
            Ok(Self { inner: Arc::new(inner) })
        })
    }

    /// The largest ε of one more pure release that fits.
    fn left(&self, py: Python<'_>) -> PyResult<f64> {
        guarded(py, || Ok(self.inner.own()?.left()?.get()))
    }

    /// What has been spent, as (ε, δ); none where only the limit is known to hold.
    fn spent(&self, py: Python<'_>) -> PyResult<Option<(f64, f64)>> {
        guarded(py, || {
            let spent = self.inner.own()?.spent()?;
            Ok(spent.map(|spent| (spent.epsilon.get(), spent.delta.get())))
        })
    }

    /// The events of everything that was charged, plan by plan, as JSON.
    fn plans(&self, py: Python<'_>) -> PyResult<String> {
        guarded(py, || {
            let budget = self.inner.own()?;
            let plans: Vec<_> = budget.plans().iter().map(|plan| plan.events()).collect();
            json(&plans)
        })
    }

    /// The limit: ε, δ, the neighboring relation, the unit and the name of the data.
    fn terms(&self, py: Python<'_>) -> PyResult<(f64, f64, String, String, String)> {
        guarded(py, || {
            let budget = self.inner.own()?;
            let (limit, relation) = (budget.limit(), budget.neighboring().to_string());
            let (unit, data) = (self.inner.unit().to_owned(), self.inner.data().to_owned());
            Ok((limit.epsilon.get(), limit.delta.get(), relation, unit, data))
        })
    }
}
