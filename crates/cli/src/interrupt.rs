//! Ctrl-C, and being asked to end by the system (SIGTERM, SIGHUP): the first one asks the work to stop where nothing is lost, the
//! second ends the program.

use crate::INTERRUPTED;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// Listens from now on. Where the system does not let it, Ctrl-C ends the program as ever, and the work can be resumed from
/// what it has stored.
pub(crate) fn listen() {
    let _ = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(INTERRUPTED.into());
        }
    });
}

/// Whether there was a Ctrl-C.
pub(crate) fn is_asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// Set when there was one.
pub(crate) fn flag() -> &'static AtomicBool {
    &ASKED
}
