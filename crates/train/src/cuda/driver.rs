//! An NVIDIA GPU.
//!
//! The driver, the compiler of kernels and the library for products are C libraries: calling them is unsafe. Their promises are kept
//! here: one context, one stream, one thread at a time (`&mut self`), addresses that [`allocate`](Machine::allocate) has given, and
//! arguments that live until the call returns.
#![allow(unsafe_code)]

use super::image::image;
use super::kernels::Kernel;
use super::library::Library;
use super::machine::{Address, Argument, Machine, Product};
use super::pinned::Piece;
use crate::TrainError;
use cudarc::cublas::{result as blas, sys as blas_sys};
use cudarc::driver::{result as driver, sys};
use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::thread::ThreadId;

/// Threads of a block.
const THREADS: u32 = 256;

/// Bytes of an upload that goes by way of pinned memory, at most.
const PINNED: usize = 1 << 20;

/// Pinned pieces: so many uploads may be under way at once.
const PIECES: usize = 8;

/// A GPU with everything loaded.
pub(super) struct Gpu {
    name: String,
    device: sys::CUdevice,
    context: sys::CUcontext,
    /// Where everything is launched: a stream of its own, or one of another framework that it follows.
    stream: sys::CUstream,
    own: sys::CUstream,
    /// Whether it follows another framework, which may make other contexts current on any thread.
    is_guest: bool,
    /// Where noise is drawn while sums are made, and the events that put the two in order.
    beside: sys::CUstream,
    before: sys::CUevent,
    after: sys::CUevent,
    module: sys::CUmodule,
    kernels: HashMap<Kernel, sys::CUfunction>,
    /// Absent beside another framework.
    products: Option<blas_sys::cublasHandle_t>,
    pieces: Vec<Piece>,
    next: usize,
    /// Where a number comes to.
    told: Piece,
    /// The thread on which the context is current.
    thread: Cell<ThreadId>,
}

// SAFETY: the handles may be used from any thread that has made the context current, one at a time, which `&mut self` and `current`
// see to.
unsafe impl Send for Gpu {}

pub(super) fn failed(what: &str, error: impl std::fmt::Debug) -> TrainError {
    TrainError::Device(format!("{what}: {error:?}"))
}

impl Gpu {
    /// The first GPU.
    ///
    /// # Errors
    /// [`TrainError::Device`] when a library is missing, there is no GPU, or kernels cannot be compiled.
    pub(super) fn open() -> Result<Box<dyn Machine>, TrainError> {
        Library::Driver.load()?;
        Library::Products.load()?;
        let mut gpu = Self::of(0)?;
        let products = blas::create_handle().map_err(|e| failed("no library for products", e))?;
        gpu.products = Some(products);
        // SAFETY: handle and stream exist.
        unsafe {
            blas::set_stream(products, gpu.stream.cast()).map_err(|e| failed("no stream for products", e))?;
        }
        gpu.check_products()?;
        Ok(Box::new(gpu))
    }

