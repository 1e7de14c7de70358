use super::{ADULT, Folder, SCHEMA, json, refusal, stdout, tenth};
use reticent::accounting::{Accountant, CompositionMethod};
use reticent::core::{Certificate, Delta};

#[test]
fn the_bundled_records_need_nothing_but_an_epsilon() {
    let answer = json(&["train", "--epsilon", "1"]);
    // 83 % give or take a few tenths; the largest class has 76 %.
    assert!(answer["accuracy"].as_f64().unwrap() > 0.79, "{answer}");
    assert!((0.72..0.8).contains(&answer["majority"].as_f64().unwrap()), "{answer}");
    let certificate: Certificate = serde_json::from_value(answer["certificate"].clone()).unwrap();
    assert_eq!((certificate.unit.as_str(), certificate.guarantee.delta), ("row", Delta::ZERO));
    assert!(certificate.guarantee.epsilon.get() <= 1.0);
    // The accountant agrees with the claim from the events alone.
    let mut account = Accountant::new(certificate.neighboring, CompositionMethod::Basic);
    certificate.events.iter().for_each(|event| account.compose(event, 1).unwrap());
    assert!(account.epsilon(Delta::new(1e-12).unwrap()).unwrap().upper <= 1.0 + 1e-3);
}

#[test]
fn what_a_count_decided_is_claimed_whole_and_what_was_fixed_as_it_is() {
    let certificate = |more: &[&str]| -> Certificate {
        let words = [&["train", "--epsilon", "1", "--delta", "1e-6", "--test-share", "0"][..], more].concat();
        serde_json::from_value(json(&words)["certificate"].clone()).unwrap()
    };
    for method in ["objective", "gradient", "output"] {
        // Another count might have led to a law that needs the delta: it is claimed whatever this one led to.
        let counted = certificate(&["--method", method]);
        let (epsilon, delta) = (counted.guarantee.epsilon.get(), counted.guarantee.delta.get());
        assert!(epsilon <= 1.0 && epsilon > 1.0 - 1e-9 && delta == 1e-6, "{method}: {epsilon} {delta}");
        assert!(!counted.adaptive.is_empty() && counted.events.len() == 2, "{counted:?}");
        let fixed = certificate(&["--method", method, "--dataset-size", "32561"]);
        let spent = fixed.guarantee.epsilon.get();
        assert!(fixed.adaptive.is_empty() && spent <= 1.0 && spent > 0.999, "{fixed:?}");
    }
}

#[test]
fn text_says_what_was_done_and_what_it_cost() {
    let text = stdout(&["train", "--epsilon", "0.5", "--delta", "1e-9", "--method", "gradient"]);
    for part in ["noise on every step", "held-out rows", "ε = 0.5, δ = 1e-9", "give --out DIR"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
}

#[test]
fn noise_and_sampling_are_told_apart() {
    let answer = json(&["train", "--epsilon", "1"]);
    let [noise, sampling] =
        ["accuracy_doubt", "accuracy_sampling"].map(|name| answer[name].as_f64().unwrap());
    // Of some 6 500 held-out rows 83 % are right: 1.96·√(0.83·0.17/6500).
    assert!(noise > 0.0 && noise < 0.01 && (0.008..0.0105).contains(&sampling), "{answer}");
    let text = stdout(&["train", "--epsilon", "1"]);
    assert!(text.contains("% (noise), ± ") && text.contains("% (sampling) (on held-out rows"), "{text}");
    let exact = stdout(&["train", "--method", "exact"]);
    assert!(exact.contains("% (sampling) (exact, not protected") && !exact.contains("(noise)"), "{exact}");
}

#[test]
fn a_delta_that_a_pure_fit_does_not_use_is_told() {
    // With few features the pure noise is the shorter one.
    let folder = Folder::new();
    let columns = "[columns]\nage = { bounds = [17, 90] }\nsex = { categories = [\"Male\", \"Female\"] }\n";
    let label = "[label]\ncolumn = \"income\"\npositive = \">50K\"\n";
    let schema = folder.file("s.toml", format!("unit = \"row\"\n{columns}{label}"));
    for (method, is_pure) in [("objective", true), ("auto", true), ("output", false), ("gradient", false)] {
        let words =
            ["train", "testdata/survey.csv", "--schema", &schema, "--epsilon", "1", "--delta", "1e-6"];
        // With a public number of rows no answer can decide that the noise needs a delta after all.
        let output = super::reticent(
            &[&words[..], &["--method", method, "--dataset-size", "1697", "--json"]].concat(),
        );
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(answer["certificate"]["delta"] == 0.0, is_pure, "{answer}");
        assert_eq!(said.contains("warning: --delta 1e-6 is not used"), is_pure, "{said}");
    }
}

#[test]
fn a_stored_model_predicts_and_is_evaluated() {
    let folder = Folder::new();
    let (model, out) = (folder.path("model"), folder.path("said.csv"));
    let words = ["train", ADULT, "--schema", SCHEMA, "--epsilon", "3", "--out", &model];
    assert_eq!(json(&words)["out"], model.as_str());
    let mut files: Vec<_> =
        std::fs::read_dir(&model).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(
        files,
        [
            "certificate.json",
            "fingerprint.json",
            "ledger.json",
            "model.json",
            "run.json",
            "run.lock",
            "schema.toml",
            "weights.safetensors"
        ]
    );
    // The two files that state a claim state the same one.
    let read = |name: &str| -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(folder.path(&format!("model/{name}"))).unwrap()).unwrap()
    };
    assert_eq!(read("model.json")["binary"]["certificate"], read("certificate.json"));
    let found = json(&["evaluate", &model, ADULT]);
    let accuracy = found["accuracy"].as_f64().unwrap();
    assert!(accuracy > 0.8 && found["auc"].as_f64().unwrap() > 0.8 && found["rows"] == 32_561, "{found}");
    assert_eq!(found["classes"][1]["class"], ">50K");
    // The predictions, one by one, are those that were evaluated.
    stdout(&["predict", &model, ADULT, "--out", &out]);
    let text = std::fs::read_to_string(&out).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("prediction,probability"));
    let said: Vec<(bool, f64)> = lines
        .map(|line| {
            let (label, probability) = line.split_once(',').unwrap();
            (label == ">50K", probability.parse().unwrap())
        })
        .collect();
    assert_eq!(said.len(), 32_561);
    assert!(said.iter().all(|(positive, p)| *positive == (*p >= 0.5) && (0.0..=1.0).contains(p)));
    let positive = said.iter().filter(|(positive, _)| *positive).count() as f64;
    let class = &found["classes"][1];
    let expected = class["recall"].as_f64().unwrap() * class["rows"].as_f64().unwrap()
        / class["precision"].as_f64().unwrap();
    assert!((positive - expected).abs() < 0.5);
    // A model that is there, with its certificate and perhaps an audit, is not replaced; JSON predictions are the CSV's.
    assert!(refusal(&words).contains("contains a model"));
    let again = json(&["predict", &model, ADULT]);
    assert_eq!(again["predictions"].as_array().unwrap().len(), 32_561);
    assert_eq!(again["probabilities"].as_array().unwrap().len(), 32_561);
}

