//! Norms, factors and weighted sums of another framework's gradients.
//!
//! The framework's memory is known here by its addresses, which nobody can check: naming them is unsafe.
#![allow(unsafe_code)]

use super::GuestSums;
use crate::TrainError;
use crate::cuda::kernels::Kernel;
use crate::cuda::machine::{Address, Argument};
use crate::cuda::op::{SHARERS, long};
use crate::cuda::run::{Buffer, Run};

/// Words of a job.
const WORDS: usize = 12;

/// The words of a job that say how many columns it has, which tile is its first, and how many rows its result has.
const COLUMNS: usize = 4;
const TILE: usize = 10;
const HEIGHT: usize = 11;

/// The first word of a job that sums rows up.
const ROWS: u64 = 0;

/// Columns and rows of a sum of outer products that a thread computes.
const ACROSS: usize = 2;
const HIGH: usize = 8;

/// One thing to write out, to measure or to sum up, as `kernels/guest.cu` says.
pub type GuestJob = [u64; WORDS];

/// What becomes of the gradients of some rows.
#[derive(Debug, Clone, Copy, Default)]
pub struct GuestJobs<'a> {
    /// Gradients that are written out before anything is measured: of convolutions, of channels, and of places.
    pub written: [&'a [GuestJob]; 3],
    /// What is measured.
    pub measured: &'a [GuestJob],
    /// Rows, and outer products, that are summed up.
    pub sums: &'a [GuestJob],
    /// How many rows there are.
    pub rows: usize,
}

/// Jobs on a machine, and squared norms.
#[derive(Default)]
pub(super) struct Desk {
    jobs: Buffer,
    squares: Buffer,
}

/// Some jobs, as kernels take them.
type Laid = [Argument; 2];

impl Desk {
    /// Gives all memory back.
    pub(super) fn free(&mut self, run: &mut Run) {
        run.free(&mut self.jobs);
        run.free(&mut self.squares);
    }

    /// Lays out jobs, list by list.
    fn lay<const N: usize>(
        &mut self,
        run: &mut Run,
        lists: [&[GuestJob]; N],
    ) -> Result<[Laid; N], TrainError> {
        let words = lists.iter().flat_map(|list| list.as_flattened());
        let bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
        run.reserve(&mut self.jobs, bytes.len().next_power_of_two())?;
        run.upload(&self.jobs, &bytes)?;
        let mut before = 0;
        Ok(lists.map(|list| {
            let at = self.jobs.at().after(2 * WORDS * before);
            before += list.len();
            [Argument::Address(at), Argument::Int(list.len() as i32)]
        }))
    }

    /// Writes gradients out and measures; the squares are those of all rows, job by job.
    fn measure(
        &mut self,
        run: &mut Run,
        jobs: &GuestJobs<'_>,
        (written, measured): ([Laid; 3], Laid),
    ) -> Result<(), TrainError> {
        let kernels = [Kernel::GuestConv, Kernel::GuestChannels, Kernel::GuestSites];
        for ((kernel, list), [table, count]) in kernels.into_iter().zip(jobs.written).zip(written) {
            run.blocks(kernel, list.len() * jobs.rows, &[table, count, long(jobs.rows)])?;
        }
        let pairs = jobs.measured.len() * jobs.rows;
        run.reserve(&mut self.squares, (8 * pairs).next_power_of_two())?;
        let [table, count] = measured;
        run.blocks(Kernel::GuestMeasure, pairs, &[table, count, self.squares(), long(jobs.rows)])
    }

    fn squares(&self) -> Argument {
        Argument::Address(self.squares.at())
    }
}

/// Jobs that sum up, with their first tiles, and how many tiles there are.
struct Sums {
    jobs: Vec<GuestJob>,
    tiles: usize,
}

impl Sums {
    fn of(run: &Run, jobs: &[GuestJob]) -> Self {
        let each = (run.threads() / SHARERS).max(1);
        let (mut own, mut tiles) = (jobs.to_vec(), 0);
        for job in &mut own {
            job[TILE] = tiles as u64;
            let (columns, height) = (job[COLUMNS] as usize, job[HEIGHT] as usize);
            tiles += match job[0] {
                ROWS => columns.div_ceil(each),
                _ => columns.div_ceil(each * ACROSS) * height.div_ceil(SHARERS * HIGH),
            };
        }
        Self { jobs: own, tiles }
    }

