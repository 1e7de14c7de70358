//! Every command with `--json`, beside the tables of docs/reference/json.md.

mod account;
mod audit;
mod budget;
mod compare;
mod learn;
mod page;
mod pages;
mod release;

use crate::temporary::{Folder, noise};
use compare::check;
use page::Page;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const SURVEY: &str = "testdata/survey.csv";

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reticent"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    command.current_dir(root).env_remove("RETICENT_DATA").args(words).arg("--json");
    command
}

/// The JSON of a command that must succeed: exactly one line, and warnings alone on standard error.
fn json(words: &[&str]) -> Value {
    let output = command(words).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{words:?}: {said}");
    assert!(said.lines().all(|line| line.starts_with("warning: ")), "{words:?}: {said}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(&text).unwrap()
}

/// A command line in one string; no word of it has a space.
fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Every heading that has a table, and the test that compares it.
const COMPARED: &[(&str, &[&str])] = &[
    ("release", release::HEADINGS),
    ("pages", pages::HEADINGS),
    ("account", account::HEADINGS),
    ("learn", learn::HEADINGS),
    ("audit", audit::HEADINGS),
    ("budget", budget::HEADINGS),
    ("shapes", audit::SHAPES),
    (
        "main",
        &[
            "reticent demo",
            "reticent explain (one code)",
            "reticent explain (all codes)",
            "reticent man",
            "certificate",
        ],
    ),
];

#[test]
fn no_table_is_left_out() {
    let page = Page::read();
    for heading in page.headings() {
        let times =
            COMPARED.iter().flat_map(|(_, headings)| *headings).filter(|own| **own == heading).count();
        assert_eq!(times, 1, "{heading}");
    }
    let headings: Vec<&str> = page.headings().collect();
    for heading in COMPARED.iter().flat_map(|(_, headings)| *headings) {
        assert!(headings.contains(heading), "{heading}");
    }
}

/// The commands that take `--json`, from the reference that the command prints of itself.
fn commands() -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_reticent"))
        .env("RETICENT_QUIET", "1")
        .args(["man", "--markdown"])
        .output()
        .unwrap();
    let page = String::from_utf8(output.stdout).unwrap();
    let sections = page.split("\n## ").skip(1).filter(|section| section.contains("\n- `--json`"));
    sections.map(|section| section.lines().next().unwrap().to_owned()).collect()
}

#[test]
fn every_command_has_a_table() {
    let (page, commands) = (Page::read(), commands());
    assert!(commands.len() > 25, "{commands:?}");
    for name in &commands {
        let has = |heading: &str| {
            let own = heading.strip_prefix(name.as_str());
            own.is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
                || budget::CHANGES.contains(&name.as_str())
        };
        assert!(page.headings().any(has), "{name}: give it a table in docs/reference/json.md");
    }
}

#[test]
fn explanations() {
    let page = Page::read();
    check(&page, "reticent explain (one code)", &[json(&["explain", "R201"]), json(&["explain", "R305"])]);
    check(&page, "reticent explain (all codes)", &[json(&["explain"])]);
}

#[test]
fn the_tour() {
    let folder = Folder::new();
    let told = json(&["demo", "--quick", "--out", &folder.path("demo")]);
    check(&Page::read(), "reticent demo", &[told]);
}

#[test]
fn man_pages() {
    let folder = Folder::new();
    check(&Page::read(), "reticent man", &[json(&["man", &folder.path("man")])]);
}
