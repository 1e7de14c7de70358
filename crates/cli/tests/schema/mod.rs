//! `reticent schema infer`, the real binary on the bundled data.

mod draft;
mod private;
mod refusals;

use reticent::data::Schema;
use reticent::data::schema::{FeatureKind, Label, LabelKind};
use std::path::Path;
use std::process::{Command, Output};

/// The bundled table.
const ADULT: &str = "testdata/adult/adult.parquet";
/// Its first 2000 rows as CSV.
const SURVEY: &str = "testdata/survey.csv";

/// Runs `reticent schema infer` with these words, from the workspace's root.
fn infer(words: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_reticent"));
    command
        .env("RETICENT_QUIET", "1")
        .current_dir(root)
        .args(["schema", "infer"])
        .args(words)
        .output()
        .unwrap()
}

/// Standard output and standard error of a run that must succeed.
fn told(words: &[&str]) -> (String, String) {
    let output = infer(words);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{words:?}: {stderr}");
    (String::from_utf8(output.stdout).unwrap(), stderr)
}

/// The JSON of a run that must succeed: exactly one line.
fn json(words: &[&str]) -> serde_json::Value {
    let (text, _) = told(&[words, &["--json"]].concat());
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(&text).unwrap()
}

fn parsed(text: &str) -> Schema {
    Schema::parse(text, "schema.toml").unwrap()
}

/// The kind of a column.
fn kind<'a>(schema: &'a Schema, name: &str) -> &'a FeatureKind {
    &schema.columns().iter().find(|column| column.name == name).unwrap().kind
}

/// The bounds of a numeric column.
fn bounds(schema: &Schema, name: &str) -> [f64; 2] {
    let FeatureKind::Numeric(bounds) = kind(schema, name) else { panic!("{name} is not numeric") };
    [bounds.low(), bounds.high()]
}

/// The labels of a categorical column.
fn labels<'a>(schema: &'a Schema, name: &str) -> &'a [String] {
    let FeatureKind::Categorical(categories) = kind(schema, name) else {
        panic!("{name} is not categorical")
    };
    categories.labels()
}

/// A label with two classes.
fn binary(column: &str, positive: &str) -> Label {
    Label { column: column.to_owned(), target: LabelKind::Binary { positive: positive.to_owned() } }
}

/// A table in a folder; its path as text.
fn table(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}