    fn add(&self, run: &mut Run, rows: usize, [table, count]: Laid) -> Result<(), TrainError> {
        run.blocks(Kernel::GuestAdd, self.tiles, &[table, count, long(self.tiles), long(rows)])
    }
}

impl GuestSums {
    /// Writes the squared norm of every row in every group, in double precision, row by row. Nothing is summed up.
    ///
    /// # Guarantee
    /// The norms are not smaller than those of the numbers that jobs name, but for the rounding of double precision, if what jobs say is
    /// hidden of products is. Nothing is published.
    ///
    /// # Errors
    /// [`TrainError::Device`] and [`TrainError::Memory`] when the machine fails.
    ///
    /// # Safety
    /// What jobs name and what is written must be the machine's memory until what the stream has to do is done; jobs as the kernels'
    /// source says, and a stream as [`place`](Self::place) asks.
    pub unsafe fn totals(
        &mut self,
        stream: u64,
        jobs: &GuestJobs<'_>,
        groups: usize,
        into: u64,
    ) -> Result<(), TrainError> {
        // SAFETY: the caller's.
        unsafe { self.run.follow(stream)? };
        let [one, two, three] = jobs.written;
        let [one, two, three, measured] = self.desk.lay(&mut self.run, [one, two, three, jobs.measured])?;
        self.desk.measure(&mut self.run, jobs, ([one, two, three], measured))?;
        let [table, count] = measured;
        let into = Argument::Address(Address(into));
        let arguments =
            [table, count, self.desk.squares(), long(jobs.rows), Argument::Int(groups as i32), into];
        self.run.each(Kernel::GuestTotals, jobs.rows * groups, &arguments)
    }

    /// Writes the factor of every row that brings its gradient, `scale` times what is measured, within the bound, and behind them how many
    /// are 0; then sums up.
    ///
    /// # Guarantee
    /// A row's measured norm times its factor is at most the bound, but for the rounding of single precision. Rows whose norm is not
    /// finite have the factor 0, and do not enter the sums, whatever they hold. Nothing is published.
    ///
    /// # Errors
    /// As [`totals`](Self::totals).
    ///
    /// # Safety
    /// As [`totals`](Self::totals).
    pub unsafe fn clip(
        &mut self,
        stream: u64,
        jobs: &GuestJobs<'_>,
        (bound, scale): (f64, f64),
        into: u64,
    ) -> Result<(), TrainError> {
        // SAFETY: the caller's.
        unsafe { self.run.follow(stream)? };
        let own = Sums::of(&self.run, jobs.sums);
        let [one, two, three] = jobs.written;
        let lists = [one, two, three, jobs.measured, &own.jobs];
        let [one, two, three, measured, sums] = self.desk.lay(&mut self.run, lists)?;
        self.desk.measure(&mut self.run, jobs, ([one, two, three], measured))?;
        let (rows, factors) = (jobs.rows, Address(into));
        let rule = [Argument::Double(bound), Argument::Double(scale), Argument::Address(factors)];
        let arguments = [[measured[1], self.desk.squares(), long(rows)].as_slice(), &rule].concat();
        self.run.blocks(Kernel::GuestFactors, 1, &arguments)?;
        // SAFETY: the caller's: the number stands behind the factors.
        unsafe { self.run.tell(factors.after(rows))? };
        own.add(&mut self.run, rows, sums)
    }

    /// How many factors of the last [`clip`](Self::clip) are 0, when that is known.
    ///
    /// # Errors
    /// [`TrainError::Device`] when the machine fails.
    pub fn zeros(&mut self) -> Result<f32, TrainError> {
        self.run.told()
    }

    /// Sums up rows and outer products with the factors that jobs name.
    ///
    /// # Guarantee
    /// Rows of factor 0 do not enter, whatever they hold.
    ///
    /// # Errors
    /// As [`totals`](Self::totals).
    ///
    /// # Safety
    /// As [`totals`](Self::totals).
    pub unsafe fn add(&mut self, stream: u64, jobs: &GuestJobs<'_>) -> Result<(), TrainError> {
        // SAFETY: the caller's.
        unsafe { self.run.follow(stream)? };
        let own = Sums::of(&self.run, jobs.sums);
        let [sums] = self.desk.lay(&mut self.run, [&own.jobs])?;
        own.add(&mut self.run, jobs.rows, sums)
    }
}
