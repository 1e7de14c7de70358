//! The folders of models and runs: one writer at a time, files that belong together, data that are those of the training, and what
//! is left when a process is killed.

mod before;
mod kills;
mod resumed;
mod sealed;
mod together;

use crate::temporary::Folder;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

/// The small table of the fixtures, its schema and a network for it.
const PEOPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/folder/before/people.csv");
const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/folder/before/people.toml");
const NET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/folder/before/net.toml");

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reticent"));
    command.env("RETICENT_QUIET", "1").env_remove("RETICENT_DATA").args(words);
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

/// The JSON of a command that must succeed.
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

/// The words of a training of either kind.
fn linear<'a>(data: &'a str, out: &'a str) -> Vec<&'a str> {
    vec!["train", data, "--schema", SCHEMA, "--epsilon", "2", "--out", out]
}

fn network<'a>(data: &'a str, out: &'a str) -> Vec<&'a str> {
    let mut words = vec!["train", data, "--schema", SCHEMA, "--model", NET, "--epsilon", "4", "--out", out];
    words.extend(["--delta", "1e-4", "--batch-size", "40", "--steps", "6"]);
    words
}

/// Every file of a folder with its content.
fn files(folder: &str) -> BTreeMap<String, Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(folder) else { return BTreeMap::new() };
    entries
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .collect()
}

/// Files under temporary names, which a killed process leaves.
fn leftovers(folder: &str) -> Vec<String> {
    files(folder).into_keys().filter(|name| name.starts_with('.')).collect()
}

/// Copies a folder with its files.
fn copy(from: &str, to: &str) {
    std::fs::create_dir_all(to).unwrap();
    for (name, bytes) in files(from) {
        std::fs::write(Path::new(to).join(name), bytes).unwrap();
    }
}
