use super::*;

pub(crate) const HEADINGS: &[&str] = &[
    "reticent train (linear models)",
    "reticent train (networks)",
    "reticent train (interrupted)",
    "reticent tune",
    "reticent predict",
    "reticent evaluate (classes)",
    "reticent evaluate (numbers)",
    "reticent evaluate (texts)",
    "reticent sample",
    "reticent schema infer",
];

/// A table of numbers from 0 to 1 with a class and a number to predict.
pub(crate) fn table(folder: &Folder, name: &str, records: u64, offset: u64) -> String {
    let mut text = "a,b,c,class,number\n".to_owned();
    for place in 0..records {
        let value = |column: u64| noise(offset + place * 16 + column);
        let class = if value(7) < 0.35 + 0.3 * value(0) { "yes" } else { "no" };
        text +=
            &format!("{:.3},{:.3},{:.3},{class},{:.3}\n", value(0), value(1), value(2), value(0) + value(1));
    }
    folder.file(name, &text)
}

/// Its schema for one of the labels.
pub(crate) fn schema(folder: &Folder, name: &str, label: &str, other: &str) -> String {
    let columns = "a = { bounds = [0, 1] }\nb = { bounds = [0, 1] }\nc = { bounds = [0, 1] }";
    let text = format!("unit = \"row\"\nlabel = {{ {label} }}\n[columns]\n{columns}\n{other} = \"ignore\"\n");
    folder.file(name, &text)
}

/// A network of a few weights.
pub(crate) fn network(folder: &Folder) -> String {
    let layers = "[[layer]]\nkind = \"linear\"\nout = 8\n[[layer]]\nkind = \"relu\"\n[[layer]]\nkind = \"linear\"\nout = 2\n";
    folder.file("model.toml", format!("input = [6]\n{layers}"))
}

#[test]
fn linear_models() {
    let (page, folder) = (Page::read(), Folder::new());
    let rows = table(&folder, "rows.csv", 3000, 0);
    let classes = schema(&folder, "classes.toml", "column = \"class\", positive = \"yes\"", "number");
    let numbers = schema(&folder, "numbers.toml", "column = \"number\", bounds = [0, 2]", "class");
    let (one, two, three) = (folder.path("one"), folder.path("two"), folder.path("three"));
    let train = |words: &[&str]| json(&[&["train", &rows, "--schema"], words].concat());
    let trained = [
        train(&[&classes, "--epsilon", "3", "--out", &one]),
        train(&[&numbers, "--epsilon", "3", "--out", &two]),
        train(&[&classes, "--method", "exact", "--model", "svm", "--out", &three]),
        train(&[&classes, "--epsilon", "3", "--test-share", "0"]),
    ];
    check(&page, "reticent train (linear models)", &trained);
    let out = folder.path("p.csv");
    let predicted = [
        json(&["predict", &one, &rows]),
        json(&["predict", &one, &rows, "--out", &out]),
        json(&["predict", &two, &rows]),
    ];
    check(&page, "reticent predict", &predicted);
    check(&page, "reticent evaluate (classes)", &[json(&["evaluate", &one, &rows])]);
    check(&page, "reticent evaluate (numbers)", &[json(&["evaluate", &two, &rows])]);
}

#[test]
fn networks() {
    let (page, folder) = (Page::read(), Folder::new());
    let (rows, other) = (table(&folder, "rows.csv", 200, 0), table(&folder, "other.csv", 100, 1 << 20));
    let classes = schema(&folder, "classes.toml", "column = \"class\", positive = \"yes\"", "number");
    let (model, run) = (network(&folder), folder.path("run"));
    let split = "method = \"average\"\nrounds = 2\n[split]\nparties = 2\nby = \"uniform\"\n";
    let parties = folder.file("parties.toml", split);
    let train = ["train", &rows, "--schema", &classes, "--model", &model, "--batch-size", "20"];
    let private = ["--epsilon", "8", "--delta", "1e-4", "--dataset-size", "200"];
    let trained = [
        json(&[&train[..], &private, &["--epochs", "2", "--out", &run]].concat()),
        json(&[&train[..], &["--non-private", "--epochs", "2", "--validation", &other]].concat()),
        json(
            &[&train[..], &private, &["--steps", "2", "--held-out", "0.3", "--clipping", "quantile"]]
                .concat(),
        ),
        json(&[&train[..], &private, &["--steps", "4", "--held-out", "0.3", "--patience", "2"]].concat()),
        json(&[&train[..], &["--non-private", "--epochs", "2", "--adversarial", "3"]].concat()),
        json(&[&train[..], &private, &["--epochs", "2", "--batching", "cyclic"]].concat()),
        json(&[&train[..], &private, &["--epochs", "2", "--batch-growth", "2"]].concat()),
        json(
            &[&train[..6], &["--non-private", "--federated", &parties, "--out", &folder.path("both")]]
                .concat(),
        ),
    ];
    let texts = folder.file("texts.csv", "say\nto be\nor not\n");
    let test = folder.file("test.csv", "say\nor\n");
    let language = ["train", &texts, "--text-column", "say", "--tokens", "characters", "--length", "4"];
    let plain = ["--model", "lstm-lm", "--non-private", "--steps", "1", "--validation", &test];
    let started = started(&folder, &train, &private, (&other, &classes));
    let trained = [trained.to_vec(), vec![json(&[&language[..], &plain].concat())], started].concat();
    check(&page, "reticent train (networks)", &trained);
    check(
        &page,
        "reticent predict",
        &[json(&["predict", &run, &rows]), json(&["predict", &run, &rows, "--out", &folder.path("p.csv")])],
    );
    check(&page, "reticent evaluate (classes)", &[json(&["evaluate", &run, &rows])]);
}

