//! A pass over a table, with a progress bar where it takes a while.

use crate::bar::Bar;
use crate::explain::Code;
use crate::fail::Fail;
use reticent::data::{TableFile, Visit};

/// Streams columns through `visit`, with a progress bar where one is wanted; refuses an empty table.
pub(crate) fn scan(
    table: &TableFile,
    columns: &[&str],
    progress: bool,
    visit: &mut Visit<'_, Fail>,
) -> Result<u64, Fail> {
    let bar = Bar::new(table, progress);
    let rows = table.scan(columns, &mut |bytes| bar.at(bytes), visit)?.rows;
    if rows == 0 {
        return Err(Fail::new(
            Code::NoRows,
            format!("{} has no rows: give a table with data", table.path().display()),
        ));
    }
    Ok(rows)
}
