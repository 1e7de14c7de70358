//! Fixed features, copies of images, and the defaults that use them.

use super::{Folder, json, refusal, stdout};
use serde_json::Value;

/// A short training on images of 12 x 12 pixels.
const SHORT: &[&str] = &[
    "--classes",
    "3",
    "--epsilon",
    "8",
    "--delta",
    "1e-4",
    "--dataset-size",
    "300",
    "--batch-size",
    "60",
    "--steps",
    "6",
];

fn facts(answer: &Value) -> String {
    answer["certificate"]["public"].to_string()
}

#[test]
fn a_model_with_features_predicts_as_it_was_trained_and_goes_on() {
    let folder = Folder::new();
    let (images, out) = (folder.images("toy", 12, 300, 60), folder.path("run"));
    let words = ["train", &images, "--model", "scatter-linear", "--out", &out];
    let answer = json(&[&words[..], SHORT].concat());
    assert_eq!(answer["model"], "scatter-linear");
    assert_eq!(answer["weights"], 3 * 81 * 9 + 3);
    let public = facts(&answer);
    assert!(public.contains("scatternet, 2 scales, 8 orientations, 27 groups normalised"), "{public}");
    let description = folder.read("run/model.toml");
    assert!(description.contains("[features]\nkind = \"scatternet\""), "{description}");
    assert!(description.contains("input = [1, 12, 12]"), "{description}");
    let run = folder.read("run/run.toml");
    for line in ["clip = 0.1", "learning-rate = 8.0", "momentum = 0.9", "shift = 0.0", "scale = 1.0"] {
        assert!(run.contains(line), "{line}: {run}");
    }
    // What training saw of the public images is what the stored model says of them.
    let found = json(&["evaluate", &out, &images]);
    assert_eq!((&found["rows"], &found["accuracy"]), (&serde_json::json!(60), &answer["accuracy"]));
    let said = stdout(&["predict", &out, &images]);
    assert_eq!(stdout(&["predict", &out, &format!("{images}/t10k-images-idx3-ubyte")]), said);
    // The run has taken its steps: it is the same model again.
    let again = json(&["train", "--resume", &out]);
    assert_eq!(again["certificate"], answer["certificate"]);
    // The copy repeats the run.
    let copy = json(&["train", &format!("{out}/run.toml"), "--out", &folder.path("again")]);
    assert_eq!(copy["noise_multiplier"], answer["noise_multiplier"]);
    // Other images than those of the description are refused by their shape.
    let small = folder.images("small", 8, 9, 9);
    assert!(refusal(&["evaluate", &out, &small]).contains("[1, 12, 12]"));
    let text = refusal(&["attack", "reconstruct", &out]);
    assert!(text.contains("fixed features"), "{text}");
}

#[test]
fn copies_of_an_image_are_one_unit() {
    let folder = Folder::new();
    let images = folder.images("toy", 12, 300, 60);
    let trained = |out: &str, more: &[&str]| {
        let out = folder.path(out);
        let words = ["train", &images, "--model", "logistic", "--clip", "0.5", "--out", &out];
        json(&[&words[..], SHORT, more].concat())
    };
    let plain = trained("plain", &[]);
    for (kind, copies) in [("flip", "2"), ("shift", "5")] {
        let answer = trained(kind, &["--augment", kind]);
        // The guarantee, the units, the noise multiplier and the clipping norm are those without copies.
        for key in ["noise_multiplier", "dataset_size", "batch_size", "steps"] {
            assert_eq!(answer[key], plain[key], "{key}");
        }
        assert_eq!(answer["certificate"]["epsilon"], plain["certificate"]["epsilon"]);
        assert_eq!(answer["certificate"]["unit"], "image");
        let public = facts(&answer);
        assert!(public.contains(&format!("{copies} fixed copies of each image")), "{public}");
        let out = folder.path(kind);
        assert_eq!(json(&["evaluate", &out, &images])["accuracy"], answer["accuracy"]);
        assert_eq!(json(&["train", "--resume", &out])["certificate"], answer["certificate"]);
        let other = refusal(&["train", "--resume", &out, "--augment", "none"]);
        assert!(other.contains("augment"), "{other}");
    }
    let words = ["train", &images, "--augment", "mirror", "--epsilon", "1", "--delta", "1e-4"];
    assert!(refusal(&words).contains("--augment mirror"));
    let place = folder.path("table");
    let table = [
        "train",
        "--model",
        "mlp",
        "--augment",
        "flip",
        "--epsilon",
        "1",
        "--delta",
        "1e-4",
        "--out",
        &place,
    ];
    assert!(refusal(&table).contains("only for images"));
}

#[test]
fn data_of_a_known_name_have_defaults_that_flags_replace() {
    let folder = Folder::new();
    let images = folder.images("fashion-mnist", 12, 300, 30);
    let usual =
        ["train", &images, "--classes", "3", "--epsilon", "3", "--delta", "1e-4", "--dataset-size", "300"];
    let answer = json(&[&usual[..], &["--steps", "3"]].concat());
    assert_eq!((&answer["model"], &answer["batch_size"]), (&"scatter-linear".into(), &120.into()));
    let other = json(&[&usual[..], &["--steps", "3", "--batch-size", "50", "--model", "mlp"]].concat());
    assert_eq!((&other["model"], &other["batch_size"]), (&"mlp".into(), &50.into()));
    assert!(!facts(&other).contains("scatternet"));
    // Another name, another size: as ever.
    let plain = folder.images("toy", 12, 300, 30);
    let words = ["train", &plain, "--classes", "3", "--epsilon", "3", "--delta", "1e-4", "--steps", "3"];
    assert_eq!(json(&words)["model"], "mlp");
}
