//! Certificate and weights belong together, and what tells about the data is private.

use super::{Folder, PEOPLE, SCHEMA, copy, files, json, linear, network, refusal, stdout};
use serde_json::Value;
use std::path::Path;

/// Everything that reads a model refuses it; an audit of it, from when it was whole, is beside it.
fn refused(model: &str, file: &str, why: &str) {
    let certificate = format!("{model}/certificate.json");
    let mut verbs = vec![
        vec!["predict", model, PEOPLE],
        vec!["evaluate", model, PEOPLE],
        vec!["audit", model, "--references", "2", "--non-members", PEOPLE],
        vec!["report", model],
        vec!["report", model, "--certificate", &certificate],
    ];
    if Path::new(model).join("model.toml").exists() {
        verbs.push(vec!["attack", "canary", model, "--canaries", "4"]);
    }
    for words in verbs {
        let line = refusal(&words);
        // Findings about another model file are not shown beside this one.
        let is_foreign = words[0] == "report" && line.contains("not an audit of the current model");
        assert!(is_foreign || (line.contains(file) && line.contains(why)), "{words:?}: {line}");
    }
    assert!(!Path::new(&format!("{model}-audit/report.html")).exists());
}

/// Audits a model while it is whole.
fn audited(folder: &Folder, model: &str, out: &str) {
    let row = |place: usize| {
        let label = if place.is_multiple_of(3) { "yes" } else { "no" };
        format!("{},{},{},{label}\n", 20 + place, 90 - place, ["a", "b", "c"][place % 3])
    };
    let others = "age,hours,kind,rich\n".to_owned() + &(0..40).map(row).collect::<String>();
    let others = folder.file("non-members.csv", others);
    stdout(&["audit", model, "--references", "0", "--non-members", &others, "--out", out]);
}

#[test]
fn weights_and_certificates_of_others_are_refused() {
    let folder = Folder::new();
    let [private, exact] = ["private", "exact"].map(|name| folder.path(name));
    stdout(&linear(PEOPLE, &private));
    stdout(&["train", PEOPLE, "--schema", SCHEMA, "--method", "exact", "--out", &exact]);
    audited(&folder, &private, &folder.path("private-audit"));
    let weights = std::fs::read(folder.path("exact/weights.safetensors")).unwrap();
    let own = std::fs::read(folder.path("private/weights.safetensors")).unwrap();
    folder.file("private/weights.safetensors", &weights);
    refused(&private, "weights.safetensors", "not the weights that the certificate covers");
    folder.file("private/weights.safetensors", &own);
    // The exact model with the private one's certificate.
    let copied = folder.path("copied");
    copy(&exact, &copied);
    audited(&folder, &copied, &folder.path("copied-audit"));
    folder.file("copied/certificate.json", folder.read("private/certificate.json"));
    refused(&copied, "certificate.json", "not the certificate");
    // A claim that was made smaller by hand.
    let certificate = folder.read("private/certificate.json");
    let mut edited: serde_json::Value = serde_json::from_str(&certificate).unwrap();
    edited["epsilon"] = 0.001.into();
    folder.file("private/certificate.json", edited.to_string());
    refused(&private, "certificate.json", "not the certificate");
    folder.file("private/certificate.json", certificate);
    stdout(&["predict", &private, PEOPLE]);
}

#[test]
fn a_network_is_bound_to_its_layers_as_well() {
    let folder = Folder::new();
    let [one, other] = ["one", "other"].map(|name| folder.path(name));
    stdout(&network(PEOPLE, &one));
    audited(&folder, &one, &folder.path("one-audit"));
    let mut plain = network(PEOPLE, &other);
    plain.retain(|word| !["--epsilon", "4", "--delta", "1e-4"].contains(word));
    stdout(&[&plain[..], &["--non-private"]].concat());
    let keep = |name: &str| std::fs::read(folder.path(name)).unwrap();
    let (weights, layers) = (keep("one/model.safetensors"), folder.read("one/model.toml"));
    folder.file("one/model.safetensors", keep("other/model.safetensors"));
    refused(&one, "model.safetensors", "not the weights that the certificate covers");
    folder.file("one/model.safetensors", weights);
    folder.file("one/model.toml", layers.replacen("relu", "tanh", 1));
    refused(&one, "model.toml", "changed since the model was stored");
    let line = refusal(&["train", "--resume", &one]);
    assert!(line.contains("a different model"), "{line}");
    folder.file("one/model.toml", layers);
    assert!(json(&["evaluate", &one, PEOPLE])["rows"] == 240);
}

