//! `reticent train`, `predict` and `evaluate`: the real binary on the bundled data.

mod models;
mod refusals;
mod replay;
mod whole;

use crate::temporary::Folder;
use reticent::data::{Cell, DataError, open_table, write_csv_atomic};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ADULT: &str = "testdata/adult/adult.parquet";
const SCHEMA: &str = "testdata/adult/schema.toml";

fn reticent(words: &[&str]) -> Output {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO_BIN_EXE_reticent"))
        .env("RETICENT_QUIET", "1")
        .current_dir(root)
        .args(words)
        .output()
        .unwrap()
}

/// The standard output of a command that must succeed.
fn stdout(words: &[&str]) -> String {
    let output = reticent(words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The JSON of a command that must succeed: exactly one line.
fn json(words: &[&str]) -> Value {
    let text = stdout(&[words, &["--json"]].concat());
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(&text).unwrap()
}

/// Every tenth of the bundled records, as a table of its own.
fn tenth(folder: &Folder) -> String {
    let path = folder.path("tenth.csv");
    let table = open_table(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(ADULT)).unwrap();
    let names: Vec<&str> = table.columns().iter().map(|column| column.name.as_str()).collect();
    let mut rows = Vec::new();
    let mut visit = |row: u64, cells: &[Cell<'_>]| -> Result<(), DataError> {
        if row.is_multiple_of(10) {
            rows.push(cells.iter().map(|cell| cell.csv_text().into_owned()).collect::<Vec<_>>());
        }
        Ok(())
    };
    table.scan(&names, &mut |_| {}, &mut visit).unwrap();
    write_csv_atomic(Path::new(&path), &names, rows).unwrap();
    path
}

/// The one line of a command that must be refused, and what it shows of a TOML file; nothing may be on standard output.
fn refusal(words: &[&str]) -> String {
    let output = reticent(words);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{words:?}: {stderr}");
    let has_form =
        stderr.lines().skip(1).all(|line| line.contains(" |")) && [1, 4].contains(&stderr.lines().count());
    assert!(output.stdout.is_empty() && has_form, "{words:?}: {stderr}");
    stderr
}