    /// The GPU with this number, from 0 on, beside another framework: without products, and with the context of every thread left as it
    /// is.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(super) fn visit(number: usize) -> Result<Box<dyn Machine>, TrainError> {
        Library::Driver.load()?;
        driver::init().map_err(|error| failed("no NVIDIA GPU was found", error))?;
        let _before = Before::now();
        let mut gpu = Self::of(number)?;
        gpu.is_guest = true;
        Ok(Box::new(gpu))
    }

    fn of(number: usize) -> Result<Self, TrainError> {
        let none = |error| failed("no NVIDIA GPU was found; train with --device cpu", error);
        driver::init().map_err(none)?;
        let count = driver::device::get_count().map_err(none)?;
        if count == 0 {
            let why = "no NVIDIA GPU was found; train with --device cpu";
            return Err(TrainError::Device(why.to_owned()));
        }
        let Some(ordinal) = i32::try_from(number).ok().filter(|ordinal| *ordinal < count) else {
            return Err(TrainError::Device(format!(
                "there is no GPU {number}: there are {count}, from 0 on"
            )));
        };
        let device = driver::device::get(ordinal).map_err(none)?;
        let name = driver::device::get_name(device).map_err(none)?;
        // SAFETY: the device exists; the context is current from here on.
        let context = unsafe {
            let context = driver::primary_ctx::retain(device).map_err(|e| failed("no context", e))?;
            driver::ctx::set_current(context).map_err(|e| failed("no context", e))?;
            context
        };
        // What draws noise gives way to what makes sums.
        let (least, most) = driver::stream::get_priority_range().map_err(|e| failed("no stream", e))?;
        let stream = |priority| {
            driver::stream::create_with_priority(driver::stream::StreamKind::NonBlocking, priority)
                .map_err(|e| failed("no stream", e))
        };
        let (stream, beside) = (stream(most)?, stream(least)?);
        let event = || {
            driver::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)
                .map_err(|e| failed("no event", e))
        };
        let (before, after) = (event()?, event()?);
        let image = image(device)?;
        // SAFETY: the image is a compiled module that ends in a zero byte or has its own length, and lives until it is loaded.
        let module = unsafe { driver::module::load_data(image.as_ptr().cast()) }
            .map_err(|error| failed("the kernels could not be loaded", error))?;
        let mut kernels = HashMap::new();
        for kernel in Kernel::ALL {
            let name = CString::new(kernel.name()).map_err(|e| failed("a kernel's name", e))?;
            // SAFETY: the module is loaded.
            let function = unsafe { driver::module::get_function(module, name) }
                .map_err(|error| failed(kernel.name(), error))?;
            kernels.insert(*kernel, function);
        }
        let pieces = (0..PIECES).map(|_| Piece::new(PINNED)).collect::<Result<_, _>>()?;
        Ok(Self {
            name,
            device,
            context,
            stream,
            own: stream,
            is_guest: false,
            beside,
            before,
            after,
            module,
            kernels,
            products: None,
            pieces,
            next: 0,
            told: Piece::new(size_of::<f32>())?,
            thread: Cell::new(std::thread::current().id()),
        })
    }

    /// Refuses a library that multiplies with fewer digits than single precision has, as settings of the environment can ask for: the
    /// margin for rounding would not hold.
    fn check_products(&mut self) -> Result<(), TrainError> {
        // The identity times numbers that need all digits is those numbers.
        const SIDE: usize = 64;
        let digits = |i: usize| 1.0 + i as f32 * f32::EPSILON;
        let identity = (0..SIDE * SIDE).map(|i| if i % (SIDE + 1) == 0 { 1.0f32 } else { 0.0 });
        let bytes = |numbers: &mut dyn Iterator<Item = f32>| -> Vec<u8> {
            numbers.flat_map(f32::to_le_bytes).collect()
        };
        let (left, right) = (bytes(&mut { identity }), bytes(&mut (0..SIDE * SIDE).map(digits)));
        let mut places = [Address(0); 3];
        for place in &mut places {
            *place = self.allocate(right.len())?;
        }
        let [a, b, c] = places.map(|at| super::machine::Matrix::new(at, SIDE));
        let mut found = vec![0; right.len()];
        // SAFETY: all matrices have been allocated.
        unsafe {
            self.upload(a.at, &left)?;
            self.upload(b.at, &right)?;
            self.multiply(&Product {
                rows: SIDE,
                columns: SIDE,
                inner: SIDE,
                left: a,
                right: b,
                into: c,
                add: false,
                batch: 1,
            })?;
            self.download(c.at, &mut found)?;
        }
        places.into_iter().for_each(|at| self.free(at));
        if found == right {
            return Ok(());
        }
        Err(TrainError::Device(
            "the GPU multiplies with fewer digits than single precision has, and the guarantee rests on those: unset \
             NVIDIA_TF32_OVERRIDE and CUBLAS_EMULATE_SINGLE_PRECISION"
                .to_owned(),
        ))
    }

    /// Runs a kernel on a stream.
    ///
    /// # Safety
    /// As [`Machine::launch`].
    unsafe fn launch_on(
        &self,
        stream: sys::CUstream,
        kernel: Kernel,
        blocks: u32,
        arguments: &[Argument],
    ) -> Result<(), TrainError> {
        let _here = self.current()?;
        let mut words: [u64; 32] = [0; 32];
        let mut pointers: [*mut c_void; 32] = [std::ptr::null_mut(); 32];
        if arguments.len() > words.len() {
            return Err(TrainError::Device(format!("{}: too many arguments", kernel.name())));
        }
        for ((word, pointer), argument) in words.iter_mut().zip(&mut pointers).zip(arguments) {
            *word = argument.word();
            *pointer = std::ptr::from_mut(word).cast();
        }
        let Some(function) = self.kernels.get(&kernel) else {
            return Err(TrainError::Device(format!("{} is not loaded", kernel.name())));
        };
        // SAFETY: the caller's; the arguments live until the call returns, which copies them.
        unsafe {
            driver::launch_kernel(
                *function,
                (blocks, 1, 1),
                (THREADS, 1, 1),
                0,
                stream,
                &mut pointers[..arguments.len()],
            )
        }
        .map_err(|error| failed(kernel.name(), error))
    }

    /// Makes the context current on this thread, if it may not be; beside another framework, until the call ends.
    fn current(&self) -> Result<Before, TrainError> {
        let here = std::thread::current().id();
        if self.thread.replace(here) == here && !self.is_guest {
            return Ok(Before(None));
        }
        let before = if self.is_guest { Before::now() } else { Before(None) };
        // SAFETY: the context is retained.
        unsafe { driver::ctx::set_current(self.context) }
            .map_err(|error| failed("the GPU was lost", error))?;
        Ok(before)
    }
}

