//! The accountant finds at most what a certificate claims, from its events alone, for every verb that writes one.

use super::{ADULT, Folder, SCHEMA, json, stdout, tenth};
use reticent::accounting::{Accountant, CompositionMethod};
use reticent::core::{Certificate, Delta};

/// A certificate of a pure guarantee is asked at a δ that changes nothing.
const TINY: f64 = 1e-15;

/// Numbers in events are rounded up on the way into them and out of them again.
const ROUNDING: f64 = 1e-9;

fn replays(words: &[&str], certificate: &serde_json::Value) {
    let certificate: Certificate = serde_json::from_value(certificate.clone()).unwrap();
    let mut account = Accountant::new(certificate.neighboring, CompositionMethod::Pld);
    certificate.events.iter().for_each(|event| account.compose(event, 1).unwrap());
    let delta = Delta::new(certificate.guarantee.delta.get().max(TINY)).unwrap();
    let found =
        account.epsilon(delta).unwrap_or_else(|error| panic!("{words:?}: {error} for {certificate:?}"));
    let claimed = certificate.guarantee.epsilon.get();
    assert!(
        found.upper <= claimed * (1.0 + ROUNDING),
        "{words:?}: {found:?} above {claimed}: {certificate:?}"
    );
    assert!(found.lower <= found.upper, "{words:?}: {found:?}");
}

fn replayed(words: &[&str]) {
    replays(words, &json(words)["certificate"]);
}

#[test]
fn answers_about_tables() {
    let income = ["--column", "income"];
    let age = ["--column", "age", "--bounds", "17,90"];
    let labels = ["--categories", "<=50K,>50K"];
    let questions: [(&str, Vec<&str>); 7] = [
        ("count", vec![]),
        ("sum", age.to_vec()),
        ("mean", age.to_vec()),
        ("quantile", age.to_vec()),
        ("histogram", [&income[..], &labels].concat()),
        ("mode", [&income[..], &labels].concat()),
        ("proportion", [&income[..], &["--value", ">50K"]].concat()),
    ];
    for (verb, flags) in questions {
        for budget in [&["--epsilon", "1"][..], &["--epsilon", "1", "--delta", "1e-6"]] {
            if budget.len() > 2 && ["quantile", "mode"].contains(&verb) {
                continue;
            }
            for relation in [&[][..], &["--neighboring", "replace-one"]] {
                replayed(&[&["release", verb, ADULT][..], &flags, budget, relation].concat());
            }
        }
    }
}

#[test]
fn answers_that_are_randomized_one_by_one() {
    let folder = Folder::new();
    let out = folder.path("said.csv");
    let words = ["release", "randomize", "testdata/survey.csv", "--column", "sex", "--epsilon", "1"];
    let words = [&words[..], &["--categories", "Male,Female", "--out", &out]].concat();
    replayed(&words);
}

#[test]
fn schemas_that_are_learnt() {
    let words = ["schema", "infer", ADULT, "--label", "income", "--epsilon", "1"];
    replayed(&[&words[..], &["--delta", "1e-6"]].concat());
}

#[test]
fn linear_models() {
    let folder = Folder::new();
    let others = tenth(&folder);
    let (both, added, replaced) =
        (&["add-remove", "replace-one"][..], &["add-remove"][..], &["replace-one"][..]);
    for (method, delta, relations) in [
        ("auto", None, both),
        ("auto", Some("1e-6"), both),
        ("output", None, both),
        ("output", Some("1e-6"), both),
        ("objective", None, both),
        ("objective", Some("1e-6"), both),
        ("gradient", Some("1e-6"), both),
        ("sgd", Some("1e-6"), both),
        ("chaudhuri-2011", None, replaced),
        ("kifer-2012", Some("1e-6"), added),
        ("iyengar-2019", Some("1e-6"), replaced),
    ] {
        for relation in relations.iter().copied() {
            let mut words = vec!["train", "--epsilon", "1", "--method", method, "--neighboring", relation];
            words.extend(delta.iter().flat_map(|delta| ["--delta", delta]));
            if relation == "replace-one" {
                words.extend(["--test", &others]);
            }
            replayed(&words);
        }
    }
}

/// The schema's own cost comes before the parts in which the model is trained and tested.
#[test]
fn a_model_whose_schema_was_learnt() {
    let folder = Folder::new();
    let schema = folder.path("schema.toml");
    let words = ["schema", "infer", ADULT, "--label", "income", "--epsilon", "1", "--delta", "1e-7"];
    stdout(&[&words[..], &["--out", &schema]].concat());
    for method in ["objective", "gradient", "kifer-2012"] {
        let words = ["train", ADULT, "--schema", &schema, "--epsilon", "1", "--delta", "1e-6"];
        replayed(&[&words[..], &["--method", method]].concat());
    }
}

#[test]
fn networks() {
    let folder = Folder::new();
    let out = folder.path("run");
    let words = ["train", ADULT, "--schema", SCHEMA, "--model", "mlp", "--epsilon", "3", "--delta", "1e-6"];
    replayed(&[&words[..], &["--batch-size", "100", "--steps", "3", "--out", &out]].concat());
}
