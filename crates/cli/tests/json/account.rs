use super::*;

pub(crate) const HEADINGS: &[&str] = &[
    "reticent account epsilon",
    "reticent account delta",
    "reticent account noise",
    "reticent account steps",
    "reticent account rate",
    "reticent account rdp",
    "reticent account tradeoff",
    "reticent account reconstruction",
    "reticent account group",
    "reticent account outcome",
    "reticent account posterior",
    "reticent account compare",
    "reticent account statement",
    "reticent account formula selection",
    "reticent account formula sensitivity",
    "reticent account formula gaussian",
    "reticent account formula random-record",
    "reticent account formula composition",
    "reticent account formula output-perturbation",
    "reticent account formula sample-size",
    "reticent account formula projected-sgd",
];

const RUN: &str = "--noise-multiplier 1 --sampling-rate 0.01 --steps 100";

#[test]
fn questions() {
    let (page, folder) = (Page::read(), Folder::new());
    let events = |name: &str, event: &str| {
        folder.file(name, format!(r#"{{"neighboring": "add-remove", "events": [{event}]}}"#))
    };
    let pure = events("pure.json", r#"{"pure": {"epsilon": 0.5}}"#);
    let renyi = events("renyi.json", r#"{"rdp": {"order": 8, "epsilon": 0.5}}"#);
    let sampled = r#"{"poisson_sampled": {"rate": 0.1, "event": {"rdp": {"order": 8, "epsilon": 0.5}}}}"#;
    let sampled = events("sampled.json", sampled);
    let plot = folder.path("compare.svg");
    let ask = |name: &str, flags: &[String]| {
        let asked = |flags: &String| json(&[&["account", name], &words(flags)[..]].concat());
        let answers: Vec<Value> = flags.iter().map(asked).collect();
        check(&page, &format!("reticent account {name}"), &answers);
    };
    ask(
        "epsilon",
        &[format!("{RUN} --delta 1e-5"), format!("--events {pure} --delta 1e-5 --accountant basic")],
    );
    ask("delta", &[format!("{RUN} --epsilon 1")]);
    ask("noise", &["--sampling-rate 0.01 --steps 100 --epsilon 1 --delta 1e-5".to_owned()]);
    ask("steps", &["--noise-multiplier 1 --sampling-rate 0.01 --epsilon 1 --delta 1e-5".to_owned()]);
    ask("rate", &["--noise-multiplier 1 --steps 100 --epsilon 1 --delta 1e-5".to_owned()]);
    ask("rdp", &[format!("{RUN} --orders 1,2,inf --delta 1e-6"), format!("--events {pure} --orders inf")]);
    ask("tradeoff", &[format!("{RUN} --fpr 0.1"), format!("{RUN} --fpr 0.1,0.2")]);
    ask("reconstruction", &[RUN.to_owned(), format!("{RUN} --prior 0.1")]);
    ask(
        "group",
        &[
            format!("--size 2 {RUN} --delta 1e-5"),
            format!("--size 3 --events {pure}"),
            format!("--size 2 --events {renyi}"),
        ],
    );
    ask("outcome", &[format!("--probability 0.01 {RUN}"), format!("--probability 0.01 --events {renyi}")]);
    let moments = format!("{RUN} --delta 1e-6 --orders 1,2");
    ask("posterior", &["--epsilon 0.5,1".to_owned(), format!("{RUN} --delta 1e-6"), moments]);
    ask(
        "compare",
        &[format!("{RUN} --delta 1e-5 --plot {plot}"), format!("--events {sampled} --delta 1e-5")],
    );
    ask("statement", &[format!("{RUN} --delta 1e-5")]);
}

#[test]
fn formulas() {
    let page = Page::read();
    let ask = |name: &str, flags: &[&str]| {
        let asked = |flags: &&str| json(&[&["account", "formula", name], &words(flags)[..]].concat());
        let answers: Vec<Value> = flags.iter().map(asked).collect();
        check(&page, &format!("reticent account formula {name}"), &answers);
    };
    ask("selection", &["--choices dark=500,brown=399 --epsilon 0.1"]);
    ask("sensitivity", &["--counts 4 --overlap 1", "--bounds 0,5000 --dataset-size 100"]);
    ask("gaussian", &["--epsilon 0.5 --delta 1e-5", "--epsilon 10 --delta 1e-5"]);
    ask("random-record", &["--dataset-size 1000"]);
    let composition = "--epsilon 0.01 --count 1000 --delta 1e-5";
    let too_many = "--epsilon 0.01 --count 200000 --delta 1e-5";
    ask("composition", &[composition, &format!("{composition} --probability 1e-6"), too_many]);
    let fitted = "--dataset-size 10000 --regularization 0.01 --delta 1e-5";
    ask("output-perturbation", &[&format!("{fitted} --epsilon 0.5"), &format!("{fitted} --epsilon 2")]);
    ask("sample-size", &["--excess 0.1 --dimension 14 --epsilon 0.5 --delta 1e-5"]);
    ask("projected-sgd", &["--dataset-size 1000 --steps 10000 --epsilon 1 --delta 1e-5"]);
}
