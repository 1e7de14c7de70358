//! Bad input: exit status 2, one line that names the flag, nothing on standard output and nothing written.

use super::{ADULT, SURVEY, infer, table};

/// Asserts a refusal whose line begins as given and leaves no file behind.
fn refused(words: &[&str], start: &str) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.toml");
    let with_out = [words, &["--out", out.to_str().unwrap()]].concat();
    let words = if words.contains(&"--out") { words } else { &with_out };
    let output = infer(words);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{words:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{words:?}");
    assert_eq!(stderr.lines().count(), 1, "{words:?}: {stderr}");
    assert!(stderr.starts_with("error[R") && stderr.contains(&format!("]: {start}")), "{words:?}: {stderr}");
    assert!(stderr.trim_end().matches(": ").count() >= 2, "no remedy: {stderr}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{words:?}");
}

#[test]
fn files_and_columns() {
    refused(&["nowhere.csv"], "nowhere.csv: no such file: check");
    refused(&["testdata"], "testdata: the folder has no .parquet files");
    let folder = tempfile::tempdir().unwrap();
    let empty = table(folder.path(), "e.csv", "x\n");
    refused(&[&empty], &format!("{empty} has no rows: "));
    // With epsilon the number of rows is private, and none is a number like any other.
    assert!(infer(&[&empty, "--epsilon", "1", "--delta", "1e-6"]).status.success());
    for flag in ["--label", "--unit", "--ignore"] {
        let words = [ADULT, flag, "incme"];
        refused(&words, &format!("{flag}: column \"incme\" is not in"));
        assert!(String::from_utf8(infer(&words).stderr).unwrap().contains("did you mean \"income\"?"));
    }
    refused(&[SURVEY, "--label", "age", "--unit", "age"], "--unit age: this column is the label");
    refused(
        &[SURVEY, "--label", "age", "--ignore", "age"],
        "--ignore age: this column is the label and cannot be ignored",
    );
}

#[test]
fn labels() {
    refused(&[SURVEY, "--label", "income", "--positive", ">60K"], "--positive >60K: no row has this value");
    refused(&[SURVEY, "--label", "income", "--positive", " "], "--positive  : blank");
    let folder = tempfile::tempdir().unwrap();
    let one = table(folder.path(), "one.csv", "x,y\na,1\na,1\n");
    refused(&[&one, "--label", "x"], "--label x: only one class was found: ");
    refused(&[&one, "--label", "y"], "--label y: every number is 1: ");
    let output = infer(&[SURVEY, "--positive", ">50K"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("--label"));
}

#[test]
fn budgets() {
    let delta = ["--delta", "1e-6"];
    for epsilon in ["0", "-1", "NaN", "inf", "abc", "51", "1e-9"] {
        let words = [&[ADULT, "--epsilon", epsilon], &delta[..]].concat();
        refused(&words, &format!("--epsilon {epsilon}: "));
    }
    for delta in ["0", "1", "-1", "2", "NaN", "x"] {
        refused(&[ADULT, "--epsilon", "1", "--delta", delta], &format!("--delta {delta}: "));
    }
    refused(&[ADULT, "--epsilon", "1"], "--delta: missing: text columns need a delta");
    refused(&[SURVEY, "--epsilon", "1"], "--delta: missing: the columns of a CSV file may be text");
    refused(&[ADULT, "--delta", "1e-6"], "--delta 1e-6: a delta needs an --epsilon");
    let users = [&[ADULT, "--unit", "age", "--epsilon", "1"], &delta[..]].concat();
    refused(&users, "--unit age: a schema can be learnt privately only with rows as the unit");
}

#[test]
fn a_file_is_not_replaced_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let there = table(folder.path(), "there.toml", "mine\n");
    refused(&[SURVEY, "--out", &there], &format!("--out {}", &there[..20]));
    assert_eq!(std::fs::read_to_string(&there).unwrap(), "mine\n");
    refused(&[SURVEY, "--out", "schema.txt"], "--out schema.txt: give a name that ends in .toml");
    refused(&[SURVEY, "--out", "nowhere/schema.toml"], "--out nowhere/schema.toml: no such folder");
    assert_eq!(infer(&[SURVEY, "--force"]).status.code(), Some(2));
}
