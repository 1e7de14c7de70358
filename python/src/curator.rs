//! The verbs: releases, schemas, models, audits and reports.

use crate::budget::{Budget, Desk, Paid};
use crate::call::{stoppable, watched};
use crate::data::{Given, Table};
use crate::error::{Fault, guarded, json, parse};
use numpy::PyArray1;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use reticent_curator::audit::{Attribute, Audit, Difference, Outcome, PlantSecrets, Reconstruct};
use reticent_curator::evaluate::Evaluate;
use reticent_curator::fit::{Fit, FitTables};
use reticent_curator::predict::{Predict, Predicted};
use reticent_curator::release::survey::{EstimateShares, Randomize};
use reticent_curator::release::{Release, ReleasedAnswer, ReleasedValue};
use reticent_curator::report::Report;
use reticent_curator::sample::Sample;
use reticent_curator::schema::LearnSchema;
use reticent_curator::train::{Resume, Train, TrainData, Trained};
use reticent_curator::tune::Tune;
use reticent_curator::{Planned, Refusal, Request, Session, stored};
use std::path::Path;
use std::sync::Arc;

pub(crate) type Shared = Arc<dyn reticent_data::Table>;

/// Parses a request, runs it and writes its outcome as JSON.
pub(crate) fn outcome<T, R>(
    py: Python<'_>,
    request: &str,
    progress: Option<Py<PyAny>>,
    budget: Option<&Budget>,
    run: impl FnOnce(T, Desk) -> Result<R, Refusal> + Send,
) -> PyResult<String>
where
    T: serde::de::DeserializeOwned + Send,
    R: serde::Serialize + Send,
{
    let request: T = parse(request).map_err(|fault| fault.into_error(py))?;
    let done = watched(py, progress, budget, |desk| run(request, desk))?;
    json(&done).map_err(|fault| fault.into_error(py))
}

pub(crate) fn shared(table: Option<PyRef<'_, Table>>) -> Option<Shared> {
    table.map(|table| Arc::clone(&table.table))
}

/// The labels of a histogram are not part of the command's JSON: they are added here, and how a budget stands.
fn released((answer, standing): &Paid<ReleasedAnswer>) -> Result<String, Fault> {
    let mut value = serde_json::to_value(answer).map_err(Refusal::internal)?;
    if let (ReleasedValue::Counts { labels, .. }, Some(fields)) = (&answer.found, value.as_object_mut()) {
        fields.insert("labels".to_owned(), labels.clone().into());
    }
    if let (Some(standing), Some(fields)) = (standing, value.as_object_mut()) {
        fields.insert("budget".to_owned(), serde_json::to_value(standing).map_err(Refusal::internal)?);
    }
    json(&value)
}

/// Releases a statistic of a table.
#[pyfunction]
#[pyo3(signature = (request, table=None, budget=None, progress=None))]
pub(crate) fn release(
    py: Python<'_>,
    request: &str,
    table: Option<PyRef<'_, Table>>,
    budget: Option<&Budget>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (request, table): (Release, _) =
        (parse(request).map_err(|fault| fault.into_error(py))?, shared(table));
    let answer = watched(py, progress, budget, |desk| {
        let planned = match table {
            Some(table) => request.check_table(table)?,
            None => request.check()?,
        };
        desk.answer(&request, planned)
    })?;
    released(&answer).map_err(|fault| fault.into_error(py))
}

/// What a release would be like; no value is read.
#[pyfunction]
#[pyo3(signature = (request, table=None))]
pub(crate) fn preview(py: Python<'_>, request: &str, table: Option<PyRef<'_, Table>>) -> PyResult<String> {
    guarded(py, || {
        let request: Release = parse(request)?;
        let planned = match shared(table) {
            Some(table) => request.check_table(table)?,
            None => request.check()?,
        };
        json(&planned.preview()?)
    })
}

