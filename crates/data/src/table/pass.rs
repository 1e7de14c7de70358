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
            let rows =
                self.scan_batches(columns, on_progress, &mut |batch| (summary.add)(&mut own, batch))?;
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ::parquet::arrow::ArrowWriter;
    use ::parquet::file::properties::WriterProperties;
    use arrow_array::{ArrayRef, Int64Array, StringArray};

    use super::*;
    use crate::fixture::Folder;
    use crate::{Cell, MemoryTable, open_table};

    const ROWS: i64 = 300_000;

    fn batch() -> RecordBatch {
        let numbers: ArrayRef =
            Arc::new((0..ROWS).map(|row| (row % 7 != 0).then_some(row)).collect::<Int64Array>());
        let words = (0..ROWS).map(|row| (row % 5 != 0).then(|| format!("word {}", row % 11)));
        let words: ArrayRef = Arc::new(words.collect::<StringArray>());
        RecordBatch::try_from_iter([("n", numbers), ("w", words)]).unwrap()
    }

    /// The same rows as a Parquet file of many row groups, as an Arrow file, as CSV and in memory.
    fn tables(folder: &Folder) -> Vec<Arc<dyn Table>> {
        let batch = batch();
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(9_999)).build();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let mut arrow = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        (0..ROWS as usize)
            .step_by(20_000)
            .for_each(|start| arrow.write(&batch.slice(start, 20_000)).unwrap());
        let row = |row: i64| {
            let number = if row % 7 != 0 { row.to_string() } else { String::new() };
            let word = if row % 5 != 0 { format!("word {}", row % 11) } else { String::new() };
            format!("{number},{word}\n")
        };
        let csv = std::iter::once("n,w\n".to_owned()).chain((0..ROWS).map(row)).collect::<String>();
        let files = [
            folder.file("t.parquet", bytes),
            folder.file("t.arrow", arrow.into_inner().unwrap()),
            folder.file("t.csv", csv),
        ];
        let mut tables: Vec<_> = files.iter().map(|path| open_table(path).unwrap()).collect();
        tables.push(Arc::new(MemoryTable::new("t", batch.schema(), vec![batch]).unwrap()));
        tables
    }

    /// What rows come to in any order, with their numbers.
    fn sum(own: &mut (u64, i64, u64), batch: &CellBatch<'_>) {
        for row in 0..batch.rows() {
            let number = batch.cell(row, 1).number().unwrap();
            let word = batch.cell(row, 0).label().map_or(1, |label| label.len() as u64);
            let at = batch.first_row() + row as u64;
            own.0 += 1;
            own.1 += number.map_or(-1, |number| number.to_f64() as i64) * at as i64;
            own.2 = own.2.wrapping_add(word.wrapping_mul(at * at));
        }
    }

    #[test]
    fn threads_see_every_row_once_with_its_number() {
        let folder = Folder::new();
        for table in tables(&folder) {
            let mut once = (0, 0, 0);
            table
                .scan_batches(&["w", "n"], &mut |_| {}, &mut |batch| {
                    sum(&mut once, batch);
                    Ok::<(), DataError>(())
                })
                .unwrap();
            assert_eq!(once.0, ROWS as u64);
            for threads in [1, 2, 3, 64] {
                let summary = BatchSummary {
                    start: &|| Ok::<_, DataError>((0, 0, 0)),
                    add: &|own, batch| {
                        sum(own, batch);
                        Ok(())
                    },
                };
                let mut seen = Vec::new();
                let (rows, parts) = table
                    .summarize_batches(&["w", "n"], threads, &mut |bytes| seen.push(bytes), &summary)
                    .unwrap();
                let total = parts.iter().fold((0, 0, 0u64), |sum, part| {
                    (sum.0 + part.0, sum.1 + part.1, sum.2.wrapping_add(part.2))
                });
                assert_eq!((rows, total), (ROWS as u64, once), "{} {threads}", table.name());
                assert!(!parts.is_empty() && parts.len() <= threads);
                assert!(seen.is_sorted() && seen.last() == Some(&table.size_bytes()), "{seen:?}");
            }
        }
    }

    #[test]
    fn an_error_of_one_thread_ends_the_pass() {
        let folder = Folder::new();
        for table in tables(&folder) {
            let summary = BatchSummary {
                start: &|| Ok(0u64),
                add: &|_, batch| match batch.cell(0, 0) {
                    Cell::Null => Ok(()),
                    _ if batch.first_row() > 100_000 => Err(DataError::NoFeatures),
                    _ => Ok(()),
                },
            };
            let outcome = table.summarize_batches(&["n"], 2, &mut |_| {}, &summary);
            assert_eq!(outcome.map(|_| ()), Err(DataError::NoFeatures), "{}", table.name());
        }
    }

    #[test]
    fn a_parquet_file_has_parts_and_keeps_dictionaries() {
        let folder = Folder::new();
        let table = &tables(&folder)[0];
        // 31 row groups; 7 of them make 65,536 rows.
        assert_eq!(table.parts(), 5);
        let mut reader = table.part(&[1], 1).unwrap();
        assert_eq!(reader.rows_before(), 7 * 9_999);
        let first = reader.next_batch().unwrap().unwrap();
        assert!(matches!(first.column(0).data_type(), arrow_schema::DataType::Dictionary(..)), "{first:?}");
        assert_eq!(table.part(&[1], 99).unwrap().next_batch().unwrap(), None);
    }
}
