//! Explanations as text, JSON and a page of the documentation.

use super::{Code, STATUSES, example};
use crate::fail::Fail;
use crate::screen::columns;
use crate::text::json_line;
use reticent::core::Explanation;
use serde_json::{Value, json};

/// The width of paragraphs in the terminal.
const WIDTH: usize = 100;
/// The width of paragraphs and commands on the page.
const PAGE_WIDTH: usize = 80;

/// One explanation for people.
pub(super) fn text(code: Code) -> String {
    let Explanation { title, cause, remedy } = code.explanation();
    let mut out = format!("{code}: {title}\n\nCause\n{}\nRemedy\n{}", indented(cause), indented(remedy));
    if let Some(example) = example(code) {
        for (name, contents) in example.files {
            out.push_str(&format!("\nWith {name}\n"));
            out.extend(contents.lines().map(|line| format!("  {line}").trim_end().to_owned() + "\n"));
        }
        let (wrong, mended) = (example.wrong, example.mended);
        out.push_str(&format!("\nRefused\n  {wrong}\n\nCorrected\n  {mended}\n"));
    }
    out
}

/// All codes with their titles.
pub(super) fn list() -> String {
    let mut out = "Error codes; 'reticent explain R201' explains one.\n".to_owned();
    for (digit, name) in Code::GROUPS {
        out.push_str(&format!("\n{name}\n"));
        out.extend(of(digit).map(|code| format!("  {code}  {}\n", code.explanation().title)));
    }
    out.push_str("\nExit statuses\n");
    out.extend(STATUSES.iter().map(|(status, meaning)| format!("  {status:<4}  {meaning}\n")));
    out
}

/// One explanation for programs.
pub(super) fn json(code: Code) -> Result<String, Fail> {
    json_line(&value(code))
}

/// All explanations for programs.
pub(super) fn json_list() -> Result<String, Fail> {
    let codes: Vec<Value> = Code::ALL.iter().map(|code| value(*code)).collect();
    let statuses: Vec<Value> =
        STATUSES.iter().map(|(status, meaning)| json!({"status": status, "meaning": meaning})).collect();
    json_line(&json!({"codes": codes, "statuses": statuses}))
}

fn value(code: Code) -> Value {
    let Explanation { title, cause, remedy } = code.explanation();
    let example = example(code).map(|example| {
        let files: Vec<Value> =
            example.files.iter().map(|(name, text)| json!({"name": name, "text": text})).collect();
        json!({"files": files, "refused": example.wrong, "mended": example.mended})
    });
    json!({"code": code.to_string(), "title": title, "cause": cause, "remedy": remedy, "example": example})
}

/// All explanations as a page.
pub(super) fn markdown() -> String {
    let mut out = "# Errors\n\n".to_owned();
    out.push_str(&broken(
        "Look up the code of an error here, or with `reticent explain R201`. Codes are stable, so scripts can rely on them. An error \
         is one line on standard error; an error in a TOML file also shows the line it is about. With `--json` it is one line of \
         JSON, `{\"error\": {\"code\", \"message\", \"explain\"}}`.",
    ));
    out.push_str("\n| Exit status | Meaning |\n|---|---|\n");
    out.extend(STATUSES.iter().map(|(status, meaning)| format!("| {status} | {meaning} |\n")));
    out.push('\n');
    out.push_str(&broken(
        "The examples use a table `people.csv` (columns `age`, `sex`, `income`), its `schema.toml`, a linear `model` \
         and a network in `run` trained on it, a `number` model whose label is a number, a table `scores.csv` of \
         scores and its audit in `audits`, and budgets of ε = 1 for `people.csv`: `people.budget`, `closed.budget`, which is \
         closed, and `shared.budget`, of which the analyst ana has a part.",
    ));
    for (digit, name) in Code::GROUPS {
        out.push_str(&format!("\n## {name}\n"));
        for code in of(digit) {
            let Explanation { title, cause, remedy } = code.explanation();
            out.push_str(&format!("\n### {code}: {title}\n\n{}\n{}", broken(cause), broken(remedy)));
            if let Some(example) = example(code) {
                for (name, contents) in example.files {
                    let language = name.rsplit('.').next().unwrap_or_default();
                    let contents = contents.trim_end();
                    out.push_str(&format!("\nWith `{name}`:\n\n```{language}\n{contents}\n```\n"));
                }
                let (wrong, mended) = (command(example.wrong), command(example.mended));
                out.push_str(&format!(
                    "\nRefused, then corrected:\n\n```sh no-run\n{wrong}\n{mended}\n```\n"
                ));
            }
        }
    }
    out
}

/// A command line on as many lines as it needs.
fn command(line: &str) -> String {
    lines(line, PAGE_WIDTH - 6).join(" \\\n    ")
}

/// The codes that begin with a digit.
fn of(digit: u16) -> impl Iterator<Item = Code> {
    Code::ALL.iter().copied().filter(move |code| code.number() / 100 == digit)
}

fn indented(text: &str) -> String {
    lines(text, columns(WIDTH) - 2).iter().map(|line| format!("  {line}\n")).collect()
}

fn broken(text: &str) -> String {
    lines(text, PAGE_WIDTH).iter().map(|line| format!("{line}\n")).collect()
}

/// The words of a text on lines of at most `width` characters.
fn lines(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut().filter(|line| line.chars().count() + 1 + word.chars().count() <= width) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}