/// Randomizes the answers of a survey in a file.
#[pyfunction]
#[pyo3(signature = (request, budget=None, progress=None))]
pub(crate) fn randomize(
    py: Python<'_>,
    request: &str,
    budget: Option<&Budget>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    outcome(py, request, progress, budget, |request: Randomize, desk| {
        let planned = request.check()?;
        desk.run(&request, planned)
    })
}

/// Estimates shares from randomized answers in a file.
#[pyfunction]
#[pyo3(signature = (request, progress=None))]
pub(crate) fn estimate(py: Python<'_>, request: &str, progress: Option<Py<PyAny>>) -> PyResult<String> {
    outcome(py, request, progress, None, |request: EstimateShares, desk| {
        request.check()?.run(&mut desk.session()?)
    })
}

/// Drafts or learns the schema of a table: the TOML text, and the outcome.
#[pyfunction]
#[pyo3(signature = (request, table=None, budget=None, progress=None))]
pub(crate) fn learn_schema(
    py: Python<'_>,
    request: &str,
    table: Option<PyRef<'_, Table>>,
    budget: Option<&Budget>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, String)> {
    let request: LearnSchema = parse(request).map_err(|fault| fault.into_error(py))?;
    let table = shared(table);
    let learnt = watched(py, progress, budget, |desk| {
        let planned = match table {
            Some(table) => request.check_table(table)?,
            None => request.check()?,
        };
        desk.run(&request, planned)
    })?;
    let text = json(&learnt).map_err(|fault| fault.into_error(py))?;
    Ok((learnt.to_toml(), text))
}

/// Fits a linear model. Its weights are those of the encoded features.
#[pyfunction]
#[pyo3(signature = (request, train=None, test=None, budget=None, progress=None))]
pub(crate) fn fit(
    py: Python<'_>,
    request: &str,
    train: Option<PyRef<'_, Table>>,
    test: Option<PyRef<'_, Table>>,
    budget: Option<&Budget>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (train, test) = (shared(train), shared(test));
    outcome(py, request, progress, budget, |request: Fit, desk| {
        let planned = match train {
            Some(train) => request.check_tables(FitTables { train, test, schema: None })?,
            None => request.check()?,
        };
        desk.run(&request, planned)
    })
}

/// How to go on with a training that was stopped.
fn stopped(done: &Trained) -> Option<String> {
    let Trained::Interrupted(end) = done else { return None };
    let place = end.out.as_ref().map_or_else(
        || "nothing was stored, and its cost stays charged".to_owned(),
        |out| format!("continue it with reticent.train.resume({:?})", out.display().to_string()),
    );
    Some(format!("the training was stopped after {} of {} steps: {place}", end.steps, end.of))
}

fn train_data(train: Option<Given<'_>>, validation: Option<Given<'_>>) -> Option<TrainData> {
    train.map(|train| TrainData { train: train.data(), validation: validation.map(|public| public.data()) })
}

/// Trains a network.
#[pyfunction]
#[pyo3(signature = (request, train=None, validation=None, budget=None, progress=None))]
pub(crate) fn train(
    py: Python<'_>,
    request: &str,
    train: Option<Given<'_>>,
    validation: Option<Given<'_>>,
    budget: Option<&Budget>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let request: Train = parse(request).map_err(|fault| fault.into_error(py))?;
    let data = train_data(train, validation);
    let run = |desk: Desk| {
        let planned = match data {
            Some(data) => request.check_data(data)?,
            None => request.check()?,
        };
        desk.run(&request, planned)
    };
    let done = stoppable(py, progress, budget, run, stopped)?;
    json(&done).map_err(|fault| fault.into_error(py))
}

/// Searches the settings of a network.
#[pyfunction]
#[pyo3(signature = (request, train=None, validation=None, budget=None, progress=None))]
pub(crate) fn tune(
    py: Python<'_>,
    request: &str,
    train: Option<Given<'_>>,
    validation: Option<Given<'_>>,
    budget: Option<&Budget>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let data = train_data(train, validation);
    outcome(py, request, progress, budget, |request: Tune, desk| {
        let planned = match data {
            Some(data) => request.check_data(data)?,
            None => request.check()?,
        };
        desk.run(&request, planned)
    })
}