/// `model.json` of a folder with a change.
fn edit(folder: &Folder, name: &str, change: impl Fn(&mut Value)) {
    let path = format!("{name}/model.json");
    let mut model: Value = serde_json::from_str(&folder.read(&path)).unwrap();
    change(&mut model);
    folder.file(&path, model.to_string());
}

#[test]
fn what_model_json_holds_itself_is_bound_as_well() {
    let folder = Folder::new();
    let model = folder.path("model");
    stdout(&linear(PEOPLE, &model));
    audited(&folder, &model, &format!("{model}-audit"));
    let (own, said) = (folder.read("model/model.json"), stdout(&["predict", &model, PEOPLE]));
    for name in ["weights.safetensors", "certificate.json"] {
        std::fs::remove_file(folder.path(&format!("model/{name}"))).unwrap();
    }
    edit(&folder, "model", |model| model["binary"]["weights"][0] = 3.5.into());
    refused(&model, "weights.safetensors", "not the weights that the certificate covers");
    // Nor is it written out.
    assert!(refusal(&linear(PEOPLE, &model)).contains("contains a model"));
    assert!(!files(&model).contains_key("weights.safetensors"));
    folder.file("model/model.json", &own);
    edit(&folder, "model", |model| model["binary"]["certificate"]["epsilon"] = 0.001.into());
    refused(&model, "certificate.json", "not the certificate");
    folder.file("model/model.json", own);
    assert_eq!(stdout(&["predict", &model, PEOPLE]), said);
    assert!(refusal(&linear(PEOPLE, &model)).contains("contains a model"));
    assert!(files(&model).contains_key("weights.safetensors"));
    assert!(files(&model).contains_key("certificate.json"));
}

#[test]
fn no_model_does_without_its_digests() {
    let folder = Folder::new();
    let [one, two] = ["one", "two"].map(|name| folder.path(name));
    stdout(&linear(PEOPLE, &one));
    stdout(&network(PEOPLE, &two));
    for (model, name, request) in [(one, "one", "run.json"), (two, "two", "run.toml")] {
        audited(&folder, &model, &format!("{model}-audit"));
        let own = folder.read(&format!("{name}/model.json"));
        edit(&folder, name, |model| drop(model.as_object_mut().unwrap().remove("digests")));
        refused(&model, "model.json", "is missing");
        edit(&folder, name, |model| model["format"] = 1.into());
        refused(&model, "model.json", "ledger.json");
        folder.file(&format!("{name}/model.json"), &own);
        for file in [request, "schema.toml", "certificate.json"] {
            edit(&folder, name, |model| drop(model["digests"].as_object_mut().unwrap().remove(file)));
            refused(&model, "model.json", &format!("the digest of {file} is missing"));
            folder.file(&format!("{name}/model.json"), &own);
        }
        edit(&folder, name, |model| model["digests"]["../other"] = "sha256:0".into());
        refused(&model, "model.json", "is not a file of such a model");
        folder.file(&format!("{name}/model.json"), own);
        // What an audit repeats is what was asked for.
        let asked = folder.read(&format!("{name}/{request}"));
        folder.file(&format!("{name}/{request}"), format!("{asked}\n"));
        refused(&model, request, "changed since the model was stored");
        std::fs::remove_file(folder.path(&format!("{name}/{request}"))).unwrap();
        assert_eq!(stdout(&["predict", &model, PEOPLE]).lines().count(), 241);
        let line = refusal(&["audit", &model, "--references", "2", "--non-members", PEOPLE]);
        assert!(line.contains(request), "{line}");
    }
}

#[test]
fn a_test_table_that_is_the_training_table_is_recognised() {
    let folder = Folder::new();
    let text = std::fs::read_to_string(PEOPLE).unwrap();
    let (head, rows) = text.split_once('\n').unwrap();
    let turned = rows.lines().rev().collect::<Vec<_>>().join("\n");
    let same = folder.file("same.csv", format!("{head}\n{turned}\n"));
    let out = folder.path("model");
    for test in [PEOPLE, &same] {
        let line = refusal(&[&linear(PEOPLE, &out)[..], &["--test", test]].concat());
        assert!(line.contains("--test") && line.contains("the private training data"), "{line}");
        assert!(!std::path::Path::new(&out).exists(), "a refused training leaves nothing behind");
    }
    // Without privacy there is nothing to protect.
    stdout(&["train", PEOPLE, "--schema", SCHEMA, "--method", "exact", "--test", &same]);
    let fewer = folder.file("fewer.csv", format!("{head}\n{}\n", turned.lines().next().unwrap()));
    stdout(&[&linear(PEOPLE, &out)[..], &["--test", &fewer]].concat());
}

