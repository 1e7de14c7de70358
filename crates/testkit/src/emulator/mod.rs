//! Kernels on the CPU: the source that a GPU compiles, compiled by the system's C++ compiler.
//!
//! Every buffer ends at a page that may not be touched, so that a kernel that leaves its buffers is stopped, and begins as NaN, so that
//! what was never written shows.
//!
//! This module loads a library that it has just compiled and calls it with addresses, which is unsafe: kernels get the arguments that
//! the engine under test gives them, and what they do wrong is what the tests are for.
#![allow(unsafe_code)]

use libloading::{Library, Symbol};
use reticent_train::TrainError;
use reticent_train::cuda::kernels::{Kernel, source};
use reticent_train::cuda::machine::{Address, Argument, Machine, Matrix, Product};
use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

const SHIM: &str = include_str!("shim.h");

/// Threads of a block: few, so that blocks and loops over them are both exercised.
const THREADS: u32 = 8;

/// Bytes that the emulated memory has room for.
const ROOM: usize = 1 << 30;

/// Compiled kernels. They keep their state in statics, so one launch runs at a time.
struct Compiled {
    library: Library,
    turn: Mutex<()>,
}

/// A machine that runs kernels on the CPU.
pub struct Emulator {
    compiled: Arc<Compiled>,
    /// Address, and the mapping around it: where it begins and its length.
    buffers: HashMap<u64, (usize, usize)>,
    used: usize,
    room: usize,
    told: f32,
}

/// The kernels of the engine, compiled once in a process.
fn engine_kernels() -> Arc<Compiled> {
    static COMPILED: OnceLock<Arc<Compiled>> = OnceLock::new();
    Arc::clone(COMPILED.get_or_init(|| Arc::new(compile(&source()))))
}

/// Compiles kernels and loads them.
///
/// # Panics
/// If there is no C++ compiler, or it refuses the source.
fn compile(source: &str) -> Compiled {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary folder: {error}"));
    let (text, library) = (folder.path().join("kernels.cpp"), folder.path().join("kernels.so"));
    std::fs::write(&text, format!("{SHIM}\n{source}")).unwrap_or_else(|error| panic!("{error}"));
    let compiler = std::env::var_os("CXX").map_or_else(|| PathBuf::from("c++"), PathBuf::from);
    let done = Command::new(&compiler)
        .args(["-std=c++14", "-O1", "-U_FORTIFY_SOURCE", "-ffp-contract=off", "-fPIC", "-shared", "-w", "-o"])
        .args([&library, &text])
        .output()
        .unwrap_or_else(|error| {
            panic!("{}: {error}: install a C++ compiler (Debian: g++)", compiler.display())
        });
    assert!(done.status.success(), "the kernels do not compile:\n{}", String::from_utf8_lossy(&done.stderr));
    // SAFETY: the library was just made from our own source.
    let library = unsafe { Library::new(&library) }.unwrap_or_else(|error| panic!("{error}"));
    Compiled { library, turn: Mutex::new(()) }
}

impl Emulator {
    /// A machine with the engine's kernels.
    ///
    /// # Panics
    /// If there is no C++ compiler.
    pub fn new() -> Self {
        Self::of(engine_kernels())
    }

    /// The same with the kernels of another source, for mistakes that suites must find.
    ///
    /// # Panics
    /// If there is no C++ compiler, or it refuses the source.
    pub fn with_source(source: &str) -> Self {
        Self::of(Arc::new(compile(source)))
    }

    fn of(compiled: Arc<Compiled>) -> Self {
        Self { compiled, buffers: HashMap::new(), used: 0, room: ROOM, told: f32::NAN }
    }

    /// The same with less memory.
    pub fn with_room(mut self, bytes: usize) -> Self {
        self.room = bytes;
        self
    }

    fn element(matrix: &Matrix, batch: usize, row: usize, column: usize) -> *mut f32 {
        let (row, column) = if matrix.is_transposed { (column, row) } else { (row, column) };
        let place = batch * matrix.stride + row * matrix.pitch + column;
        matrix.at.after(place).0 as *mut f32
    }
}

impl Default for Emulator {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        for (start, length) in self.buffers.values() {
            // SAFETY: the mapping was made by `allocate`.
            unsafe { libc::munmap(*start as *mut c_void, *length) };
        }
    }
}

impl Machine for Emulator {
    fn name(&self) -> String {
        "the emulator".to_owned()
    }

    fn threads(&self) -> u32 {
        THREADS
    }

    fn room(&self) -> Result<usize, TrainError> {
        Ok(self.room.saturating_sub(self.used))
    }

