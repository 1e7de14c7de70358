//! A run that goes on is the run that was begun.

use super::{Folder, PEOPLE, SCHEMA, files, json, linear, network, refusal, reticent, stdout};
use serde_json::Value;

#[test]
fn other_data_schemas_and_requests_are_refused() {
    let folder = Folder::new();
    let text = std::fs::read_to_string(PEOPLE).unwrap();
    let (data, out) = (folder.file("a.csv", &text), folder.path("run"));
    stdout(&network(&data, &out));
    let other = folder.file("b.csv", text.replacen(",yes", ",no", 1));
    let line = refusal(&["train", other.as_str(), "--resume", &out]);
    assert!(line.contains("started with data other than") && line.contains("b.csv"), "{line}");
    let schema = std::fs::read_to_string(SCHEMA).unwrap();
    let wider = folder.file("wider.toml", schema.replace("[17, 90]", "[17, 91]"));
    let line = refusal(&["train", "--resume", &out, "--schema", &wider]);
    assert!(line.contains("a different schema"), "{line}");
    let line = refusal(&["train", "--resume", &out, "--dataset-size", "240"]);
    assert!(line.contains("a different size: null then, 240 now"), "{line}");
    // An edited file is no other way to say it.
    let run = folder.read("run/run.toml");
    folder.file("run/run.toml", format!("examples-per-user = 3\n{run}"));
    assert!(refusal(&["train", "--resume", &out]).contains("examples"));
    folder.file("run/run.toml", &run);
    let own = folder.read("run/schema.toml");
    folder.file("run/schema.toml", own.replace("90", "91"));
    assert!(refusal(&["train", "--resume", &out]).contains("a different schema"));
    folder.file("run/schema.toml", own);
    // The same data elsewhere, threads and how often it is stored may change.
    let moved = folder.file("moved.csv", &text);
    std::fs::remove_file(&data).unwrap();
    let more = ["--threads", "1", "--checkpoint-every", "2"];
    json(&[&["train", moved.as_str(), "--resume", &out][..], &more].concat());
}

/// Has a finished run look as if it had been killed between `run.toml` and the terms in its ledger.
fn without_terms(folder: &Folder) {
    for name in
        ["checkpoint.safetensors", "metrics.jsonl", "certificate.json", "model.json", "model.safetensors"]
    {
        std::fs::remove_file(folder.path(&format!("run/{name}"))).unwrap();
    }
    let mut ledger: Value = serde_json::from_str(&folder.read("run/ledger.json")).unwrap();
    ledger.as_object_mut().unwrap().remove("run").unwrap();
    ledger["request"].as_object_mut().unwrap().remove("counted").unwrap();
    ledger["counted"] = 0.into();
    folder.file("run/ledger.json", ledger.to_string());
}

/// `run.toml` with a count that is said to have cost nearly nothing.
fn cheaper(run: &str) -> String {
    let (head, counted) = run.split_once("[counted]").unwrap();
    let lines = counted.lines().map(|line| match line.starts_with("epsilon") {
        true => "epsilon = 0.0001",
        false => line,
    });
    format!("{head}[counted]{}\n", lines.collect::<Vec<_>>().join("\n"))
}

