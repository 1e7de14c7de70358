//! Buffers on a machine, and kernels and products over them.
//!
//! This module calls a machine's unsafe methods. What they ask for holds: addresses come from [`Buffer`]s, whose lengths are chosen by
//! the engine for the sizes that it then gives to kernels and products; a kernel gets the arguments that its declaration in the source
//! lists. The suites run every kernel with every kind of layer, in an emulator whose memory is checked.
#![allow(unsafe_code)]

use super::kernels::Kernel;
use super::machine::{Address, Argument, Machine, Matrix, Product};
use crate::TrainError;

/// Blocks of a launch, at most: elements beyond are taken by the same threads.
const MOST_BLOCKS: usize = 1 << 16;

/// Memory of a machine that grows when it must.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    at: Option<Address>,
    bytes: usize,
}

impl Buffer {
    /// Where it begins. An empty buffer has no place: nothing is read or written there.
    pub(super) fn at(&self) -> Address {
        self.at.unwrap_or(Address(0))
    }
}

/// A machine with what the engine asks of it.
pub(super) struct Run {
    machine: Box<dyn Machine>,
}

impl Run {
    pub(super) fn new(machine: Box<dyn Machine>) -> Self {
        Self { machine }
    }

    pub(super) fn name(&self) -> String {
        self.machine.name()
    }

    /// Threads of a block.
    pub(super) fn threads(&self) -> usize {
        self.machine.threads() as usize
    }

    pub(super) fn room(&self) -> Result<usize, TrainError> {
        self.machine.room()
    }

    pub(super) fn wait(&mut self) -> Result<(), TrainError> {
        self.machine.wait()
    }

    /// Has everything that is launched from now on go to a stream of another framework.
    ///
    /// # Safety
    /// As [`Machine::follow`].
    pub(super) unsafe fn follow(&mut self, stream: u64) -> Result<(), TrainError> {
        // SAFETY: the caller's.
        unsafe { self.machine.follow(stream) }
    }

    /// Begins to copy a number from the machine.
    ///
    /// # Safety
    /// As [`Machine::tell`].
    pub(super) unsafe fn tell(&mut self, from: Address) -> Result<(), TrainError> {
        // SAFETY: the caller's.
        unsafe { self.machine.tell(from) }
    }

    /// The number that was named last.
    pub(super) fn told(&mut self) -> Result<f32, TrainError> {
        self.machine.told()
    }

    /// Makes room for so many bytes; what the buffer held may be lost. Whether it has moved.
    pub(super) fn reserve(&mut self, buffer: &mut Buffer, bytes: usize) -> Result<bool, TrainError> {
        if buffer.bytes >= bytes {
            return Ok(false);
        }
        if let Some(at) = buffer.at.take() {
            buffer.bytes = 0;
            self.machine.wait()?;
            self.machine.free(at);
        }
        buffer.at = Some(self.machine.allocate(bytes)?);
        buffer.bytes = bytes;
        Ok(true)
    }

    /// A buffer of so many numbers, all 0.
    pub(super) fn zeros(&mut self, numbers: usize) -> Result<Buffer, TrainError> {
        let mut buffer = Buffer::default();
        self.reserve(&mut buffer, (4 * numbers).max(4))?;
        self.clear(buffer.at(), numbers)?;
        Ok(buffer)
    }

    /// A buffer with these bytes.
    pub(super) fn holding(&mut self, bytes: &[u8]) -> Result<Buffer, TrainError> {
        let mut buffer = Buffer::default();
        self.reserve(&mut buffer, bytes.len().max(4))?;
        self.upload(&buffer, bytes)?;
        Ok(buffer)
    }

    pub(super) fn free(&mut self, buffer: &mut Buffer) {
        if let Some(at) = buffer.at.take() {
            self.machine.free(at);
        }
        buffer.bytes = 0;
    }

    pub(super) fn upload(&mut self, buffer: &Buffer, bytes: &[u8]) -> Result<(), TrainError> {
        if bytes.is_empty() {
            return Ok(());
        }
        if bytes.len() > buffer.bytes {
            return Err(TrainError::Device(format!(
                "{} bytes for a buffer of {}",
                bytes.len(),
                buffer.bytes
            )));
        }
        // SAFETY: the buffer is as long as the bytes.
        unsafe { self.machine.upload(buffer.at(), bytes) }
    }

