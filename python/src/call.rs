//! Long work without the interpreter's lock: another thread works while the caller's shows progress and listens for Ctrl-C.

use crate::budget::{Budget, Desk};
use crate::error::{Fault, panicked};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use reticent_core::Code;
use reticent_curator::Refusal;
use reticent_curator::watch::{Activity, Metrics, Watch, Work};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often progress is shown and signals are looked for.
const TICK: Duration = Duration::from_millis(50);

/// Something to show, in the order of events: name, text, number.
type Note = (&'static str, String, u64);

/// What the working thread tells the caller's.
#[derive(Default)]
struct Shared {
    halt: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    notes: Vec<Note>,
    is_done: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, name: &'static str, text: String, number: u64) {
        let mut state = self.state();
        match state.notes.last_mut() {
            // Only the latest position is shown.
            Some((last, _, done)) if *last == "at" && name == "at" => *done = number,
            _ => state.notes.push((name, text, number)),
        }
    }

    /// Waits a tick or for the end; what there is to show, and whether the work is done.
    fn wait(&self) -> (Vec<Note>, bool) {
        let mut state = self.state();
        if !state.is_done {
            state = self.changed.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner).0;
        }
        (std::mem::take(&mut state.notes), state.is_done)
    }
}

/// Sets the end of the work, however it ends.
struct Ending<'a>(&'a Shared);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.state().is_done = true;
        self.0.changed.notify_all();
    }
}

/// The display of progress as the work sees it.
struct Relay(Arc<Shared>);

struct Shown<'a>(&'a Shared);

impl Watch for Relay {
    fn begin(&self, work: Work<'_>) -> Box<dyn Activity + '_> {
        match work {
            Work::Reading { table, bytes } => self.0.note("reading", table.to_owned(), bytes),
            Work::Steps(steps) => self.0.note("steps", String::new(), steps),
            Work::Thinking => self.0.note("thinking", String::new(), 0),
        }
        Box::new(Shown(&self.0))
    }

    fn halt(&self) -> &AtomicBool {
        &self.0.halt
    }
}

impl Activity for Shown<'_> {
    fn at(&self, done: u64) {
        self.0.note("at", String::new(), done);
    }

    fn say(&self, words: &str) {
        self.0.note("say", words.to_owned(), 0);
    }

    fn report(&self, metrics: &Metrics) {
        let text = serde_json::to_string(metrics).unwrap_or_default();
        self.0.note("report", text, metrics.step);
    }
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        self.0.note("end", String::new(), 0);
    }
}

/// Runs work at a desk of its own, where it is charged to the budget if there is one. `progress` is called with lists of notes.
///
/// Ctrl-C and exceptions of `progress` stop the work at its next safe point and are raised when it has ended.
pub(crate) fn watched<R: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    budget: Option<&Budget>,
    work: impl FnOnce(Desk) -> Result<R, Refusal> + Send,
) -> PyResult<R> {
    stoppable(py, progress, budget, work, |_| None)
}

/// As [`watched`], for work that can be gone on with: where it was stopped by Ctrl-C, `hint` says how.
pub(crate) fn stoppable<R: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    budget: Option<&Budget>,
    work: impl FnOnce(Desk) -> Result<R, Refusal> + Send,
    hint: impl FnOnce(&R) -> Option<String>,
) -> PyResult<R> {
    let budget = budget.map(|budget| Arc::clone(&budget.inner));
    let shared = Arc::new(Shared::default());
    let mut raised: Option<PyErr> = None;
    let outcome = py.detach(|| {
        std::thread::scope(|scope| {
            let own = Arc::clone(&shared);
            let worker =
                std::thread::Builder::new().name("reticent".to_owned()).spawn_scoped(scope, move || {
                    let _ending = Ending(&own);
                    work(Desk::new(budget, Box::new(Relay(Arc::clone(&own)))))
                });
            let worker = match worker {
                Ok(worker) => worker,
                Err(error) => return Err(Refusal::new(Code::Thread, error.to_string())),
            };
            loop {
                let (notes, is_done) = shared.wait();
                let shown = Python::attach(|py| {
                    py.check_signals()?;
                    match &progress {
                        Some(progress) if !notes.is_empty() => progress.call1(py, (notes,)).map(drop),
                        _ => Ok(()),
                    }
                });
                if let Err(error) = shown {
                    shared.halt.store(true, Ordering::SeqCst);
                    raised.get_or_insert(error);
                }
                if is_done {
                    return worker.join().unwrap_or_else(|panic| Err(panicked(&*panic)));
                }
            }
        })
    });
    match (raised, outcome) {
        (Some(error), Ok(done)) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
            Err(hint(&done).map_or(error, PyKeyboardInterrupt::new_err))
        }
        (Some(error), _) => Err(error),
        (None, outcome) => outcome.map_err(|refusal| Fault::from(refusal).into_error(py)),
    }
}

/// Runs a computation that reads nobody's data and cannot be stopped. Ctrl-C is raised at once; what is computed then is thrown away when
/// it is done.
pub(crate) fn abandonable<R: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<R, Refusal> + Send + 'static,
) -> Result<R, Fault> {
    let (sender, mut receiver) = mpsc::sync_channel(1);
    let worker = std::thread::Builder::new().name("reticent".to_owned()).spawn(move || {
        let outcome = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(panicked(&*panic)));
        // Nobody listens after Ctrl-C.
        let _ = sender.send(outcome);
    });
    worker.map_err(|error| Refusal::new(Code::Thread, error.to_string()))?;
    loop {
        let own = &mut receiver;
        match py.detach(move || own.recv_timeout(TICK)) {
            Ok(outcome) => return Ok(outcome?),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Refusal::internal("a computation ended without a result").into());
            }
        }
    }
}
