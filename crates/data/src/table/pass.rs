//! A pass over a table on several threads.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;

use super::{BATCH_ROWS, BatchReader, CellBatch, Table};
use crate::error::DataError;

/// A table below this size is read on one thread.
const WORTH_THREADS: u64 = 1 << 20;

/// How the threads of a pass summarise batches: each has a summary of its own.
pub struct BatchSummary<'a, S, E> {
    /// An empty summary.
    pub start: &'a (dyn Fn() -> Result<S, E> + Sync),
    /// Adds a batch.
    pub add: &'a (dyn Fn(&mut S, &CellBatch<'_>) -> Result<(), E> + Sync),
}

impl dyn Table + '_ {
    /// Streams the chosen columns on up to `threads` threads, of which the caller's is one, and returns the number of rows and the
    /// threads' summaries, at least one. Every batch is added to exactly one summary, in no fixed order.
    ///
    /// The parts of a table ([`Table::parts`]) are read at the same time; a table of one part is read by one thread after the other and
    /// summarised by all. `on_progress` is called on the caller's thread, as in [`scan_batches`](#method.scan_batches).
    ///
    /// # Errors
    /// As [`scan_batches`](#method.scan_batches), and what the summaries return. One error ends the pass; if there are several, any
    /// of them is returned.
    pub fn summarize_batches<S: Send, E: From<DataError> + Send>(
        &self,
        columns: &[&str],
        threads: usize,
        on_progress: &mut dyn FnMut(u64),
        summary: &BatchSummary<'_, S, E>,
    ) -> Result<(u64, Vec<S>), E> {
        let (projection, places) = self.projection(columns)?;
        let parts = self.parts();
        let threads = if self.size_bytes() < WORTH_THREADS { 1 } else { threads.max(1) };
        if threads == 1 {
            let mut own = (summary.start)()?;
            let rows = self.scan_batches(columns, on_progress, &mut |batch| (summary.add)(&mut own, batch))?;
            return Ok((rows, vec![own]));
        }
        let work = match parts {
            0 | 1 => Work::Shared(Mutex::new((self.batches(&projection)?, 0))),
            _ => Work::Parts { projection: &projection, next: AtomicUsize::new(0), parts },
        };
        let pass = Pass {
            table: self,
            places: &places,
            work,
            summary,
            rows: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        };
        let others = if parts > 1 { threads.min(parts) } else { threads } - 1;
        let summaries = std::thread::scope(|scope| {
            let others: Vec<_> = (0..others).map(|_| scope.spawn(|| pass.run(&mut |_| {}))).collect();
            let mut summaries = vec![pass.run(on_progress)];
            for other in others {
                summaries.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            summaries.into_iter().collect::<Result<Vec<S>, E>>()
        })?;
        on_progress(self.size_bytes());
        Ok((pass.rows.into_inner(), summaries))
    }
}

/// Where batches come from.
enum Work<'a> {
    /// Parts that no thread has begun yet.
    Parts { projection: &'a [usize], next: AtomicUsize, parts: usize },
    /// One reader, and the rows it has read.
    Shared(Mutex<(Box<dyn BatchReader + 'a>, u64)>),
}

struct Pass<'a, S, E> {
    table: &'a (dyn Table + 'a),
    places: &'a [usize],
    work: Work<'a>,
    summary: &'a BatchSummary<'a, S, E>,
    rows: AtomicU64,
    bytes: AtomicU64,
    /// Set by an error: the other threads stop at their next batch.
    is_over: AtomicBool,
}

impl<S, E: From<DataError>> Pass<'_, S, E> {
    /// The work of one thread.
    fn run(&self, on_progress: &mut dyn FnMut(u64)) -> Result<S, E> {
        let outcome = (self.summary.start)().and_then(|mut own| {
            match &self.work {
                Work::Parts { projection, next, parts } => loop {
                    let part = next.fetch_add(1, Ordering::Relaxed);
                    if part >= *parts || self.is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    let mut reader = self.table.part(projection, part)?;
                    let mut first_row = reader.rows_before() + 1;
                    let mut reported = 0;
                    while let Some(batch) = self.unless_over(|| reader.next_batch())? {
                        self.add(&mut own, &batch, first_row)?;
                        first_row += batch.num_rows() as u64;
                        let read = reader.bytes_read();
                        self.read(read.saturating_sub(reported), on_progress);
                        reported = read;
                    }
                },
                Work::Shared(shared) => {
                    while let Some((batch, first_row, read)) = self.unless_over(|| next(&mut lock(shared)))? {
                        self.add(&mut own, &batch, first_row)?;
                        self.read(read, on_progress);
                    }
                }
            }
            Ok(own)
        });
        if outcome.is_err() {
            self.is_over.store(true, Ordering::Relaxed);
        }
        outcome
    }

    /// What `next` yields, or nothing once another thread has failed.
    fn unless_over<T>(&self, next: impl FnOnce() -> Result<Option<T>, DataError>) -> Result<Option<T>, E> {
        if self.is_over.load(Ordering::Relaxed) { Ok(None) } else { Ok(next()?) }
    }

    fn add(&self, own: &mut S, batch: &RecordBatch, first_row: u64) -> Result<(), E> {
        for start in (0..batch.num_rows()).step_by(BATCH_ROWS) {
            let part = batch.slice(start, BATCH_ROWS.min(batch.num_rows() - start));
            let cells = CellBatch::new(self.table.name(), &part, self.places, first_row + start as u64)?;
            (self.summary.add)(own, &cells)?;
        }
        self.rows.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Counts bytes read. The end of the table is reported once, after the pass.
    fn read(&self, more: u64, on_progress: &mut dyn FnMut(u64)) {
        let bytes = self.bytes.fetch_add(more, Ordering::Relaxed) + more;
        if bytes < self.table.size_bytes() {
            on_progress(bytes);
        }
    }
}

type Shared<'a> = (Box<dyn BatchReader + 'a>, u64);

/// The lock of the reader. A thread that panicked takes the pass down with it.
fn lock<'l, 'a>(shared: &'l Mutex<Shared<'a>>) -> MutexGuard<'l, Shared<'a>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The next batch, the number of its first row and the bytes it took.
fn next(shared: &mut Shared<'_>) -> Result<Option<(RecordBatch, u64, u64)>, DataError> {
    let (reader, rows) = shared;
    let before = reader.bytes_read();
    let Some(batch) = reader.next_batch()? else { return Ok(None) };
    let first_row = *rows + 1;
    *rows += batch.num_rows() as u64;
    Ok(Some((batch, first_row, reader.bytes_read().saturating_sub(before))))
}