    pub(super) fn upload_floats(&mut self, buffer: &Buffer, numbers: &[f32]) -> Result<(), TrainError> {
        self.upload(buffer, &bytes_of(numbers))
    }

    pub(super) fn floats(&mut self, buffer: &Buffer, count: usize) -> Result<Vec<f32>, TrainError> {
        let mut bytes = vec![0; 4 * count];
        if count > 0 {
            if bytes.len() > buffer.bytes {
                return Err(TrainError::Device(format!(
                    "{count} numbers of a buffer of {} bytes",
                    buffer.bytes
                )));
            }
            // SAFETY: the buffer is as long as the bytes.
            unsafe { self.machine.download(buffer.at(), &mut bytes)? };
        }
        Ok(bytes.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect())
    }

    pub(super) fn clear(&mut self, at: Address, numbers: usize) -> Result<(), TrainError> {
        if numbers == 0 {
            return Ok(());
        }
        // SAFETY: see the module.
        unsafe { self.machine.clear(at, 4 * numbers) }
    }

    pub(super) fn copy(&mut self, from: Address, to: Address, numbers: usize) -> Result<(), TrainError> {
        if numbers == 0 {
            return Ok(());
        }
        // SAFETY: see the module.
        unsafe { self.machine.copy(from, to, 4 * numbers) }
    }

    /// Runs a kernel that takes `count` elements, one per thread.
    pub(super) fn each(
        &mut self,
        kernel: Kernel,
        count: usize,
        arguments: &[Argument],
    ) -> Result<(), TrainError> {
        self.blocks(kernel, count.div_ceil(self.threads()), arguments)
    }

    /// Runs a kernel on so many blocks.
    pub(super) fn blocks(
        &mut self,
        kernel: Kernel,
        blocks: usize,
        arguments: &[Argument],
    ) -> Result<(), TrainError> {
        if blocks == 0 {
            return Ok(());
        }
        // SAFETY: see the module.
        unsafe { self.machine.launch(kernel, blocks.min(MOST_BLOCKS) as u32, arguments) }
    }

    /// As [`each`](Self::each), beside what is launched until [`join`](Self::join): nothing of that may use what the kernel writes.
    pub(super) fn each_beside(
        &mut self,
        kernel: Kernel,
        count: usize,
        arguments: &[Argument],
    ) -> Result<(), TrainError> {
        let blocks = count.div_ceil(self.threads()).min(MOST_BLOCKS);
        if blocks == 0 {
            return Ok(());
        }
        // SAFETY: see the module.
        unsafe { self.machine.launch_beside(kernel, blocks as u32, arguments) }
    }

    /// Waits, on the machine, for what runs beside.
    pub(super) fn join(&mut self) -> Result<(), TrainError> {
        self.machine.join()
    }

    /// Multiplies matrices.
    pub(super) fn multiply(&mut self, product: Product) -> Result<(), TrainError> {
        if product.rows * product.columns * product.batch == 0 {
            return Ok(());
        }
        let sizes = [product.rows, product.columns, product.inner, product.batch];
        let pitches = [product.left.pitch, product.right.pitch, product.into.pitch];
        if sizes.iter().chain(&pitches).any(|size| *size > i32::MAX as usize) {
            let why =
                "a matrix is too large for the GPU's library: take a smaller --chunk or a smaller layer";
            return Err(TrainError::Device(why.to_owned()));
        }
        if product.inner == 0 {
            return Err(TrainError::Device("a product of empty rows".to_owned()));
        }
        // SAFETY: see the module.
        unsafe { self.machine.multiply(&product) }
    }

    /// into += matrixᵀ·weights, for a matrix of `rows` × `columns` numbers and a weight per row.
    pub(super) fn add_weighted_rows(
        &mut self,
        (rows, columns): (usize, usize),
        matrix: Matrix,
        weights: Matrix,
        into: Address,
    ) -> Result<(), TrainError> {
        self.multiply(Product {
            rows: 1,
            columns,
            inner: rows,
            left: weights,
            right: matrix,
            into: Matrix::new(into, columns),
            add: true,
            batch: 1,
        })
    }
}

/// Numbers as bytes.
pub(super) fn bytes_of(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}
