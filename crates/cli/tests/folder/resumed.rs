//! A run that goes on is the run that was begun.

use super::{Folder, PEOPLE, SCHEMA, files, json, network, refusal, reticent, stdout};

#[test]
fn other_data_schemas_and_requests_are_refused() {
    let folder = Folder::new();
    let text = std::fs::read_to_string(PEOPLE).unwrap();
    let (data, out) = (folder.file("a.csv", &text), folder.path("run"));
    stdout(&network(&data, &out));
    let other = folder.file("b.csv", text.replacen(",yes", ",no", 1));
    let line = refusal(&["train", other.as_str(), "--resume", &out]);
    assert!(line.contains("begun with other data") && line.contains("b.csv"), "{line}");
    let schema = std::fs::read_to_string(SCHEMA).unwrap();
    let wider = folder.file("wider.toml", schema.replace("[17, 90]", "[17, 91]"));
    let line = refusal(&["train", "--resume", &out, "--schema", &wider]);
    assert!(line.contains("another schema"), "{line}");
    let line = refusal(&["train", "--resume", &out, "--dataset-size", "240"]);
    assert!(line.contains("another size: null then, 240 now"), "{line}");
    // An edited file is no other way to say it.
    let run = folder.read("run/run.toml");
    folder.file("run/run.toml", format!("examples-per-user = 3\n{run}"));
    assert!(refusal(&["train", "--resume", &out]).contains("examples"));
    folder.file("run/run.toml", &run);
    let own = folder.read("run/schema.toml");
    folder.file("run/schema.toml", own.replace("90", "91"));
    assert!(refusal(&["train", "--resume", &out]).contains("another schema"));
    folder.file("run/schema.toml", own);
    // The same data elsewhere, threads and how often it is stored may change.
    let moved = folder.file("moved.csv", &text);
    std::fs::remove_file(&data).unwrap();
    let more = ["--threads", "1", "--checkpoint-every", "2"];
    json(&[&["train", moved.as_str(), "--resume", &out][..], &more].concat());
}

#[test]
fn users_keep_their_number_of_rows() {
    let folder = Folder::new();
    let text = std::fs::read_to_string(PEOPLE).unwrap();
    let mut lines = text.lines();
    let head = format!("who,{}", lines.next().unwrap());
    let rows: Vec<String> = lines.enumerate().map(|(row, line)| format!("u{},{line}", row / 3)).collect();
    let data = folder.file("users.csv", format!("{head}\n{}\n", rows.join("\n")));
    let schema = std::fs::read_to_string(SCHEMA).unwrap().replace("\"row\"", "{ column = \"who\" }");
    let (schema, out) = (folder.file("users.toml", schema), folder.path("run"));
    let mut words = network(&data, &out);
    words.extend(["--schema", &schema, "--examples-per-user", "2"]);
    let words: Vec<&str> = {
        let place = words.iter().position(|word| *word == SCHEMA).unwrap();
        words
            .into_iter()
            .enumerate()
            .filter(|(at, _)| *at != place && *at + 1 != place)
            .map(|(_, w)| w)
            .collect()
    };
    stdout(&words);
    let line = refusal(&["train", "--resume", &out, "--examples-per-user", "3"]);
    assert!(line.contains("another examples-per-user: 2 then, 3 now"), "{line}");
    stdout(&["train", "--resume", &out, "--examples-per-user", "2"]);
}

#[test]
fn a_refused_training_leaves_nothing_behind() {
    let folder = Folder::new();
    let out = folder.path("run");
    let words = [&network(PEOPLE, &out)[..], &["--dataset-size", "10"]].concat();
    assert!(refusal(&words).contains("--batch-size"));
    assert!(!std::path::Path::new(&out).exists());
    std::fs::create_dir(&out).unwrap();
    assert!(refusal(&words).contains("--batch-size"));
    assert!(files(&out).is_empty());
    stdout(&network(PEOPLE, &out));
}

#[cfg(unix)]
#[test]
fn a_lock_that_is_a_pipe_is_refused() {
    let folder = Folder::new();
    let out = folder.path("run");
    stdout(&network(PEOPLE, &out));
    let lock = folder.path("run/run.lock");
    std::fs::remove_file(&lock).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&lock).status().unwrap().success());
    let output = reticent(&["train", "--resume", &out]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("run.lock") && said.contains("pipe"), "{said}");
}

#[cfg(unix)]
#[test]
fn sigterm_does_what_ctrl_c_does() {
    use std::process::{Command, Stdio};
    let folder = Folder::new();
    let out = folder.path("run");
    let mut words = network(PEOPLE, &out);
    *words.last_mut().unwrap() = "100000";
    let mut child = super::command(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let metrics = folder.path("run/metrics.jsonl");
    while !std::path::Path::new(&metrics).exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("--resume") && files(&out).contains_key("certificate.json"), "{said}");
}

/// A full disk must not take away the certificate of a run that has ended: nothing is removed before its successor is there.
#[cfg(unix)]
#[test]
fn a_finished_run_keeps_its_certificate_when_nothing_can_be_written() {
    let folder = Folder::new();
    let out = folder.path("run");
    stdout(&network(PEOPLE, &out));
    let before = files(&out);
    // Files may not grow: every write fails as on a full disk.
    let binary = env!("CARGO_BIN_EXE_reticent");
    let script = format!("trap '' XFSZ; ulimit -f 0; exec '{binary}' train --resume '{out}'");
    let output = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
    assert!(!output.status.success());
    assert_eq!(files(&out), before);
    stdout(&["train", "--resume", &out]);
}
