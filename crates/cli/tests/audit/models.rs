use super::*;

/// A small table that a tree or a network can learn by heart: two classes that features hardly tell.
pub(crate) fn table(folder: &Folder, name: &str, records: u64, offset: u64) -> String {
    let mut text = "a,b,c,d,e,f,label\n".to_owned();
    for place in 0..records {
        let value = |column: u64| noise(offset + place * 16 + column);
        let label = if value(7) < 0.35 + 0.3 * value(0) { "yes" } else { "no" };
        let numbers: Vec<String> = (0..6).map(|column| format!("{:.3}", value(column))).collect();
        text += &format!("{},{label}\n", numbers.join(","));
    }
    folder.file(name, &text)
}

pub(crate) fn schema(folder: &Folder) -> String {
    let columns: String =
        ["a", "b", "c", "d", "e", "f"].map(|name| format!("{name} = {{ bounds = [0, 1] }}\n")).concat();
    folder.file(
        "schema.toml",
        format!("unit = \"row\"\nlabel = {{ column = \"label\", positive = \"yes\" }}\n[columns]\n{columns}"),
    )
}

#[test]
fn a_network_is_audited_in_one_go_or_in_jobs_with_the_same_result() {
    let folder = Folder::new();
    let (train, other, schema) =
        (table(&folder, "t.csv", 120, 0), table(&folder, "o.csv", 100, 1 << 20), schema(&folder));
    let run = folder.path("run");
    let model = folder.file(
        "model.toml",
        "input = [12]\n[[layer]]\nkind = \"linear\"\nout = 64\n[[layer]]\nkind = \"relu\"\n[[layer]]\nkind = \"linear\"\nout = 2\n",
    );
    stdout(&[
        "train",
        &train,
        "--schema",
        &schema,
        "--model",
        &model,
        "--non-private",
        "--epochs",
        "120",
        "--batch-size",
        "20",
        "--optimizer",
        "adam",
        "--lr",
        "0.02",
        "--validation",
        &other,
        "--out",
        &run,
    ]);
    let whole = json(&["audit", &run, "--references", "6", "--threads", "2"]);
    assert!(whole["auc"].as_f64().unwrap() > 0.6, "{}", whole["auc"]);
    // Who was a member is told in a folder of its own, and not in one that a certificate speaks for.
    assert!(!Path::new(&run).join("audit").exists());
    for file in ["audit.json", "private.json", "scores.csv", "records.csv", "references"] {
        assert!(Path::new(&folder.path("run-audit")).join(file).exists(), "{file}");
    }
    // Members and non-members came in two files: nobody tossed coins, so nothing is proven.
    assert!(whole["epsilon_lower"].is_null());
    assert!(whole["headline"].is_string());
    let drawn = json(&["audit", &run, "--references", "0", "--drawn", "0.5"]);
    assert!(drawn["epsilon_lower"]["value"].is_number());
    assert_eq!(whole["overfitting"].as_array().unwrap().len(), 7);
    assert!(whole["overfitting"][0]["gap"].as_f64().unwrap() > 0.1);
    assert!(refusal(&["attack", "canary", &run, "--kind", "dirac"]).contains("--kind dirac"));
    let refs = folder.path("refs");
    let fit = |index: &str| {
        json(&["attack", "fit", &run, "--index", index, "--of", "3", "--references", "6", "--out", &refs])
    };
    let words = ["attack", "collect", &run, "--references", "6", "--out", &refs];
    assert_eq!(fit("2")["trained"].as_array().unwrap().len(), 2);
    let missing = refusal(&words);
    assert!(missing.contains("4 of 6") && missing.contains("0, 1, 3, 4"), "{missing}");
    fit("0");
    fit("1");
    assert_eq!(fit("1")["present"], 2);
    assert_eq!(json(&words), whole);
    let report = json(&["report", &run]);
    let page = std::fs::read_to_string(report["html"].as_str().unwrap()).unwrap();
    assert!(page.contains(whole["headline"].as_str().unwrap()));
}

#[test]
fn a_linear_model_is_audited_on_its_held_out_rows() {
    let folder = Folder::new();
    let model = folder.path("model");
    stdout(&["train", ADULT, "--schema", SCHEMA, "--epsilon", "1", "--delta", "1e-6", "--out", &model]);
    let found = json(&["audit", &model, "--references", "4", "--records", "2000"]);
    // One row among thousands hardly moves a linear model, and noise hides the rest.
    assert!((found["auc"].as_f64().unwrap() - 0.5).abs() < 0.06, "{}", found["auc"]);
    assert!(found["epsilon_lower"]["value"].as_f64().unwrap() <= 1.0);
    assert_eq!(found["epsilon_lower"]["delta"], 1e-6);
    // Jobs agree on what they train, and a second audit finds all of it.
    let refs = folder.path("refs");
    let words = [model.as_str(), "--references", "4", "--records", "2000", "--out", refs.as_str()];
    for index in ["0", "1"] {
        json(&[&["attack", "fit", "--index", index, "--of", "2"], &words[..]].concat());
    }
    let again = json(&[&["attack", "fit", "--index", "0", "--of", "1"], &words[..]].concat());
    assert_eq!(again["present"], 4);
    json(&[&["attack", "collect"], &words[..]].concat());
    let text = stdout(&["audit", &model, "--references", "4", "--records", "2000"]);
    assert!(text.contains("upper bound on ε") && text.contains("lower bound on ε"), "{text}");
}

#[test]
fn canaries_bound_a_private_network_from_below() {
    let folder = Folder::new();
    let (train, schema, run) = (table(&folder, "t.csv", 300, 0), schema(&folder), folder.path("run"));
    stdout(&[
        "train",
        &train,
        "--schema",
        &schema,
        "--model",
        "mlp",
        "--noise-multiplier",
        "1",
        "--delta",
        "1e-5",
        "--dataset-size",
        "300",
        "--batch-size",
        "300",
        "--steps",
        "12",
        "--momentum",
        "0",
        "--out",
        &run,
    ]);
    let found = json(&["attack", "canary", &run, "--kind", "dirac", "--canaries", "1000"]);
    let certificate: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path("run/certificate.json")).unwrap()).unwrap();
    let (lower, upper) = (&found["epsilon_lower"]["value"], certificate["epsilon"].as_f64().unwrap());
    assert!(lower.as_f64().unwrap() > 1.0 && lower.as_f64().unwrap() <= upper, "{lower} of {upper}");
    assert!(refusal(&["attack", "canary", &run, "--canaries", "1"]).contains("--canaries"));
}
