use super::*;

pub(crate) const HEADINGS: &[&str] = &[
    "reticent budget show",
    "reticent budget create, add-data, allot, close",
    "reticent budget history",
    "reticent budget verify",
    "reticent budget export",
    "reticent budget page",
    "With a budget",
    "problem",
    "terms",
];

/// Commands that share a table.
pub(crate) const CHANGES: &[&str] =
    &["reticent budget create", "reticent budget add-data", "reticent budget allot", "reticent budget close"];

#[test]
fn budgets() {
    let (page, folder) = (Page::read(), Folder::new());
    let file = folder.path("survey.budget");
    let flags = ["--epsilon", "1", "--delta", "1e-6", "--data", SURVEY, "--valid-until", "2999-01-01"];
    let mut changed = vec![json(&[&["budget", "create", &file], &flags[..]].concat())];
    let count = |flags: &str| {
        let line = format!("release count {SURVEY} --budget {file} {flags}");
        serde_json::json!({"budget": json(&words(&line))["budget"]})
    };
    let standings =
        [count("--epsilon 0.1"), count("--epsilon 0.1"), count("--epsilon 0.5 --where age>=30 --dry-run")];
    changed.push(json(&["budget", "add-data", &file, "more/*.csv"]));
    let part = ["--epsilon", "0.5", "--valid-until", "2999-01-01"];
    changed.push(json(&[&["budget", "allot", &file, "--analyst", "ana"], &part[..]].concat()));
    changed.push(json(&["budget", "allot", &file, "--purpose", "report", "--epsilon", "0.2"]));
    count("--epsilon 0.1 --where age>=40 --analyst ana --purpose report");
    check(&page, "With a budget", &standings);
    check(&page, "reticent budget show", &[json(&["budget", "show", &file])]);
    check(&page, "reticent budget history", &[json(&["budget", "history", &file])]);
    check(&page, "reticent budget verify", &[json(&["budget", "verify", &file])]);
    check(&page, "reticent budget export", &[json(&["budget", "export", &file])]);
    check(
        &page,
        "reticent budget page",
        &[json(&["budget", "page", &file, "--out", &folder.path("p.html")])],
    );
    changed.push(json(&["budget", "close", &file]));
    check(&page, "reticent budget create, add-data, allot, close", &changed);
}
