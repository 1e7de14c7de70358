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
    "reticent attack attribute",
    "reticent attack exposure",
    "reticent attack federated",
    "reticent attack reconstruct",
    "reticent attack difference",
    "reticent report",
];

/// What several commands print; here every field of them is met.
pub(crate) const SHAPES: &[&str] = &["estimate", "bound", "performance", "findings", "disclosures"];

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

/// The training of a language model of four writers; its folder, texts of four others, and a folder for secrets.
fn authors(folder: &Folder) -> (String, String, String) {
    let lines = |from: u64| {
        let line =
            |place: u64| format!("w{},{}\n", from + place / 2, "ab".repeat(1 + (place + from) as usize % 4));
        "who,say\n".to_owned() + &(0..8).map(line).collect::<String>()
    };
    let (own, others) = (folder.file("own.csv", lines(0)), folder.file("others-texts.csv", lines(10)));
    let unit = folder.file("who.toml", "unit = { column = \"who\" }\n[columns]\n");
    let (run, out) = (folder.path("texts"), folder.path("secrets"));
    let words = ["train", &own, "--schema", &unit, "--text-column", "say", "--tokens", "characters"];
    let more = ["--length", "10", "--model", "lstm-lm", "--non-private", "--steps", "2", "--out", &run];
    json(&[&words[..], &more, &["--validation", &others]].concat());
    (run, others, out)
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
    // What more access reveals is in white-box audits only.
    let others = table(&folder, "others.csv", 400, 5000);
    let few = ["--references", "2", "--records", "400", "--white-box"];
    let seen = json(&[&["audit", &own, "--non-members", &others], &few[..]].concat());
    met.extend(check(&page, "reticent audit", &[seen]));
    // Rounds and trajectories are those of parties that train together.
    let parties = "method = \"average\"\nrounds = 4\n[split]\nparties = 2\nby = \"uniform\"\n";
    let (parties, together) = (folder.file("parties.toml", parties), folder.path("together"));
    let plain = ["--non-private", "--federated", &parties, "--out", &together];
    let trained = json(&[&train[..6], &plain].concat());
    assert_eq!(trained["federated"]["parties"], 2);
    let (whose, texts, own) = authors(&folder);
    let attacked = ["attack", "federated", &together, "--non-members", &others, "--records", "400"];
    let passive = json(&[&attacked[..], &["--rounds", "1-2/3-4"]].concat());
    let active = json(&[&attacked[..], &["--active", "ascent"]].concat());
    met.extend(check(&page, "reticent attack federated", &[passive, active]));
    // Authors are those of texts.
    let found = json(&["audit", &whose, "--unit", "who", "--non-members", &texts, "--references", "4"]);
    met.extend(check(&page, "reticent audit", &[found]));
    let secrets = ["--format", "{ab:4}", "--repetitions", "2", "--secrets", "1", "--out", &own];
    let found = json(&[&["attack", "exposure", &whose], &secrets[..]].concat());
    assert_eq!(found["disclosures"][0]["name"], "secret-exposure");
    check(&page, "reticent attack exposure", &[found]);
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

#[test]
fn records() {
    let (page, folder) = (Page::read(), Folder::new());
    let rows = table(&folder, "rows.csv", 400, 0);
    let classes = schema(&folder, "classes.toml", "column = \"class\", positive = \"yes\"", "number");
    let linear = folder.path("linear");
    json(&["train", &rows, "--schema", &classes, "--method", "exact", "--out", &linear]);
    let found = json(&["attack", "reconstruct", &linear, "--attacked", "20"]);
    assert_eq!(found["disclosures"][0]["records"], 20);
    check(&page, "reticent attack reconstruct", &[found]);
    let private = folder.path("private");
    json(&["train", "--epsilon", "1", "--out", &private]);
    let found =
        json(&["attack", "attribute", &private, "--column", "sex", "--records", "400", "--references", "1"]);
    let own = &found["disclosures"][1];
    let (prior, success) =
        (own["bound"]["prior"].as_f64().unwrap(), own["bound"]["success"].as_f64().unwrap());
    assert!(prior < success && success <= 1.0, "{own}");
    check(&page, "reticent attack attribute", &[found]);
    // The last row is in one of two models only.
    let whole = std::fs::read_to_string(&rows).unwrap();
    let fewer = folder.file("fewer.csv", whole.trim_end().rsplit_once('\n').unwrap().0);
    let models = [folder.path("all"), folder.path("without")];
    for (data, model) in [&rows, &fewer].into_iter().zip(&models) {
        json(&[
            "train",
            data,
            "--schema",
            &classes,
            "--method",
            "exact",
            "--test-share",
            "0",
            "--out",
            model,
        ]);
    }
    let found = json(&["attack", "difference", &models[0], &models[1]]);
    let measure = &found["disclosures"][0]["measures"][0];
    assert!(measure["attack"]["value"].as_f64().unwrap() < 0.1, "{measure}");
    check(&page, "reticent attack difference", &[found]);
    let monday = folder.file("monday.json", r#"{"rows": 10, "sum": 41200.0}"#);
    let tuesday = folder.file("tuesday.json", r#"{"rows": 11, "sum": 44700.0}"#);
    let found = json(&["attack", "difference", &monday, &tuesday]);
    assert_eq!(found["disclosures"][0]["measures"][1]["attack"]["value"], 3500.0);
    check(&page, "reticent attack difference", &[found]);
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
