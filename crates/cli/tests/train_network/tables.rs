use super::{Folder, QUICK, json, refusal, stdout};
use reticent::train::Description;
use reticent::train::describe::{LayerKind, Objective};
use std::fmt::Write as _;

/// Rows of (user, x, label yes if x > 0.5, number).
fn table(rows: usize) -> String {
    let mut text = "who,x,y,z\n".to_owned();
    for row in 0..rows {
        let x = (row * 37 % 101) as f64 / 100.0;
        let y = if x > 0.5 { "yes" } else { "no" };
        writeln!(text, "{},{x},{y},{}", row % 40, 10.0 * x).unwrap();
    }
    text
}

fn schema(unit: &str, label: &str) -> String {
    format!("unit = {unit}\n[label]\n{label}\n[columns]\nx = {{ bounds = [0, 1] }}\n")
}

#[test]
fn a_table_trains_a_network_by_row_or_by_user() {
    let folder = Folder::new();
    let (data, out) = (folder.file("t.csv", table(800)), folder.path("run"));
    let rows = folder.file("rows.toml", schema("\"row\"", "column = \"y\"\npositive = \"yes\""));
    let test = folder.file("test.csv", table(101));
    let small = Description::reading(&[2])
        .then(LayerKind::Linear { out: 4, bias: true })
        .then(LayerKind::Tanh)
        .then(LayerKind::Linear { out: 2, bias: true });
    let model = folder.file("net.toml", small.to_toml().unwrap());
    let words = ["train", &data, "--schema", &rows, "--model", &model, "--lr", "1", "--validation", &test];
    let answer = json(&[&words[..], QUICK, &["--out", &out]].concat());
    assert!(answer["accuracy"].as_f64().unwrap() > 0.8, "{answer}");
    assert!(!answer["warnings"].to_string().contains("times the largest possible norm"), "{answer}");
    let said = stdout(&["predict", &out, &test]);
    assert!(said.contains("yes,0.") && said.contains("not yes,0."), "{said}");
    assert_eq!(json(&["evaluate", &out, &test])["classes"][1]["class"], "yes");

    let users =
        folder.file("users.toml", schema("{ column = \"who\" }", "column = \"y\"\npositive = \"yes\""));
    let words = ["train", &data, "--schema", &users, "--model", "mlp", "--epsilon", "4", "--delta", "1e-3"];
    let more = ["--dataset-size", "40", "--batch-size", "10", "--steps", "6", "--examples-per-user", "5"];
    let answer = json(&[&words[..], &more].concat());
    // More than a hundred thousand weights, and ten users a step.
    assert!(answer["warnings"].to_string().contains("times the largest possible norm"), "{answer}");
    assert_eq!(
        (&answer["certificate"]["unit"], &answer["dataset_size"]),
        (&"all rows of one who".into(), &40.into())
    );
    let line = refusal(&[&words[..], &more, &["--neighboring", "replace-one", "--json"]].concat());
    assert!(line.contains("--dataset-size") || line.contains("--neighboring"), "{line}");
    let line = refusal(&[
        "train",
        &data,
        "--schema",
        &rows,
        "--model",
        "mlp",
        "--examples-per-user",
        "2",
        "--epsilon",
        "1",
        "--delta",
        "1e-3",
        "--json",
    ]);
    assert!(line.contains("--examples-per-user 2"), "{line}");
}

#[test]
fn numbers_are_learnt_with_the_squared_loss() {
    let folder = Folder::new();
    let (data, out) = (folder.file("t.csv", table(800)), folder.path("run"));
    let schema = folder.file("s.toml", schema("\"row\"", "column = \"z\"\nbounds = [0, 10]"));
    let small = Description { loss: Objective::Squared, ..Description::reading(&[2]) };
    let small = small.then(LayerKind::Linear { out: 1, bias: true });
    let model = folder.file("net.toml", small.to_toml().unwrap());
    let words = ["train", &data, "--schema", &schema, "--model", &model, "--lr", "0.2", "--out", &out];
    let answer = json(&[&words[..], QUICK, &["--neighboring", "replace-one"]].concat());
    assert_eq!(answer["certificate"]["neighboring"], "replace-one");
    let found = json(&["evaluate", &out, &data]);
    assert!(found["rmse"].as_f64().unwrap() < 2.0, "{found}");
    let said = stdout(&["predict", &out, &data]);
    assert!(said.lines().skip(1).all(|line| (0.0..=10.0).contains(&line.parse::<f64>().unwrap())));
}

#[test]
fn a_noisy_count_below_the_batch_is_no_reason_to_fail() {
    // One row, counted with noise of scale 50: about half of the counts are 1.
    let folder = Folder::new();
    let data = folder.file("t.csv", table(1));
    let schema = folder.file("s.toml", schema("\"row\"", "column = \"y\"\npositive = \"yes\""));
    let words = ["train", &data, "--schema", &schema, "--model", "mlp", "--epsilon", "1", "--delta", "1e-4"];
    for _ in 0..3 {
        let answer = json(&[&words[..], &["--batch-size", "1000", "--steps", "1"]].concat());
        assert_eq!(answer["batch_size"], answer["dataset_size"]);
        assert!(answer["certificate"]["epsilon"].as_f64().unwrap() <= 1.0);
    }
}

#[test]
fn linear_models_and_networks_have_their_own_flags() {
    for (words, parts) in [
        (vec!["train", "--epsilon", "1", "--epochs", "3"], ["--epochs", "only for networks"]),
        (vec!["train", "--non-private"], ["--non-private", "--method exact"]),
        (
            vec!["train", "--model", "mlp", "--epsilon", "1", "--method", "output"],
            ["--method", "only for linear models"],
        ),
        (
            vec!["train", "--model", "mlp", "--epsilon", "1", "--test-share", "0.1"],
            ["--test-share", "--held-out"],
        ),
        (vec!["train", "--model", "mlp", "--regularization", "1"], ["--regularization", "--weight-decay"]),
    ] {
        let line = refusal(&words);
        assert!(parts.iter().all(|part| line.contains(part)), "{words:?}: {line}");
    }
}

#[test]
fn what_the_schema_cost_is_added_and_a_draft_voids_the_claim() {
    let folder = Folder::new();
    let data = folder.file("t.csv", table(100));
    let plain = schema("\"row\"", "column = \"y\"\npositive = \"yes\"");
    let spent = "[spent]\nepsilon = 0.25\ndelta = 1e-7\nneighboring = \"add-remove\"\nevents = \"[]\"\n";
    let train = |schema: &str, relation: &str| {
        let words =
            ["train", &data, "--schema", schema, "--model", "mlp", "--epsilon", "1", "--delta", "1e-4"];
        let more = ["--batch-size", "20", "--steps", "2", "--neighboring", relation];
        [&words[..], &more].concat().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let paid = folder.file("paid.toml", format!("{plain}\n{spent}"));
    let words = train(&paid, "add-remove");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let epsilon = json(&words)["certificate"]["epsilon"].as_f64().unwrap();
    assert!(epsilon > 1.24 && epsilon <= 1.2501, "{epsilon}");
    let words = train(&paid, "replace-one");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert!(refusal(&[&words[..], &["--json"]].concat()).contains("[spent]"));
    let draft = folder.file("draft.toml", format!("draft = true\n{plain}"));
    let words = train(&draft, "add-remove");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let answer = json(&words);
    assert!(answer["warnings"][0].as_str().unwrap().contains("draft"), "{answer}");
    assert!(answer["certificate"]["public"].to_string().contains("DRAFT"), "{answer}");
}