#[test]
fn the_split_is_the_same_every_time_and_depends_on_the_key() {
    let accuracy = |key: &str| json(&["train", "--method", "exact", "--split-key", key])["accuracy"].clone();
    let first = accuracy("a");
    assert!(first.as_f64().unwrap() > 0.83);
    assert_eq!(first, accuracy("a"));
    assert_ne!(first, accuracy("b"));
}

#[test]
fn the_exact_model_has_no_certificate_and_says_so() {
    let answer = json(&["train", "--method", "exact", "--test", ADULT]);
    assert!(answer["certificate"].is_null());
    assert!(answer["warnings"][0].as_str().unwrap().contains("not private"));
    assert!(answer["tested"].as_str().unwrap().starts_with("exactly"));
}

#[test]
fn a_schema_that_was_paid_for_is_added_to_the_bill() {
    let folder = Folder::new();
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/adult/schema.toml");
    let schema = std::fs::read_to_string(schema).unwrap();
    let spent = "[spent]\nepsilon = 0.25\ndelta = 1e-7\nneighboring = \"add-remove\"\nevents = \"[]\"\n";
    let schema = folder.file("paid.toml", format!("{schema}\n{spent}"));
    let words = ["train", ADULT, "--schema", &schema, "--epsilon", "1"];
    let certificate: Certificate = serde_json::from_value(json(&words)["certificate"].clone()).unwrap();
    let (epsilon, delta) = (certificate.guarantee.epsilon.get(), certificate.guarantee.delta.get());
    assert!((1.25..1.2501).contains(&epsilon) && (1e-7..1.01e-7).contains(&delta), "{epsilon} {delta}");
    assert!(certificate.accountant.starts_with("the schema's own cost"));
    let line = refusal(&[&words[..], &["--neighboring", "replace-one"]].concat());
    assert!(line.contains("[spent]") && line.contains("add-remove"), "{line}");
}

#[test]
fn a_dataset_is_found_by_name_and_brings_its_test_part() {
    let folder = Folder::new();
    let place = folder.path("adult");
    std::fs::create_dir(&place).unwrap();
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/adult/adult.parquet");
    for part in ["train", "test"] {
        std::fs::copy(table, format!("{place}/adult_{part}.parquet")).unwrap();
    }
    let data = std::path::Path::new(&place).parent().unwrap().to_str().unwrap();
    let answer = json(&["train", "adult", "--data-dir", data, "--method", "exact"]);
    assert!(answer["tested"].as_str().unwrap().starts_with("exactly"));
    assert!(answer["accuracy"].as_f64().unwrap() > 0.84);
    assert!(refusal(&["train", "adlt", "--data-dir", data, "--epsilon", "1"]).contains("adult"));
}

#[test]
fn a_draft_can_be_trained_with_and_voids_the_claim() {
    let folder = Folder::new();
    let schema = folder.path("draft.toml");
    let label = ["--label", "income", "--positive", ">50K"];
    let infer = [&["schema", "infer", ADULT, "--out", &schema][..], &label].concat();
    stdout(&infer);
    let answer = json(&["train", ADULT, "--schema", &schema, "--epsilon", "1"]);
    assert!(answer["warnings"][0].as_str().unwrap().contains("draft"), "{answer}");
    assert!(answer["certificate"]["public"].to_string().contains("DRAFT"), "{answer}");
}

#[test]
fn exact_scores_are_marked_as_not_covered() {
    let folder = Folder::new();
    let answer = json(&["train", "--epsilon", "1", "--test", &tenth(&folder)]);
    assert!(answer["warnings"][0].as_str().unwrap().contains("the certificate does not cover"), "{answer}");
    assert!(answer["tested"].as_str().unwrap().contains("not covered"));
}