/// The context that was current on this thread and is so again in the end; none where that does not matter.
struct Before(Option<sys::CUcontext>);

impl Before {
    fn now() -> Self {
        Self(driver::ctx::get_current().ok().map(|own| own.unwrap_or(std::ptr::null_mut())))
    }
}

impl Drop for Before {
    fn drop(&mut self) {
        if let Some(context) = self.0 {
            // SAFETY: it was current; what fails here is told by the next call of the other framework.
            let _ = unsafe { driver::ctx::set_current(context) };
        }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // What fails here cannot be helped: the process gives everything back when it ends.
        let _before = if self.is_guest { Before::now() } else { Before(None) };
        // SAFETY: everything was created here and is used no more.
        unsafe {
            let _ = driver::ctx::set_current(self.context);
            // A stream of another framework may be gone, and everything of the context is waited for.
            let _ = driver::ctx::synchronize();
            if let Some(products) = self.products {
                let _ = blas::destroy_handle(products);
            }
            self.pieces.iter().chain([&self.told]).for_each(|piece| piece.free());
            let _ = driver::module::unload(self.module);
            for event in [self.before, self.after] {
                let _ = driver::event::destroy(event);
            }
            let _ = driver::stream::destroy(self.beside);
            let _ = driver::stream::destroy(self.own);
            let _ = driver::primary_ctx::release(self.device);
        }
    }
}

impl Machine for Gpu {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn threads(&self) -> u32 {
        THREADS
    }

    fn room(&self) -> Result<usize, TrainError> {
        let _here = self.current()?;
        let (free, _) = driver::mem_get_info().map_err(|error| failed("the GPU's memory", error))?;
        Ok(free)
    }

