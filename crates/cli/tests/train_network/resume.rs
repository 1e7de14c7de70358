use super::{Folder, command, json, refusal, reticent, stdout};
use serde_json::Value;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Sends Ctrl-C once the run has reported on itself.
pub(super) fn interrupt(mut child: Child, metrics: &str) -> (Option<i32>, String) {
    while !std::path::Path::new(metrics).exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[cfg(unix)]
#[test]
fn ctrl_c_stores_the_run_and_it_goes_on() {
    let folder = Folder::new();
    let (images, out) = (folder.images("toy", 8, 300, 30), folder.path("run"));
    let steps = "1500";
    let words = [
        "train",
        &images,
        "--classes",
        "3",
        "--model",
        "logistic",
        "--epsilon",
        "4",
        "--delta",
        "1e-4",
        "--dataset-size",
        "300",
        "--batch-size",
        "30",
        "--steps",
        steps,
        "--out",
        &out,
    ];
    let child = command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (status, said) = interrupt(child, &folder.path("run/metrics.jsonl"));
    assert_eq!(status, Some(130), "{said}");
    assert!(
        said.contains(&format!("reticent train --resume {out}"))
            && said.contains(&format!("reticent train --finish {out}")),
        "{said}"
    );
    // Whoever pressed Ctrl-C may have looked: all steps of the plan count.
    let stopped: Value = serde_json::from_str(&folder.read("run/certificate.json")).unwrap();
    let epsilon = stopped["epsilon"].as_f64().unwrap();
    assert!(epsilon <= 4.0 && epsilon > 3.9, "{stopped}");
    assert!(stopped["public"].to_string().contains("stopped after step"), "{stopped}");
    // The same run, ended where it stands: by choice, and for a reason that did not look.
    for (cause, fewer) in [("choice", false), ("time-limit", true)] {
        let copy = folder.path(cause);
        assert!(Command::new("cp").args(["-r", &out, &copy]).status().unwrap().success());
        let ended = json(&["train", "--finish", &copy, "--stopped-by", cause]);
        assert!(ended["steps"].as_u64().unwrap() < 1500, "{ended}");
        let (own, public) = (&ended["certificate"]["epsilon"], ended["certificate"]["public"].to_string());
        assert_eq!(own.as_f64().unwrap() < 0.99 * epsilon, fewer, "{ended}");
        assert_eq!(
            public.contains("stopped by a time limit") && public.contains("declared not to depend"),
            fewer
        );
        assert_eq!(stdout(&["predict", &copy, &images]).lines().count(), 31);
        // It stays as it was ended, whatever is asked later.
        let line = refusal(&["train", "--finish", &copy, "--stopped-by", "crash"]);
        assert!(line.contains("has already ended"), "{line}");
        assert_eq!(json(&["train", "--finish", &copy])["certificate"], ended["certificate"]);
        assert_eq!(json(&["train", "--resume", &copy])["certificate"], ended["certificate"]);
    }
    // A run that stored its certificate did not crash, and one that goes on did not stop.
    assert!(refusal(&["train", "--finish", &out, "--stopped-by", "crash"]).contains("did not crash"));
    assert!(refusal(&["train", "--resume", &out, "--stopped-by", "crash"]).contains("--stopped-by"));
    assert!(
        refusal(&["train", "--finish", &out, "--stopped-by", "boredom"])
            .contains("time-limit, crash or choice")
    );
    let line = refusal(&["predict", &out, &images]);
    assert!(line.contains("not finished") && line.contains("--resume"), "{line}");
    let line = refusal(&words);
    assert!(line.contains("contains a run"), "{line}");
    let answer = json(&["train", "--resume", &out]);
    assert_eq!((&answer["steps"], &answer["counted_steps"]), (&1500.into(), &1500.into()));
    let epsilon = answer["certificate"]["epsilon"].as_f64().unwrap();
    assert!(epsilon <= 4.0 && epsilon > 3.9, "{answer}");
    assert_eq!(stdout(&["predict", &out, &images]).lines().count(), 31);
    // A finished run has nothing left to do, and says the same.
    assert_eq!(json(&["train", "--resume", &out])["certificate"], answer["certificate"]);
}

#[test]
fn a_changed_plan_and_broken_files_are_refused() {
    let folder = Folder::new();
    let (images, out) = (folder.images("toy", 8, 90, 9), folder.path("run"));
    let words = [
        "train",
        &images,
        "--classes",
        "3",
        "--model",
        "logistic",
        "--epsilon",
        "4",
        "--delta",
        "1e-3",
        "--batch-size",
        "30",
        "--steps",
        "4",
        "--dataset-size",
        "90",
        "--out",
        &out,
    ];
    stdout(&words);
    for (given, part) in [
        (["--epsilon", "5"], "sigma"),
        (["--clip", "2"], "norm"),
        (["--steps", "9"], "steps"),
        (["--batch-size", "31"], "sampling-rate"),
        (["--lr", "3"], "recipe.schedule.peak"),
        (["--model", "mlp"], "a different model"),
    ] {
        let line = refusal(&[&["train", "--resume", &out][..], &given].concat());
        assert!(line.contains("--resume") && line.contains(part), "{given:?}: {line}");
    }
    assert!(refusal(&["train", "--resume", &out, "--out", &folder.path("x")]).contains("--out"));
    let path = folder.path("run/checkpoint.safetensors");
    let whole = std::fs::read(&path).unwrap();
    for broken in [&whole[..whole.len() / 2], b"nothing", b""] {
        std::fs::write(&path, broken).unwrap();
        let line = refusal(&["train", "--resume", &out]);
        assert!(line.contains("checkpoint.safetensors") && line.contains("corrupt"), "{line}");
    }
    std::fs::write(&path, &whole).unwrap();
    assert!(reticent(&["train", "--resume", &out]).status.success());
    std::fs::remove_file(folder.path("run/ledger.json")).unwrap();
    assert!(refusal(&["train", "--resume", &out]).contains("ledger"));
    let line = refusal(&["train", "--resume", &folder.path("nowhere")]);
    assert!(line.contains("--resume") && line.contains("no run in this folder"), "{line}");
    let weights = folder.path("run/model.safetensors");
    std::fs::write(&weights, "half").unwrap();
    assert!(refusal(&["evaluate", &out, &images]).contains("model.safetensors"));
}

#[test]
fn steps_that_were_seen_and_lost_stay_counted() {
    let folder = Folder::new();
    let (images, out) = (folder.images("toy", 8, 300, 30), folder.path("run"));
    let words = [
        "train",
        &images,
        "--classes",
        "3",
        "--model",
        "logistic",
        "--epsilon",
        "4",
        "--delta",
        "1e-4",
        "--batch-size",
        "30",
        "--steps",
        "1500",
        "--checkpoint-every",
        "100000",
        "--out",
        &out,
    ];
    let mut child = command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !std::path::Path::new(&folder.path("run/metrics.jsonl")).exists() {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!std::path::Path::new(&folder.path("run/checkpoint.safetensors")).exists());
    let answer = json(&["train", "--resume", &out]);
    let taken = answer["steps"].as_u64().unwrap();
    assert!(taken < 1500 && answer["counted_steps"] == 1500, "{answer}");
    assert!(answer["warnings"][0].as_str().unwrap().contains("lost"), "{answer}");
    assert!(answer["certificate"]["epsilon"].as_f64().unwrap() <= 4.0);
}

#[cfg(unix)]
#[test]
fn a_killed_resumption_leaves_no_certificate_of_fewer_steps() {
    let folder = Folder::new();
    let (images, out) = (folder.images("toy", 8, 300, 30), folder.path("run"));
    let plan = [
        "--epsilon",
        "4",
        "--delta",
        "1e-4",
        "--dataset-size",
        "300",
        "--batch-size",
        "30",
        "--steps",
        "20000",
    ];
    let words =
        [&["train", &images, "--classes", "3", "--model", "logistic", "--out", &out][..], &plan].concat();
    let child = command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (status, said) = interrupt(child, &folder.path("run/metrics.jsonl"));
    assert_eq!(status, Some(130), "{said}");
    let before = folder.read("run/metrics.jsonl");
    assert!(std::path::Path::new(&folder.path("run/certificate.json")).exists());
    let mut child =
        command(&["train", "--resume", &out]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while folder.read("run/metrics.jsonl").len() <= before.len() {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it could be killed");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!std::path::Path::new(&folder.path("run/certificate.json")).exists());
}
