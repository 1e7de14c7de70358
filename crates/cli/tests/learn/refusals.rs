use super::{ADULT, Folder, SCHEMA, json, refusal, reticent};

const TINY: &str =
    "unit = \"row\"\n[label]\ncolumn = \"y\"\npositive = \"yes\"\n[columns]\nx = { bounds = [0, 1] }\n";

#[test]
fn flags_without_meaning_are_named() {
    for (words, parts) in [
        (vec!["train"], ["--epsilon", "--epsilon 1"]),
        (vec!["train", "--epsilon", "0"], ["--epsilon 0", "above 0"]),
        (vec!["train", "--epsilon", "-1"], ["--epsilon -1", "above 0"]),
        (vec!["train", "--epsilon", "nan"], ["--epsilon nan", "finite"]),
        (vec!["train", "--epsilon", "1e-9"], ["--epsilon 1e-9", "at least"]),
        (vec!["train", "--epsilon", "1", "--delta", "1"], ["--delta 1", "below 1"]),
        (vec!["train", "--epsilon", "1", "--method", "magic"], ["--method magic", "objective"]),
        (vec!["train", "--epsilon", "1", "--method", "gradient"], ["--delta", "needs a delta"]),
        (vec!["train", "--epsilon", "1", "--method", "exact"], ["--epsilon 1", "not private"]),
        (vec!["train", "--epsilon", "1", "--model", "forest"], ["--model forest", "ridge"]),
        (vec!["train", "--epsilon", "1", "--regularization", "0"], ["--regularization 0", "above 0"]),
        (vec!["train", "--epsilon", "1", "--dataset-size", "0"], ["--dataset-size 0", "whole number"]),
        (vec!["train", "--epsilon", "1", "--steps", "9"], ["--steps 9", "--method"]),
        (vec!["train", "--epsilon", "1", "--test-share", "1"], ["--test-share 1", "below 1"]),
        (
            vec!["train", "--epsilon", "1", "--test-share", "0.2", "--neighboring", "replace-one"],
            ["--test-share 0.2", "change from training to test"],
        ),
        (vec!["train", "--epsilon", "1", "--neighboring", "near"], ["--neighboring near", "replace-one"]),
        (vec!["train", ADULT, "--epsilon", "1"], ["--schema", "infer"]),
        (
            vec!["train", "nowhere.csv", "--schema", SCHEMA, "--epsilon", "1"],
            ["nowhere.csv", "check the path"],
        ),
        (vec!["evaluate", "testdata", ADULT], ["testdata", "no model in this folder"]),
        (vec!["predict", "nowhere", ADULT], ["nowhere", "no model in this folder"]),
    ] {
        let line = refusal(&words);
        assert!(parts.iter().all(|part| line.contains(part)), "{words:?}: {line}");
    }
}

#[test]
fn a_schema_that_does_not_fit_is_refused_before_anything_is_written() {
    let folder = Folder::new();
    let table = folder.file("t.csv", "x,y\n0.5,yes\n0.1,no\n");
    let out = folder.path("model");
    for (name, schema, parts) in [
        ("column", TINY.replace("x =", "xx ="), ["xx", "x"]),
        ("label", TINY.replace("\"y\"", "\"z\""), ["z", "y"]),
        ("none", "unit = \"row\"\n[columns]\nx = { bounds = [0, 1] }\n".to_owned(), ["[label]", "predict"]),
        ("bounds", TINY.replace("[0, 1]", "[1, 0]"), ["bounds.toml:6: ", "the bounds [1, 0]"]),
    ] {
        let schema = folder.file(&format!("{name}.toml"), &schema);
        let line = refusal(&["train", &table, "--schema", &schema, "--epsilon", "1", "--out", &out]);
        assert!(parts.iter().all(|part| line.contains(part)), "{name}: {line}");
        assert!(!std::path::Path::new(&out).exists());
    }
}

#[test]
fn a_folder_with_something_else_is_left_alone() {
    let folder = Folder::new();
    let kept = folder.file("kept.txt", "mine");
    let parent = std::path::Path::new(&kept).parent().unwrap().to_str().unwrap();
    for (out, part) in [(parent, "other files"), (kept.as_str(), "not a folder")] {
        assert!(refusal(&["train", "--epsilon", "1", "--out", out]).contains(part));
    }
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "mine");
    assert_eq!(std::fs::read_dir(parent).unwrap().count(), 1);
}

