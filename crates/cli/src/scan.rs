//! A pass over a table, with a progress bar where it takes a while.

use crate::fail::Fail;
use indicatif::{ProgressBar, ProgressStyle};
use reticent::data::{TableFile, Visit};

/// Files above this size get a progress bar on a terminal.
const WORTH_A_BAR: u64 = 64 << 20;

/// Streams columns through `visit`, with a progress bar where one is wanted; refuses an empty table.
pub(crate) fn scan(
    table: &TableFile,
    columns: &[&str],
    progress: bool,
    visit: &mut Visit<'_, Fail>,
) -> Result<u64, Fail> {
    let bar = (progress && table.size_bytes() > WORTH_A_BAR).then(|| {
        let style = ProgressStyle::with_template("{bytes} of {total_bytes} {wide_bar} {eta}");
        ProgressBar::new(table.size_bytes())
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
    });
    let mut report = |bytes: u64| {
        if let Some(bar) = &bar {
            bar.set_position(bytes);
        }
    };
    let scanned = table.scan(columns, &mut report, visit);
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    let rows = scanned?.rows;
    if rows == 0 {
        return Err(Fail::new(format!("{} has no rows: give a table with data", table.path().display())));
    }
    Ok(rows)
}
