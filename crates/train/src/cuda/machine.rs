//! What runs kernels: memory, launches and products of matrices.
//!
//! A machine gets addresses and lengths, and cannot check all of them: the methods that read or write memory are unsafe to call.
#![allow(unsafe_code)]

use super::kernels::Kernel;
use crate::TrainError;

/// A place in a machine's memory, in bytes from wherever the machine counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address(pub u64);

impl Address {
    /// A place so many single-precision numbers further on.
    pub fn after(self, numbers: usize) -> Self {
        Self(self.0 + 4 * numbers as u64)
    }
}

/// An argument of a kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Argument {
    /// A pointer.
    Address(Address),
    /// `int`.
    Int(i32),
    /// `u32`.
    Word(u32),
    /// `i64`.
    Long(i64),
    /// `float`.
    Single(f32),
    /// `double`.
    Double(f64),
}

impl Argument {
    /// Its bits; those of four bytes lie in the lower half.
    pub fn word(self) -> u64 {
        match self {
            Self::Address(address) => address.0,
            Self::Int(number) => u64::from(number as u32),
            Self::Word(number) => u64::from(number),
            Self::Long(number) => number as u64,
            Self::Single(number) => u64::from(number.to_bits()),
            Self::Double(number) => number.to_bits(),
        }
    }
}

/// A matrix in row-major order whose rows begin `pitch` numbers apart; in a batch, one matrix begins `stride` numbers after the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matrix {
    /// Where it begins.
    pub at: Address,
    /// Numbers from one row to the next.
    pub pitch: usize,
    /// Numbers from one matrix of a batch to the next.
    pub stride: usize,
    /// Whether its rows are the columns that are meant.
    pub is_transposed: bool,
}

impl Matrix {
    /// A matrix whose rows follow each other.
    pub fn new(at: Address, pitch: usize) -> Self {
        Self { at, pitch, stride: 0, is_transposed: false }
    }

    /// Rows and columns exchanged.
    pub fn transposed(self) -> Self {
        Self { is_transposed: !self.is_transposed, ..self }
    }

    /// One of a batch.
    pub fn every(self, stride: usize) -> Self {
        Self { stride, ..self }
    }
}

/// C = A·B, or C + A·B, in single precision, for every matrix of a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Product {
    /// Rows of A and C.
    pub rows: usize,
    /// Columns of B and C.
    pub columns: usize,
    /// Columns of A and rows of B.
    pub inner: usize,
    /// A.
    pub left: Matrix,
    /// B.
    pub right: Matrix,
    /// C.
    pub into: Matrix,
    /// Whether the product is added to what is there.
    pub add: bool,
    /// Matrices in the batch.
    pub batch: usize,
}

/// A machine that runs the kernels of this module, in the order in which they are launched.
///
/// A launch returns before it is done. What goes wrong on the machine may therefore be told by a later call, at the latest by
/// [`download`](Self::download) or [`wait`](Self::wait).
pub trait Machine: Send {
    /// What it is called.
    fn name(&self) -> String;

    /// Threads of a block, a power of two from 1 to 256.
    fn threads(&self) -> u32;

    /// Bytes that could be allocated now.
    ///
    /// # Errors
    /// [`TrainError::Device`] when the machine fails.
    fn room(&self) -> Result<usize, TrainError>;

    /// Memory of so many bytes, with whatever is in it.
    ///
    /// # Errors
    /// [`TrainError::Memory`] when there is not enough.
    fn allocate(&mut self, bytes: usize) -> Result<Address, TrainError>;

    /// Gives memory back.
    fn free(&mut self, at: Address);

    /// Sets bytes to 0.
    ///
    /// # Errors
    /// [`TrainError::Device`] when the machine fails.
    ///
    /// # Safety
    /// The bytes must lie within allocated memory.
    unsafe fn clear(&mut self, at: Address, bytes: usize) -> Result<(), TrainError>;

    /// Copies bytes to the machine. They may be changed afterwards.
    ///
    /// # Errors
    /// [`TrainError::Device`] when the machine fails.
    ///
    /// # Safety
    /// The bytes must lie within allocated memory.
    unsafe fn upload(&mut self, to: Address, bytes: &[u8]) -> Result<(), TrainError>;

    /// Copies bytes from the machine, after everything that was launched before.
    ///
    /// # Errors
    /// [`TrainError::Device`] when the machine fails, now or in anything launched before.
    ///
    /// # Safety
    /// The bytes must lie within allocated memory.
    unsafe fn download(&mut self, from: Address, into: &mut [u8]) -> Result<(), TrainError>;

    /// Begins to copy a number from the machine, after everything that was launched before.
    ///
    /// # Errors
    /// [`TrainError::Device`] when the machine fails.
    ///
    /// # Safety
    /// The number must lie within allocated memory.
    unsafe fn tell(&mut self, from: Address) -> Result<(), TrainError>;

    /// The number that [`tell`](Self::tell) named last, when it is there. What was launched after that may not be done.
    ///
    /// # Errors
    /// [`TrainError::Device`] when the machine fails, now or in anything launched before.
    fn told(&mut self) -> Result<f32, TrainError>;

    /// Copies numbers within the machine.
    ///
    /// # Errors
    /// [`TrainError::Device`] when the machine fails.
    ///
    /// # Safety
    /// Both stretches must lie within allocated memory and must not overlap.
    unsafe fn copy(&mut self, from: Address, to: Address, bytes: usize) -> Result<(), TrainError>;

    /// Runs a kernel on so many blocks.
    ///
    /// # Errors
    /// [`TrainError::Device`] when the machine fails.
    ///
    /// # Safety
    /// The arguments must be those of the kernel, and what it reads and writes must lie within allocated memory.
    unsafe fn launch(
        &mut self,
        kernel: Kernel,
        blocks: u32,
        arguments: &[Argument],
    ) -> Result<(), TrainError>;

    /// Runs a kernel beside whatever is launched after it: it begins after everything that was launched before.
    ///
    /// # Errors
    /// [`TrainError::Device`] when the machine fails.
    ///
    /// # Safety
    /// As [`launch`](Self::launch); and nothing that is launched before [`join`](Self::join) uses what the kernel writes.
    unsafe fn launch_beside(
        &mut self,
        kernel: Kernel,
        blocks: u32,
        arguments: &[Argument],
    ) -> Result<(), TrainError>;

    /// Makes everything that is launched from now on wait for what runs beside.
    ///
    /// # Errors
    /// [`TrainError::Device`] when the machine fails.
    fn join(&mut self) -> Result<(), TrainError>;

    /// Has everything that is launched from now on go to a stream of another framework, after what was launched before.
    ///
    /// # Errors
    /// [`TrainError::Device`] when the machine fails.
    ///
    /// # Safety
    /// The stream must be one of this machine, and exist until another one is followed or the machine is no more.
    unsafe fn follow(&mut self, stream: u64) -> Result<(), TrainError>;

    /// Multiplies matrices, without rounding inputs to fewer digits.
    ///
    /// # Errors
    /// [`TrainError::Device`] when the machine fails.
    ///
    /// # Safety
    /// The matrices must lie within allocated memory, and C must overlap neither A nor B.
    unsafe fn multiply(&mut self, product: &Product) -> Result<(), TrainError>;

    /// Waits until everything is done.
    ///
    /// # Errors
    /// [`TrainError::Device`] when the machine fails, now or in anything launched before.
    fn wait(&mut self) -> Result<(), TrainError>;
}
