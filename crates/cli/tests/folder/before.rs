//! Folders of both kinds that were written before models were bound to their files.

use super::{Folder, PEOPLE, copy, files, json, refusal, reticent, stdout};

/// A copy of a stored folder, whose data lie where they are.
fn old(folder: &Folder, name: &str) -> String {
    let (from, to) = (concat!(env!("CARGO_MANIFEST_DIR"), "/tests/folder/before"), folder.path(name));
    copy(&format!("{from}/{name}"), &to);
    for request in ["run.json", "run.toml"] {
        let path = format!("{name}/{request}");
        if let Ok(text) = std::fs::read_to_string(folder.path(&path)) {
            folder.file(&path, text.replace("PLACE", from));
        }
    }
    to
}

#[test]
fn they_are_read_as_ever() {
    let folder = Folder::new();
    for kind in ["linear", "network"] {
        let old = old(&folder, kind);
        assert_eq!(stdout(&["predict", &old, PEOPLE]).lines().count(), 241, "{kind}");
        assert_eq!(json(&["evaluate", &old, PEOPLE])["rows"], 240, "{kind}");
    }
    // Both know what they were trained on, and from what request.
    let linear = folder.path("linear");
    let audit = ["audit", &linear, "--references", "2", "--records", "40"];
    assert!(json(&audit)["members"].as_u64().is_some() || reticent(&audit).status.success());
}

#[test]
fn a_run_from_before_goes_on_and_is_bound_from_then_on() {
    let folder = Folder::new();
    let old = old(&folder, "network");
    let before: serde_json::Value = serde_json::from_str(&folder.read("network/certificate.json")).unwrap();
    assert_eq!(json(&["train", "--resume", &old])["certificate"], before);
    assert!(folder.read("network/model.json").contains("sha256:"));
    let other = folder.file("other.csv", std::fs::read_to_string(PEOPLE).unwrap().replace("yes", "no"));
    let line = refusal(&["train", other.as_str(), "--resume", &old]);
    assert!(line.contains("another data") && line.contains("people.csv"), "{line}");
    assert!(!files(&old).contains_key("fingerprint.json"));
}
