use super::{Folder, QUICK, json, reticent, stdout};
use reticent::accounting::{Accountant, CompositionMethod};
use reticent::core::{Certificate, Event};
use reticent::train::describe::preset;

#[test]
fn a_folder_of_images_gives_a_run_that_predicts_and_is_evaluated() {
    let folder = Folder::new();
    let (images, out) = (folder.images("toy", 8, 600, 90), folder.path("run"));
    let words = [&["train", &images, "--classes", "3", "--lr", "0.5", "--out", &out][..], QUICK].concat();
    let answer = json(&words);
    assert!(answer["accuracy"].as_f64().unwrap() > 0.7, "{answer}");
    assert_eq!(answer["tested"], "public data, not protected");
    assert_eq!(answer["model"], "mlp");
    let certificate: Certificate = serde_json::from_value(answer["certificate"].clone()).unwrap();
    assert_eq!(certificate.unit, "image");
    // The count decided rate, steps and noise: the two shares are added, and none of the budget is left.
    let epsilon = certificate.guarantee.epsilon.get();
    assert!(epsilon <= 8.0 && epsilon > 8.0 - 1e-9, "{epsilon}");
    assert!(certificate.accountant.starts_with("rows counted with noise"));
    // The accountant agrees with the claim from the events alone.
    let composed = |events: &[Event], method: CompositionMethod| {
        let mut account = Accountant::new(certificate.neighboring, method);
        events.iter().for_each(|event| account.compose(event, 1).unwrap());
        account.epsilon(certificate.guarantee.delta).unwrap().upper
    };
    assert!((composed(&certificate.events, CompositionMethod::Basic) - epsilon).abs() < 1e-9);
    // The steps that followed this count use up their share, and composed with the count they would say less.
    let steps = composed(&certificate.adaptive, CompositionMethod::Pld);
    assert!(steps <= 0.98 * 8.0 && steps > 0.999 * 0.98 * 8.0, "{steps}");
    let both = [&certificate.events[..1], &certificate.adaptive].concat();
    assert!(composed(&both, CompositionMethod::Pld) < 0.999 * epsilon);
    let mut files: Vec<_> = std::fs::read_dir(&out).unwrap().map(|e| e.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(
        files,
        [
            "certificate.json",
            "checkpoint.safetensors",
            "fingerprint.json",
            "ledger.json",
            "metrics.jsonl",
            "model.json",
            "model.safetensors",
            "model.toml",
            "run.lock",
            "run.toml"
        ]
    );
    let stored: Certificate = serde_json::from_str(&folder.read("run/certificate.json")).unwrap();
    assert_eq!(stored, certificate);
    let metrics = folder.read("run/metrics.jsonl");
    let epsilons: Vec<f64> = metrics
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["epsilon"].as_f64().unwrap())
        .collect();
    assert!(epsilons.len() >= 7 && epsilons.is_sorted(), "{metrics}");
    // The test part is taken unless the other one is asked for.
    let found = json(&["evaluate", &out, &images]);
    assert_eq!((&found["rows"], &found["accuracy"]), (&serde_json::json!(90), &answer["accuracy"]));
    assert_eq!(json(&["evaluate", &out, &images, "--part", "train"])["rows"], 600);
    let said = stdout(&["predict", &out, &images]);
    assert_eq!((said.lines().next(), said.lines().count()), (Some("prediction,probability"), 91));
    let file = format!("{images}/t10k-images-idx3-ubyte");
    assert_eq!(stdout(&["predict", &out, &file]), said);
}

#[test]
fn a_run_file_says_it_all_and_flags_come_first() {
    let folder = Folder::new();
    folder.images("toy", 8, 300, 30);
    let description = preset("mlp", &[1, 8, 8], None, 3).unwrap();
    folder.file("net.toml", description.to_toml().unwrap());
    let run = folder.file(
        "run.toml",
        "data = \"toy\"\nmodel = \"net.toml\"\nclasses = [\"a\", \"b\", \"c\"]\nepsilon = 8\ndelta = 1e-4\nsize = 300\n\
         batch-size = 50\nepochs = 2\nlearning-rate = 0.5\nfreeze = [\"1\"]\nclipping = \"automatic\"\n",
    );
    let out = folder.path("run");
    let answer = json(&["train", &run, "--out", &out, "--epochs", "3"]);
    assert_eq!(answer["steps"], 18);
    assert!(answer["certificate"]["public"].to_string().contains("the number of units: 300"), "{answer}");
    assert!(folder.read("run/model.toml").contains("frozen = true"));
    assert!(
        stdout(&["predict", &out, &folder.path("toy")]).lines().nth(1).unwrap().starts_with(['a', 'b', 'c'])
    );
    // The copy repeats the run.
    let again = json(&["train", &format!("{out}/run.toml"), "--out", &folder.path("again")]);
    assert_eq!(
        (&again["steps"], &again["noise_multiplier"]),
        (&answer["steps"], &answer["noise_multiplier"])
    );
    // The baseline of the same run.
    let plain = json(&["train", &run, "--non-private", "--out", &folder.path("plain")]);
    assert!(plain["certificate"].is_null() && plain["noise_multiplier"].is_null(), "{plain}");
    assert_eq!(folder.read("plain/certificate.json").trim(), "null");
    let text = stdout(&["train", &run, "--non-private", "--steps", "2", "--out", &folder.path("plainer")]);
    assert!(text.contains("none: this model may leak"), "{text}");
}

#[test]
fn a_dataset_is_found_by_name_and_noise_may_be_given() {
    let folder = Folder::new();
    let images = folder.images("toy", 8, 300, 30);
    let place = std::path::Path::new(&images).parent().unwrap().to_str().unwrap();
    let words =
        ["train", "toy", "--data-dir", place, "--model", "logistic", "--classes", "3", "--delta", "1e-4"];
    let given =
        ["--noise-multiplier", "2", "--dataset-size", "300", "--batch-size", "30", "--steps", "5", "--json"];
    let output = reticent(&[&words[..], &given].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!((answer["noise_multiplier"].as_f64().unwrap() - 2.0).abs() < 1e-9);
    let epsilon = answer["certificate"]["epsilon"].as_f64().unwrap();
    assert!(epsilon > 0.1 && epsilon < 2.0 && answer["out"].is_null(), "{answer}");
    let rest = [
        "--clipping",
        "per-layer",
        "--schedule",
        "cosine",
        "--warmup",
        "2",
        "--average",
        "0.9",
        "--threads",
        "1",
    ];
    let other = [&words[..], &given[..8], &rest, &["--optimizer", "adamw", "--weight-decay", "0.1"]].concat();
    assert_eq!(json(&other)["certificate"], answer["certificate"]);
    // Nobody is watching: no bar, no colours.
    assert!(output.stderr.is_empty());
}