/// Goes on with a run.
#[pyfunction]
#[pyo3(signature = (request, train=None, validation=None, budget=None, progress=None))]
pub(crate) fn resume(
    py: Python<'_>,
    request: &str,
    train: Option<Given<'_>>,
    validation: Option<Given<'_>>,
    budget: Option<&Budget>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let request: Resume = parse(request).map_err(|fault| fault.into_error(py))?;
    let data = train_data(train, validation);
    let run = |desk: Desk| {
        let planned = match data {
            Some(data) => request.check_data(data)?,
            None => request.check()?,
        };
        desk.run(&request, planned)
    };
    let done = stoppable(py, progress, budget, run, stopped)?;
    json(&done).map_err(|fault| fault.into_error(py))
}

/// Predictions: labels, classes, scores row by row, warnings.
type Predictions<'py> = (Vec<String>, Vec<String>, Bound<'py, PyArray1<f64>>, Vec<String>);

/// Predicts with a stored model.
#[pyfunction]
#[pyo3(signature = (request, data=None, budget=None, progress=None))]
pub(crate) fn predict<'py>(
    py: Python<'py>,
    request: &str,
    data: Option<Given<'_>>,
    budget: Option<&Budget>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Predictions<'py>> {
    let request: Predict = parse(request).map_err(|fault| fault.into_error(py))?;
    let data = data.map(|data| data.data());
    let Predicted { predictions, classes, scores, warnings, .. } = watched(py, progress, budget, |desk| {
        let planned = match data {
            Some(data) => request.check_data(data)?,
            None => request.check()?,
        };
        planned.run(&mut desk.session()?)
    })?;
    Ok((predictions, classes, PyArray1::from_vec(py, scores), warnings))
}

/// Scores a stored model on labelled data, which are not protected.
#[pyfunction]
#[pyo3(signature = (request, data=None, progress=None))]
pub(crate) fn evaluate(
    py: Python<'_>,
    request: &str,
    data: Option<Given<'_>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let data = data.map(|data| data.data());
    outcome(py, request, progress, None, |request: Evaluate, desk| {
        let planned = match data {
            Some(data) => request.check_data(data)?,
            None => request.check()?,
        };
        planned.run(&mut desk.session()?)
    })
}

/// Draws texts from a stored language model.
#[pyfunction]
#[pyo3(signature = (request, budget=None, progress=None))]
pub(crate) fn sample(
    py: Python<'_>,
    request: &str,
    budget: Option<&Budget>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    outcome(py, request, progress, budget, |request: Sample, desk| request.check()?.run(&mut desk.session()?))
}

/// The certificate of a stored model, as JSON; none without privacy.
#[pyfunction]
pub(crate) fn read_certificate(py: Python<'_>, folder: &str) -> PyResult<Option<String>> {
    guarded(py, || stored::read_certificate(Path::new(folder))?.map(|own| json(&own)).transpose())
}

/// Audits scores or a model: the findings, and what the certificate and the bound say together.
#[pyfunction]
#[pyo3(signature = (request, progress=None))]
pub(crate) fn audit(
    py: Python<'_>,
    request: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, String)> {
    let request: Audit = parse(request).map_err(|fault| fault.into_error(py))?;
    let hint = |done: &Outcome| {
        match done {
        Outcome::Found(_) => None,
        Outcome::Interrupted(end) => end.out.as_ref().map(|out| {
            let place = out.display();
            format!("the audit was stopped: finished reference models are kept in {place}; the same call continues")
        }),
    }
    };
    match stoppable(py, progress, None, |desk| request.check()?.run(&mut desk.session()?), hint)? {
        Outcome::Found(found) => guarded(py, || Ok((json(&found)?, json(&found.comparison)?))),
        Outcome::Interrupted(_) => Err(PyKeyboardInterrupt::new_err("the audit was stopped")),
    }
}

