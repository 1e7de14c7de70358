//! Pages of statistics, and what is made of them: HTML, files, streams of Arrow.

use crate::budget::Budget;
use crate::curator::{outcome, shared};
use crate::data::Table;
use crate::error::{Fault, guarded, json, parse};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use reticent_curator::file::OutputFile;
use reticent_curator::page::{Page, PageOutcome, SuggestLimits};
use reticent_curator::{Refusal, Request, sheet};
use std::path::Path;

/// Releases a page of statistics.
#[pyfunction]
#[pyo3(signature = (request, table=None, budget=None, progress=None))]
pub(crate) fn page(
    py: Python<'_>,
    request: &str,
    table: Option<PyRef<'_, Table>>,
    budget: Option<&Budget>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let table = shared(table);
    outcome(py, request, progress, budget, |request: Page, desk| {
        let planned = match table {
            Some(table) => request.check_table(table)?,
            None => request.check()?,
        };
        Ok(desk.answer(&request, planned)?.0)
    })
}

/// What a page would be like; no value is read.
#[pyfunction]
#[pyo3(signature = (request, table=None))]
pub(crate) fn preview_page(
    py: Python<'_>,
    request: &str,
    table: Option<PyRef<'_, Table>>,
) -> PyResult<String> {
    guarded(py, || {
        let request: Page = parse(request)?;
        let planned = match shared(table) {
            Some(table) => request.check_table(table)?,
            None => request.check()?,
        };
        json(&planned.preview()?)
    })
}

/// The page in a `report.toml`, as JSON.
#[pyfunction]
pub(crate) fn read_report(py: Python<'_>, path: &str) -> PyResult<String> {
    guarded(py, || json(&Page::read(Path::new(path))?))
}

/// Suggests limits per person from a private estimate.
#[pyfunction]
#[pyo3(signature = (request, table=None, budget=None, progress=None))]
pub(crate) fn suggest_limits(
    py: Python<'_>,
    request: &str,
    table: Option<PyRef<'_, Table>>,
    budget: Option<&Budget>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let table = shared(table);
    outcome(py, request, progress, budget, |request: SuggestLimits, desk| {
        let planned = match table {
            Some(table) => request.check_table(table)?,
            None => request.check()?,
        };
        desk.run(&request, planned)
    })
}

/// The page of HTML of an outcome.
#[pyfunction]
pub(crate) fn page_html(py: Python<'_>, outcome: &str, about: &str) -> PyResult<String> {
    guarded(py, || Ok(sheet::html(&parse::<PageOutcome>(outcome)?, about)))
}

/// Writes an outcome as CSV, Parquet, HTML or JSON, by the ending of the name.
#[pyfunction]
pub(crate) fn write_page(py: Python<'_>, outcome: &str, path: &str, about: &str) -> PyResult<()> {
    guarded(py, || {
        let (found, path): (PageOutcome, _) = (parse(outcome)?, Path::new(path));
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        let file = |extension| OutputFile { field: "path", path, extension };
        match ending.as_deref() {
            Some("csv") => {
                file("csv").check()?;
                sheet::write_csv(&found, path)?;
            }
            Some("parquet") => {
                file("parquet").check()?;
                sheet::write_parquet(&found, path)?;
            }
            Some("html") => file("html").write(&sheet::html(&found, about))?,
            Some("json") => file("json").write(&(json(&found)? + "\n"))?,
            _ => {
                let remedy = "give a name that ends in .csv, .parquet, .html or .json";
                return Err(Refusal::value("path", path.display(), remedy).into());
            }
        }
        Ok(())
    })
}

/// The figures of a page, as a stream of Arrow.
#[pyclass(frozen, module = "reticent._native")]
pub(crate) struct PageRecords {
    records: RecordBatch,
}

#[pymethods]
impl PageRecords {
    /// The figures of an outcome.
    #[new]
    fn new(py: Python<'_>, outcome: &str) -> PyResult<Self> {
        guarded(py, || Ok(Self { records: sheet::records(&parse::<PageOutcome>(outcome)?)? }))
    }

    /// The stream, for any consumer of the Arrow PyCapsule interface; a requested schema is the consumer's to cast to.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        guarded(py, || {
            let batches = vec![Ok(self.records.clone())];
            let reader = RecordBatchIterator::new(batches, self.records.schema());
            let stream = FFI_ArrowArrayStream::new(Box::new(reader));
            PyCapsule::new_with_value(py, stream, c"arrow_array_stream").map_err(Fault::from)
        })
    }
}