#[test]
fn the_count_and_the_budget_are_those_that_the_run_began_with() {
    let folder = Folder::new();
    let out = folder.path("run");
    let began = json(&network(PEOPLE, &out));
    let (run, whole) = (folder.read("run/run.toml"), files(&out));
    let uncounted = run.split_once("[counted]").unwrap().0.to_owned();
    let less = cheaper(&run).replacen("epsilon = 4.0", "epsilon = 3.9201", 1);
    for (text, why) in [
        (&uncounted, "the noisy count of the rows is missing"),
        (&less, "not the noisy count"),
        (&cheaper(&run), "not the noisy count"),
    ] {
        folder.file("run/run.toml", text);
        let line = refusal(&["train", "--resume", &out]);
        assert!(line.contains("run.toml") && line.contains(why), "{line}");
    }
    folder.file("run/run.toml", &run);
    assert_eq!(files(&out), whole, "a refused run draws and writes nothing");
    assert_eq!(json(&["train", "--resume", &out])["certificate"], began["certificate"]);
    // Before its terms were stored, nothing but the request in the ledger is there to compare with.
    without_terms(&folder);
    for (text, why) in [
        (&uncounted, "the noisy count of the rows is missing"),
        (&cheaper(&run), "as the cost of its events"),
    ] {
        folder.file("run/run.toml", text);
        let line = refusal(&["train", "--resume", &out]);
        assert!(line.contains("run.toml") && line.contains(why), "{line}");
    }
    let other = folder.path("other");
    let mut words = network(PEOPLE, &other);
    words[7] = "2";
    stdout(&words);
    folder.file("run/run.toml", folder.read("other/run.toml"));
    let line = refusal(&["train", "--resume", &out]);
    assert!(line.contains("a different epsilon: 4.0 then, 2.0 now"), "{line}");
    folder.file("run/run.toml", &run);
    let again = json(&["train", "--resume", &out]);
    assert_eq!(again["dataset_size"], began["dataset_size"]);
    let ledger: Value = serde_json::from_str(&folder.read("run/ledger.json")).unwrap();
    assert_eq!(ledger["request"]["counted"]["size"], began["dataset_size"]);
}

#[test]
fn without_the_fingerprint_nothing_goes_on_and_nothing_is_audited() {
    let folder = Folder::new();
    let [one, two] = ["one", "two"].map(|name| folder.path(name));
    stdout(&linear(PEOPLE, &one));
    stdout(&network(PEOPLE, &two));
    for out in [&one, &two] {
        std::fs::remove_file(format!("{out}/fingerprint.json")).unwrap();
        assert_eq!(stdout(&["predict", out, PEOPLE]).lines().count(), 241);
        let line = refusal(&["audit", out, "--references", "2", "--non-members", PEOPLE]);
        assert!(line.contains("fingerprint.json"), "{line}");
    }
    let line = refusal(&["train", "--resume", &two]);
    assert!(line.contains("fingerprint.json"), "{line}");
}

#[test]
fn a_ledger_is_not_taken_away_and_a_run_without_one_is_no_dead_end() {
    let folder = Folder::new();
    let out = folder.path("run");
    stdout(&network(PEOPLE, &out));
    for name in
        ["checkpoint.safetensors", "metrics.jsonl", "certificate.json", "model.json", "model.safetensors"]
    {
        std::fs::remove_file(folder.path(&format!("run/{name}"))).unwrap();
    }
    let run = folder.read("run/run.toml");
    std::fs::remove_file(folder.path("run/run.toml")).unwrap();
    let before = files(&out);
    for words in [network(PEOPLE, &out), linear(PEOPLE, &out)] {
        let line = refusal(&words);
        assert!(line.contains("without its run.toml"), "{line}");
        assert_eq!(files(&out), before);
    }
    folder.file("run/run.toml", run);
    std::fs::remove_file(folder.path("run/ledger.json")).unwrap();
    for words in [network(PEOPLE, &out), vec!["train", "--resume", &out]] {
        let line = refusal(&words);
        assert!(line.contains("remove the folder"), "{line}");
    }
}

#[test]
fn a_beginning_is_not_resumed_and_predict_does_not_say_so() {
    let folder = Folder::new();
    let out = folder.path("run");
    stdout(&network(PEOPLE, &out));
    without_terms(&folder);
    std::fs::remove_file(folder.path("run/run.toml")).unwrap();
    let line = refusal(&["predict", &out, PEOPLE]);
    assert!(line.contains("before its first step") && !line.contains("--resume"), "{line}");
    stdout(&network(PEOPLE, &out));
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
    assert!(line.contains("a different examples-per-user: 2 then, 3 now"), "{line}");
    stdout(&["train", "--resume", &out, "--examples-per-user", "2"]);
}

#[test]
fn a_refused_training_leaves_nothing_behind() {
    let folder = Folder::new();
    let out = folder.path("run");
    let deep = folder.path("above/within/run");
    let words = [&network(PEOPLE, &deep)[..], &["--dataset-size", "10"]].concat();
    assert!(refusal(&words).contains("--batch-size"));
    assert!(!std::path::Path::new(&folder.path("above")).exists());
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
