//! Part 5: the page, the files and what to try next.

use super::call::Call;
use super::folder::{MARKER, SCHEMA};
use super::{Halt, Tour};
use crate::explain::Code;
use crate::fail::Fail;
use reticent::report::story::{Accounting, Made, Membership, Models, Next, Statistic, Story};
use serde_json::{Value, json};

/// The page.
pub(super) const PAGE: &str = "report.html";

/// Everything that a demo leaves behind.
const FILES: &[(&str, &str)] = &[
    (PAGE, "this story with its plots, one page that stands alone"),
    (super::accounting::PICTURE, "ε against steps by every accountant"),
    (MARKER, "all numbers of this run"),
    ("exact", "the model without privacy"),
    ("logistic", "the logistic model with its certificate"),
    ("network", "the network with its certificate and training curve"),
    ("overfitted", "the overfitted model"),
    ("overfitted-audit/report.html", "its privacy report"),
    ("overfitted-audit", "its audit: findings, scores, reference models"),
    ("twin", "its private twin with its certificate"),
    ("twin-audit/report.html", "the twin's privacy report"),
    ("twin-audit", "the twin's audit"),
    ("data/adult.parquet", "the census records (Becker and Kohavi 1996, CC BY 4.0)"),
    ("data/schema.toml", "what is publicly known of their columns"),
    ("data/train.csv", "the rows that the three models learnt from"),
    ("data/test.csv", "the rows they were tested on"),
    ("data/members.csv", "the records that coins put into part 4's models"),
    ("data/others.csv", "the records that they left out"),
    ("data/wide.toml", "the network of part 4"),
    ("data/overfitted.toml", "what people declare for the report of the overfitted model"),
    ("data/twin.toml", "the same for its twin"),
];

pub(super) fn tell(
    tour: &mut Tour,
    statistic: Statistic,
    models: Models,
    accounting: Accounting,
    membership: Membership,
) -> Result<Value, Halt> {
    let made = |(name, about): &(&str, &str)| Made {
        path: tour.folder.shown(name),
        link: (*name).to_owned(),
        about: (*about).to_owned(),
    };
    let files: Vec<Made> = FILES.iter().map(made).collect();
    let (next, notes) = (next(tour), tour.notes.clone());
    let story = Story { statistic, models, accounting, membership, files, next, notes };
    tour.folder.write(PAGE, story.html().as_bytes())?;
    let mut numbers =
        serde_json::to_value(&story).map_err(|error| Fail::new(Code::Internal, error.to_string()))?;
    if let Value::Object(fields) = &mut numbers {
        fields.insert("schema".to_owned(), json!(SCHEMA));
        fields.insert("finished".to_owned(), json!(true));
        fields.insert("version".to_owned(), json!(env!("CARGO_PKG_VERSION")));
        fields.insert("out".to_owned(), json!(tour.folder.name()));
        fields.insert("headline".to_owned(), json!(story.headline()));
    }
    let text = serde_json::to_string_pretty(&numbers)
        .map_err(|error| Fail::new(Code::Internal, error.to_string()))?;
    tour.folder.write(MARKER, format!("{text}\n").as_bytes())?;

    let narrator = &tour.narrator;
    narrator.title("5  All of it on one page")?;
    narrator.say(&format!("Open {} in a browser: it needs no network.", tour.folder.shown(PAGE)))?;
    narrator.say("Everything that was written:")?;
    let rows: Vec<Vec<String>> =
        story.files.iter().map(|file| vec![file.path.clone(), file.about.clone()]).collect();
    narrator.table(&rows)?;
    narrator.title("What to try next")?;
    for next in &story.next {
        narrator.say(&next.about)?;
        narrator.command(&next.command)?;
    }
    Ok(numbers)
}

fn next(tour: &Tour) -> Vec<Next> {
    let next = |about: &str, call: Call| Next { command: call.shown(), about: about.to_owned() };
    let train =
        || Call::new("train").word(&tour.table("train.csv")).flag("--schema", &tour.table("schema.toml"));
    vec![
        next(
            "More privacy, and what it costs in accuracy:",
            train().flag("--test", &tour.table("test.csv")).words("--epsilon 0.1"),
        ),
        next(
            "What the logistic model says about other rows:",
            Call::new("predict")
                .word(&tour.folder.shown("logistic"))
                .word(&tour.table("test.csv"))
                .words("--out predictions.csv"),
        ),
        next(
            "What a family of three in the training data is promised together:",
            Call::new("account group --size 3")
                .flag("--events", &tour.folder.shown("network/certificate.json"))
                .words("--delta 1e-6"),
        ),
        next(
            "The promise in words, for a paper or a model card:",
            Call::new("account statement")
                .flag("--events", &tour.folder.shown("network/certificate.json"))
                .words("--delta 1e-6"),
        ),
        next(
            "A schema for a table of your own, to begin with:",
            Call::new("schema infer").word(&tour.table("train.csv")),
        ),
        next(
            "A stronger audit: the twin's training once more, with canaries planted by coins:",
            Call::new("attack canary").word(&tour.folder.shown("twin")).words("--kind dirac --canaries 1000"),
        ),
        next(
            "The attacks there are; 'reticent audit --scores' runs them on anybody's model:",
            Call::new("attack list"),
        ),
    ]
}
