//! Pinned memory of the CPU, which a GPU copies from and to while both go on.
//!
//! The driver is a C library: calling it is unsafe. Its promises are kept here: the context is current, and memory is not used while a copy
//! is under way.
#![allow(unsafe_code)]

use super::driver::failed;
use crate::TrainError;
use cudarc::driver::{result as driver, sys};
use std::ffi::c_void;

/// A piece of pinned memory, and the event after which no copy uses it.
pub(super) struct Piece {
    at: *mut c_void,
    bytes: usize,
    done: sys::CUevent,
}

impl Piece {
    /// A piece of so many bytes. The context must be current, here and in all that follows.
    pub(super) fn new(bytes: usize) -> Result<Self, TrainError> {
        let done = driver::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)
            .map_err(|e| failed("no event", e))?;
        // SAFETY: the context is current.
        let at = unsafe { driver::malloc_host(bytes, 0) }.map_err(|e| failed("no pinned memory", e))?;
        Ok(Self { at, bytes, done })
    }

    /// Begins to copy bytes to the GPU, after what a stream had to do.
    ///
    /// # Safety
    /// The bytes must lie within memory of the GPU.
    pub(super) unsafe fn send(
        &mut self,
        bytes: &[u8],
        to: u64,
        stream: sys::CUstream,
    ) -> Result<(), sys::CUresult> {
        assert!(bytes.len() <= self.bytes);
        // SAFETY: the piece has room, and is not written before the copy that uses it is done.
        unsafe {
            driver::event::synchronize(self.done).map_err(|error| error.0)?;
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.at.cast(), bytes.len());
            let pinned = std::slice::from_raw_parts(self.at.cast::<u8>(), bytes.len());
            driver::memcpy_htod_async(to, pinned, stream).map_err(|error| error.0)?;
            driver::event::record(self.done, stream).map_err(|error| error.0)
        }
    }

    /// Begins to fill the piece from the GPU, after what a stream had to do.
    ///
    /// # Safety
    /// There must be as many bytes in memory of the GPU.
    pub(super) unsafe fn fetch(&mut self, from: u64, stream: sys::CUstream) -> Result<(), sys::CUresult> {
        // SAFETY: as many bytes are there, and none of them is used before the copy is done.
        unsafe {
            let pinned = std::slice::from_raw_parts_mut(self.at.cast::<u8>(), self.bytes);
            driver::memcpy_dtoh_async(pinned, from, stream).map_err(|error| error.0)?;
            driver::event::record(self.done, stream).map_err(|error| error.0)
        }
    }

    /// The first number that was fetched, when it is there.
    pub(super) fn first(&self) -> Result<f32, sys::CUresult> {
        assert!(self.bytes >= size_of::<f32>());
        // SAFETY: the event exists, and after it the memory holds what was fetched.
        unsafe {
            driver::event::synchronize(self.done).map_err(|error| error.0)?;
            Ok(self.at.cast::<f32>().read())
        }
    }

    /// Gives the memory back.
    ///
    /// # Safety
    /// Nothing uses it any more, nor is it used after this.
    pub(super) unsafe fn free(&self) {
        // SAFETY: the caller's. What fails here cannot be helped: the process gives everything back when it ends.
        unsafe {
            let _ = driver::event::destroy(self.done);
            let _ = driver::free_host(self.at);
        }
    }
}
