//! Ctrl-C: the first one asks the training to stop after its step, the second ends the program.

use crate::INTERRUPTED;
use std::sync::atomic::{AtomicU32, Ordering};

static ASKED: AtomicU32 = AtomicU32::new(0);

/// Listens from now on. Where the system does not let it, Ctrl-C ends the program as ever, and the run can be resumed from
/// its last checkpoint.
pub(super) fn listen() {
    let _ = ctrlc::set_handler(|| {
        if ASKED.fetch_add(1, Ordering::SeqCst) > 0 {
            std::process::exit(INTERRUPTED.into());
        }
    });
}

/// Whether there was a Ctrl-C.
pub(super) fn is_asked() -> bool {
    ASKED.load(Ordering::SeqCst) > 0
}
