//! The real binary on the bundled data.

mod answers;
mod pages;
mod refusals;
mod survey;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The bundled table.
const ADULT: &str = "testdata/adult/adult.parquet";
/// Its first 2000 rows as CSV.
const SURVEY: &str = "testdata/survey.csv";

/// The command, to be run from the workspace's root.
fn reticent() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reticent"));
    command.env("RETICENT_QUIET", "1").current_dir(root());
    command
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs `reticent release` with these words.
fn release(words: &[&str]) -> Output {
    reticent().arg("release").args(words).output().unwrap()
}

/// The standard output of a release that must succeed, quietly.
fn stdout(words: &[&str]) -> String {
    let output = release(words);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{words:?}: {stderr}");
    assert!(stderr.is_empty(), "{words:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// The JSON of a release that must succeed: exactly one line.
fn json(words: &[&str]) -> serde_json::Value {
    let text = stdout(&[words, &["--json"]].concat());
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.ends_with('\n'));
    serde_json::from_str(&text).unwrap()
}
