//! Part 5: the page, the files and what to try next.

use super::call::Call;
use super::folder::{MARKER, SCHEMA};
use super::{Halt, Tour};
use crate::explain::Code;
use crate::fail::Fail;
use reticent::report::story::{Accounting, MembershipStory, Models, Next, Statistic, Story, WrittenFile};
use serde_json::{Value, json};

/// The page.
pub(super) const PAGE: &str = "report.html";

/// The files of a demo.
const FILES: &[(&str, &str)] = &[
    (PAGE, "all results with plots, one self-contained page"),
    (super::accounting::PICTURE, "ε against steps for every accountant"),
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
    ("data/schema.toml", "the public schema of the records"),
    ("data/train.csv", "the training rows of the three models"),
    ("data/test.csv", "their test rows"),
    ("data/members.csv", "the members of part 4: records that the coins selected"),
    ("data/others.csv", "the non-members of part 4"),
    ("data/wide.toml", "the network of part 4"),
    ("data/overfitted.toml", "declared facts for the report of the overfitted model"),
    ("data/twin.toml", "the same for its twin"),
];

pub(super) fn tell(
    tour: &mut Tour,
    statistic: Statistic,
    models: Models,
    accounting: Accounting,
    membership: MembershipStory,
) -> Result<Value, Halt> {
    let made = |(name, about): &(&str, &str)| WrittenFile {
        path: tour.folder.shown(name),
        link: (*name).to_owned(),
        about: (*about).to_owned(),
    };
    let files: Vec<WrittenFile> = FILES.iter().map(made).collect();
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
    narrator.title("5  All results on one page")?;
    narrator.say(&format!("Open {} in a browser; it works offline.", tour.folder.shown(PAGE)))?;
    narrator.say("All files:")?;
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
            "More privacy at the price of accuracy:",
            train().flag("--test", &tour.table("test.csv")).words("--epsilon 0.1"),
        ),
        next(
            "Predict other rows with the logistic model:",
            Call::new("predict")
                .word(&tour.folder.shown("logistic"))
                .word(&tour.table("test.csv"))
                .words("--out predictions.csv"),
        ),
        next(
            "The guarantee for a family of three in the training data:",
            Call::new("account group --size 3")
                .flag("--events", &tour.folder.shown("network/certificate.json"))
                .words("--delta 1e-6"),
        ),
        next(
            "The privacy statement for a paper or a model card:",
            Call::new("account statement")
                .flag("--events", &tour.folder.shown("network/certificate.json"))
                .words("--delta 1e-6"),
        ),
        next("Draft a schema for a table:", Call::new("schema infer").word(&tour.table("train.csv"))),
        next(
            "A stronger audit: train the twin again with randomly inserted canaries:",
            Call::new("attack canary").word(&tour.folder.shown("twin")).words("--kind dirac --canaries 1000"),
        ),
        next("List all attacks; 'reticent audit --scores' runs them on any model:", Call::new("attack list")),
    ]
}
