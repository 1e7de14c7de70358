use super::models::{schema, table};
use super::*;

const NETWORK: &str = "input = [12]\n[[layer]]\nkind = \"linear\"\nout = 32\n[[layer]]\nkind = \"relu\"\n[[layer]]\nkind = \"linear\"\nout = 2\n";

#[test]
fn models_with_a_defence_are_audited_with_it_and_compared() {
    let folder = Folder::new();
    let (train, other) = (table(&folder, "t.csv", 240, 0), table(&folder, "o.csv", 120, 1 << 20));
    let references = table(&folder, "r.csv", 120, 1 << 21);
    let (schema, model) = (schema(&folder), folder.file("model.toml", NETWORK));
    let words = ["train", &train, "--schema", &schema, "--model", &model, "--validation", &other];
    let how = ["--epochs", "20", "--batch-size", "20", "--optimizer", "adam", "--lr", "0.02"];
    let run = |name: &str, more: &[&str]| {
        let out = folder.path(name);
        let text = stdout(&[&words[..], &how, more, &["--out", &out]].concat());
        (out, text)
    };
    let (plain, _) = run("plain", &["--non-private"]);
    let (defended, text) =
        run("defended", &["--non-private", "--adversarial", "3", "--reference-data", &references]);
    assert!(
        text.contains("no guarantee") && text.contains("strength 3 against 120 reference rows"),
        "{text}"
    );
    let (shared, text) = run("shared", &["--non-private", "--adversarial", "3", "--reference-share", "0.25"]);
    assert!(text.contains("no guarantee") && !text.contains("(240 rows)"), "{text}");
    let (smooth, text) = run("smooth", &["--epsilon", "8", "--delta", "1e-4", "--label-smoothing", "0.1"]);
    assert!(text.contains("certificate.json") && !text.contains("no guarantee"), "{text}");
    let stored = std::fs::read_to_string(folder.path("shared/run.toml")).unwrap();
    assert!(stored.contains("adversarial = 3") && stored.contains("reference-share = 0.25"), "{stored}");
    for run in [&plain, &defended, &shared, &smooth] {
        let found = json(&["audit", run, "--references", "4", "--label-only"]);
        let names: Vec<&str> =
            found["attacks"].as_array().unwrap().iter().map(|own| own["name"].as_str().unwrap()).collect();
        assert!(names.contains(&"label-only") && names.contains(&"lira-label-only"), "{names:?}");
    }
    // Reference models of another defence do not stand in: the same run audits from the same ones, another strength does not.
    let compared = [&defended[..], &shared, &smooth].join(",");
    let out = folder.path("compared");
    let text = stdout(&["report", &plain, "--compare", &compared, "--out", &out]);
    assert!(text.contains("Curves written to"), "{text}");
    let page = std::fs::read_to_string(folder.path("compared/report.html")).unwrap();
    assert!(page.contains("Defences compared") && page.contains("no guarantee"));
    let report: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path("compared/report.json")).unwrap()).unwrap();
    let models = report["defences"]["models"].as_array().unwrap();
    let defences: Vec<&str> = models.iter().map(|own| own["defence"].as_str().unwrap()).collect();
    assert_eq!(defences, ["adversarial", "adversarial", "dp-sgd", "early stopping"]);
    assert_eq!(report["defences"]["auc"]["compared"].as_array().unwrap().len(), 3);
    assert!(std::fs::read_to_string(folder.path("compared/defences.svg")).unwrap().starts_with("<svg"));
    for (others, part) in [(&plain[..], "named twice"), ("nowhere", "no such folder")] {
        let line = refusal(&["report", &plain, "--compare", others, "--out", &out]);
        assert!(line.contains(part), "{line}");
    }
    // Canaries are not planted into a training against an inference network.
    let line = refusal(&["attack", "canary", &shared, "--canaries", "20", "--out", &folder.path("canaries")]);
    assert!(line.contains("--adversarial"), "{line}");
}
