//! `reticent audit`, `attack` and `report`: the real binary.

mod cyclic;
mod defences;
mod models;
mod refusals;
mod tables;
mod white_box;

use crate::temporary::{Folder, noise};
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

/// A table whose members score higher by `gap`, noise being uniform on 0..1.
fn scores(records: u64, gap: f64) -> String {
    let row = |place: u64| {
        let member = noise(2 * place) < 0.5;
        format!("{},{}\n", noise(2 * place + 1) + gap * f64::from(u8::from(member)), u8::from(member))
    };
    "score,member\n".to_owned() + &(0..records).map(row).collect::<String>()
}
