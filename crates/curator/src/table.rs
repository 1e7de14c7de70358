//! Tables by path or by the name of their dataset.

use crate::refusal::Refusal;
use reticent_data::{
    DATA_FOLDER, Reading, Schema, Table, bundled, find_dataset, open_table_with, with_derived,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A table that a request and its plan share.
pub(crate) type SharedTable = Arc<dyn Table>;

/// A table by path or by the name of its dataset, its official test part, and the schema that comes with it; the bundled
/// ones if none is named.
pub(crate) fn tables(
    file: Option<&Path>,
    data_dir: Option<&Path>,
    reading: &Reading,
) -> Result<(SharedTable, Option<SharedTable>, Option<Schema>), Refusal> {
    let Some(file) = file else {
        let (table, schema) = bundled::adult()?;
        return Ok((with_derived(table, reading)?, None, Some(schema)));
    };
    // A bare word that is not a file is the name of a dataset, if there is a folder of datasets.
    let name = file.to_str().filter(|text| *text != "-" && file.extension().is_none() && !file.exists());
    let has_place = data_dir.is_some() || std::env::var_os(DATA_FOLDER).is_some();
    if let Some(name) = name.filter(|_| has_place) {
        let (table, test) = dataset(name, data_dir, reading)?;
        let known = if name == "adult" { Some(bundled::adult()?.1) } else { None };
        return Ok((table, test, known));
    }
    let table = open_table_with(file, reading)?;
    Ok((table, None, None))
}

/// The training part of a dataset, and its test part where it has one.
fn dataset(
    name: &str,
    folder: Option<&Path>,
    reading: &Reading,
) -> Result<(SharedTable, Option<SharedTable>), Refusal> {
    let folder = find_dataset(name, folder).map_err(Refusal::data("data_dir"))?;
    let part = |part: &str| folder.join(format!("{name}{part}.parquet"));
    let (train, test) = (part("_train"), part("_test"));
    if !train.is_file() {
        return Ok((open_table_with(&part(""), reading)?, None));
    }
    let test = if test.is_file() { Some(open_table_with(&test, &reading.of_one_file())?) } else { None };
    Ok((open_table_with(&train, reading)?, test))
}

/// Where a table comes from, as a stored request names it.
pub(crate) fn origin(table: &dyn Table) -> PathBuf {
    table.path().map_or_else(|| format!("memory:{}", table.name()).into(), Path::to_path_buf)
}

/// The files that a table is read from; an empty path for a table in memory.
pub(crate) fn files(table: &dyn Table) -> Vec<PathBuf> {
    let files = table.files();
    if files.is_empty() { vec![PathBuf::new()] } else { files }
}

/// Where the data of a request are, in words: its file, or the files of the table that was handed over.
pub(crate) fn place(file: &Path, table: &dyn Table) -> String {
    let files = if file.as_os_str().is_empty() { table.files() } else { vec![file.to_path_buf()] };
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    names.join(", ")
}

/// The paths that a request names, which may be globs and folders; the files of the table where it names none.
pub(crate) fn named_files(file: &Path, reading: &Reading, table: &dyn Table) -> Vec<PathBuf> {
    match file.as_os_str().is_empty() {
        true => files(table),
        false => std::iter::once(file.to_path_buf()).chain(reading.also.iter().cloned()).collect(),
    }
}

/// Whether both have a file in common, as far as their paths tell, or are the same table in memory.
pub(crate) fn is_same_table(one: &SharedTable, other: &SharedTable) -> bool {
    let places = |table: &SharedTable| -> Vec<PathBuf> {
        let files = table.files().into_iter();
        files.map(|file| file.canonicalize().unwrap_or(file)).collect()
    };
    let (own, others) = (places(one), places(other));
    own.iter().any(|file| others.contains(file)) || Arc::ptr_eq(one, other)
}

/// Refuses a table without a schema.
pub(crate) fn no_schema() -> Refusal {
    Refusal::missing(
        "schema",
        "a table needs its public schema (bounds, categories, label): write one, or draft one with \
         'reticent schema infer'",
    )
}
