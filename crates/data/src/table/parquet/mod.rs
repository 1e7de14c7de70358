//! The Parquet reader: the chosen columns only, batch by batch.

mod view;

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::RecordBatch;
use arrow_schema::DataType;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::file::reader::ChunkReader;

use super::{BATCH_ROWS, ColumnInfo, ColumnKind, TableFile, Visit};
use crate::error::{DataError, shown};
use view::View;

/// Reads the footer.
pub(super) fn schema(
    file: &str,
    opened: &impl ChunkReader,
) -> Result<(Vec<ColumnInfo>, ArrowReaderMetadata), DataError> {
    let metadata = guarded(file, || ArrowReaderMetadata::load(opened, ArrowReaderOptions::new()))?;
    let columns = metadata
        .schema()
        .fields()
        .iter()
        .map(|field| ColumnInfo { name: field.name().clone(), kind: kind(field.data_type()) })
        .collect();
    Ok((columns, metadata))
}

/// Visits every row; returns their number.
pub(super) fn scan<E: From<DataError>>(
    table: &TableFile,
    metadata: &ArrowReaderMetadata,
    opened: impl ChunkReader + 'static,
    chosen: &[usize],
    on_progress: &mut dyn FnMut(u64),
    visit: &mut Visit<'_, E>,
) -> Result<u64, E> {
    let file = &table.file;
    check_chunks(table, metadata, chosen)?;
    let promised = u64::try_from(metadata.metadata().file_metadata().num_rows()).unwrap_or(0);
    let mut reader = guarded(file, || reader(metadata, opened, chosen))?;
    // A batch has the chosen columns once each and in file order.
    let mut in_file_order = chosen.to_vec();
    in_file_order.sort_unstable();
    in_file_order.dedup();
    let mut row = 0;
    while let Some(batch) = guarded(file, || reader.next().transpose())? {
        let views = views(table, &batch, &in_file_order, chosen)?;
        let mut cells = Vec::with_capacity(chosen.len());
        for index in 0..batch.num_rows() {
            row += 1;
            cells.clear();
            cells.extend(views.iter().map(|view| view.cell(index)));
            visit(row, &cells)?;
        }
        let share = u128::from(table.size_bytes) * u128::from(row) / u128::from(promised.max(1));
        on_progress(u64::try_from(share).unwrap_or(u64::MAX).min(table.size_bytes));
    }
    if row != promised {
        let reason = format!("it promises {promised} rows and has {row}");
        return Err(DataError::malformed(file, "Parquet", &reason).into());
    }
    Ok(row)
}

fn reader(
    metadata: &ArrowReaderMetadata,
    opened: impl ChunkReader + 'static,
    chosen: &[usize],
) -> parquet::errors::Result<ParquetRecordBatchReader> {
    let projection = ProjectionMask::roots(metadata.parquet_schema(), chosen.iter().copied());
    ParquetRecordBatchReaderBuilder::new_with_metadata(opened, metadata.clone())
        .with_projection(projection)
        .with_batch_size(BATCH_ROWS)
        .build()
}

/// One view per chosen column.
fn views<'a>(
    table: &TableFile,
    batch: &'a RecordBatch,
    in_file_order: &[usize],
    chosen: &[usize],
) -> Result<Vec<View<'a>>, DataError> {
    chosen
        .iter()
        .map(|column| {
            let array = in_file_order.binary_search(column).ok().and_then(|at| batch.columns().get(at));
            array.and_then(|array| View::new(array.as_ref())).ok_or_else(|| {
                let name = &table.columns[*column].name;
                DataError::malformed(&table.file, "Parquet", &format!("column {name} is not as declared"))
            })
        })
        .collect()
}

/// Checks what the footer says about the chosen columns' bytes before they are read.
fn check_chunks(
    table: &TableFile,
    metadata: &ArrowReaderMetadata,
    chosen: &[usize],
) -> Result<(), DataError> {
    let leaves = metadata.parquet_schema();
    for group in metadata.metadata().row_groups() {
        for (leaf, chunk) in group.columns().iter().enumerate().take(leaves.num_columns()) {
            let column = leaves.get_column_root_idx(leaf);
            if !chosen.contains(&column) {
                continue;
            }
            let offsets = [chunk.data_page_offset(), chunk.dictionary_page_offset().unwrap_or(0)];
            if chunk.compressed_size() < 0 || offsets.into_iter().any(|offset| offset < 0) {
                return Err(DataError::malformed(&table.file, "Parquet", "a column lies before the file"));
            }
            let readable = matches!(
                chunk.compression(),
                Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::ZSTD(_)
            );
            if !readable {
                let codec = format!("{:?}", chunk.compression());
                let codec = codec.split('(').next().unwrap_or_default().to_lowercase();
                let column = shown(&table.columns[column].name);
                return Err(DataError::UnsupportedCompression { file: table.file.clone(), column, codec });
            }
        }
    }
    Ok(())
}

/// Runs a call into the Parquet reader: its errors, and panics on bytes it did not foresee, become ours.
fn guarded<T, P: std::fmt::Display>(file: &str, call: impl FnOnce() -> Result<T, P>) -> Result<T, DataError> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(DataError::malformed(file, "Parquet", &error.to_string())),
        Err(_) => Err(DataError::malformed(file, "Parquet", "its contents contradict each other")),
    }
}

fn kind(data_type: &DataType) -> ColumnKind {
    use DataType::*;
    let other = |name: &str| ColumnKind::Other(name.to_owned());
    match data_type {
        Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 => ColumnKind::Integer,
        Float32 | Float64 => ColumnKind::Float,
        // A column of the null type has no values at all: any kind describes it.
        Utf8 | LargeUtf8 | Utf8View | Null => ColumnKind::Text,
        Boolean => ColumnKind::Boolean,
        Dictionary(_, values) => kind(values),
        Date32 | Date64 => other("date"),
        Timestamp(..) => other("timestamp"),
        Time32(_) | Time64(_) => other("time"),
        Duration(_) | Interval(_) => other("duration"),
        Binary | LargeBinary | BinaryView | FixedSizeBinary(_) => other("binary"),
        List(_) | LargeList(_) | ListView(_) | LargeListView(_) | FixedSizeList(..) => other("list"),
        Struct(_) => other("struct"),
        Map(..) => other("map"),
        Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..) => other("decimal"),
        Float16 => other("16-bit float"),
        _ => ColumnKind::Other(shown(&data_type.to_string())),
    }
}

#[cfg(test)]
mod tests;
