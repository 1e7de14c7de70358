//! A pass over a table, with a progress bar where it takes a while.

use crate::bar::Bar;
use crate::explain::Code;
use crate::fail::Fail;
use reticent::core::Neighboring;
use reticent::data::{TableFile, Visit};

/// Whether the number of rows is public. Where it is not, that there are none is private like any other number.
#[derive(Clone, Copy, PartialEq, Eq)]
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

/// Streams columns through `visit`, with a progress bar where one is wanted; refuses a table that is publicly empty.
pub(crate) fn scan(
    table: &TableFile,
    columns: &[&str],
    size: Size,
    progress: bool,
    visit: &mut Visit<'_, Fail>,
) -> Result<u64, Fail> {
    let bar = Bar::new(table, progress);
    let rows = table.scan(columns, &mut |bytes| bar.at(bytes), visit)?.rows;
    if rows == 0 && size == Size::Public {
        return Err(Fail::new(
            Code::NoRows,
            format!("{} has no rows: give a table with data", table.path().display()),
        ));
    }
    Ok(rows)
}
