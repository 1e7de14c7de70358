//! Tables by path or by the name of their dataset.

use crate::refusal::Refusal;
use reticent_data::{DATA_FOLDER, Schema, TableFile, bundled, find_dataset};
use std::path::Path;

/// A table by path or by the name of its dataset, its official test part, and the schema that comes with it; the bundled
/// ones if none is named.
pub(crate) fn tables(
    file: Option<&Path>,
    data_dir: Option<&Path>,
) -> Result<(TableFile, Option<TableFile>, Option<Schema>), Refusal> {
    let Some(file) = file else {
        let (table, schema) = bundled::adult()?;
        return Ok((table, None, Some(schema)));
    };
    // A bare word that is no file is the name of a dataset, if there is a place to look for one.
    let name = file.to_str().filter(|_| file.extension().is_none() && !file.exists());
    let has_place = data_dir.is_some() || std::env::var_os(DATA_FOLDER).is_some();
    if let Some(name) = name.filter(|_| has_place) {
        let (table, test) = dataset(name, data_dir)?;
        let known = if name == "adult" { Some(bundled::adult()?.1) } else { None };
        return Ok((table, test, known));
    }
    let table = TableFile::open(file)?;
    Ok((table, None, None))
}

/// The training part of a dataset, and its test part where it has one.
fn dataset(name: &str, folder: Option<&Path>) -> Result<(TableFile, Option<TableFile>), Refusal> {
    let folder = find_dataset(name, folder).map_err(Refusal::data("data_dir"))?;
    let part = |part: &str| folder.join(format!("{name}{part}.parquet"));
    let (train, test) = (part("_train"), part("_test"));
    if !train.is_file() {
        return Ok((TableFile::open(&part(""))?, None));
    }
    let test = if test.is_file() { Some(TableFile::open(&test)?) } else { None };
    Ok((TableFile::open(&train)?, test))
}

/// Refuses a table without a schema.
pub(crate) fn no_schema() -> Refusal {
    Refusal::missing(
        "schema",
        "a table needs its public schema (bounds, categories, label): write one, or draft one with \
         'reticent schema infer'",
    )
}
