//! Requests read tables as their files are.

use reticent_core::Code;
use reticent_curator::evaluate::Evaluate;
use reticent_curator::fit::Fit;
use reticent_curator::predict::Predict;
use reticent_curator::release::survey::{EstimateShares, Randomize};
use reticent_curator::release::{Release, ReleaseQuestion};
use reticent_curator::schema::LearnSchema;
use reticent_curator::{Planned, Request, Session};
use reticent_data::Reading;
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// At this ε the noise of a count is 0 but for a probability below 1e-21.
const SHARP: f64 = 50.0;

struct Desk {
    folder: TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        fs::write(self.path(name), text).unwrap();
        self.path(name)
    }
}

fn value(request: &Release) -> serde_json::Value {
    let released = request.check().unwrap().run(&mut Session::without_limit().unwrap()).unwrap();
    serde_json::to_value(&released).unwrap()["value"].clone()
}

fn histogram(file: impl Into<PathBuf>, column: &str, categories: &[&str]) -> Release {
    let categories = Some(categories.iter().map(|name| (*name).to_owned()).collect());
    Release::new(
        file,
        ReleaseQuestion::Histogram { column: column.to_owned(), categories, bins: None },
        SHARP,
    )
}

#[test]
fn a_release_reads_its_files_as_it_is_told() {
    let desk = Desk::new();
    desk.file("a.csv", "land;weight\nSE;71,5\nNA;80\n");
    desk.file("b.csv", "weight;land\n60;SE\n;NO\n");
    let mut request = histogram(desk.path("*.csv"), "land", &["SE", "NO"]);
    assert_eq!(value(&request), json!([2, 1]));
    request.file = desk.path("a.csv");
    assert_eq!(value(&request), json!([1, 0]));
    request.reading.also = vec![desk.path("b.csv")];
    assert_eq!(value(&request), json!([2, 1]));
    let count = ReleaseQuestion::Count { column: Some("weight".to_owned()), error: None };
    let request =
        Release { reading: request.reading.clone(), ..Release::new(desk.path("a.csv"), count, SHARP) };
    assert_eq!(value(&request), json!(3));
    let text = serde_json::to_string(&request).unwrap();
    assert_eq!(serde_json::from_str::<Release>(&text).unwrap(), request);
    // A request without options is written as before there were any.
    let plain = Release { reading: Reading::default(), ..request };
    assert!(!serde_json::to_string(&plain).unwrap().contains("reading"));
}

#[test]
fn a_category_that_counts_as_missing_is_refused_with_the_remedy() {
    let desk = Desk::new();
    let file = desk.file("t.csv", "land\nSE\nNA\nNA\n");
    let refused = histogram(&file, "land", &["SE", "NA"]);
    let refusal = refused.check().map(drop).unwrap_err();
    assert_eq!((refusal.code(), refusal.field()), (Code::Conflict, Some("categories")), "{refusal}");
    assert!(refusal.to_string().contains("--missing ''"), "{refusal}");
    let reading = Reading { missing: Some(Vec::new()), ..Reading::default() };
    assert_eq!(value(&Release { reading: reading.clone(), ..refused }), json!([1, 2]));
    let question =
        |value: &str| ReleaseQuestion::Proportion { column: "land".to_owned(), value: value.to_owned() };
    let refusal = Release::new(&file, question("N/A"), 1.0).check().map(drop).unwrap_err();
    assert_eq!(refusal.field(), Some("value"), "{refusal}");
    Release { reading, ..Release::new(&file, question("N/A"), 1.0) }.check().unwrap();
    let names = vec!["SE".to_owned(), "null".to_owned()];
    let estimate = EstimateShares::new(&file, "land", names.clone(), 1.0).check().map(drop).unwrap_err();
    let randomize =
        Randomize::new(&file, "land", names, 1.0, desk.path("o.csv")).check().map(drop).unwrap_err();
    assert_eq!((estimate.field(), randomize.field()), (Some("categories"), Some("categories")));
    let learn =
        LearnSchema { label: Some("land".into()), positive: Some("NA".into()), ..LearnSchema::draft(&file) };
    assert_eq!(learn.check().map(drop).unwrap_err().field(), Some("positive"));
    let schema = "unit = \"row\"\n[label]\ncolumn = \"y\"\npositive = \"1\"\n[columns]\nland = { categories = [\"SE\", \"NA\"] }\n";
    let table = desk.file("l.csv", "land,y\nSE,1\n");
    let fit = Fit {
        data: Some(table),
        schema: Some(desk.file("schema.toml", schema)),
        epsilon: Some(1.0),
        ..Fit::default()
    };
    assert!(fit.check().map(drop).unwrap_err().to_string().contains("--missing ''"));
    let reading = Reading { missing: Some(vec!["-".to_owned()]), ..Reading::default() };
    Fit { reading, ..fit }.check().unwrap();
}

