//! `--device` and `--chunk`. A machine with a GPU hides it here, so that all machines say the same.

use super::{Folder, command, json, stdout};
use std::path::Path;

const ADULT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/survey.csv");
const SCHEMA: &str = "unit = \"row\"\n[label]\ncolumn = \"income\"\npositive = \">50K\"\n[columns]\nage = { bounds = [17, 90] }\n";
const SHORT: &[&str] = &["--epsilon", "1", "--delta", "1e-6", "--steps", "2", "--batch-size", "20"];

/// What a command says that is refused on a machine without a GPU.
fn without_gpu(words: &[&str]) -> String {
    let output =
        command(words).env("CUDA_VISIBLE_DEVICES", "").env_remove("RETICENT_SEALS").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
    assert!(output.stdout.is_empty(), "{words:?}");
    said
}

#[track_caller]
fn check(said: &str) {
    assert!(said.starts_with("error[R904]: --device cuda: ") && said.contains("--device cpu"), "{said}");
}

#[test]
fn without_a_gpu_nothing_is_written_and_nothing_is_charged() {
    let folder = Folder::new();
    let (schema, images) = (folder.file("schema.toml", SCHEMA), folder.images("toy", 8, 90, 9));
    let out = folder.path("runs/first");
    let table = ["train", ADULT, "--schema", &schema, "--model", "mlp"];
    let pictures = ["train", &images, "--classes", "3"];
    for (data, verb, size) in [(ADULT, &table[..], "2000"), (&images, &pictures[..], "90")] {
        let budget = folder.path("data.budget");
        let unit = if data == images { vec!["--unit", "image"] } else { vec![] };
        stdout(
            &[&["budget", "create", &budget, "--data", data, "--epsilon", "2", "--delta", "1e-5"][..], &unit]
                .concat(),
        );
        for declared in [vec![], vec!["--dataset-size", size]] {
            let more = ["--out", &out, "--budget", &budget, "--device", "cuda"];
            check(&without_gpu(&[verb, SHORT, &more, &declared].concat()));
            assert_eq!(json(&["budget", "show", &budget])["charges"], 0, "{data}");
            assert!(!Path::new(&folder.path("runs")).exists(), "{data}");
        }
        // The same on the CPU is charged.
        let more = ["--out", &out, "--budget", &budget, "--device", "cpu"];
        assert_eq!(json(&[verb, SHORT, &more].concat())["device"], "cpu");
        assert_eq!(json(&["budget", "show", &budget])["charges"], 1, "{data}");
        std::fs::remove_dir_all(folder.path("runs")).unwrap();
        std::fs::remove_file(&budget).unwrap();
    }
}

#[test]
fn a_run_that_goes_on_elsewhere_is_left_as_it_is() {
    let folder = Folder::new();
    let (schema, out) = (folder.file("schema.toml", SCHEMA), folder.path("run"));
    let train = ["train", ADULT, "--schema", &schema, "--model", "mlp", "--out", &out, "--chunk", "8"];
    let text = stdout(&[&train[..], SHORT].concat());
    assert!(text.contains("\ndevice           cpu\n"), "{text}");
    assert!(!folder.read("run/run.toml").contains("chunk"));
    let (run, ledger) = (folder.read("run/run.toml"), folder.read("run/ledger.json"));
    check(&without_gpu(&["train", "--resume", &out, "--device", "cuda"]));
    for verb in ["predict", "evaluate"] {
        check(&without_gpu(&[verb, &out, ADULT, "--device", "cuda"]));
    }
    let audit = ["audit", &out, "--non-members", ADULT, "--device", "cuda"];
    check(&without_gpu(&audit));
    check(&without_gpu(&["attack", "canary", &out, "--device", "cuda"]));
    assert_eq!((folder.read("run/run.toml"), folder.read("run/ledger.json")), (run, ledger));
    assert!(!Path::new(&folder.path("run-audit")).exists());
    // Pieces do not change what a network says.
    let [whole, pieces] = ["1000", "3"].map(|chunk| stdout(&["predict", &out, ADULT, "--chunk", chunk]));
    assert_eq!(whole.lines().count(), pieces.lines().count());
    json(&["train", "--resume", &out, "--device", "cpu", "--chunk", "16"]);
}

#[test]
fn devices_that_mean_nothing_are_named() {
    let folder = Folder::new();
    let (schema, out) = (folder.file("schema.toml", SCHEMA), folder.path("run"));
    let network =
        [&["train", ADULT, "--schema", &schema, "--model", "mlp", "--out", &out][..], SHORT].concat();
    let linear = ["train", ADULT, "--schema", &schema, "--epsilon", "1", "--out", &out];
    for (words, more, parts) in [
        (&network[..], ["--device", "tpu"], ["error[R203]: --device tpu", "cpu, or cuda"]),
        (&network, ["--device", "CUDA"], ["error[R203]: --device CUDA", "cpu, or cuda"]),
        (&network, ["--chunk", "0"], ["error[R201]: --chunk 0", "from 1"]),
        (&network, ["--chunk", "few"], ["--chunk few", "whole number"]),
        (&linear, ["--device", "cuda"], ["error[R103]: --device", "only for networks"]),
        (&linear, ["--chunk", "8"], ["error[R103]: --chunk", "only for networks"]),
    ] {
        let said = without_gpu(&[words, &more].concat());
        assert!(parts.iter().all(|part| said.contains(part)), "{more:?}: {said}");
        assert!(!Path::new(&out).exists(), "{more:?}");
    }
    // A linear model is computed on the CPU, and says so where it is read back.
    stdout(&[&linear[..], &["--device", "cpu"]].concat());
    for words in [&["predict", &out, ADULT][..], &["evaluate", &out, ADULT], &["audit", &out]] {
        let said = without_gpu(&[words, &["--device", "cuda"]].concat());
        assert!(said.starts_with("error[R103]: --device cuda: only for networks"), "{words:?}: {said}");
        let said = without_gpu(&[words, &["--chunk", "9"]].concat());
        assert!(said.starts_with("error[R103]: --chunk 9: only for networks"), "{words:?}: {said}");
    }
    // Tables of scores have no models.
    let scores = folder.file("scores.csv", "score,member\n0.9,1\n0.8,0\n");
    let said = without_gpu(&["audit", "--scores", &scores, "--device", "cuda"]);
    assert!(said.starts_with("error[R103]: --device cuda: only for models of this tool"), "{said}");
    // A file may name it, and the refusal says where.
    let run = folder.file(
        "run.toml",
        format!("data = \"{ADULT}\"\nschema = \"schema.toml\"\nmodel = \"mlp\"\nepsilon = 1\ndelta = 1e-6\nsteps = 2\ndevice = \"cuda\"\n"),
    );
    let said = without_gpu(&["train", &run, "--out", &folder.path("other")]);
    assert!(said.contains("run.toml:7: device = cuda: ") && said.contains("--device cpu"), "{said}");
    json(&["train", &run, "--out", &folder.path("other"), "--device", "cpu"]);
    let said =
        without_gpu(&["train", &folder.file("odd.toml", "device = \"tpu\"\n"), "--out", &folder.path("odd")]);
    assert!(said.contains("odd.toml:1") && said.contains("tpu") && said.contains("cuda"), "{said}");
}