/// Trainings that start from public weights, public data and word vectors.
fn started(
    folder: &Folder,
    train: &[&str],
    private: &[&str],
    (other, classes): (&str, &str),
) -> Vec<serde_json::Value> {
    let layers = "[[layer]]\nkind = \"linear\"\nout = 8\n[[layer]]\nkind = \"relu\"\n[[layer]]\nkind = \"linear\"\nout = 4\n[[layer]]\nkind = \"linear\"\nout = 2\n";
    let deeper = folder.file("deeper.toml", format!("input = [6]\n{layers}"));
    let public = folder.path("public");
    let first = ["train", other, "--schema", classes, "--model", &deeper, "--non-private", "--steps", "1"];
    json(&[&first[..], &["--out", &public]].concat());
    let weights = format!("{public}/model.safetensors");
    let init = ["--init", &weights, "--init-public", "--init-partial", "--freeze", "0", "--steps", "2"];
    let pretrain = ["--pretrain", other, "--pretrain-epochs", "1", "--steps", "2"];
    let texts = folder.file("kinds.csv", "say,kind\nto be,a\nor not,b\nto be,a\nor,b\n");
    let vectors = folder.file("vectors.txt", "to 0.1 0.2\nbe 0.3 0.4\nnot 0.5 0.6\n");
    let words = ["train", &texts, "--text-column", "say", "--label", "kind", "--classes", "a,b"];
    let how = ["--vectors", &vectors, "--length", "4", "--non-private", "--steps", "1"];
    vec![
        json(&[train, private, &init].concat()),
        json(&[train, private, &pretrain].concat()),
        json(&[&words[..], &how].concat()),
    ]
}

#[test]
fn language_models() {
    let (page, folder) = (Page::read(), Folder::new());
    let texts = folder.file("texts.csv", "say\nto be\nor not\nto be\n");
    let test = folder.file("test.csv", "say\nor\n");
    let run = folder.path("run");
    let train =
        ["train", &texts, "--text-column", "say", "--tokens", "characters", "--length", "4", "--model"];
    let plain = ["lstm-lm", "--non-private", "--steps", "1", "--validation", &test, "--out", &run];
    let trained = json(&[&train[..], &plain].concat());
    assert!(trained["perplexity"].as_f64().unwrap() > 1.0);
    check(&page, "reticent evaluate (texts)", &[json(&["evaluate", &run, &texts])]);
    check(&page, "reticent sample", &[json(&["sample", &run, "--tokens", "3", "--top-k", "4"])]);
}

#[test]
fn searches() {
    let (page, folder) = (Page::read(), Folder::new());
    let (rows, other) = (table(&folder, "rows.csv", 200, 0), table(&folder, "other.csv", 100, 1 << 20));
    let classes = schema(&folder, "classes.toml", "column = \"class\", positive = \"yes\"", "number");
    let model = network(&folder);
    let tune = ["tune", &rows, "--schema", &classes, "--model", &model, "--batch-size", "20", "--steps", "2"];
    let private = ["--epsilon", "8", "--delta", "1e-4", "--dataset-size", "200", "--trials", "2"];
    let search = ["--search", "lr=0.1..1 log, optimizer=sgd|adam, steps=2|3"];
    let tune = [&tune[..], &private, &search].concat();
    let tuned = [
        json(&[&tune[..], &["--held-out", "0.3", "--out", &folder.path("best")]].concat()),
        json(&[&tune[..], &["--validation", &other, "--select-on", "validation"]].concat()),
    ];
    check(&page, "reticent tune", &tuned);
}

#[cfg(unix)]
#[test]
fn interrupted() {
    use std::process::Stdio;
    let (page, folder) = (Page::read(), Folder::new());
    let rows = table(&folder, "rows.csv", 200, 0);
    let classes = schema(&folder, "classes.toml", "column = \"class\", positive = \"yes\"", "number");
    let (model, run) = (network(&folder), folder.path("run"));
    let mut train = command(&["train", &rows, "--schema", &classes, "--model", &model, "--batch-size", "20"]);
    train.args([
        "--epsilon",
        "8",
        "--delta",
        "1e-4",
        "--steps",
        "1000000",
        "--checkpoint-every",
        "10",
        "--out",
        &run,
    ]);
    let mut child = train.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    while !Path::new(&folder.path("run/metrics.jsonl")).exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    check(&page, "reticent train (interrupted)", &[answer]);
}

#[test]
fn schemas() {
    let (page, folder) = (Page::read(), Folder::new());
    let out = folder.path("schema.toml");
    let drafted = json(&["schema", "infer", SURVEY, "--out", &out]);
    assert_eq!(drafted["out"], out.as_str());
    let learnt = json(&["schema", "infer", SURVEY, "--epsilon", "1", "--delta", "1e-6"]);
    check(&page, "reticent schema infer", &[drafted, learnt]);
}
