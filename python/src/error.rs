//! Refusals as exceptions of `reticent.errors`.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use reticent_accounting::AccountingError;
use reticent_core::{Code, InvalidValue};
use reticent_curator::Refusal;
use reticent_curator::refusal::{Subject, fields_named};
use reticent_data::DataError;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What goes wrong in a call.
pub(crate) enum Fault {
    /// A refusal.
    Refused(Box<Refusal>),
    /// An exception of Python's own.
    Raised(PyErr),
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

macro_rules! refused {
    ($($error:ty),+) => {
        $(impl From<$error> for Fault {
            fn from(error: $error) -> Self {
                Self::Refused(Box::new(error.into()))
            }
        })+
    };
}

refused!(Refusal, DataError, AccountingError, InvalidValue);

impl Fault {
    /// The exception.
    pub(crate) fn into_error(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Raised(error) => error,
            Self::Refused(refusal) => exception(py, &refusal).unwrap_or_else(|error| error),
        }
    }
}

/// Runs a short call: a refusal becomes an exception, and so does a panic.
pub(crate) fn guarded<R>(py: Python<'_>, work: impl FnOnce() -> Result<R, Fault>) -> PyResult<R> {
    let outcome = catch_unwind(AssertUnwindSafe(work));
    outcome.unwrap_or_else(|panic| Err(panicked(&*panic).into())).map_err(|fault| fault.into_error(py))
}

/// A panic as the defect that it is.
pub(crate) fn panicked(panic: &(dyn std::any::Any + Send)) -> Refusal {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message");
    Refusal::internal(text)
}

/// The request in this text. Keys and types that a request does not have are Python's `ValueError` in the form of a refusal.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(request: &str) -> Result<T, Fault> {
    serde_json::from_str(request).map_err(|error| {
        // The place in the text is not the caller's.
        let text = error.to_string();
        let problem = text.split(" at line ").next().unwrap_or_default();
        Refusal::new(Code::Words, format!("invalid argument: {problem}")).into()
    })
}

/// An outcome as text.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<String, Fault> {
    Ok(serde_json::to_string(value).map_err(Refusal::internal)?)
}

fn exception(py: Python<'_>, refusal: &Refusal) -> PyResult<PyErr> {
    let named = |text: &str| fields_named(text, |field| format!("`{field}`"));
    let details = PyDict::new(py);
    details.set_item("code", refusal.code().number())?;
    details.set_item("field", refusal.field())?;
    details.set_item("remedy", named(refusal.message()))?;
    let value = match refusal.subject() {
        Subject::Value { value, .. } | Subject::Quantity { value, .. } => Some(value),
        _ => None,
    };
    details.set_item("value", value)?;
    let made = py.import("reticent.errors")?.getattr("from_refusal")?;
    let made = made.call((refusal.to_string(),), Some(&details))?;
    Ok(PyErr::from_value(made))
}

/// What a code means: its title and its text; none for a number that is not a code.
#[pyfunction]
pub(crate) fn explain(code: u16) -> Option<String> {
    let known = Code::ALL.iter().find(|known| known.number() == code)?;
    let explanation = known.explanation();
    Some(format!("{known}: {}\n\n{}\n\n{}", explanation.title, explanation.cause, explanation.remedy))
}
