//! Folders of both kinds that were written before models were bound to their files.

use super::{Folder, PEOPLE, SCHEMA, copy, files, json, refusal, stdout};
use serde_json::{Value, json as value};

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

/// What the report of an audited folder says, as JSON.
fn reported(folder: &str) -> Value {
    let written = json(&["report", folder]);
    serde_json::from_str(&std::fs::read_to_string(written["json"].as_str().unwrap()).unwrap()).unwrap()
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
    let found = json(&audit);
    let members = found["attacks"][0]["performance"]["members"].as_u64();
    assert!(members.is_some_and(|members| (1..40).contains(&members)), "{found}");
    let report = reported(&linear);
    assert_eq!(
        (&report["certificate"]["epsilon"], &report["certificate"]["version"]),
        (&2.0.into(), &1.into())
    );
}

#[test]
fn a_run_from_before_goes_on_and_is_bound_from_then_on() {
    let folder = Folder::new();
    let old = old(&folder, "network");
    let mut before: Value = serde_json::from_str(&folder.read("network/certificate.json")).unwrap();
    before["version"] = 1.into();
    assert_eq!(json(&["train", "--resume", &old])["certificate"], before);
    assert!(folder.read("network/model.json").contains("sha256:"));
    let other = folder.file("other.csv", std::fs::read_to_string(PEOPLE).unwrap().replace("yes", "no"));
    let line = refusal(&["train", other.as_str(), "--resume", &old]);
    assert!(line.contains("a different data") && line.contains("people.csv"), "{line}");
    assert!(!files(&old).contains_key("fingerprint.json"));
}

/// Certificates once listed what an earlier answer decided among the events. Whoever reads them takes their claim instead.
#[test]
fn events_that_a_count_decided_are_not_composed() {
    let folder = Folder::new();
    let old = old(&folder, "linear");
    let mut certificate: Value = serde_json::from_str(&folder.read("linear/certificate.json")).unwrap();
    let decided = certificate.as_object_mut().unwrap().remove("adaptive").unwrap();
    let count = value!({"discrete_laplace": {"noise_multiplier": 25.0}});
    certificate["events"] = value!([&[count][..], decided.as_array().unwrap()].concat());
    folder.file("linear/certificate.json", certificate.to_string());
    json(&["audit", &old, "--references", "2", "--records", "40"]);
    let read = &reported(&old)["certificate"];
    assert_eq!((&read["events"], &read["epsilon"]), (&value!([{"pure": {"epsilon": 2.0}}]), &2.0.into()));
    assert_eq!(read["adaptive"].as_array().unwrap().len(), 3);
    let file = folder.path("linear/certificate.json");
    let account = json(&["account", "epsilon", "--events", &file, "--delta", "1e-9"]);
    assert!(account["epsilon"].as_f64().unwrap() > 1.999, "{account}");
    // One that claims less than its events add up to is not read.
    certificate["epsilon"] = 0.001.into();
    certificate["accountant"] = "stated".into();
    folder.file("linear/certificate.json", certificate.to_string());
    let line = refusal(&["report", &old]);
    assert!(line.contains("certificate.json") && line.contains("it claims ε = 0.001"), "{line}");
}

/// A schema as it was learnt before its events were read.
#[test]
fn a_learnt_schema_is_added_with_its_events() {
    let folder = Folder::new();
    let public = std::fs::read_to_string(SCHEMA).unwrap();
    let column =
        r#"{"discrete_laplace":{"noise_multiplier":2.0}},{"approximate":{"epsilon":0.5,"delta":1e-7}}"#;
    let spent = |epsilon: &str| {
        let events = [column; 3].join(",");
        format!(
            "{public}\n[spent]\nepsilon = {epsilon}\ndelta = 3.0000000000000004e-7\nneighboring = \"add-remove\"\nevents = '[{events}]'\n"
        )
    };
    let schema = folder.file("learnt.toml", spent("3.0"));
    let words = ["train", PEOPLE, "--schema", &schema, "--epsilon", "2"];
    let certificate = json(&words)["certificate"].clone();
    let events = certificate["events"].as_array().unwrap();
    assert_eq!(
        value!(&events[..6]),
        serde_json::from_str::<Value>(&format!("[{}]", [column; 3].join(","))).unwrap()
    );
    assert_eq!((events.len(), &certificate["epsilon"]), (7, &5.0.into()));
    assert!(
        certificate["accountant"].as_str().unwrap().starts_with("the schema's own cost, then rows counted")
    );
    // What it cost is not for the reader to say.
    folder.file("learnt.toml", spent("0.1"));
    let line = refusal(&words);
    assert!(line.contains("[spent]") && line.contains("is stated as ε = 0.1"), "{line}");
}
