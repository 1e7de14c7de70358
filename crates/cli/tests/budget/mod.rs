//! Budgets in files, through the real binary.

mod together;
mod verbs;

use crate::temporary::Folder;
use serde_json::Value;
use std::process::{Command, Output};

const SURVEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/survey.csv");

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reticent"));
    command.env("RETICENT_QUIET", "1").env_remove("RETICENT_DATA").env_remove("RETICENT_SEALS").args(words);
    command
}

fn reticent(words: &[&str]) -> Output {
    command(words).output().unwrap()
}

/// The standard output of a command that must succeed.
fn stdout(words: &[&str]) -> String {
    let output = reticent(words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(words: &[&str]) -> Value {
    serde_json::from_str(&stdout(&[words, &["--json"]].concat())).unwrap()
}

/// What a command that must be refused says.
fn refusal(words: &[&str]) -> String {
    let output = reticent(words);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
    assert!(output.stdout.is_empty(), "{words:?}");
    said
}

/// A budget for the survey.
fn budget(folder: &Folder, flags: &[&str]) -> String {
    let file = folder.path("survey.budget");
    stdout(&[&["budget", "create", &file, "--data", SURVEY], flags].concat());
    file
}
