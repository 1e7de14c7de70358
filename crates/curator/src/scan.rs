//! A pass over a table under somebody's eyes.

use crate::refusal::Refusal;
use crate::watch::{Watch, reading};
use reticent_core::{Code, Neighboring};
use reticent_data::{Table, Visit};

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

/// Streams columns through `visit`; refuses a table that is publicly empty.
pub(crate) fn scan(
    table: &dyn Table,
    columns: &[&str],
    size: Size,
    watch: &dyn Watch,
    visit: &mut Visit<'_, Refusal>,
) -> Result<u64, Refusal> {
    let reading = reading(watch, table);
    let rows = table.scan(columns, &mut |bytes| reading.at(bytes), visit)?.rows;
    if rows == 0 && size == Size::Public {
        return Err(Refusal::new(
            Code::NoRows,
            format!("{} has no rows: give a table with data", table.name()),
        ));
    }
    Ok(rows)
}
