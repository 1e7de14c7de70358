//! Mechanisms on numbers and arrays.

use crate::budget::{self, Budget};
use crate::data::list;
use crate::error::{Fault, guarded, json, parse};
use numpy::{Element, PyArray1};
use pyo3::prelude::*;
use reticent_curator::perturb::{Choose, FindLabels, Perturb, Perturbed, RandomizeAnswers};
use reticent_curator::{Refusal, Session};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The event, ε and δ.
type Cost = (String, f64, f64);

/// The noisy array; its cost; scale; error of one number at the confidence.
type Noisy<'py, T> = (Bound<'py, PyArray1<T>>, Cost, f64, f64);

/// Longer lists are drawn without the interpreter's lock.
const SHORT: usize = 1000;

thread_local! {
    /// A session without a limit for draws of this thread: to key a generator anew costs more than a draw.
    static OPEN: RefCell<Option<Session>> = const { RefCell::new(None) };
}

/// Draws in a session of the budget, or in one without a limit.
fn drawn<R: Send>(
    py: Python<'_>,
    budget: Option<&Budget>,
    length: usize,
    draw: impl FnOnce(&mut Session) -> Result<R, Refusal> + Send,
) -> Result<R, Fault> {
    let budget = budget.map(|budget| Arc::clone(&budget.inner));
    let work = || match budget {
        Some(purse) => budget::drawn(&purse, draw),
        None => OPEN.with_borrow_mut(|open| {
            let session = match open.take() {
                Some(session) => session,
                None => Session::without_limit()?,
            };
            draw(open.insert(session))
        }),
    };
    Ok(if length <= SHORT { work()? } else { py.detach(work)? })
}

fn noisy<'py, T: Element>(py: Python<'py>, drawn: Perturbed<T>) -> Result<Noisy<'py, T>, Fault> {
    let Perturbed { values, event, guarantee, scale, error } = drawn;
    let cost = (json(&event)?, guarantee.epsilon.get(), guarantee.delta.get());
    Ok((PyArray1::from_vec(py, values), cost, scale, error))
}

/// Adds noise to real numbers.
#[pyfunction]
#[pyo3(signature = (request, values, budget=None))]
pub(crate) fn perturb_reals<'py>(
    py: Python<'py>,
    request: &str,
    values: Bound<'py, PyArray1<f64>>,
    budget: Option<&Budget>,
) -> PyResult<Noisy<'py, f64>> {
    guarded(py, || {
        let (request, values): (Perturb, _) = (parse(request)?, list(&values)?);
        noisy(py, drawn(py, budget, values.len(), |session| request.reals(&values, session))?)
    })
}

/// Adds noise to integers.
#[pyfunction]
#[pyo3(signature = (request, values, budget=None))]
pub(crate) fn perturb_integers<'py>(
    py: Python<'py>,
    request: &str,
    values: Bound<'py, PyArray1<i64>>,
    budget: Option<&Budget>,
) -> PyResult<Noisy<'py, i64>> {
    guarded(py, || {
        let (request, values): (Perturb, _) = (parse(request)?, list(&values)?);
        noisy(py, drawn(py, budget, values.len(), |session| request.integers(&values, session))?)
    })
}

/// Randomizes answers, given by number; the scale of the result is the probability of a true answer.
#[pyfunction]
#[pyo3(signature = (request, codes, budget=None))]
pub(crate) fn randomize_answers<'py>(
    py: Python<'py>,
    request: &str,
    codes: Bound<'py, PyArray1<u64>>,
    budget: Option<&Budget>,
) -> PyResult<Noisy<'py, u64>> {
    guarded(py, || {
        let (request, codes): (RandomizeAnswers, _) = (parse(request)?, list(&codes)?);
        noisy(py, drawn(py, budget, codes.len(), |session| request.answers(&codes, session))?)
    })
}

/// The shares of all categories from how often each was reported: estimate, standard error and interval of each.
#[pyfunction]
pub(crate) fn estimate_shares(
    py: Python<'_>,
    request: &str,
    reported: Vec<u64>,
    confidence: f64,
) -> PyResult<Vec<(f64, f64, [f64; 2])>> {
    guarded(py, || {
        let request: RandomizeAnswers = parse(request)?;
        let shares = request.estimate(&reported, confidence)?;
        Ok(shares.into_iter().map(|share| (share.value, share.standard_error, share.interval)).collect())
    })
}

/// Chooses one of the candidates by their scores: its place, and the cost.
#[pyfunction]
#[pyo3(signature = (request, scores, budget=None))]
pub(crate) fn choose(
    py: Python<'_>,
    request: &str,
    scores: Bound<'_, PyArray1<f64>>,
    budget: Option<&Budget>,
) -> PyResult<(usize, Cost)> {
    guarded(py, || {
        let (request, scores): (Choose, _) = (parse(request)?, list(&scores)?);
        let (place, event, guarantee) =
            drawn(py, budget, scores.len(), |session| request.one(&scores, session))?;
        Ok((place, (json(&event)?, guarantee.epsilon.get(), guarantee.delta.get())))
    })
}

/// The labels with noisy counts that reach the threshold; the threshold, the cost, and the error of one count.
#[pyfunction]
#[pyo3(signature = (request, counts, budget=None))]
pub(crate) fn find_labels(
    py: Python<'_>,
    request: &str,
    counts: BTreeMap<String, u64>,
    budget: Option<&Budget>,
) -> PyResult<(BTreeMap<String, i128>, u64, Cost, f64)> {
    guarded(py, || {
        let request: FindLabels = parse(request)?;
        let found = drawn(py, budget, counts.len(), |session| request.of(&counts, session))?;
        let cost = (json(&found.event)?, found.guarantee.epsilon.get(), found.guarantee.delta.get());
        Ok((found.counts, found.threshold, cost, found.error))
    })
}
