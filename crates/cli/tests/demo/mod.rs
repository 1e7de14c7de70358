//! `reticent demo`: the real binary, in folders of its own.

mod story;

use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// The command, to be run in `folder`.
fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reticent"));
    command.current_dir(folder).env("RETICENT_QUIET", "1").args(words);
    command
}

fn reticent(folder: &Path, words: &[&str]) -> Output {
    command(folder, words).output().unwrap()
}

/// The standard output of a command that must succeed.
fn stdout(folder: &Path, words: &[&str]) -> String {
    let output = reticent(folder, words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_folder_of_somebody_else_is_refused() {
    let place = TempDir::new().unwrap();
    std::fs::create_dir(place.path().join("demo")).unwrap();
    std::fs::write(place.path().join("demo/thesis.txt"), "mine").unwrap();
    std::fs::write(place.path().join("file"), "mine").unwrap();
    for words in [&["demo", "--quick"][..], &["demo", "--quick", "--out", "file"]] {
        let output = reticent(place.path(), words);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(
            output.stdout.is_empty() && stderr.lines().count() == 1 && stderr.contains("--out"),
            "{stderr}"
        );
    }
    let kept: Vec<_> = std::fs::read_dir(place.path().join("demo")).unwrap().collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(std::fs::read_to_string(place.path().join("demo/thesis.txt")).unwrap(), "mine");
}

#[test]
fn threads_are_checked_before_anything_is_made() {
    let place = TempDir::new().unwrap();
    let output = reticent(place.path(), &["demo", "--quick", "--threads", "0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("--threads 0"));
    assert!(!place.path().join("demo").exists());
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_it_and_another_one_works() {
    let place = TempDir::new().unwrap();
    let child = command(place.path(), &["demo", "--threads", "1"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Once the network of part 2 is being trained.
    let run = place.path().join("demo/network/run.toml");
    while !run.exists() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("1  A private statistic") && said.contains("Interrupted"), "{said}");
    let marker = std::fs::read_to_string(place.path().join("demo/demo.json")).unwrap();
    assert!(marker.contains("\"finished\":false"), "{marker}");

    stdout(place.path(), &["demo", "--quick", "--threads", "1", "--json"]);
    assert!(place.path().join("demo/report.html").is_file());
}
