use super::{Folder, QUICK, json, refusal};

#[test]
fn numbers_without_meaning_are_named() {
    let folder = Folder::new();
    let (images, out) = (folder.images("toy", 8, 90, 9), folder.path("run"));
    let start = ["train", &images, "--classes", "3", "--delta", "1e-4", "--out", &out];
    for (given, parts) in [
        (
            vec!["--epsilon", "1", "--dataset-size", "90", "--batch-size", "91"],
            ["--batch-size 91", "from 1 to 90"],
        ),
        (vec!["--epsilon", "1", "--batch-size", "0"], ["--batch-size 0", "whole number"]),
        (vec!["--epsilon", "1", "--clip", "0"], ["--clip 0", "above 0"]),
        (vec!["--epsilon", "1", "--clip", "-1"], ["--clip -1", "above 0"]),
        (vec!["--epsilon", "1", "--non-private"], ["--epsilon 1", "leave it out"]),
        (vec!["--noise-multiplier", "0", "--dataset-size", "90"], ["--noise-multiplier 0", "above 0"]),
        (vec!["--noise-multiplier", "1"], ["--dataset-size", "public number"]),
        (vec!["--noise-multiplier", "1", "--epsilon", "1"], ["--noise-multiplier 1", "not both"]),
        (vec![], ["--epsilon", "missing"]),
        (vec!["--epsilon", "0"], ["--epsilon 0", "above 0"]),
        (vec!["--epsilon", "1", "--epochs", "nan"], ["--epochs nan", "finite"]),
        (vec!["--epsilon", "1", "--model", "cnn-mnits"], ["--model cnn-mnits", "did you mean cnn-mnist"]),
        (vec!["--epsilon", "1", "--model", "svm"], ["--model svm", "only for tables"]),
        (vec!["--epsilon", "1", "--model", "lstm-text"], ["--model lstm-text", "vocabulary"]),
        (vec!["--epsilon", "1", "--model", "nowhere.toml"], ["--model", "nowhere.toml"]),
        (vec!["--epsilon", "1", "--freeze", "9"], ["--freeze 9", "no such layer"]),
        (vec!["--epsilon", "1", "--scale", "0"], ["scale", "above 0"]),
        (vec!["--epsilon", "1", "--shift", "1,2"], ["--shift", "channels"]),
        (vec!["--epsilon", "1", "--validation", "nowhere.csv"], ["nowhere.csv", "check the path"]),
        (vec!["--epsilon", "1", "--length", "3"], ["--length", "images"]),
        (vec!["--epsilon", "1", "--threads", "0"], ["--threads 0", "whole number"]),
        (vec!["--epsilon", "1", "--adversarial", "3"], ["--adversarial 3", "no guarantee"]),
        (vec!["--epsilon", "1", "--adversarial", "-1"], ["--adversarial -1", "from 0"]),
        (vec!["--epsilon", "1", "--adversarial", "nan"], ["--adversarial nan", "finite"]),
        (vec!["--epsilon", "1", "--reference-share", "0.5"], ["--reference-share 0.5", "add --adversarial"]),
        (vec!["--epsilon", "1", "--label-smoothing", "1"], ["--label-smoothing 1", "below 1"]),
    ] {
        let line = refusal(&[&start[..], &given].concat());
        assert!(parts.iter().all(|part| line.contains(part)), "{given:?}: {line}");
        assert!(!std::path::Path::new(&out).exists(), "{given:?}");
    }
    let line = refusal(&["train", &images, "--classes", "3", "--epsilon", "1", "--out", &out]);
    assert!(line.contains("--delta"), "{line}");
    assert!(refusal(&["train", &images, "--epsilon", "1", "--delta", "1e-4"]).contains("--out"));
}

#[test]
fn images_that_do_not_fit_are_refused() {
    let folder = Folder::new();
    let out = folder.path("run");
    let train =
        |images: &str, more: &[&str]| refusal(&[&["train", images, "--out", &out], QUICK, more].concat());
    let images = folder.images("toy", 8, 90, 9);
    let line = train(&images, &["--classes", "2"]);
    assert!(line.contains("its label is 2") && line.contains("classes 0 to 1"), "{line}");
    // A test part of another size.
    let mixed = folder.images("mixed", 8, 90, 9);
    folder.idx("mixed/t10k-images-idx3-ubyte", &[9, 9, 9], &[0; 729]);
    let line = train(&mixed, &["--classes", "3"]);
    assert!(line.contains("test split") && line.contains("[1, 9, 9]"), "{line}");
    // Fewer labels than images.
    folder.idx("mixed/t10k-images-idx3-ubyte", &[8, 8, 8], &[0; 512]);
    assert!(train(&mixed, &[]).contains("8"), "unequal parts");
    // Half a file.
    let path = folder.path("mixed/train-images-idx3-ubyte");
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let line = train(&mixed, &[]);
    assert!(line.contains("train-images-idx3-ubyte"), "{line}");
    std::fs::write(&path, b"not an idx file at all").unwrap();
    assert!(train(&mixed, &[]).contains("train-images-idx3-ubyte"));
    let empty = folder.path("empty");
    std::fs::create_dir(&empty).unwrap();
    assert!(train(&empty, &[]).contains("no images in this folder"));
    assert!(!std::path::Path::new(&out).exists());
}

#[test]
fn places_where_nothing_can_go_are_left_alone() {
    let folder = Folder::new();
    let images = folder.images("toy", 8, 90, 9);
    let kept = folder.file("kept.txt", "mine");
    let parent = std::path::Path::new(&kept).parent().unwrap().to_str().unwrap();
    for (out, part) in [
        (parent, "not empty"),
        (kept.as_str(), "not a folder"),
        (&format!("{kept}/run"), "cannot be created"),
    ] {
        let line = refusal(&[&["train", &images, "--classes", "3", "--out", out], QUICK].concat());
        assert!(line.contains("--out") && line.contains(part), "{line}");
    }
    assert_eq!(folder.read("kept.txt"), "mine");
    // A score on the private training data is not covered.
    let table = folder.file("t.csv", "x,y\n0.1,no\n0.9,yes\n");
    let schema =
        "unit = \"row\"\n[label]\ncolumn = \"y\"\npositive = \"yes\"\n[columns]\nx = { bounds = [0, 1] }\n";
    let schema = folder.file("s.toml", schema);
    let words = ["train", &table, "--schema", &schema, "--model", "mlp", "--validation", &table, "--json"];
    let line = refusal(&[&words[..], &["--epsilon", "1", "--delta", "1e-3"]].concat());
    assert!(line.contains("--validation") && line.contains("private training data"), "{line}");
    let plain = [&words[..8], &["--non-private", "--batch-size", "2", "--steps", "2"]].concat();
    assert!(json(&plain)["accuracy"].is_number());
}

#[test]
fn a_run_file_with_a_mistake_names_the_line() {
    let folder = Folder::new();
    let run = folder.file("run.toml", "epsilon = 1\nepoch = 3\n");
    let line = refusal(&["train", &run, "--json"]);
    assert!(line.contains("run.toml:2: unknown key") && line.contains("epoch"), "{line}");
    let line = refusal(&["train", &folder.path("none.toml"), "--json"]);
    assert!(line.contains("none.toml"), "{line}");
}
