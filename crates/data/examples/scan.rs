//! Times one pass over tables: the number of rows, and the mean of one column.
//!
//! `cargo run --release -p reticent-data --example scan -- make FOLDER ROWS` writes one table as CSV, Parquet and Arrow;
//! `cargo run --release -p reticent-data --example scan -- COLUMN FILE...` reads tables.

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use parquet::arrow::ArrowWriter;
use reticent_data::{DataError, open_table, write_csv_atomic};
use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next().ok_or("give a column and files, or make FOLDER ROWS")?;
    if first == "make" {
        let folder = arguments.next().ok_or("name a folder")?;
        let rows = arguments.next().ok_or("give a number of rows")?.parse()?;
        return make(folder.as_ref(), rows);
    }
    for file in arguments {
        time(&first, &file)?;
    }
    Ok(())
}

fn time(column: &str, file: &str) -> Result<(), Box<dyn Error>> {
    let table = open_table(file.as_ref())?;
    for _ in 0..3 {
        let start = Instant::now();
        let rows = table.scan(&[], &mut |_| {}, &mut |_, _| Ok::<(), DataError>(()))?.rows;
        let counted = start.elapsed().as_secs_f64();
        let (start, mut total, mut present) = (Instant::now(), 0.0, 0u64);
        table.scan(&[column], &mut |_| {}, &mut |_, cells| {
            if let Ok(Some(number)) = cells[0].number() {
                total += number.to_f64();
                present += 1;
            }
            Ok::<(), DataError>(())
        })?;
        let mean = total / present as f64;
        let averaged = start.elapsed().as_secs_f64();
        println!("{file}: {rows} rows in {counted:.3} s; mean {mean:.6} in {averaged:.3} s");
    }
    Ok(())
}

/// Writes the same rows in three formats.
fn make(folder: &Path, rows: i64) -> Result<(), Box<dyn Error>> {
    let age = |row: i64| 17 + row * 7919 % 74;
    let sex = |row: i64| if row % 3 == 0 { "Female" } else { "Male" };
    let income = |row: i64| (row * 104_729 % 10_000_000) as f64 / 100.0;
    let fields =
        |row: i64| [row.to_string(), age(row).to_string(), sex(row).to_owned(), income(row).to_string()];
    write_csv_atomic(&folder.join("people.csv"), &["id", "age", "sex", "income"], (0..rows).map(fields))?;
    let batch = |start: i64| -> Result<RecordBatch, Box<dyn Error>> {
        let range = || start..rows.min(start + 65_536);
        let columns: [(&str, ArrayRef); 4] = [
            ("id", Arc::new(Int64Array::from_iter_values(range()))),
            ("age", Arc::new(Int64Array::from_iter_values(range().map(age)))),
            ("sex", Arc::new(StringArray::from_iter_values(range().map(sex)))),
            ("income", Arc::new(Float64Array::from_iter_values(range().map(income)))),
        ];
        Ok(RecordBatch::try_from_iter(columns)?)
    };
    let schema = batch(0)?.schema();
    let mut parquet =
        ArrowWriter::try_new(File::create(folder.join("people.parquet"))?, schema.clone(), None)?;
    let mut arrow = FileWriter::try_new(File::create(folder.join("people.arrow"))?, &schema)?;
    for start in (0..rows).step_by(65_536) {
        parquet.write(&batch(start)?)?;
        arrow.write(&batch(start)?)?;
    }
    parquet.close()?;
    Ok(arrow.finish()?)
}