    fn allocate(&mut self, bytes: usize) -> Result<Address, TrainError> {
        if bytes > self.room.saturating_sub(self.used) {
            return Err(TrainError::Memory(format!("the emulator has no {bytes} bytes left")));
        }
        const PAGE: usize = 4096;
        let padded = bytes.next_multiple_of(16);
        let body = padded.next_multiple_of(PAGE);
        let length = body + PAGE;
        // SAFETY: a fresh mapping; its last page may not be touched.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let start =
                libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            assert!(start != libc::MAP_FAILED, "no memory for the emulator");
            std::ptr::write_bytes(start.cast::<u8>(), 0xff, body);
            assert_eq!(libc::mprotect(start.add(body), PAGE, libc::PROT_NONE), 0);
            let at = start as usize + body - padded;
            self.used += body;
            self.buffers.insert(at as u64, (start as usize, length));
            Ok(Address(at as u64))
        }
    }

    fn free(&mut self, at: Address) {
        if let Some((start, length)) = self.buffers.remove(&at.0) {
            self.used = self.used.saturating_sub(length - 4096);
            // SAFETY: the mapping was made by `allocate`, and is used no more.
            unsafe { libc::munmap(start as *mut c_void, length) };
        }
    }

    unsafe fn clear(&mut self, at: Address, bytes: usize) -> Result<(), TrainError> {
        // SAFETY: the caller's.
        unsafe { std::ptr::write_bytes(at.0 as *mut u8, 0, bytes) };
        Ok(())
    }

    unsafe fn upload(&mut self, to: Address, bytes: &[u8]) -> Result<(), TrainError> {
        // SAFETY: the caller's.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.0 as *mut u8, bytes.len()) };
        Ok(())
    }

    unsafe fn download(&mut self, from: Address, into: &mut [u8]) -> Result<(), TrainError> {
        // SAFETY: the caller's.
        unsafe { std::ptr::copy_nonoverlapping(from.0 as *const u8, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    unsafe fn tell(&mut self, from: Address) -> Result<(), TrainError> {
        // SAFETY: the caller's.
        self.told = unsafe { (from.0 as *const f32).read() };
        Ok(())
    }

    fn told(&mut self) -> Result<f32, TrainError> {
        Ok(self.told)
    }

    unsafe fn copy(&mut self, from: Address, to: Address, bytes: usize) -> Result<(), TrainError> {
        // SAFETY: the caller's.
        unsafe { std::ptr::copy_nonoverlapping(from.0 as *const u8, to.0 as *mut u8, bytes) };
        Ok(())
    }

    unsafe fn launch(
        &mut self,
        kernel: Kernel,
        blocks: u32,
        arguments: &[Argument],
    ) -> Result<(), TrainError> {
        let mut words: Vec<u64> = arguments.iter().map(|argument| argument.word()).collect();
        let mut pointers: Vec<*mut c_void> =
            words.iter_mut().map(|word| std::ptr::from_mut(word).cast()).collect();
        let name = CString::new(kernel.name()).map_err(|error| TrainError::Device(error.to_string()))?;
        let _turn = self.compiled.turn.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the function has this signature; the rest is the caller's.
        let missing = unsafe {
            let launch: Symbol<'_, unsafe extern "C" fn(*const c_char, u32, u32, *mut *mut c_void) -> c_int> =
                self.compiled
                    .library
                    .get(b"emulator_launch")
                    .map_err(|error| TrainError::Device(error.to_string()))?;
            launch(name.as_ptr(), blocks, THREADS, pointers.as_mut_ptr())
        };
        match missing {
            0 => Ok(()),
            _ => Err(TrainError::Device(format!("there is no kernel {}", kernel.name()))),
        }
    }

    unsafe fn launch_beside(
        &mut self,
        kernel: Kernel,
        blocks: u32,
        arguments: &[Argument],
    ) -> Result<(), TrainError> {
        // SAFETY: the caller's.
        unsafe { self.launch(kernel, blocks, arguments) }
    }

    fn join(&mut self) -> Result<(), TrainError> {
        Ok(())
    }

    unsafe fn follow(&mut self, _: u64) -> Result<(), TrainError> {
        Ok(())
    }

    unsafe fn multiply(&mut self, product: &Product) -> Result<(), TrainError> {
        for batch in 0..product.batch {
            for row in 0..product.rows {
                for column in 0..product.columns {
                    let into = Self::element(&product.into, batch, row, column);
                    // SAFETY: the caller's.
                    unsafe {
                        let mut sum = if product.add { *into } else { 0.0 };
                        for i in 0..product.inner {
                            let left = *Self::element(&product.left, batch, row, i);
                            sum += left * *Self::element(&product.right, batch, i, column);
                        }
                        *into = sum;
                    }
                }
            }
        }
        Ok(())
    }

    fn wait(&mut self) -> Result<(), TrainError> {
        Ok(())
    }
}
