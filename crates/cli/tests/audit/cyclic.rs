use super::models::{schema, table};
use super::*;

#[test]
fn an_audit_trains_its_references_likewise() {
    let folder = Folder::new();
    let (rows, other, schema) =
        (table(&folder, "t.csv", 120, 0), table(&folder, "o.csv", 100, 1 << 20), schema(&folder));
    let run = folder.path("run");
    let layers = "input = [12]\n[[layer]]\nkind = \"linear\"\nout = 2\n";
    let model = folder.file("model.toml", layers);
    let train =
        ["train", &rows, "--schema", &schema, "--model", &model, "--validation", &other, "--out", &run];
    let private = ["--epsilon", "8", "--delta", "1e-4", "--dataset-size", "120", "--batch-size", "20"];
    json(&[&train[..], &private, &["--epochs", "2", "--batching", "cyclic", "--bands", "3"]].concat());
    let found = json(&["audit", &run, "--references", "4"]);
    assert!(found["auc"].as_f64().unwrap() > 0.0, "{found}");
}
