use super::{Folder, json, refusal, stdout};

fn speeches(folder: &Folder) -> String {
    let mut text = "who,say\n".to_owned();
    for row in 0..40 {
        let line = ["to be or not to be", "that is the question", "whether tis nobler"][row % 3];
        text += &format!("{},{line}\n", ["ann", "bob", "cid", "dan"][row % 4]);
    }
    folder.file("speeches.csv", text)
}

#[test]
fn a_language_model_is_trained_scored_and_drawn_from() {
    let folder = Folder::new();
    let (data, out) = (speeches(&folder), folder.path("run"));
    let base = ["train", &data, "--text-column", "say", "--tokens", "characters", "--length", "24"];
    let more =
        ["--model", "lstm-lm", "--non-private", "--optimizer", "adam", "--lr", "0.02", "--epochs", "30"];
    let test = folder.file("test.csv", "say\nto be\n");
    let own = ["--batch-size", "20", "--validation", &test, "--out", &out];
    let answer = json(&[&base[..], &more, &own].concat());
    assert!(answer["perplexity"].as_f64().unwrap() < 10.0, "{answer}");
    let found = json(&["evaluate", &out, &data]);
    let close =
        (found["loss"].as_f64().unwrap().exp() / found["perplexity"].as_f64().unwrap() - 1.0).abs() < 1e-9;
    assert!(close && found["perplexity"].as_f64().unwrap() < 3.0 && found["rows"] == 40, "{found}");
    assert!(stdout(&["evaluate", &out, &data]).contains("perplexity"));
    let drawn =
        json(&["sample", &out, "--prompt", "to be", "--tokens", "40", "--temperature", "0", "--count", "2"]);
    assert_eq!(drawn["texts"].as_array().unwrap().len(), 2);
    assert_eq!(drawn["texts"][0]["text"], "to be or not to be");
    assert_eq!(drawn["texts"][0]["ended"], true);
    assert_eq!(stdout(&["sample", &out, "--tokens", "3", "--count", "2", "--top-k", "1"]).lines().count(), 3);
    assert!(refusal(&["predict", &out, &data]).contains("reticent sample"));
    assert!(refusal(&["sample", &out, "--temperature", "-1"]).contains("--temperature"));
    // The run can be repeated from its folder.
    assert!(folder.read("run/run.toml").contains("tokens = \"characters\""));
    assert!(folder.read("run/model.toml").contains("loss = \"next-token\""));
}

#[test]
fn rows_or_authors_are_protected() {
    let folder = Folder::new();
    let data = speeches(&folder);
    let schema = folder.file("schema.toml", "unit = { column = \"who\" }\n[columns]\n");
    let base = ["train", &data, "--text-column", "say", "--tokens", "characters", "--length", "8"];
    let noise = ["--model", "transformer-lm", "--noise-multiplier", "2", "--delta", "1e-3", "--steps", "2"];
    let rows = json(&[&base[..], &noise, &["--dataset-size", "40", "--batch-size", "10"]].concat());
    assert_eq!(rows["certificate"]["unit"], "row");
    let own = ["--schema", &schema, "--examples-per-user", "3", "--dataset-size", "4", "--batch-size", "2"];
    let authors = json(&[&base[..], &noise, &own].concat());
    assert!(authors["certificate"]["unit"].to_string().contains("who"), "{authors}");
    for (given, part) in [
        (["--length", "1"], "--length"),
        (["--tokens", "letters"], "--tokens"),
        (["--label", "who"], "--label"),
        (["--text-column", "said"], "said"),
    ] {
        let mut words = ["train", &data, "--model", "lstm-lm", "--non-private", "--json"].to_vec();
        for pair in base[2..].chunks(2).filter(|pair| pair[0] != given[0]) {
            words.extend(pair);
        }
        words.extend(given);
        let line = refusal(&words);
        assert!(line.contains(part), "{given:?}: {line}");
    }
}
