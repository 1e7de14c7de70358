//! What the process and the machine have used, as Linux tells it.

use anyhow::{Context, Result};
use std::fs::read_to_string;

/// Linux counts processor time for programs in hundredths of a second.
const TICKS: f64 = 100.0;

/// A field of the process's own status in MB, such as `VmHWM`, the most memory that it ever held.
pub(crate) fn memory_mb(field: &str) -> Result<f64> {
    let status = read_to_string("/proc/self/status").context("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    Ok(kilobytes.with_context(|| format!("/proc/self/status has no {field}"))? / 1024.0)
}

/// Processor time between two moments.
pub(crate) struct Window {
    start: [f64; 3],
}

impl Window {
    /// Begins now.
    pub(crate) fn open() -> Result<Self> {
        Ok(Self { start: now()? })
    }

    /// The share of the machine's time that others have used since, and this process's own seconds.
    pub(crate) fn close(&self) -> Result<(f64, f64)> {
        let end = now()?;
        let [everything, busy, own] = [0, 1, 2].map(|i| end[i] - self.start[i]);
        Ok(((busy - own).max(0.0) / everything.max(1.0), own / TICKS))
    }
}

/// Ticks of the machine, those of them not idle, and those of this process.
fn now() -> Result<[f64; 3]> {
    let stat = read_to_string("/proc/stat").context("/proc/stat")?;
    let machine = numbers(stat.lines().next().unwrap_or_default(), 1, 8);
    let machine = machine.context("/proc/stat begins with eight counts")?;
    let stat = read_to_string("/proc/self/stat").context("/proc/self/stat")?;
    // The name of the program is in brackets and may hold spaces.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let own = numbers(fields, 11, 2).context("/proc/self/stat has times")?;
    let everything: f64 = machine.iter().sum();
    Ok([everything, everything - machine[3] - machine[4], own.iter().sum()])
}

/// So many numbers after so many words.
fn numbers(line: &str, skip: usize, count: usize) -> Option<Vec<f64>> {
    let found: Vec<f64> =
        line.split_whitespace().skip(skip).take(count).map_while(|w| w.parse().ok()).collect();
    (found.len() == count).then_some(found)
}
