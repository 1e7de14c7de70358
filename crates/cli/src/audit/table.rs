//! A score table to a study.

use crate::args::audit::Table;
use crate::fail::Fail;
use reticent::audit::Study;
use reticent::audit::table::{TableSettings, read_references, read_scores};

/// Reads the table, and the reference models where they are in a file of their own.
pub(crate) fn study(table: &Table) -> Result<Study, Fail> {
    let Some(scores) = &table.scores else {
        return Err(Fail::missing("--scores", "give a table with the columns score and member"));
    };
    let settings = TableSettings {
        groups: table.groups.clone(),
        features: table.features.clone(),
        ..TableSettings::default()
    };
    let study = read_scores(scores, &settings)?;
    Ok(match &table.references_from {
        Some(file) => read_references(file, study)?,
        None => study,
    })
}
