//! `reticent explain`, the real binary: every example shows what it says it shows.

mod examples;
mod files;
mod form;

use std::path::Path;
use std::process::{Command, Output};

/// Runs `reticent` with these words in a folder.
fn reticent_in(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reticent"));
    command
        .env("RETICENT_QUIET", "1")
        .current_dir(folder)
        .env_remove("RETICENT_DATA")
        .args(words)
        .output()
        .unwrap()
}

/// Runs `reticent` with these words.
fn reticent(words: &[&str]) -> Output {
    reticent_in(Path::new(env!("CARGO_MANIFEST_DIR")), words)
}

/// Standard output of a run that must succeed.
fn stdout(words: &[&str]) -> String {
    let output = reticent(words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
