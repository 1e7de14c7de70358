//! The certificate of every request follows from its own events.

use reticent_accounting::{Verdict, verify};
use reticent_core::{Certificate, Event, Fact};
use reticent_curator::fit::Fit;
use reticent_curator::release::Release;
use reticent_curator::release::survey::Randomize;
use reticent_curator::schema::LearnSchema;
use reticent_curator::train::{Train, Trained};
use reticent_curator::{Planned, Request, Session};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const SCHEMA: &str = r#"unit = "row"

[label]
column = "rich"
positive = "yes"

[columns]
age = { bounds = [17, 90] }
kind = { categories = ["a", "b", "c"] }
"#;

/// A table, a public schema of it and a network.
fn desk() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "age,kind,rich\n".to_owned();
    for row in 0..300u32 {
        let (age, kind) = (17 + row * 29 % 74, ["a", "b", "c"][(row % 3) as usize]);
        table.push_str(&format!("{age},{kind},{}\n", if age > 45 { "yes" } else { "no" }));
    }
    let net = "input = [7]\nloss = \"cross-entropy\"\n\n[[layer]]\nkind = \"linear\"\nout = 2\n";
    let test = "age,kind,rich\n30,a,no\n60,b,yes\n";
    for (name, text) in
        [("t.csv", table.as_str()), ("test.csv", test), ("schema.toml", SCHEMA), ("net.toml", net)]
    {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let path = folder.path().to_owned();
    (folder, path)
}

/// The outcome of a request in a session without a limit.
fn ran<R: Request>(request: &R, words: &Value) -> <R::Planned as Planned>::Outcome {
    let planned = request.check().unwrap_or_else(|refusal| panic!("{words}: {refusal}"));
    planned.run(&mut Session::without_limit().unwrap()).unwrap_or_else(|refusal| panic!("{words}: {refusal}"))
}

/// Holds as it is made, and as it is read back.
fn holds(certificate: &Certificate, words: &Value) {
    let text = serde_json::to_string(certificate).unwrap();
    let read: Certificate = serde_json::from_str(&text).unwrap();
    assert_eq!(&read, certificate);
    let verdict = verify(&read).unwrap();
    assert!(matches!(verdict, Verdict::Holds(_)), "{words}: {verdict}: {text}");
}

fn fitted(place: &Path, more: &Value) -> Certificate {
    let mut words = json!({"data": place.join("t.csv"), "schema": place.join("schema.toml")});
    words.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let request: Fit = serde_json::from_value(words.clone()).unwrap();
    ran(&request, &words).certificate.unwrap()
}

fn trained(place: &Path, more: &Value) -> Certificate {
    let mut words = json!({"data": place.join("t.csv"), "schema": place.join("schema.toml"),
        "model": place.join("net.toml"), "delta": 1e-6, "steps": 3, "batch-size": 20});
    words.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let request: Train = serde_json::from_value(words.clone()).unwrap();
    match ran(&request, &words) {
        Trained::Finished(run) => run.certificate.unwrap(),
        Trained::Interrupted(_) => panic!("nobody stopped it"),
    }
}

#[test]
fn those_of_answers_hold() {
    let (_folder, place) = desk();
    let (labels, bounds) = (json!(["a", "b", "c"]), json!([17, 90]));
    for question in [
        json!({"kind": "count"}),
        json!({"kind": "sum", "column": "age", "bounds": bounds, "count_clamped": true}),
        json!({"kind": "mean", "column": "age", "bounds": bounds}),
        json!({"kind": "histogram", "column": "kind", "categories": labels}),
        json!({"kind": "quantile", "column": "age", "bounds": bounds}),
        json!({"kind": "mode", "column": "kind", "categories": labels}),
        json!({"kind": "proportion", "column": "kind", "value": "a"}),
    ] {
        let is_choice = ["quantile", "mode"].contains(&question["kind"].as_str().unwrap());
        for delta in [None, Some(1e-6)].into_iter().filter(|delta| delta.is_none() || !is_choice) {
            for relation in ["add-remove", "replace-one"] {
                let question = serde_json::from_value(question.clone()).unwrap();
                let mut request = Release::new(place.join("t.csv"), question, 1.0);
                request.delta = delta;
                request.neighboring = reticent_curator::neighboring(relation).unwrap();
                let words = serde_json::to_value(&request).unwrap();
                holds(&ran(&request, &words).certificate, &words);
            }
        }
    }
    let categories = ["a", "b", "c"].map(str::to_owned).to_vec();
    let request = Randomize::new(place.join("t.csv"), "kind", categories, 1.0, place.join("said.csv"));
    let words = json!("randomize");
    holds(&ran(&request, &words).certificate, &words);
}

