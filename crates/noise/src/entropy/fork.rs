//! Tells whether the process has forked.
//!
//! The kernel is asked to hand a forked child a zeroed copy of one page (`MADV_WIPEONFORK`), so a
//! marker written there vanishes in every child however it was made; a `pthread_atfork` handler
//! covers systems without that. `unsafe` is needed for the three system calls and for reading the
//! page through its raw address; nothing else in the crate uses it.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

static GENERATION: AtomicU64 = AtomicU64::new(1);
static PAGE: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());
/// Set once `pthread_atfork` is registered and the page was tried. No lock: a fork in the middle of the
/// set-up leaves nothing to wait for.
static READY: AtomicBool = AtomicBool::new(false);

/// A number that differs between a process and its forked children.
#[inline]
pub(crate) fn generation() -> u64 {
    let page = PAGE.load(Ordering::Acquire);
    if page.is_null() {
        if !READY.load(Ordering::Acquire) {
            set_up();
        }
    } else {
        // SAFETY: a non-null PAGE points to a mapped, aligned page that is never unmapped.
        let marker = unsafe { &*page };
        if marker.load(Ordering::Acquire) == 0 {
            GENERATION.fetch_add(1, Ordering::SeqCst);
            marker.store(1, Ordering::SeqCst);
        }
    }
    GENERATION.load(Ordering::Relaxed)
}

#[cfg(unix)]
extern "C" fn after_fork_in_child() {
    GENERATION.fetch_add(1, Ordering::SeqCst);
}

fn watch_forks() {
    #[cfg(unix)]
    {
        // SAFETY: the handler only touches an atomic and lives for the whole program.
        unsafe { libc::pthread_atfork(None, None, Some(after_fork_in_child)) };
    }
    #[cfg(target_os = "linux")]
    {
        let size = 4096;
        // SAFETY: an anonymous private mapping with no address hint touches no existing memory.
        let page = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if page == libc::MAP_FAILED {
            return;
        }
        // SAFETY: the range is the mapping made above.
        if unsafe { libc::madvise(page, size, libc::MADV_WIPEONFORK) } != 0 {
            return;
        }
        let page = page.cast::<AtomicU64>();
        // SAFETY: the page is mapped, writable and aligned for u64.
        unsafe { (*page).store(1, Ordering::SeqCst) };
        PAGE.store(page, Ordering::Release);
    }
}

/// Runs more than once only when threads race to it, which costs a page and an extra count each.
#[cold]
fn set_up() {
    watch_forks();
    READY.store(true, Ordering::Release);
}
