//! The refused command of every explanation is refused with its code, and the mended one is not.

use super::{reticent_in, stdout};
use serde_json::Value;
use std::path::Path;

/// Codes that no command line causes by itself.
const WITHOUT_EXAMPLE: [&str; 8] = ["R404", "R702", "R703", "R901", "R902", "R903", "R904", "R905"];

const SCHEMA: &str = r#"unit = "row"

[label]
column = "income"
positive = ">50K"

[columns]
age = { bounds = [17, 90] }
sex = { categories = ["F", "M"] }
"#;
const NUMBER: &str = r#"unit = "row"

[label]
column = "age"
bounds = [17, 90]

[columns]
sex = { categories = ["F", "M"] }
"#;

/// What all examples share: tables, a schema, models and an audit.
fn prepare(folder: &Path) {
    let mut people = "age,sex,income\n".to_owned();
    for row in 0..60u32 {
        let age = 17 + row * 29 % 74;
        let income = if age > 45 { ">50K" } else { "<=50K" };
        people.push_str(&format!("{age},{},{income}\n", if row % 3 == 0 { "F" } else { "M" }));
    }
    let scores: String = (0..40u32).map(|row| format!("{},{}\n", row * 7 % 11 + row % 2, row % 2)).collect();
    let write = |name: &str, text: &[u8]| std::fs::write(folder.join(name), text).unwrap();
    write("people.csv", people.as_bytes());
    write("schema.toml", SCHEMA.as_bytes());
    write("number.toml", NUMBER.as_bytes());
    write("scores.csv", format!("score,member\n{scores}").as_bytes());
    write("flags.parquet", include_bytes!("flags.parquet"));
    std::fs::File::create(folder.join("large.toml")).unwrap().set_len(17 << 20).unwrap();
    for line in [
        "reticent train people.csv --schema schema.toml --epsilon 1 --out model",
        "reticent train people.csv --schema number.toml --epsilon 1 --out number",
        "reticent train people.csv --schema schema.toml --model mlp --epsilon 1 --delta 1e-5 --dataset-size 60 --steps 2 \
         --batch-size 20 --out run",
        "reticent audit --scores scores.csv --out audits",
        "reticent budget create people.budget --epsilon 1 --data people.csv",
        "reticent budget create closed.budget --epsilon 1 --data people.csv",
        "reticent budget close closed.budget",
        "reticent budget create shared.budget --epsilon 1 --data people.csv",
        "reticent budget allot shared.budget --analyst ana --epsilon 0.5",
    ] {
        let (code, stderr) = ran(folder, line);
        assert_eq!(code, Some(0), "{line}: {stderr}");
    }
}

/// The exit status and standard error of a command line.
fn ran(folder: &Path, line: &str) -> (Option<i32>, String) {
    let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches('\'')).collect();
    assert_eq!(words[0], "reticent");
    let output = reticent_in(folder, &words[1..]);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn every_example_shows_its_code() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let all: Value = serde_json::from_str(&stdout(&["explain", "--json"])).unwrap();
    let codes = all["codes"].as_array().unwrap();
    assert!(codes.len() > 40);
    let mut wrong = Vec::new();
    for explained in codes {
        let (code, example) = (explained["code"].as_str().unwrap(), &explained["example"]);
        assert_eq!(example.is_null(), WITHOUT_EXAMPLE.contains(&code), "{code}");
        if example.is_null() {
            continue;
        }
        for file in example["files"].as_array().unwrap() {
            let path = folder.join(file["name"].as_str().unwrap());
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, file["text"].as_str().unwrap()).unwrap();
        }
        let (status, stderr) = ran(folder, example["refused"].as_str().unwrap());
        if status != Some(2) || !stderr.starts_with(&format!("error[{code}]: ")) {
            wrong.push(format!("{code}: not refused so: {status:?} {stderr}"));
        }
        let (status, stderr) = ran(folder, example["mended"].as_str().unwrap());
        if status != Some(0) || stderr.contains("error[") {
            wrong.push(format!("{code}: not mended: {status:?} {stderr}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
