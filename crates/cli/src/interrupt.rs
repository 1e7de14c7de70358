//! Ctrl-C and termination by the system (SIGTERM, SIGHUP): the first signal asks the work to stop at the next safe point, the
//! second ends the program.

use crate::INTERRUPTED;
use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Installs the handler. If the system does not allow that, Ctrl-C ends the program at once, and the work can be resumed from
/// its last checkpoint.
pub(crate) fn listen() {
    let _ = ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::SeqCst) {
            std::process::exit(INTERRUPTED.into());
        }
    });
}

/// Whether a signal has arrived.
pub(crate) fn is_requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}

/// Set when a signal has arrived.
pub(crate) fn flag() -> &'static AtomicBool {
    &REQUESTED
}
