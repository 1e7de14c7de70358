//! CPU time of the whole process, all threads together.
//!
//! `unsafe` is needed for the one system call that the standard library does not offer.
#![allow(unsafe_code)]

use std::time::Duration;

/// CPU time used so far; zero where the system cannot tell.
pub(crate) fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to `time` alone, which is valid for writing.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    if status != 0 {
        return Duration::ZERO;
    }
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}
