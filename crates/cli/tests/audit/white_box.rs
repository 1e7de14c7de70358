use super::models::{schema, table};
use super::*;

const NETWORK: &str = "input = [12]\n[[layer]]\nkind = \"linear\"\nout = 64\n[[layer]]\nkind = \"relu\"\n[[layer]]\nkind = \"linear\"\nout = 2\n";

/// A network that learns its records by heart.
fn trained(folder: &Folder) -> String {
    let (train, other) = (table(folder, "t.csv", 300, 0), table(folder, "o.csv", 300, 1 << 20));
    let (schema, model, run) = (schema(folder), folder.file("model.toml", NETWORK), folder.path("run"));
    let words =
        ["train", &train, "--schema", &schema, "--model", &model, "--non-private", "--validation", &other];
    let how = ["--epochs", "80", "--batch-size", "20", "--optimizer", "adam", "--lr", "0.02", "--out", &run];
    stdout(&[&words[..], &how].concat());
    run
}

#[test]
fn gradients_are_attacked_in_one_go_or_in_jobs_with_the_same_result() {
    let folder = Folder::new();
    let run = trained(&folder);
    let seen = ["--references", "4", "--white-box", "--activations", "1"];
    let whole = json(&[&["audit", &run], &seen[..]].concat());
    let levels: Vec<&str> =
        whole["by_access"].as_array().unwrap().iter().map(|own| own["access"].as_str().unwrap()).collect();
    assert_eq!(levels, ["predictions", "activations", "gradients"]);
    let auc = |name: &str| {
        let all = whole["attacks"].as_array().unwrap();
        let own = all.iter().find(|attack| attack["name"] == name);
        own.unwrap_or_else(|| panic!("{name} did not run"))["performance"]["auc"]["value"].as_f64().unwrap()
    };
    // The training is random here: how strong the attacks are is tested on models of a key, in `attack` and `audit`.
    for name in ["gradient-norm", "nasr-calibrated", "nasr-supervised", "lira-online-gradient"] {
        assert!((0.0..=1.0).contains(&auc(name)), "{name}: {}", auc(name));
    }
    // An attack that learned from members of the target speaks for nothing.
    assert!(!whole["headline"].as_str().unwrap().starts_with("nasr-supervised"));
    let refs = folder.path("refs");
    let own = ["--references", "4", "--white-box", "--activations", "1", "--out", &refs];
    for index in ["0", "1"] {
        let text = stdout(&[&["attack", "fit", &run, "--index", index, "--of", "2"], &own[..]].concat());
        assert!(text.contains("--white-box --activations 1 --out"), "{text}");
    }
    assert_eq!(json(&[&["attack", "collect", &run], &own[..]].concat()), whole);
    // Models without gradients do not stand in for models with them.
    assert!(refusal(&["attack", "collect", &run, "--references", "4", "--out", &refs]).contains("4 of 4"));
    let report = json(&["report", &run]);
    let page = std::fs::read_to_string(report["html"].as_str().unwrap()).unwrap();
    assert!(page.contains("By what the attacker sees") && page.contains("weights, by gradients"));
    let only = json(&["audit", &run, "--references", "0", "--white-box", "--attacks", "nasr-supervised"]);
    assert!(only["epsilon_lower"].is_null() && only["headline"] == "nasr-supervised");
}

#[test]
fn what_white_box_audits_cannot_do_is_refused() {
    let folder = Folder::new();
    let table = folder.file("scores.csv", "score,member\n0.5,1\n0.25,0\n");
    let refused = refusal(&["audit", "--scores", &table, "--white-box"]);
    assert!(refused.contains("--white-box") && refused.contains("only for models of this tool"), "{refused}");
    let run = trained(&folder);
    let refused = refusal(&["audit", &run, "--activations", "1"]);
    assert!(refused.contains("--activations 1") && refused.contains("--white-box"), "{refused}");
    let refused = refusal(&["audit", &run, "--references", "2", "--white-box", "--activations", "9"]);
    assert!(refused.contains("give one of 0, 1, 2"), "{refused}");
}