#[test]
fn poor_tables_give_a_model_with_a_warning_or_one_clear_line() {
    let folder = Folder::new();
    let schema = folder.file("s.toml", TINY);
    let empty = folder.file("empty.csv", "x,y\n");
    let whole = ["--test-share", "0"];
    let exact = ["train", &empty, "--schema", &schema, "--method", "exact"];
    assert!(refusal(&exact).contains("no rows"));
    // Under add-remove, no rows and one row are neighbours: a private fit treats them alike.
    let answer = json(&["train", &empty, "--schema", &schema, "--epsilon", "1"]);
    assert!(answer["accuracy"].is_null() && answer["certificate"]["epsilon"].as_f64().unwrap() <= 1.0);
    let line = refusal(&["train", "--epsilon", "1", "--test", &empty]);
    assert!(line.contains("--test"), "{line}");
    // A private fit must not fail on what the rows hold: that would tell something about them.
    for (name, text) in [
        ("one.csv", "x,y\n0.5,yes\n".to_owned()),
        ("one-class.csv", format!("x,y\n{}", "0.5,yes\n".repeat(300))),
        ("constant.csv", format!("x,y\n{}", "1,yes\n1,no\n".repeat(300))),
        ("nan.csv", format!("x,y\n{}", "nan,yes\n,no\ninf,\n".repeat(100))),
    ] {
        let table = folder.file(name, &text);
        let words = [&["train", &table, "--schema", &schema, "--epsilon", "0.5"][..], &whole].concat();
        let answer = json(&words);
        assert!(answer["certificate"]["epsilon"].as_f64().unwrap() <= 0.5, "{name}");
        // With a test share too, whatever falls on which side.
        let output = reticent(&["train", &table, "--schema", &schema, "--epsilon", "0.5", "--json"]);
        assert!(matches!(output.status.code(), Some(0 | 2)), "{name}");
    }
    let line = refusal(&["train", &folder.path("one-class.csv"), "--schema", &schema, "--method", "exact"]);
    assert!(line.contains("both classes"), "{line}");
}

#[test]
fn a_model_whose_files_do_not_fit_together_is_refused() {
    let folder = Folder::new();
    let model = folder.path("model");
    json(&["train", "--epsilon", "1", "--out", &model]);
    std::fs::write(folder.path("model/schema.toml"), TINY).unwrap();
    let line = refusal(&["evaluate", &model, ADULT]);
    assert!(line.contains("not the schema of this model"), "{line}");
    std::fs::write(folder.path("model/model.json"), "{").unwrap();
    assert!(refusal(&["predict", &model, ADULT]).contains("model.json"));
}

/// Whatever a cell of private data holds, what is said is the same but for numbers: no cell is an error or a warning.
#[test]
fn no_cell_changes_what_is_said() {
    let folder = Folder::new();
    let schema = folder.file(
        "s.toml",
        "unit = \"row\"\n[columns]\nx = { bounds = [0, 9] }\nc = { categories = [\"a\", \"b\"] }\n[label]\ncolumn = \"y\"\npositive = \"1\"\n",
    );
    let hostile =
        ["", "NaN", "-inf", "1e999", "x", "true", "99999999999999999999", "\u{202e}", "\"a\nb\"", "5\" pipe"];
    for (place, cell) in hostile.into_iter().enumerate() {
        let model = folder.path(&format!("model{place}"));
        let rows: String =
            (0..60).map(|row| format!("{},{},{}\n", row % 9, ["a", "b"][row % 2], row % 2)).collect();
        let data = folder.file("t.csv", format!("x,c,y\n{rows}{cell},{cell},{cell}\n"));
        let train =
            ["train", &data, "--schema", &schema, "--epsilon", "1", "--dataset-size", "50", "--out", &model];
        let infer = ["schema", "infer", &data, "--epsilon", "1", "--delta", "1e-6"];
        for words in [&train[..], &infer, &["evaluate", &model, &data], &["predict", &model, &data]] {
            let output = reticent(words);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(
                output.status.success() && !said.contains("row 61") && !said.contains("error"),
                "{words:?}: {said}"
            );
        }
    }
}
