//! A pass over a table under somebody's eyes.

use crate::refusal::Refusal;
use crate::watch::{Watch, reading};
use reticent_core::{Code, Neighboring};
use reticent_data::{BatchSummary, Table, Visit};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the number of rows is public. Where it is not, that there are none is private like any other number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    Public,
    Private,
}

impl From<Neighboring> for Size {
    fn from(neighboring: Neighboring) -> Self {
        match neighboring {
            Neighboring::AddRemove => Self::Private,
            Neighboring::ReplaceOne => Self::Public,
        }
    }
}

/// Streams columns through `visit`; stops when the watch does, and refuses a table that is publicly empty.
pub(crate) fn scan(
    table: &dyn Table,
    columns: &[&str],
    size: Size,
    watch: &dyn Watch,
    visit: &mut Visit<'_, Refusal>,
) -> Result<u64, Refusal> {
    let (reading, halt) = (reading(watch, table), watch.halt());
    let stats = table.scan::<Refusal>(columns, &mut |bytes| reading.at(bytes), &mut |row, cells| {
        goes_on(halt, table)?;
        visit(row, cells)
    })?;
    has_rows(table, stats.rows, size)
}

/// Streams columns on several threads, batch by batch, and returns the number of rows and a summary per thread; stops when the watch
/// does, and refuses a table that is publicly empty.
pub(crate) fn summarize<S: Send>(
    table: &dyn Table,
    columns: &[&str],
    size: Size,
    threads: usize,
    watch: &dyn Watch,
    summary: &BatchSummary<'_, S, Refusal>,
) -> Result<(u64, Vec<S>), Refusal> {
    let (reading, halt) = (reading(watch, table), watch.halt());
    let watched = BatchSummary {
        start: summary.start,
        add: &|own: &mut S, batch| {
            goes_on(halt, table)?;
            (summary.add)(own, batch)
        },
    };
    let (rows, summaries) =
        table.summarize_batches(columns, threads, &mut |bytes| reading.at(bytes), &watched)?;
    Ok((has_rows(table, rows, size)?, summaries))
}

/// Refuses to go on once somebody asked to stop.
fn goes_on(halt: &AtomicBool, table: &dyn Table) -> Result<(), Refusal> {
    if halt.load(Ordering::Relaxed) {
        let message = format!("{}: reading was interrupted: ask again", table.name());
        return Err(Refusal::new(Code::Unreadable, message));
    }
    Ok(())
}

/// The number of threads of a pass: all processors unless it is given.
pub(crate) fn threads(given: Option<u64>) -> Result<usize, Refusal> {
    match given {
        None => Ok(std::thread::available_parallelism().map_or(1, std::num::NonZero::get)),
        Some(threads) if (1..=MOST_THREADS).contains(&threads) => Ok(threads as usize),
        Some(threads) => {
            let remedy = format!("give a whole number from 1 to {MOST_THREADS}");
            Err(Refusal::value("threads", threads, remedy))
        }
    }
}

/// More threads than any machine has processors.
const MOST_THREADS: u64 = 4096;

fn has_rows(table: &dyn Table, rows: u64, size: Size) -> Result<u64, Refusal> {
    if rows == 0 && size == Size::Public {
        return Err(Refusal::new(
            Code::NoRows,
            format!("{} has no rows: give a table with data", table.name()),
        ));
    }
    Ok(rows)
}
