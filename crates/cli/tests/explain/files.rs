//! Errors in every kind of TOML file show the line they are about.

use super::reticent_in;
use std::path::Path;
use tempfile::TempDir;

const TABLE: &str = "age,sex,income\n30,F,low\n40,M,high\n50,F,high\n60,M,low\n";
const SCHEMA: &str = "unit = \"row\"\n[label]\ncolumn = \"income\"\npositive = \"high\"\n[columns]\nage = { bounds = [17, 90] }\n";

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("people.csv"), TABLE).unwrap();
    std::fs::write(folder.path().join("schema.toml"), SCHEMA).unwrap();
    folder
}

/// What standard error shows after a refusal.
fn refused(folder: &Path, words: &[&str]) -> String {
    let output = reticent_in(folder, words);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{words:?}: {stderr}");
    stderr
}

/// Asserts the first line's start, and the lines below it.
fn shows(stderr: &str, start: &str, excerpt: &str) {
    assert!(stderr.starts_with(start), "{stderr}");
    let rest = stderr.split_once('\n').unwrap().1;
    let gutter = " ".repeat(excerpt.find(' ').unwrap());
    assert_eq!(rest, format!("{gutter} |\n{excerpt}\n"), "{stderr}");
}

#[test]
fn schemas() {
    let folder = folder();
    let head = "unit = \"row\"\n\n[label]\ncolumn = \"income\"\npositive = \"high\"\n\n[columns]\n\n\n\n\n";
    for (line, start, excerpt) in [
        (
            "age = { bounds = [90, 17] }",
            "error[R312]: s.toml:12: the bounds [90, 17] do not increase: give the lower one first\n",
            "12 | age = { bounds = [90, 17] }\n   |                  ^^^^^^^^",
        ),
        (
            "age = { bound = [17, 90] }",
            "error[R313]: s.toml:12: unknown key \"bound\" in column \"age\" (did you mean \"bounds\"?): ",
            "12 | age = { bound = [17, 90] }\n   |         ^^^^^",
        ),
        (
            "age = { bounds = [17, \"x\"] }",
            "error[R312]: s.toml:12: a bound is some other text: write bounds = [low, high]\n",
            "12 | age = { bounds = [17, \"x\"] }\n   |                       ^^^",
        ),
        (
            "sex = { categories = [] }",
            "error[R312]: s.toml:12: there are no categories: list at least one\n",
            "12 | sex = { categories = [] }\n   |                      ^^",
        ),
        (
            "sex = { categories = [\"F\", \"F\"] }",
            "error[R312]: s.toml:12: the category \"F\" is declared twice: remove one\n",
            "12 | sex = { categories = [\"F\", \"F\"] }\n   |                            ^^^",
        ),
        (
            "income = \"ignore\"",
            "error[R312]: s.toml:12: \"income\" is the label and may not be a feature",
            "12 | income = \"ignore\"\n   | ^^^^^^",
        ),
        (
            "age = { bounds = 1..2 }",
            "error[R311]: s.toml:12: not valid TOML: ",
            "12 | age = { bounds = 1..2 }\n   |                    ^",
        ),
    ] {
        std::fs::write(folder.path().join("s.toml"), format!("{head}{line}\n")).unwrap();
        let words = ["train", "people.csv", "--schema", "s.toml", "--epsilon", "1"];
        let stderr = refused(folder.path(), &words);
        shows(&stderr, start, excerpt);
        // For machines one line.
        let json = refused(folder.path(), &[&words[..], &["--json"]].concat());
        assert!(json.lines().count() == 1 && json.contains("s.toml:12: "), "{json}");
    }
    // A terminal is not at the file's mercy.
    std::fs::write(folder.path().join("s.toml"), "unit = 1 # \u{1b}[31m\u{202e}\n").unwrap();
    let stderr = refused(folder.path(), &["train", "people.csv", "--schema", "s.toml", "--epsilon", "1"]);
    assert!(!stderr.contains('\u{1b}') && !stderr.contains('\u{202e}'), "{stderr:?}");
}

#[test]
fn models() {
    let folder = folder();
    let head = "input = [3]\n\n[[layer]]\nkind = \"linear\"\nout = 4\n\n[[layer]]\n";
    for (lines, start, excerpt) in [
        (
            "kind = \"conv2d\"\nout = 3\nkernel = [3, 3]",
            "error[R318]: m.toml:8: layer 1 (conv2d): it reads [4]: it needs [channels, height, width]\n",
            "8 | kind = \"conv2d\"\n  |        ^^^^^^^^",
        ),
        (
            "kind = \"linear\"\nout = 0",
            "error[R318]: m.toml:9: layer 1 (linear): out is 0: give at least 1\n",
            "9 | out = 0\n  |       ^",
        ),
        (
            "kind = \"linear\"\nuot = 2",
            "error[R313]: m.toml:9: layer 1 (linear): unknown key \"uot\"",
            "9 | uot = 2\n  | ^^^",
        ),
        (
            "kind = \"linear\"\nout = true",
            "error[R312]: m.toml:9: layer 1 (linear): out: give a whole number",
            "9 | out = true\n  |       ^^^^",
        ),
        (
            "kind = \"linear\"\nout = 3",
            "error[R504]: m.toml:9: the network has 3 outputs, but the data need 2: one per class",
            "9 | out = 3\n  |       ^",
        ),
        ("kind = linear", "error[R311]: m.toml:8: not valid TOML: ", "8 | kind = linear\n  |        ^^^^^^"),
    ] {
        std::fs::write(folder.path().join("m.toml"), format!("{head}{lines}\n")).unwrap();
        let words = ["train", "people.csv", "--schema", "schema.toml", "--model", "m.toml", "--non-private"];
        let stderr = refused(folder.path(), &[&words[..], &["--out", "run"]].concat());
        shows(&stderr, start, excerpt);
    }
}

