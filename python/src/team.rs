//! The threads of PyTorch, lent for sums and noise.
//!
//! PyTorch computes on threads of OpenMP, which spin while they wait for work: threads of our own would share the cores with them. `GOMP_parallel` is what a compiler's parallel region calls: it calls a function with a pointer on a number of threads, the
//! caller's included, and returns when all have returned. It is looked up in the library that PyTorch has loaded, whose path
//! `reticent.torch.threads` knows; that a function of this name does this is the library's word, so calling it is unsafe.
#![allow(unsafe_code)]

use pyo3::prelude::*;
use reticent_curator::train::Team;
use std::any::Any;
use std::ffi::{c_uint, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, OnceLock, PoisonError};

/// `void GOMP_parallel(void (*fn)(void *), void *data, unsigned num_threads, unsigned flags)`.
type Parallel = unsafe extern "C" fn(unsafe extern "C" fn(*mut c_void), *mut c_void, c_uint, c_uint);

static PARALLEL: OnceLock<Parallel> = OnceLock::new();

/// Has sums and noise be computed on the threads of an OpenMP library that the process has loaded; whether they are. A library that
/// lent its threads before stays the one.
#[pyfunction]
pub(crate) fn lend_threads(library: &str) -> bool {
    if PARALLEL.get().is_none()
        && let Some(found) = find(library)
    {
        let _ = PARALLEL.set(found);
    }
    PARALLEL.get().is_some()
}

/// `GOMP_parallel` of a library that is loaded already. The library stays loaded.
#[cfg(target_os = "linux")]
fn find(library: &str) -> Option<Parallel> {
    use libloading::os::unix::{Library, RTLD_LAZY};
    /// Loads nothing: finds what is loaded.
    const RTLD_NOLOAD: i32 = 4;
    // SAFETY: nothing is loaded, so no code of the library runs.
    let library = unsafe { Library::open(Some(library), RTLD_LAZY | RTLD_NOLOAD) }.ok()?;
    // SAFETY: see the module.
    let found = unsafe { library.get::<Parallel>(c"GOMP_parallel") }.ok().map(|symbol| *symbol)?;
    std::mem::forget(library);
    Some(found)
}

#[cfg(not(target_os = "linux"))]
fn find(_: &str) -> Option<Parallel> {
    None
}

/// So many threads: PyTorch's if it lends them.
pub(crate) fn team(threads: usize) -> Team {
    if PARALLEL.get().is_some() { Team::new(threads, spread) } else { Team::own(threads) }
}

/// Work, and what a thread of it panicked with.
struct Task<'a> {
    work: &'a (dyn Fn() + Sync),
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

fn spread(threads: usize, work: &(dyn Fn() + Sync)) {
    let Some(parallel) = PARALLEL.get() else { return };
    let task = Task { work, panic: Mutex::new(None) };
    let threads = c_uint::try_from(threads).unwrap_or(c_uint::MAX);
    // SAFETY: `call` expects a task, which outlives the call: all threads have returned then. The work may be called by many at once.
    unsafe { parallel(call, std::ptr::from_ref(&task).cast_mut().cast(), threads, 0) };
    if let Some(panic) = task.panic.into_inner().unwrap_or_else(PoisonError::into_inner) {
        resume_unwind(panic);
    }
}

/// Does the work of a task. Panics stay on this side of the library.
///
/// # Safety
/// `data` is a [`Task`].
unsafe extern "C" fn call(data: *mut c_void) {
    // SAFETY: as the caller says; threads only read it.
    let task = unsafe { &*data.cast_const().cast::<Task<'_>>() };
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (task.work)())) {
        *task.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
    }
}
