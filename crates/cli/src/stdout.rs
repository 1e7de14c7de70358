//! Whether there is a standard output at all.
//!
//! A process that is started with a closed standard output (`>&-` in a shell) would write its answer to nobody: before
//! `main`, the standard library opens `/dev/null` in its place, and every write succeeds. After that nobody can tell it
//! from an output that was discarded on purpose. So the question is asked earlier, when the program is loaded.
#![allow(unsafe_code)] // A place in the list of functions to call at the start has no safe form.

use std::sync::atomic::{AtomicBool, Ordering};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether standard output was closed when the process started. Known on Linux only.
pub(crate) fn was_closed() -> bool {
    WAS_CLOSED.load(Ordering::Relaxed)
}

#[cfg(target_os = "linux")]
mod at_start {
    use std::fs::symlink_metadata;
    use std::sync::atomic::Ordering;

    // SAFETY: the section is a list of functions of this type; this one reads two names under /proc, keeps the answer in an
    // atomic, and neither panics nor uses anything that `main` has to prepare.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static AT_START: extern "C" fn() = look;

    extern "C" fn look() {
        // Without /proc nothing is known, and nothing is said.
        let is_known = symlink_metadata("/proc/self/fd").is_ok();
        let closed = is_known && symlink_metadata("/proc/self/fd/1").is_err();
        super::WAS_CLOSED.store(closed, Ordering::Relaxed);
    }
}