#[test]
fn a_model_keeps_how_its_table_was_read() {
    let desk = Desk::new();
    let rows: String = (0..400)
        .map(|row| format!("{},5;{}\n", row % 100, if row % 100 > 50 { "ja" } else { "nej" }))
        .collect();
    desk.file("train.csv", &format!("x;y\n{rows}"));
    desk.file("more.csv", &format!("x;y\n{rows}"));
    let schema =
        "unit = \"row\"\n[label]\ncolumn = \"y\"\npositive = \"ja\"\n[columns]\nx = { bounds = [0, 100] }\n";
    let model = desk.path("model");
    let reading = Reading { decimal_comma: true, also: vec![desk.path("more.csv")], ..Reading::default() };
    let fit = Fit {
        data: Some(desk.path("train*.csv")),
        reading: reading.clone(),
        schema: Some(desk.file("schema.toml", schema)),
        epsilon: Some(10.0),
        out: Some(model.clone()),
        ..Fit::default()
    };
    let mut session = Session::without_limit().unwrap();
    fit.check().unwrap().run(&mut session).unwrap();
    let stored: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(model.join("run.json")).unwrap()).unwrap();
    assert_eq!(stored["request"]["reading"], serde_json::to_value(&reading).unwrap());
    assert_eq!(stored["request"]["data"], json!(desk.path("train*.csv")));
    // The same rows as a test are the training data, by whichever of their names.
    let same = Fit { test: Some(desk.path("train.csv")), out: None, ..fit };
    assert!(same.check().map(drop).unwrap_err().to_string().contains("private training data"));
    let data = desk.path("train.csv");
    let own = reading.of_one_file();
    let predicted = Predict { reading: own.clone(), ..Predict::new(&model, &data) }.check().unwrap();
    assert_eq!(predicted.run(&mut session).unwrap().rows, 400);
    let evaluated = Evaluate { reading: own, ..Evaluate::new(&model, &data) }.check().unwrap();
    evaluated.run(&mut session).unwrap();
}

#[test]
fn a_randomized_table_never_replaces_a_file_that_it_is_made_of() {
    let desk = Desk::new();
    desk.file("a.csv", "land\nSE\n");
    let out = desk.file("b.csv", "land\nNO\n");
    let request = Randomize::new(desk.path("*.csv"), "land", vec!["SE".into(), "NO".into()], 1.0, out);
    assert_eq!(request.check().map(drop).unwrap_err().code(), Code::Taken);
}

#[test]
fn dates_are_numbers_of_days() {
    use reticent_data::arrow_array::{ArrayRef, Date32Array, RecordBatch};
    use reticent_data::{MemoryTable, Table};
    use std::sync::Arc;
    let days: ArrayRef = Arc::new(Date32Array::from(vec![Some(19_783), Some(19_784), None]));
    let batch = RecordBatch::try_from_iter_with_nullable([("seen", days, true)]).unwrap();
    let table: Arc<dyn Table> = Arc::new(MemoryTable::new("visits", batch.schema(), vec![batch]).unwrap());
    let bins = Some(vec![19_783.0, 19_784.0, 19_785.0]);
    let question = ReleaseQuestion::Histogram { column: "seen".to_owned(), categories: None, bins };
    let request = Release::new("", question, SHARP);
    let released =
        request.check_table(table.clone()).unwrap().run(&mut Session::without_limit().unwrap()).unwrap();
    assert_eq!(serde_json::to_value(&released).unwrap()["value"], json!([1, 1]));
    let labels = histogram("", "seen", &["2024-03-01", "2024-03-02"]);
    let released =
        labels.check_table(table.clone()).unwrap().run(&mut Session::without_limit().unwrap()).unwrap();
    assert_eq!(serde_json::to_value(&released).unwrap()["value"], json!([1, 1]));
}
