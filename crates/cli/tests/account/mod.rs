//! The real binary on events and training runs.

mod answers;
mod files;
mod flags;
mod golden;
mod imports;
mod plots;

use serde_json::Value;
use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Runs `reticent account` with these words, and `input` on standard input.
fn account_with(words: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_reticent"))
        .env("RETICENT_QUIET", "1")
        .arg("account")
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses its flags never reads: its end of the pipe may be closed.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// Runs `reticent account` with the words of one line.
fn account(line: &str) -> Output {
    account_with(&line.split_whitespace().collect::<Vec<_>>(), "")
}

fn json_of(output: &Output, line: &str) -> Value {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {stderr}");
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(!text.contains("NaN") && !text.contains("Infinity"), "{text}");
    serde_json::from_str(&text).unwrap()
}

/// The JSON that the words of one line answer with.
fn json(line: &str) -> Value {
    json_of(&account(&format!("{line} --json")), line)
}

/// The JSON about a list of events.
fn json_about(line: &str, neighboring: &str, events: &Value) -> Value {
    let log = serde_json::json!({"neighboring": neighboring, "events": events});
    let line = format!("{line} --json --events -");
    json_of(&account_with(&line.split_whitespace().collect::<Vec<_>>(), &log.to_string()), &line)
}

/// The text that the words of one line answer with.
fn text(line: &str) -> String {
    let output = account(line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Asserts a refusal whose line begins as given: status 2, one line with a remedy, nothing on standard output.
fn refused_with(words: &[&str], input: &str, start: &str) {
    let output = account_with(words, input);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{words:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{words:?}");
    assert_eq!(stderr.lines().count(), 1, "{words:?}: {stderr}");
    let line = match serde_json::from_str::<Value>(&stderr) {
        Ok(json) => json["error"]["message"].as_str().unwrap().to_owned(),
        Err(_) => stderr.strip_prefix("error[R").unwrap().split_once("]: ").unwrap().1.to_owned(),
    };
    assert!(line.starts_with(start), "{words:?}: {stderr}");
    assert!(line.contains(": "), "no remedy: {stderr}");
}

fn refused(line: &str, start: &str) {
    refused_with(&line.split_whitespace().collect::<Vec<_>>(), "", start);
}
