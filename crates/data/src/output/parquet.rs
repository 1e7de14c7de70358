//! Parquet files out, written atomically.

use std::path::Path;

use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use reticent_files::{AtomicFile, Readers, shown_path};

use crate::error::DataError;

/// Writes a Parquet file with one row group.
///
/// The file appears under its name only when complete, replacing a regular file of that name. After an error
/// nothing is left behind, and a file that was there is unchanged.
///
/// # Errors
/// If the file cannot be written.
pub fn write_parquet_atomic(path: &Path, batch: &RecordBatch) -> Result<(), DataError> {
    let file = shown_path(path);
    let refused =
        |error: ParquetError| DataError::io(&file, "write", &std::io::Error::other(error.to_string()));
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let output = AtomicFile::create(path, Readers::Default)?;
    let mut writer = ArrowWriter::try_new(output, batch.schema(), Some(properties)).map_err(refused)?;
    writer.write(batch).map_err(refused)?;
    let written = writer.into_inner().map_err(refused)?;
    written.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::open_table;
    use arrow_array::{ArrayRef, Float64Array, StringArray};
    use std::sync::Arc;

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let names: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None]));
        let values: ArrayRef = Arc::new(Float64Array::from(vec![None, Some(-0.5)]));
        let batch = RecordBatch::try_from_iter([("name", names), ("value", values)]).unwrap();
        write_parquet_atomic(&path, &batch).unwrap();
        let table = open_table(&path).unwrap();
        let mut seen = Vec::new();
        let mut visit = |_: u64, cells: &[crate::Cell<'_>]| {
            seen.push(cells.iter().map(|cell| cell.csv_text().into_owned()).collect::<Vec<_>>());
            Ok::<(), DataError>(())
        };
        table.scan(&["name", "value"], &mut |_| {}, &mut visit).unwrap();
        assert_eq!(seen, [["a", ""], ["", "-0.5"]]);
        let left = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 1);
        assert!(write_parquet_atomic(Path::new("/nowhere/t.parquet"), &batch).is_err());
    }
}
