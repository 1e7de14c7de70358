//! Data that are given beside a request: what is trained, predicted and evaluated is what a file would have given.

use reticent_core::Code;
use reticent_curator::evaluate::{Evaluate, Scores};
use reticent_curator::fit::{Fit, FitTables};
use reticent_curator::predict::Predict;
use reticent_curator::schema::LearnSchema;
use reticent_curator::train::{GivenData, Resume, Train, TrainData, Trained};
use reticent_curator::{Planned, Session};
use reticent_data::arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use reticent_data::{Images, MemoryTable, Table};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SCHEMA: &str =
    "unit = \"row\"\n[label]\ncolumn = \"side\"\npositive = \"right\"\n[columns]\nx = { bounds = [-1, 1] }\n";

/// Numbers, and on which side of 0 they are.
fn sides(rows: usize) -> Arc<dyn Table> {
    let x: Vec<f64> = (0..rows).map(|row| (row as f64 + 0.5) / rows as f64 * 2.0 - 1.0).collect();
    let side: Vec<&str> = x.iter().map(|x| if *x > 0.0 { "right" } else { "left" }).collect();
    let columns: [(&str, ArrayRef); 2] =
        [("x", Arc::new(Float64Array::from(x.clone()))), ("side", Arc::new(StringArray::from(side)))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    Arc::new(MemoryTable::new("sides", batch.schema(), vec![batch]).unwrap())
}

/// Pictures that are dark or light, with their class.
fn pictures(count: usize) -> GivenData {
    let labels: Vec<u8> = (0..count).map(|picture| (picture % 2) as u8).collect();
    let pixels = labels.iter().flat_map(|label| [label * 255; 16]).collect();
    GivenData::Images(
        "pictures".to_owned(),
        Arc::new(Images::new((1, 4, 4), pixels, labels, "pictures").unwrap()),
    )
}

fn schema(folder: &Path) -> PathBuf {
    let path = folder.join("schema.toml");
    std::fs::write(&path, SCHEMA).unwrap();
    path
}

fn open() -> Session {
    Session::without_limit().unwrap()
}

fn plain(schema: Option<PathBuf>, out: PathBuf) -> Train {
    Train {
        schema,
        non_private: Some(true),
        steps: Some(400),
        batch_size: Some(64),
        learning_rate: Some(0.1),
        out: Some(out),
        ..Train::default()
    }
}

#[test]
fn a_network_of_a_table_in_memory_predicts_others() {
    let folder = tempfile::tempdir().unwrap();
    let (out, table) = (folder.path().join("run"), GivenData::Table(sides(400)));
    let data = TrainData { train: table, validation: Some(GivenData::Table(sides(100))) };
    let request = plain(Some(schema(folder.path())), out.clone());
    let trained = request.check_data(data.clone()).unwrap().run(&mut open()).unwrap();
    assert!(matches!(trained, Trained::Finished(end) if end.accuracy.unwrap() > 0.8));
    let predict =
        |request: Predict| request.check_data(GivenData::Table(sides(10))).unwrap().run(&mut open());
    let predicted = predict(Predict::new(out.clone(), "")).unwrap();
    assert_eq!((predicted.rows, predicted.scores.len()), (10, 20));
    assert_eq!(predicted.predictions[0], predicted.classes[0]);
    assert_eq!(predicted.predictions[9], "right");
    let evaluate = Evaluate { threads: Some(1), ..Evaluate::new(out.clone(), "") };
    let evaluated = evaluate.check_data(GivenData::Table(sides(100))).unwrap().run(&mut open()).unwrap();
    assert!(matches!(evaluated.scores, Scores::Classes(found) if found.accuracy > 0.8));
    // The same data go on with the run, others do not.
    let again = Resume::new(out.clone()).check_data(data).unwrap().run(&mut open()).unwrap();
    assert!(matches!(again, Trained::Finished(_)));
    let other = TrainData { train: GivenData::Table(sides(399)), validation: None };
    let refusal = Resume::new(out).check_data(other).unwrap().run(&mut open()).err().unwrap();
    assert_eq!(refusal.code(), Code::Changed);
}

#[test]
fn a_network_of_pictures_in_memory_predicts_others() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let classes = Some(reticent_curator::train::ClassNames::Count(2));
    let request = Train { classes, model: Some("mlp".to_owned()), ..plain(None, out.clone()) };
    let data = TrainData { train: pictures(200), validation: None };
    request.check_data(data).unwrap().run(&mut open()).unwrap();
    let predicted = Predict::new(out.clone(), "").check_data(pictures(4)).unwrap().run(&mut open()).unwrap();
    assert_eq!(predicted.predictions, ["0", "1", "0", "1"]);
    let refusal = Predict::new(out, "").check_data(GivenData::Table(sides(3))).unwrap().run(&mut open());
    assert_eq!(refusal.err().unwrap().code(), Code::Misfit);
}

#[test]
fn a_linear_model_of_a_table_in_memory_has_margins() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("model");
    let request = Fit {
        schema: Some(schema(folder.path())),
        epsilon: Some(20.0),
        test_share: Some(0.0),
        out: Some(out.clone()),
        ..Fit::default()
    };
    let tables = FitTables { train: sides(2000), test: None, schema: None };
    request.check_tables(tables).unwrap().run(&mut open()).unwrap();
    let predicted =
        Predict::new(out.clone(), "").check_data(GivenData::Table(sides(10))).unwrap().run(&mut open());
    let predicted = predicted.unwrap();
    assert!(predicted.scores.len() == 10 && predicted.scores[0] < 0.0 && predicted.scores[9] > 0.0);
    let refusal = Predict::new(out, "").check_data(pictures(3)).err().unwrap();
    assert_eq!(refusal.code(), Code::Misfit);
}

#[test]
fn what_is_given_is_not_named_as_well() {
    let data = || TrainData { train: GivenData::Table(sides(4)), validation: None };
    let named = Train { data: Some("a.csv".into()), ..Train::default() };
    let refusal = named.check_data(data()).err().unwrap();
    assert_eq!((refusal.code(), refusal.field()), (Code::Conflict, Some("data")));
    let refusal = Predict::new("m", "a.csv").check_data(GivenData::Table(sides(4))).err().unwrap();
    assert_eq!((refusal.code(), refusal.field()), (Code::Conflict, Some("data")));
    let refusal = LearnSchema::draft("a.csv").check_table(sides(4)).err().unwrap();
    assert_eq!((refusal.code(), refusal.field()), (Code::Conflict, Some("file")));
    assert!(LearnSchema::private("", 10.0, 1e-6).check_table(sides(400)).unwrap().run(&mut open()).is_ok());
}

#[test]
fn private_rows_are_no_validation() {
    let folder = tempfile::tempdir().unwrap();
    let table = sides(400);
    let given = || GivenData::Table(Arc::clone(&table));
    let request = Train {
        schema: Some(schema(folder.path())),
        epsilon: Some(1.0),
        delta: Some(1e-6),
        steps: Some(2),
        ..Train::default()
    };
    let data = TrainData { train: given(), validation: Some(given()) };
    assert_eq!(request.check_data(data).err().unwrap().field(), Some("validation"));
    // A copy is the same data.
    let data = TrainData { train: given(), validation: Some(GivenData::Table(sides(400))) };
    let refusal = request.check_data(data).unwrap().run(&mut open()).err().unwrap();
    assert_eq!(refusal.field(), Some("validation"));
}