    fn allocate(&mut self, bytes: usize) -> Result<Address, TrainError> {
        let _here = self.current()?;
        // SAFETY: the context is current.
        match unsafe { driver::malloc_sync(bytes) } {
            Ok(at) => Ok(Address(at)),
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                let mebibytes = bytes as f64 / f64::from(1 << 20);
                Err(TrainError::Memory(format!("{} has no {mebibytes:.0} MiB left", self.name)))
            }
            Err(error) => Err(failed("the GPU gave no memory", error)),
        }
    }

    fn free(&mut self, at: Address) {
        if let Ok(_here) = self.current() {
            // SAFETY: the address was allocated, and nothing that is under way uses it: freeing waits.
            let _ = unsafe { driver::free_sync(at.0) };
        }
    }

    unsafe fn clear(&mut self, at: Address, bytes: usize) -> Result<(), TrainError> {
        let _here = self.current()?;
        // SAFETY: the caller's.
        unsafe { driver::memset_d8_async(at.0, 0, bytes, self.stream) }
            .map_err(|error| failed("memory was not cleared", error))
    }

    unsafe fn upload(&mut self, to: Address, bytes: &[u8]) -> Result<(), TrainError> {
        let _here = self.current()?;
        let lost = |error| failed("bytes did not reach the GPU", error);
        if bytes.len() > PINNED {
            // SAFETY: the caller's; the copy waits for what was launched before and is done when it returns.
            return unsafe {
                driver::memcpy_htod_async(to.0, bytes, self.stream).map_err(lost)?;
                driver::stream::synchronize(self.stream).map_err(lost)
            };
        }
        let piece = &mut self.pieces[self.next];
        self.next = (self.next + 1) % PIECES;
        // SAFETY: the caller's.
        unsafe { piece.send(bytes, to.0, self.stream) }
            .map_err(|error| failed("bytes did not reach the GPU", error))
    }

    unsafe fn tell(&mut self, from: Address) -> Result<(), TrainError> {
        let _here = self.current()?;
        // SAFETY: the caller's.
        unsafe { self.told.fetch(from.0, self.stream) }
            .map_err(|error| failed("a number did not come back from the GPU", error))
    }

    fn told(&mut self) -> Result<f32, TrainError> {
        let _here = self.current()?;
        self.told.first().map_err(|error| failed("a number did not come back from the GPU", error))
    }

    unsafe fn download(&mut self, from: Address, into: &mut [u8]) -> Result<(), TrainError> {
        let _here = self.current()?;
        let lost = |error| failed("bytes did not come back from the GPU", error);
        // SAFETY: the caller's; the copy is done when the stream is.
        unsafe {
            driver::memcpy_dtoh_async(into, from.0, self.stream).map_err(lost)?;
            driver::stream::synchronize(self.stream).map_err(lost)
        }
    }

    unsafe fn copy(&mut self, from: Address, to: Address, bytes: usize) -> Result<(), TrainError> {
        let _here = self.current()?;
        // SAFETY: the caller's.
        unsafe { driver::memcpy_dtod_async(to.0, from.0, bytes, self.stream) }
            .map_err(|error| failed("memory was not copied", error))
    }

    unsafe fn launch(
        &mut self,
        kernel: Kernel,
        blocks: u32,
        arguments: &[Argument],
    ) -> Result<(), TrainError> {
        // SAFETY: the caller's.
        unsafe { self.launch_on(self.stream, kernel, blocks, arguments) }
    }

    unsafe fn launch_beside(
        &mut self,
        kernel: Kernel,
        blocks: u32,
        arguments: &[Argument],
    ) -> Result<(), TrainError> {
        let _here = self.current()?;
        let lost = |error| failed("the GPU's order of work", error);
        // SAFETY: streams and events exist; the rest is the caller's.
        unsafe {
            driver::event::record(self.before, self.stream).map_err(lost)?;
            let usual = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
            driver::stream::wait_event(self.beside, self.before, usual).map_err(lost)?;
            self.launch_on(self.beside, kernel, blocks, arguments)?;
            driver::event::record(self.after, self.beside).map_err(lost)
        }
    }

    fn join(&mut self) -> Result<(), TrainError> {
        let _here = self.current()?;
        let usual = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: stream and event exist. An event that was never recorded counts as past.
        unsafe { driver::stream::wait_event(self.stream, self.after, usual) }
            .map_err(|error| failed("the GPU's order of work", error))
    }

    unsafe fn follow(&mut self, stream: u64) -> Result<(), TrainError> {
        let stream = stream as sys::CUstream;
        if stream == self.stream {
            return Ok(());
        }
        let _here = self.current()?;
        // What was followed before may be gone: everything of the context is waited for.
        driver::ctx::synchronize().map_err(|error| failed("the GPU's order of work", error))?;
        self.stream = stream;
        Ok(())
    }

    unsafe fn multiply(&mut self, product: &Product) -> Result<(), TrainError> {
        let _here = self.current()?;
        let Some(products) = self.products else {
            return Err(TrainError::Device("products are the other framework's".to_owned()));
        };
        let Product { rows, columns, inner, left, right, into, add, batch } = *product;
        let turned = |is_transposed: bool| match is_transposed {
            true => blas_sys::cublasOperation_t::CUBLAS_OP_T,
            false => blas_sys::cublasOperation_t::CUBLAS_OP_N,
        };
        let (one, kept) = (1.0f32, if add { 1.0f32 } else { 0.0 });
        // The library counts by columns: it computes the transposed product of transposed matrices.
        let result = if batch == 1 {
            // SAFETY: the caller's.
            unsafe {
                blas::sgemm(
                    products,
                    turned(right.is_transposed),
                    turned(left.is_transposed),
                    columns as i32,
                    rows as i32,
                    inner as i32,
                    &one,
                    right.at.0 as *const f32,
                    right.pitch as i32,
                    left.at.0 as *const f32,
                    left.pitch as i32,
                    &kept,
                    into.at.0 as *mut f32,
                    into.pitch as i32,
                )
            }
        } else {
            // SAFETY: the caller's.
            unsafe {
                blas::sgemm_strided_batched(
                    products,
                    turned(right.is_transposed),
                    turned(left.is_transposed),
                    columns as i32,
                    rows as i32,
                    inner as i32,
                    &one,
                    right.at.0 as *const f32,
                    right.pitch as i32,
                    right.stride as i64,
                    left.at.0 as *const f32,
                    left.pitch as i32,
                    left.stride as i64,
                    &kept,
                    into.at.0 as *mut f32,
                    into.pitch as i32,
                    into.stride as i64,
                    batch as i32,
                )
            }
        };
        result.map_err(|error| failed("a product", error))
    }

    fn wait(&mut self) -> Result<(), TrainError> {
        let _here = self.current()?;
        // SAFETY: the stream exists.
        unsafe { driver::stream::synchronize(self.stream) }.map_err(|error| failed("the GPU stopped", error))
    }
}
