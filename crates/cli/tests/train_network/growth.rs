use super::resume::interrupt;
use super::{Folder, command, json, refusal, stdout};
use serde_json::{Value, json as value};
use std::process::Stdio;

/// A run whose batches grow to four times their size.
fn words<'a>(images: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let own =
        ["train", images, "--classes", "3", "--model", "logistic", "--delta", "1e-4", "--batch-size", "30"];
    [&own[..], &["--batch-growth", "4"], more].concat()
}

#[test]
fn every_stage_has_an_event_of_its_own() {
    let folder = Folder::new();
    let (images, out) = (folder.images("toy", 8, 300, 30), folder.path("run"));
    let sized = ["--epsilon", "4", "--dataset-size", "300", "--epochs", "6"];
    let run = json(&words(&images, &[&sized[..], &["--out", &out]].concat()));
    // Two epochs in each of three stages.
    assert_eq!(
        (&run["steps"], &run["epochs"], &run["batch_size"]),
        (&35.into(), &6.0.into(), &30.into()),
        "{run}"
    );
    let stages = value!([
        {"batch_size": 30, "steps": 20}, {"batch_size": 60, "steps": 10}, {"batch_size": 120, "steps": 5}
    ]);
    assert_eq!(run["batch_growth"], value!({"factor": 4, "stages": stages}), "{run}");
    let certificate = &run["certificate"];
    let events: Vec<(f64, u64)> = certificate["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| {
            let own = &event["repeated"];
            (own["event"]["poisson_sampled"]["rate"].as_f64().unwrap(), own["count"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(events, [(0.1, 20), (0.2, 10), (0.4, 5)], "{certificate}");
    let public = certificate["public"].to_string();
    assert!(public.contains("30 in 20 steps, then 60 in 10 steps, then 120 in 5 steps"), "{public}");
    // Anyone gets the same epsilon from the events.
    let file = folder.file("events.json", certificate["events"].to_string());
    let again = json(&["account", "epsilon", "--events", &file, "--delta", "1e-4"]);
    let (own, other) = (certificate["epsilon"].as_f64().unwrap(), again["epsilon"].as_f64().unwrap());
    assert!(own <= 4.0 && own > 3.99 && own >= other * (1.0 - 1e-6) && own <= other * 1.001, "{own} {other}");
    assert_eq!(stdout(&["predict", &out, &images]).lines().count(), 31);
    let text = stdout(&words(&images, &[&sized[..], &["--out", &folder.path("text")]].concat()));
    assert!(text.contains("35, expected batch size 30 to 120 images (3 stages), 6 epochs"), "{text}");
    // A noisy count of about 300 leaves room for eight times 30, and not for 16 times that.
    let own =
        ["train", &images, "--classes", "3", "--model", "logistic", "--delta", "1e-4", "--batch-size", "30"];
    let counted = json(&[&own[..], &["--epsilon", "40", "--steps", "20", "--batch-growth", "16"]].concat());
    assert_eq!(counted["batch_growth"]["factor"], 8, "{counted}");
    let given = json(&words(&images, &["--noise-multiplier", "3", "--dataset-size", "300", "--steps", "7"]));
    assert_eq!(given["batch_growth"]["stages"][2]["steps"], 1, "{given}");
}

#[test]
fn what_does_not_go_with_it_is_refused() {
    let folder = Folder::new();
    let images = folder.images("toy", 8, 300, 30);
    let with = |more: &[&str]| {
        let out = folder.path("never");
        let own = ["--dataset-size", "300", "--epsilon", "4", "--out", &out];
        refusal(&words(&images, &[&own[..], more].concat()))
    };
    assert!(with(&["--batching", "cyclic"]).contains("--batch-growth 4"));
    assert!(with(&["--clipping", "quantile"]).contains("--batch-growth 4"));
    assert!(with(&["--denoise", "wiener"]).contains("--batch-growth 4"));
    let short = with(&["--steps", "3"]);
    assert!(short.contains("--batch-growth 4") && short.contains("at most 2"), "{short}");
    let parties = folder
        .file("parties.toml", "method = \"gradient\"\nrounds = 2\n[split]\nparties = 2\nby = \"uniform\"\n");
    let line = refusal(&words(&images, &["--epsilon", "4", "--federated", &parties, "--out", "never"]));
    assert!(line.contains("parties sample"), "{line}");
    let fixed = |more: &[&str]| {
        let own = ["train", &images, "--classes", "3", "--model", "logistic", "--out", "never"];
        refusal(&[&own[..], more].concat())
    };
    assert!(fixed(&["--non-private", "--batch-growth", "2"]).contains("without privacy"));
    let private = ["--epsilon", "4", "--delta", "1e-4", "--dataset-size", "300"];
    let odd = fixed(&[&private[..], &["--batch-growth", "3"]].concat());
    assert!(odd.contains("--batch-growth 3") && odd.contains("power of two"), "{odd}");
    let large = fixed(&[&private[..], &["--batch-size", "100", "--batch-growth", "4"]].concat());
    assert!(large.contains("400 units") && large.contains("at most 2"), "{large}");
    let tune =
        ["tune", &images, "--classes", "3", "--model", "logistic", "--epsilon", "4", "--delta", "1e-4"];
    let search = ["--dataset-size", "300", "--search", "lr=0.1|0.5", "--out", "never", "--batch-growth", "2"];
    let line = refusal(&[&tune[..], &search].concat());
    assert!(line.contains("--batch-growth") && line.contains("not for a search"), "{line}");
}

#[cfg(unix)]
#[test]
fn a_run_goes_on_in_its_stage_and_keeps_its_growth() {
    let folder = Folder::new();
    let (images, out) = (folder.images("toy", 8, 300, 30), folder.path("run"));
    let more = ["--epsilon", "4", "--dataset-size", "300", "--steps", "2100", "--out", &out];
    let child =
        command(&words(&images, &more)).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (status, said) = interrupt(child, &folder.path("run/metrics.jsonl"));
    assert_eq!(status, Some(130), "{said}");
    let stopped: Value = serde_json::from_str(&folder.read("run/certificate.json")).unwrap();
    let other = refusal(&["train", "--resume", &out, "--batch-growth", "2"]);
    assert!(other.contains("growth"), "{other}");
    let whole = json(&["train", "--resume", &out]);
    assert_eq!(whole["steps"], 2100);
    assert_eq!(whole["certificate"]["events"], stopped["events"]);
    assert_eq!(whole["certificate"]["events"].as_array().unwrap().len(), 3);
    assert_eq!(whole["batch_growth"]["stages"][0]["steps"], 1200);
}
