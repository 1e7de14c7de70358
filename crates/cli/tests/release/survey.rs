//! Randomize, then estimate: the local model end to end.

use super::{ADULT, SURVEY, json, release, stdout};
use std::path::Path;

fn randomize(output: &Path, more: &[&str]) -> std::process::Output {
    let output = output.to_str().unwrap();
    let words = [
        "randomize",
        ADULT,
        "--column",
        "sex",
        "--categories",
        "Male,Female",
        "--epsilon",
        "1",
        "--out",
        output,
    ];
    release(&[&words[..], more].concat())
}

#[test]
fn the_round_trip_recovers_the_population() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("randomized.csv");
    let file = path.to_str().unwrap();
    let output = randomize(&path, &["--json"]);
    assert!(output.status.success() && output.stderr.is_empty());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let certificate = &report["certificate"];
    assert_eq!(
        (&certificate["unit"], &certificate["neighboring"]),
        (&"answer".into(), &"replace-one".into())
    );
    assert_eq!(certificate["events"][0]["randomized_response"]["categories"], 2);
    assert_eq!(report["rows"], 32561);

    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 32562);
    assert!(text.starts_with("sex\n") && text.lines().skip(1).all(|line| line == "Male" || line == "Female"));

    let keep = report["keep_probability"].as_f64().unwrap().to_string();
    for how in [["--epsilon", "1"], ["--keep-probability", &keep]] {
        let words = ["estimate", file, "--column", "sex", "--categories", "Male,Female", how[0], how[1]];
        let estimate = json(&words);
        // Seven standard errors of 0.006.
        assert!((estimate["value"][0].as_f64().unwrap() - 21790.0 / 32561.0).abs() < 0.042, "{estimate}");
        assert!(estimate["standard_error"][1].as_f64().unwrap() < 0.007);
        assert!(estimate["interval"][0][0].as_f64().unwrap() < estimate["value"][0].as_f64().unwrap());
        assert!(stdout(&words).contains("  Female"));
    }
}

#[test]
fn other_columns_are_written_only_on_request_and_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.csv");
    let output = randomize(&path, &["--keep-columns", "age,workclass"]);
    assert!(output.status.success());
    let warning = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        warning,
        "warning: --keep-columns: these columns are copied and NOT protected: age, workclass\n"
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("reticent release estimate") && text.contains("keep probability"), "{text}");
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.starts_with("sex,age,workclass\n"));
    assert!(written.lines().nth(1).unwrap().ends_with(",39,State-gov"));
    assert_eq!(written.lines().count(), 32562);
}

#[test]
fn what_is_refused_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let good = folder.path().join("out.csv");
    let good = good.to_str().unwrap();
    let input = folder.path().join("in.csv");
    std::fs::copy(super::root().join(SURVEY), &input).unwrap();
    let again = folder.path().join("./in.csv");
    let (input, again) = (input.to_str().unwrap(), again.to_str().unwrap());
    let before = std::fs::read(input).unwrap();
    let empty = folder.path().join("empty.csv");
    std::fs::write(&empty, "sex\n").unwrap();
    let here = folder.path().to_str().unwrap();
    let cases: [(&str, &str, &str, &str, &str, &str); 10] = [
        (input, "sex", "Male,Female", "1", input, "--out "),
        (input, "sex", "Male,Female", "1", again, "--out "),
        (
            input,
            "sex",
            "Male,Female",
            "1",
            "/nowhere/at/all.csv",
            "--out /nowhere/at/all.csv: no such folder",
        ),
        (input, "sex", "Male,Female", "1", "/proc/out.csv", "--out: /proc/out.csv: cannot write"),
        (input, "sex", "Male,Female", "1", here, "--out "),
        (input, "sex", "Male", "1", good, "--categories Male: give at least 2"),
        (input, "sex", "Male,Male", "1", good, "--categories Male,Male: "),
        (input, "gender", "Male,Female", "1", good, "--column: column \"gender\" is not in"),
        (input, "sex", "Male,Female", "60", good, "--epsilon 60: "),
        (empty.to_str().unwrap(), "sex", "Male,Female", "1", good, ""),
    ];
    for (file, column, categories, epsilon, output, start) in cases {
        let words = ["randomize", file, "--column", column, "--categories", categories, "--epsilon", epsilon];
        let refused = release(&[&words[..], &["--out", output]].concat());
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{stderr}");
        assert!(refused.stdout.is_empty() && stderr.lines().count() == 1);
        assert!(stderr.starts_with("error[R") && stderr.contains(&format!("]: {start}")), "{stderr}");
        let mut left: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["empty.csv", "in.csv"], "{stderr}");
    }
    assert_eq!(std::fs::read(input).unwrap(), before);
}

/// Answers that are missing or not declared become any category: what is said does not depend on them.
#[test]
fn undeclared_answers_become_any_category() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("in.csv"), folder.path().join("out.csv"));
    std::fs::write(&file, format!("a\n{}", "\"\"\nmaybe\n".repeat(3000))).unwrap();
    let (file, out) = (file.to_str().unwrap(), out.to_str().unwrap());
    let words = ["randomize", file, "--column", "a", "--categories", "x,y,z", "--epsilon", "8", "--out", out];
    assert!(release(&words).stderr.is_empty());
    let text = std::fs::read_to_string(out).unwrap();
    for category in ["x", "y", "z"] {
        // 2 000 with a standard deviation of 36.5: further off than 10 of them with probability below 1e-22.
        let count = text.lines().filter(|line| *line == category).count();
        assert!(count.abs_diff(2000) < 365, "{category}: {count}");
    }
}

#[test]
fn estimate_refuses_what_cannot_be() {
    let words = ["estimate", SURVEY, "--column", "sex", "--categories", "Male,Female"];
    for (more, start) in [
        (&[][..], "--epsilon: missing: "),
        (&["--keep-probability", "0.5"], "--keep-probability 0.5: "),
        (&["--keep-probability", "1"], "--keep-probability 1: "),
        (&["--keep-probability", "2"], "--keep-probability 2: "),
        (&["--epsilon", "0"], "--epsilon 0: "),
        (
            &["--epsilon", "1", "--keep-probability", "0.7"],
            "the argument '--epsilon <E>' cannot be used with",
        ),
    ] {
        let output = release(&[&words[..], more].concat());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty() && stderr.lines().count() == 1);
        assert!(stderr.starts_with("error[R") && stderr.contains(&format!("]: {start}")), "{stderr}");
    }
}