#[test]
fn runs() {
    let folder = folder();
    let head = "data = \"people.csv\"\nschema = \"schema.toml\"\nmodel = \"mlp\"\ndelta = 1e-5\n";
    let words = ["train", "run.toml", "--out", "run"];
    for (line, start, excerpt) in [
        (
            "epsilom = 1",
            "error[R313]: run.toml:5: unknown key \"epsilom\" (did you mean \"epsilon\"?): the keys are data, ",
            "5 | epsilom = 1\n  | ^^^^^^^",
        ),
        (
            "epsilon = \"1\"",
            "error[R312]: run.toml:5: epsilon = \"1\": give a number\n",
            "5 | epsilon = \"1\"\n  |           ^^^",
        ),
        (
            "epsilon = -1",
            "error[R312]: run.toml:5: epsilon = -1: give a number above 0",
            "5 | epsilon = -1\n  |           ^^",
        ),
        (
            "epsilon = 1\nclip = 0",
            "error[R312]: run.toml:6: clip = 0: give a clipping norm above 0, such as 1",
            "6 | clip = 0\n  |        ^",
        ),
        (
            "epsilon = 1\noptimizer = \"sdg\"",
            "error[R312]: run.toml:6: optimizer = sdg: unknown: give sgd, adam, adamw, adam-bc or adam-uncorrected\n",
            "6 | optimizer = \"sdg\"\n  |             ^^^^^",
        ),
        (
            "epsilon = 1\nepochs = 2\nsteps = 3",
            "error[R103]: run.toml:6: epochs = 2: give --epochs or --steps, not both\n",
            "6 | epochs = 2\n  |          ^",
        ),
        ("epsilon = ", "error[R311]: run.toml:5: not valid TOML: ", "5 | epsilon = \n  |           ^"),
    ] {
        std::fs::write(folder.path().join("run.toml"), format!("{head}{line}\n")).unwrap();
        let stderr = refused(folder.path(), &words);
        shows(&stderr, start, excerpt);
    }
    // A flag that replaces the file's value is refused as a flag.
    std::fs::write(folder.path().join("run.toml"), format!("{head}epsilon = 1\nclip = 1\n")).unwrap();
    let stderr = refused(folder.path(), &[&words[..], &["--clip", "0"]].concat());
    assert!(stderr.starts_with("error[R201]: --clip 0: ") && stderr.lines().count() == 1, "{stderr}");
}

#[test]
fn declarations() {
    let folder = folder();
    let scores: String = (0..40u32).map(|row| format!("{},{}\n", row * 7 % 11, row % 2)).collect();
    std::fs::write(folder.path().join("scores.csv"), format!("score,member\n{scores}")).unwrap();
    assert!(
        reticent_in(folder.path(), &["audit", "--scores", "scores.csv", "--out", "audits"]).status.success()
    );
    for (line, start, excerpt) in [
        (
            "purpos = \"x\"",
            "error[R313]: d.toml:2: unknown key \"purpos\" (did you mean \"purpose\"?): the keys are title, ",
            "2 | purpos = \"x\"\n  | ^^^^^^",
        ),
        (
            "prior = \"low\"",
            "error[R312]: d.toml:2: prior = \"low\": give a number\n",
            "2 | prior = \"low\"\n  |         ^^^^^",
        ),
        (
            "prior = 2",
            "error[R312]: d.toml:2: prior = 2: give a number between 0 and 1",
            "2 | prior = 2\n  |         ^",
        ),
        (
            "release = \"open\"",
            "error[R312]: d.toml:2: release = \"open\": unknown",
            "2 | release = \"open\"\n  |           ^^^^^^",
        ),
        (
            "notes = \"x\"",
            "error[R312]: d.toml:2: notes = \"x\": give a list\n",
            "2 | notes = \"x\"\n  |         ^^^",
        ),
        ("title = x", "error[R311]: d.toml:2: not valid TOML: ", "2 | title = x\n  |         ^"),
    ] {
        std::fs::write(folder.path().join("d.toml"), format!("# About the model.\n{line}\n")).unwrap();
        let stderr = refused(folder.path(), &["report", "audits", "--declared", "d.toml"]);
        shows(&stderr, start, excerpt);
    }
}