#[test]
fn those_of_linear_models_hold() {
    let (_folder, place) = desk();
    for (method, delta, relations) in [
        ("output", None, &["add-remove", "replace-one"][..]),
        ("objective", None, &["add-remove", "replace-one"]),
        ("objective", Some(1e-6), &["add-remove", "replace-one"]),
        ("descent", Some(1e-6), &["add-remove", "replace-one"]),
        ("sgd", Some(1e-6), &["add-remove", "replace-one"]),
        ("chaudhuri-2011", None, &["replace-one"]),
        ("kifer-2012", Some(1e-6), &["add-remove"]),
        ("iyengar-2019", Some(1e-6), &["replace-one"]),
    ] {
        for relation in relations {
            let mut words = json!({"epsilon": 2, "delta": delta, "method": method, "neighboring": relation});
            if *relation == "replace-one" {
                words["test"] = json!(place.join("test.csv"));
                holds(&fitted(&place, &words), &words);
                continue;
            }
            let counted = fitted(&place, &words);
            assert!(!counted.adaptive.is_empty(), "{words}: {counted:?}");
            holds(&counted, &words);
            words["dataset-size"] = json!(300);
            let declared = fitted(&place, &words);
            assert!(declared.adaptive.is_empty(), "{words}: {declared:?}");
            holds(&declared, &words);
        }
    }
}

#[test]
fn those_of_networks_hold() {
    let (_folder, place) = desk();
    for words in [
        json!({"epsilon": 3}),
        json!({"epsilon": 3, "dataset-size": 300}),
        json!({"noise-multiplier": 1.5, "dataset-size": 300}),
        json!({"epsilon": 3, "neighboring": "replace-one"}),
    ] {
        holds(&trained(&place, &words), &words);
    }
}

#[test]
fn a_new_run_pays_for_its_own_count() {
    let (_folder, place) = desk();
    let counted = json!({"size": 300, "epsilon": 0, "events": "[]"});
    let given = trained(&place, &json!({"epsilon": 3, "counted": counted}));
    let own = trained(&place, &json!({"epsilon": 3}));
    assert!(matches!(given.events[0], Event::DiscreteLaplace { .. }), "{given:?}");
    assert_eq!((given.events, given.guarantee), (own.events, own.guarantee));
}

#[test]
fn those_of_a_learnt_schema_and_of_what_is_made_with_it_hold() {
    let (_folder, place) = desk();
    let mut learning = LearnSchema::private(place.join("t.csv"), 4.0, 1e-6);
    (learning.label, learning.positive) = (Some("rich".to_owned()), Some("yes".to_owned()));
    let learnt = ran(&learning, &json!("learn"));
    let cost = learnt.certificate.unwrap();
    holds(&cost, &json!("learn"));
    let text = learnt.schema.to_toml();
    fs::write(place.join("schema.toml"), &text).unwrap();
    let network = json!({"epsilon": 2, "model": "mlp"});
    let linear = [json!({"epsilon": 2}), json!({"epsilon": 2, "dataset-size": 300})];
    let fits = linear.iter().map(|words| (words, fitted(&place, words)));
    for (words, made) in fits.chain([(&network, trained(&place, &network))]) {
        holds(&made, words);
        // What learning it took enters as it is.
        assert_eq!(made.events[..cost.events.len()], cost.events, "{made:?}");
        assert!(made.guarantee.epsilon > cost.guarantee.epsilon && made.public.contains(&Fact::LearntSchema));
    }
    // A cost that is edited to less than its events add up to is refused.
    let stated = format!("epsilon = {}", cost.guarantee.epsilon);
    assert!(text.contains(&stated), "{text}");
    fs::write(place.join("schema.toml"), text.replace(&stated, "epsilon = 0.5")).unwrap();
    let request = Fit {
        data: Some(place.join("t.csv")),
        schema: Some(place.join("schema.toml")),
        epsilon: Some(2.0),
        ..Fit::default()
    };
    let refusal = request.check().unwrap_err();
    assert_eq!(refusal.code(), reticent_core::Code::Schema, "{refusal}");
}
