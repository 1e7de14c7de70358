use super::learn::{network, schema, table};
use super::*;
use std::collections::BTreeSet;

pub(crate) const HEADINGS: &[&str] = &[
    "reticent audit",
    "reticent attack list",
    "reticent attack run",
    "reticent attack fit",
    "reticent attack fit (interrupted)",
    "reticent attack collect",
    "reticent attack canary",
    "reticent report",
];

/// What several commands print; here every field of them is met.
pub(crate) const SHAPES: &[&str] = &["estimate", "bound", "performance", "findings"];

/// Scores of 600 records of 300 users, half of them members by coin.
fn scores(folder: &Folder) -> String {
    let row = |place: u64| {
        let member = u8::from(noise(place / 2) < 0.5);
        let group = if noise(3 * place + 7) < 0.5 { "a" } else { "b" };
        format!("{},{member},user {},{group}\n", noise(2 * place + 1) + 0.5 * f64::from(member), place / 2)
    };
    folder
        .file("scores.csv", &("score,member,user,kind\n".to_owned() + &(0..600).map(row).collect::<String>()))
}

#[test]
fn score_tables() {
    let (page, folder) = (Page::read(), Folder::new());
    let (scores, out) = (scores(&folder), folder.path("audit"));
    let audited = json(&[
        "audit", "--scores", &scores, "--groups", "kind", "--prior", "0.1", "--drawn", "0.5", "--out", &out,
    ]);
    check(&page, "reticent audit", &[audited]);
    let run = json(&["attack", "run", "given-score", "--scores", &scores, "--out", &folder.path("s.csv")]);
    check(&page, "reticent attack run", &[run]);
    check(&page, "reticent report", &[json(&["report", &out])]);
    check(&page, "reticent attack list", &[json(&["attack", "list"])]);
}

#[test]
fn models() {
    let (page, folder) = (Page::read(), Folder::new());
    let rows = table(&folder, "rows.csv", 2000, 0);
    let classes = schema(&folder, "classes.toml", "column = \"class\", positive = \"yes\"", "number");
    let (linear, refs, own) = (folder.path("linear"), folder.path("refs"), folder.path("network"));
    // Without --dataset-size the rows are counted with noise, once: every job must work with the same number.
    json(&["train", &rows, "--schema", &classes, "--epsilon", "3", "--out", &linear]);
    let few = ["--references", "8", "--records", "600", "--out", &refs];
    let fit =
        |index: &str| json(&[&["attack", "fit", &linear, "--index", index, "--of", "2"], &few[..]].concat());
    let fitted = [fit("0"), fit("1"), fit("1")];
    assert_eq!(fitted[2]["present"], 4);
    check(&page, "reticent attack fit", &fitted);
    let collected = json(&[&["attack", "collect", &linear, "--prior", "0.1"], &few[..]].concat());
    let mut met = check(&page, "reticent attack collect", &[collected]);
    let train = ["train", &rows, "--schema", &classes, "--model", &network(&folder), "--batch-size", "100"];
    let flags = [
        "--epsilon",
        "8",
        "--delta",
        "1e-5",
        "--epochs",
        "1",
        "--optimizer",
        "sgd",
        "--momentum",
        "0",
        "--out",
        &own,
    ];
    json(&[&train[..], &flags].concat());
    let canary = json(&["attack", "canary", &own, "--canaries", "100", "--out", &folder.path("canary")]);
    met.extend(check(&page, "reticent attack canary", &[canary]));
    // Users are in score tables only.
    met.extend(check(
        &page,
        "reticent audit",
        &[json(&["audit", "--scores", &scores(&folder), "--prior", "0.1", "--drawn", "0.5"])],
    ));
    let missed: BTreeSet<String> =
        page.rows("findings").into_keys().filter(|path| !met.contains(path)).collect();
    assert!(missed.is_empty(), "documented among the shapes, and no answer had them: {missed:#?}");
}

#[cfg(unix)]
#[test]
fn interrupted() {
    use std::process::Stdio;
    let (page, folder) = (Page::read(), Folder::new());
    let rows = table(&folder, "rows.csv", 2000, 0);
    let classes = schema(&folder, "classes.toml", "column = \"class\", positive = \"yes\"", "number");
    let (linear, refs) = (folder.path("linear"), folder.path("refs"));
    json(&["train", &rows, "--schema", &classes, "--epsilon", "3", "--out", &linear]);
    let mut fit = command(&["attack", "fit", &linear, "--index", "0", "--of", "1", "--threads", "1"]);
    fit.args(["--references", "20000", "--records", "600", "--out", &refs]);
    let mut child = fit.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let begun =
        || std::fs::read_dir(folder.path("refs/references")).is_ok_and(|mut files| files.next().is_some());
    while !begun() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    check(&page, "reticent attack fit (interrupted)", &[answer]);
}
