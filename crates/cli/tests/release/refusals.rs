//! Bad input: exit status 2, one line that names the flag, nothing on standard output.

use crate::{ADULT, SURVEY, release};
use std::path::Path;

/// Asserts a refusal whose line begins as given.
fn refused(words: &[&str], start: &str) {
    let output = release(words);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{words:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{words:?}");
    assert_eq!(stderr.lines().count(), 1, "{words:?}: {stderr}");
    assert!(stderr.starts_with("error[R") && stderr.contains(&format!("]: {start}")), "{words:?}: {stderr}");
    assert!(stderr.trim_end().matches(": ").count() >= 2, "no remedy: {stderr}");
}

fn table(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn files_and_columns() {
    refused(&["count", "nowhere.csv", "--epsilon", "1"], "nowhere.csv: no such file: check");
    refused(&["count", "testdata", "--epsilon", "1"], "testdata: not a regular file");
    refused(&["count", "README.md", "--epsilon", "1"], "README.md: unknown table format");
    let mean = ["mean", ADULT, "--bounds", "0,9", "--epsilon", "1"];
    refused(&[&mean[..], &["--column", "agee"]].concat(), "--column: column \"agee\" is not in");
    refused(
        &[&mean[..], &["--column", "sex"]].concat(),
        "--column: column \"sex\", row 1: \"Male\" is not a number",
    );
    refused(&["count", ADULT, "--epsilon", "1", "--where", "agee>1"], "--where: column \"agee\" is not in");
}

#[test]
fn contents() {
    let folder = tempfile::tempdir().unwrap();
    for (name, cell, problem) in
        [("n.csv", "NaN", "finite"), ("i.csv", "-inf", "finite"), ("t.csv", "x", "not a number")]
    {
        let file = table(folder.path(), name, &format!("x\n1\n{cell}\n"));
        for question in ["sum", "mean", "quantile"] {
            let output = release(&[question, &file, "--column", "x", "--bounds", "0,9", "--epsilon", "1"]);
            assert!(String::from_utf8_lossy(&output.stderr).contains(problem));
            refused(
                &[question, &file, "--column", "x", "--bounds", "0,9", "--epsilon", "1"],
                "--column: column \"x\", row 2: ",
            );
        }
    }
    let empty = table(folder.path(), "e.csv", "x\n");
    refused(&["count", &empty, "--epsilon", "1"], &format!("{empty} has no rows: "));
    let nothing = table(folder.path(), "z.csv", "");
    refused(&["count", &nothing, "--epsilon", "1"], &format!("{nothing}: the file is empty"));
    let ragged = table(folder.path(), "r.csv", "x,y\n1\n");
    refused(&["count", &ragged, "--epsilon", "1"], &format!("{ragged}: row 1 "));
    let broken = table(folder.path(), "b.parquet", "PAR1 nonsense PAR1");
    refused(&["count", &broken, "--epsilon", "1"], &format!("{broken}: not a readable Parquet file"));
}

#[test]
fn numbers() {
    let flag = |question: &[&str], flag: &str, values: &[&str]| {
        for value in values {
            refused(&[question, &[flag, value]].concat(), &format!("{flag} {value}: "));
        }
    };
    let count = ["count", SURVEY];
    flag(&count, "--epsilon", &["0", "-1", "NaN", "inf", "-inf", "abc", "51", "1e9", "1e-9"]);
    flag(&["count", SURVEY], "--error", &["0", "-3", "NaN", "x"]);
    let epsilon = ["count", SURVEY, "--epsilon", "1"];
    flag(&epsilon, "--error", &["3"]);
    flag(&epsilon, "--delta", &["1", "2", "-1", "0", "NaN", "x"]);
    flag(&epsilon, "--confidence", &["0", "1", "95", "NaN", "x"]);
    flag(&epsilon, "--neighboring", &["next-door"]);
    flag(&epsilon, "--mechanism", &["geometric", "exponential"]);
    let age = ["quantile", SURVEY, "--column", "age", "--epsilon", "1"];
    flag(&age, "--bounds", &["90,17", "5,5", "1", "1,2,3", "a,b", "0,inf", "NaN,1", "-1e308,1e308"]);
    let bounded = [&age[..], &["--bounds", "0,9"]].concat();
    flag(&bounded, "--candidates", &["1", "0", "-2", "1e9", "2.5", "x"]);
    flag(&bounded, "--quantile", &["0", "1", "-0.5", "50", "x"]);
    flag(&bounded, "--delta", &["1e-6"]);
}

#[test]
fn the_remedy_is_in_the_line() {
    let say = |words: &[&str]| String::from_utf8(release(words).stderr).unwrap();
    let mean = ["mean", ADULT, "--column", "age", "--epsilon", "1", "--bounds"];
    assert_eq!(
        say(&[&mean[..], &["90,17"]].concat()),
        "error[R204]: --bounds 90,17: give the lower bound first: --bounds 17,90\n"
    );
    let count = ["count", ADULT, "--epsilon", "1"];
    assert_eq!(
        say(&[&count[..], &["--mechanism", "gaussian"]].concat()),
        "error[R102]: --delta: missing: Gaussian noise needs one, e.g. --delta 1e-6\n"
    );
    assert_eq!(
        say(&[&count[..], &["--mechanism", "laplace", "--delta", "1e-6"]].concat()),
        "error[R103]: --delta 0.000001: leave it out: Laplace noise needs none (or choose --mechanism gaussian)\n"
    );
    assert_eq!(
        say(&["count", ADULT, "--epsilon", "1000"]),
        "error[R207]: --epsilon 1000: such a release protects nobody: give at most 50\n"
    );
    assert_eq!(
        say(&["mean", ADULT, "--epsilon", "1"]),
        "error[R102]: missing --column <COLUMN>, --bounds <LO,HI>: see 'reticent release mean --help'\n"
    );
    assert_eq!(
        say(&["count", ADULT, "--epsilom", "1"]),
        "error[R101]: unexpected argument '--epsilom' found (did you mean --epsilon?): see 'reticent release count --help'\n"
    );
}

#[test]
fn lists_and_filters() {
    let histogram = ["histogram", SURVEY, "--column", "sex", "--epsilon", "1"];
    for list in ["a,b,a", "a,,b", "", "\"a", "\"a\"b"] {
        refused(&[&histogram[..], &["--categories", list]].concat(), &format!("--categories {list}: "));
    }
    refused(&histogram, "--categories: missing: ");
    for edges in ["1", "2,1", "1,1", "a,b", "0,inf"] {
        let output = release(&[&histogram[..], &["--bins", edges]].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("]: --bins "));
    }
    for filter in ["sex", "sex=", "=Male", "age<old", "sex='Male", "sex=Male and"] {
        refused(
            &["count", SURVEY, "--epsilon", "1", "--where", filter],
            &format!("--where: filter \"{filter}\": "),
        );
    }
}

#[test]
fn missing_and_unknown_flags() {
    refused(&["count", SURVEY], "--epsilon: missing: ");
    refused(&["mode", SURVEY, "--column", "sex", "--epsilon", "1"], "missing --categories");
    refused(&["proportion", SURVEY, "--column", "sex", "--epsilon", "1"], "missing --value");
    refused(&["median", SURVEY], "unrecognized subcommand 'median'");
    refused(
        &["count", SURVEY, "--epsilon", "1", "--epsilon", "2"],
        "the argument '--epsilon <E>' cannot be used",
    );
    refused(
        &[
            "mode",
            SURVEY,
            "--column",
            "sex",
            "--categories",
            "a,b",
            "--epsilon",
            "1",
            "--mechanism",
            "laplace",
        ],
        "--mechanism laplace: unknown",
    );
}

#[test]
fn a_name_is_not_drawn() {
    let mode = ["mode", ADULT, "--column", "sex", "--categories", "Male,Female", "--epsilon", "1"];
    refused(&[&mode[..], &["--plot", "m.svg"]].concat(), "--plot m.svg: leave it out: ");
}