#[cfg(unix)]
#[test]
fn what_tells_about_the_data_is_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let [one, two, three] = ["one", "two", "three"].map(|name| folder.path(name));
    stdout(&linear(PEOPLE, &one));
    stdout(&linear(PEOPLE, &two));
    stdout(&network(PEOPLE, &three));
    for name in ["one", "two", "three"] {
        let path = folder.path(&format!("{name}/fingerprint.json"));
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    // Two digests of the same data have nothing in common.
    assert_ne!(folder.read("one/fingerprint.json"), folder.read("two/fingerprint.json"));
}

#[test]
fn other_data_are_not_audited_and_members_are_no_others() {
    let folder = Folder::new();
    let text = std::fs::read_to_string(PEOPLE).unwrap();
    for kind in [linear, network] {
        let (data, out) = (folder.file("data.csv", &text), folder.path("model"));
        stdout(&kind(&data, &out));
        // The same rows in another order are the same data, under whatever name they are.
        let (head, rows) = text.split_once('\n').unwrap();
        let turned = rows.lines().rev().collect::<Vec<_>>().join("\n");
        folder.file("data.csv", format!("{head}\n{turned}\n"));
        let others = folder.file("others.csv", format!("{head}\n{rows}"));
        let audit = ["audit", &out, "--references", "2", "--records", "40"];
        let words = [&audit[..], &["--non-members", &others]].concat();
        let line = refusal(&words);
        assert!(line.contains("training data themselves"), "{line}");
        // One row more does not make them others.
        let (_, last) = rows.trim_end().rsplit_once('\n').unwrap();
        let changed = last.replacen(|c: char| c.is_ascii_digit(), "1", 1);
        folder.file("others.csv", format!("{head}\n{rows}{changed}\n"));
        let line = refusal(&words);
        assert!(line.contains("training data themselves"), "{line}");
        // A replaced file is not what the model was trained on.
        folder.file("data.csv", text.replacen(",yes", ",no", 1));
        let line = refusal(&[&audit[..], &["--non-members", PEOPLE]].concat());
        assert!(line.contains("data.csv") && line.contains("not the training data"), "{line}");
        std::fs::remove_dir_all(&out).unwrap();
    }
}

#[test]
fn validation_data_that_are_the_private_ones_are_recognised_by_their_content() {
    let folder = Folder::new();
    let text = std::fs::read_to_string(PEOPLE).unwrap();
    let (head, rows) = text.split_once('\n').unwrap();
    let turned = rows.lines().rev().collect::<Vec<_>>().join("\n");
    let same = folder.file("same.csv", format!("{head}\n{turned}\n"));
    let out = folder.path("run");
    let words = [&network(PEOPLE, &out)[..], &["--validation", &same]].concat();
    assert!(refusal(&words).contains("the private training data"));
    assert!(!std::path::Path::new(&out).exists(), "a refused run leaves nothing behind");
    let fewer = folder.file("fewer.csv", format!("{head}\n{}\n", turned.lines().next().unwrap()));
    stdout(&[&network(PEOPLE, &out)[..], &["--validation", &fewer]].concat());
}

#[test]
fn an_audit_is_of_one_model_and_stays_out_of_its_folder() {
    let folder = Folder::new();
    let [model, audit] = ["model", "model-audit"].map(|name| folder.path(name));
    stdout(&linear(PEOPLE, &model));
    audited(&folder, &model, &audit);
    let before = files(&model);
    let written = json(&["report", &model]);
    assert_eq!(written["out"], audit.as_str());
    let named = folder.path("other");
    for words in [
        &["audit", &model, "--references", "0", "--out", &model][..],
        &["attack", "fit", &model, "--index", "0", "--of", "1", "--references", "2", "--out", &model],
        &["attack", "collect", &model, "--references", "2", "--out", &model],
        &["report", &model, "--out", &model],
    ] {
        let line = refusal(words);
        assert!(line.contains("--out") && line.contains("a model is there"), "{words:?}: {line}");
    }
    assert_eq!(files(&model), before);
    // A model that is called like another one's audit.
    stdout(&linear(PEOPLE, &named));
    stdout(&linear(PEOPLE, &folder.path("other-audit")));
    assert!(refusal(&["audit", &named, "--references", "0"]).contains("a model is there"));
    // Another model in the place of the one that was audited.
    std::fs::remove_dir_all(&model).unwrap();
    stdout(&["train", PEOPLE, "--schema", SCHEMA, "--method", "exact", "--out", &model]);
    for words in [&["report", &model][..], &["report", &audit]] {
        let line = refusal(words);
        assert!(line.contains("not an audit of the current model"), "{line}");
    }
    stdout(&["audit", &model, "--references", "0"]);
    stdout(&["report", &model]);
}