/// Guesses a column of records with and without a model.
#[pyfunction]
#[pyo3(signature = (request, progress=None))]
pub(crate) fn attribute(py: Python<'_>, request: &str, progress: Option<Py<PyAny>>) -> PyResult<String> {
    outcome(py, request, progress, None, |request: Attribute, desk| {
        request.check()?.run(&mut desk.session()?)
    })
}

/// Trains a language model with planted secrets, and ranks them.
#[pyfunction]
#[pyo3(signature = (request, progress=None))]
pub(crate) fn plant_secrets(py: Python<'_>, request: &str, progress: Option<Py<PyAny>>) -> PyResult<String> {
    outcome(py, request, progress, None, |request: PlantSecrets, desk| {
        request.check()?.run(&mut desk.session()?)
    })
}

/// Recovers training records of a model.
#[pyfunction]
#[pyo3(signature = (request, progress=None))]
pub(crate) fn reconstruct(py: Python<'_>, request: &str, progress: Option<Py<PyAny>>) -> PyResult<String> {
    outcome(py, request, progress, None, |request: Reconstruct, desk| {
        request.check()?.run(&mut desk.session()?)
    })
}

/// Compares two models or two releases.
#[pyfunction]
#[pyo3(signature = (request, progress=None))]
pub(crate) fn difference(py: Python<'_>, request: &str, progress: Option<Py<PyAny>>) -> PyResult<String> {
    outcome(py, request, progress, None, |request: Difference, desk| {
        request.check()?.run(&mut desk.session()?)
    })
}

/// The attacks there are, as JSON.
#[pyfunction]
pub(crate) fn attacks(py: Python<'_>) -> PyResult<String> {
    guarded(py, || json(&reticent_curator::audit::attacks()))
}

/// More coins than this are a mistake.
const MOST_COINS: u64 = 100_000_000;

/// Fair coins: who is a member of a run that is to be audited.
#[pyfunction]
pub(crate) fn coins(py: Python<'_>, records: u64) -> PyResult<Bound<'_, PyArray1<bool>>> {
    guarded(py, || {
        if records > MOST_COINS {
            let remedy = format!("give a number up to {MOST_COINS}");
            return Err(Refusal::value("records", records, remedy).into());
        }
        let tossed = reticent_curator::audit::coins(records as usize, &mut Session::without_limit()?);
        Ok(PyArray1::from_vec(py, tossed))
    })
}

/// Independent uniform draws from 0 up to but not including `below`, one for each of so many records: folds, and keys.
#[pyfunction]
pub(crate) fn uniform(py: Python<'_>, records: u64, below: u64) -> PyResult<Bound<'_, PyArray1<u64>>> {
    guarded(py, || {
        if records > MOST_COINS {
            let remedy = format!("give a number up to {MOST_COINS}");
            return Err(Refusal::value("records", records, remedy).into());
        }
        if below == 0 {
            return Err(Refusal::value("below", below, "give at least 1").into());
        }
        let drawn = reticent_curator::audit::uniform(records as usize, below, &mut Session::without_limit()?);
        Ok(PyArray1::from_vec(py, drawn))
    })
}

/// Whether one of the public facts of a certificate voids its claim.
#[pyfunction]
pub(crate) fn voids(facts: Vec<String>) -> bool {
    facts.into_iter().any(|fact| reticent_core::Fact::from(fact).voids())
}

/// The ROC curves of findings, as SVG.
#[pyfunction]
pub(crate) fn roc(py: Python<'_>, findings: &str) -> PyResult<String> {
    guarded(py, || {
        let findings: reticent_audit::Findings = parse(findings)?;
        let attacks: Vec<_> =
            findings.attacks.iter().map(|attack| (attack.name.as_str(), &attack.performance)).collect();
        Ok(reticent_report::roc(&attacks).svg())
    })
}

/// Writes the report of an audit.
#[pyfunction]
#[pyo3(signature = (request, progress=None))]
pub(crate) fn report(py: Python<'_>, request: &str, progress: Option<Py<PyAny>>) -> PyResult<String> {
    outcome(py, request, progress, None, |request: Report, desk| request.check()?.run(&mut desk.session()?))
}
