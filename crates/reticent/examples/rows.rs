//! A table as CSV, for tools that read nothing else:
//! `cargo run --quiet --example rows -- FILE OUT.csv`.

use reticent::data::{DataError, open_table, write_csv_atomic};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(input), Some(output)) = (words.next(), words.next()) else {
        return Err("give a table (.csv or .parquet) and the file to write, OUT.csv".into());
    };
    let table = open_table(Path::new(&input))?;
    let names: Vec<&str> = table.columns().iter().map(|column| column.name.as_str()).collect();
    let mut rows: Vec<Vec<String>> = Vec::new();
    // A pass streams the chosen columns; nothing is kept that the visitor does not keep.
    table.scan(&names, &mut |_bytes| {}, &mut |_row, cells| {
        rows.push(cells.iter().map(|cell| cell.csv_text().into_owned()).collect());
        Ok::<(), DataError>(())
    })?;
    let written = write_csv_atomic(Path::new(&output), &names, &rows)?;
    println!("{written} rows of {} columns", names.len());
    Ok(())
}
