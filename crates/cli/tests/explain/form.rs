//! How codes, explanations and errors are printed.

use super::{reticent, stdout};
use serde_json::Value;
use std::path::Path;

const PAGE: &str = "../../docs/reference/errors.md";

#[test]
fn the_page_of_the_documentation_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = std::fs::read_to_string(path).unwrap();
    let remedy = "run 'reticent explain --markdown > docs/reference/errors.md'";
    assert!(page == stdout(&["explain", "--markdown"]), "docs/reference/errors.md is out of date: {remedy}");
    assert!(page.lines().all(|line| line.chars().count() <= 130));
}

#[test]
fn codes_are_listed_and_explained() {
    let list = stdout(&["explain"]);
    for part in
        ["\nValues\n  R201  ", "R901", "Exit statuses", "  70    internal error", "  130   interrupted"]
    {
        assert!(list.contains(part), "{part}: {list}");
    }
    let one = stdout(&["explain", "R204"]);
    assert!(one.starts_with("R204: ") && one.contains("\nCorrected\n  reticent release mean"), "{one}");
    for code in ["r204", "204"] {
        assert_eq!(stdout(&["explain", code]), one);
    }
    let json: Value = serde_json::from_str(&stdout(&["explain", "204", "--json"])).unwrap();
    assert_eq!(json["code"], "R204");
    let help = stdout(&["--help"]);
    assert!(
        help.contains("Exit status: 0 success, 2 ") && help.contains("'reticent explain CODE'"),
        "{help}"
    );
}

#[test]
fn an_unknown_code_names_the_nearest() {
    let output = reticent(&["explain", "R208"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr.starts_with("error[R105]: explain R208: unknown code: the nearest are R207, "));
}

#[test]
fn errors_are_json_for_machines() {
    let words = ["account", "epsilon", "--noise-multiplier", "1", "--delta", "2"];
    let text = String::from_utf8(reticent(&words).stderr).unwrap();
    let output = reticent(&[&words[..], &["--json"]].concat());
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    let line = String::from_utf8(output.stderr).unwrap();
    assert_eq!(line.lines().count(), 1, "{line}");
    let error = &serde_json::from_str::<Value>(&line).unwrap()["error"];
    assert_eq!(text, format!("error[R201]: {}\n", error["message"].as_str().unwrap()));
    assert_eq!((&error["code"], &error["explain"]), (&"R201".into(), &"reticent explain R201".into()));
    // Words that clap refuses, too.
    let line = reticent(&["account", "epsilon", "--nonsense", "--json"]).stderr;
    assert_eq!(serde_json::from_slice::<Value>(&line).unwrap()["error"]["code"], "R101");
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_has_a_code() {
    let full = std::fs::File::create("/dev/full").unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_reticent"));
    let output = command.arg("explain").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stderr.starts_with(b"error[R905]: cannot write to standard output"));
}
