use super::resume::interrupt;
use super::{Folder, command, json, refusal, reticent, stdout};
use serde_json::Value;
use std::process::Stdio;

/// A run without sampling.
fn words<'a>(images: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let own =
        ["train", images, "--classes", "3", "--model", "logistic", "--delta", "1e-4", "--batch-size", "30"];
    [&own[..], &["--batching", "cyclic"], more].concat()
}

#[test]
fn the_run_is_one_gaussian_event() {
    let folder = Folder::new();
    let (images, out) = (folder.images("toy", 8, 300, 30), folder.path("run"));
    let sized = ["--epsilon", "4", "--dataset-size", "300", "--epochs", "6"];
    let run = json(&words(&images, &[&sized[..], &["--bands", "5", "--out", &out]].concat()));
    // Ten batches of thirty, six times.
    assert_eq!((&run["steps"], &run["epochs"]), (&60.into(), &6.0.into()), "{run}");
    assert_eq!((&run["cyclic"]["bands"], &run["cyclic"]["per_epoch"]), (&5.into(), &10.into()), "{run}");
    let certificate = &run["certificate"];
    let event = &certificate["events"][0]["gaussian"]["noise_multiplier"];
    let (stated, noise) = (event.as_f64().unwrap(), run["noise_multiplier"].as_f64().unwrap());
    // Columns of norm 1 and six steps of a unit, the last column as long as the others but for the end of the run.
    assert!(stated < noise / 5f64.sqrt() && stated > 0.9999 * noise / 6f64.sqrt(), "{stated} {noise}");
    let public = certificate["public"].to_string();
    assert!(public.contains("10 batches per epoch") && public.contains("5 bands"), "{public}");
    // Anyone gets the same epsilon from the event.
    let events = folder.file("events.json", certificate["events"].to_string());
    let again = json(&["account", "epsilon", "--events", &events, "--delta", "1e-4"]);
    let (own, other) = (certificate["epsilon"].as_f64().unwrap(), again["epsilon"].as_f64().unwrap());
    assert!(own <= 4.0 && own >= other * (1.0 - 1e-6) && own <= other * 1.001, "{own} {other}");
    assert_eq!(stdout(&["predict", &out, &images]).lines().count(), 31);
    let line = refusal(&["train", "--resume", &out]);
    assert!(line.contains("--batching cyclic") && line.contains("--finish"), "{line}");
    // Bands are chosen by a rule, a noisy count decides the batches, and the noise can be given.
    for more in
        [&["--epsilon", "4", "--steps", "45"][..], &["--noise-multiplier", "3", "--dataset-size", "300"]]
    {
        let usual = json(&words(&images, more));
        let bands = usual["cyclic"]["bands"].as_u64().unwrap();
        assert!(bands.is_power_of_two() && (2..=16).contains(&bands), "{usual}");
    }
    let text =
        stdout(&words(&images, &[&sized[..], &["--bands", "4", "--out", &folder.path("text")]].concat()));
    assert!(
        text.contains("6 epochs of 10 cyclic batches") && text.contains("correlated over 4 steps (BandMF)"),
        "{text}"
    );
}

#[test]
fn what_does_not_go_with_it_is_refused() {
    let folder = Folder::new();
    let images = folder.images("toy", 8, 300, 30);
    let refused = |more: &[&str]| {
        let out = folder.path("never");
        refusal(&words(&images, &[&["--dataset-size", "300", "--out", &out][..], more].concat()))
    };
    let private = ["--epsilon", "4"];
    let with = |more: &[&str]| refused(&[&private[..], more].concat());
    assert!(with(&["--bands", "11"]).contains("--bands 11"));
    assert!(with(&["--bands", "0"]).contains("--bands 0"));
    assert!(with(&["--device", "cuda"]).contains("--batching cyclic"));
    assert!(with(&["--clipping", "quantile"]).contains("--batching cyclic"));
    assert!(with(&["--clipping", "encoded", "--noise", "student-t"]).contains("--batching cyclic"));
    assert!(with(&["--denoise", "wiener"]).contains("--batching cyclic"));
    let relation = words(&images, &["--epsilon", "4", "--neighboring", "replace-one", "--out", "never"]);
    assert!(refusal(&relation).contains("add-remove"));
    let open = ["train", &images, "--classes", "3", "--model", "logistic", "--non-private", "--out", "never"];
    assert!(refusal(&[&open[..], &["--batching", "cyclic"]].concat()).contains("without privacy"));
    assert!(
        refusal(
            &[&open[..6], &["--epsilon", "4", "--delta", "1e-4", "--bands", "4", "--out", "never"]].concat()
        )
        .contains("--bands 4")
    );
    let parties = folder
        .file("parties.toml", "method = \"gradient\"\nrounds = 2\n[split]\nparties = 2\nby = \"uniform\"\n");
    let line = refusal(&words(&images, &["--epsilon", "4", "--federated", &parties, "--out", "never"]));
    assert!(line.contains("parties sample"), "{line}");
    let tune =
        ["tune", &images, "--classes", "3", "--model", "logistic", "--epsilon", "4", "--delta", "1e-4"];
    let search =
        ["--dataset-size", "300", "--search", "lr=0.1|0.5", "--out", "never", "--batching", "cyclic"];
    let line = refusal(&[&tune[..], &search].concat());
    assert!(line.contains("--batching") && line.contains("not for a search"), "{line}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_stores_the_model_with_the_certificate_of_the_plan() {
    let folder = Folder::new();
    let (images, out) = (folder.images("toy", 8, 300, 30), folder.path("run"));
    let more = ["--epsilon", "4", "--dataset-size", "300", "--steps", "2000", "--out", &out];
    let child =
        command(&words(&images, &more)).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (status, said) = interrupt(child, &folder.path("run/metrics.jsonl"));
    assert_eq!(status, Some(130), "{said}");
    assert!(said.contains(&format!("--finish {out}")) && !said.contains("--resume"), "{said}");
    let stopped: Value = serde_json::from_str(&folder.read("run/certificate.json")).unwrap();
    // A cause that did not look changes nothing: the claim is that of all steps.
    let ended = json(&["train", "--finish", &out, "--stopped-by", "time-limit"]);
    assert!(ended["steps"].as_u64().unwrap() < 2000, "{ended}");
    assert_eq!(ended["certificate"]["epsilon"], stopped["epsilon"]);
    assert_eq!(ended["certificate"]["events"], stopped["events"]);
    assert_eq!(stdout(&["predict", &out, &images]).lines().count(), 31);
    assert!(!reticent(&["train", "--resume", &out]).status.success());
}
